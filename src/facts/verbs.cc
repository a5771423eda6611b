// SPDX-License-Identifier: Apache-2.0
// See verbs.h.
#include "facts/verbs.h"

#include <fmt/format.h>

#include "base/errno_name.h"
#include "base/text.h"
#include "facts/collect_detail.h"
#include "host/helper.h"

namespace pindown {
namespace {

constexpr std::string_view kCommand = "pindown-probe devices";
constexpr std::size_t kMostDevices = 256;

void put(Fact<std::uint64_t>& fact, std::string_view number, const Source& source) {
  const auto value = parse_u64(number);
  fact = value ? Fact<std::uint64_t>::of(*value, source)
               : Fact<std::uint64_t>::none(Missing::kMalformed, std::string(kCommand));
}

void read_word(std::string_view word, RdmaDevice& device, const Source& source, Facts& facts) {
  if (consume(word, "max_mr_size=")) return put(device.max_mr_size, word, source);
  if (consume(word, "max_mr=")) return put(device.max_mr, word, source);
  if (consume(word, "max_qp=")) return put(device.max_qp, word, source);
  if (consume(word, "max_cq=")) return put(device.max_cq, word, source);
  if (!consume(word, "error=")) return;
  const auto number = parse_u64(word);
  const std::string_view name = number ? errno_name(static_cast<int>(*number)) : "";
  facts.problems.push_back(fmt::format("cannot open {}: {}", device.name, name.empty() ? word : name));
  device.max_mr_size = Fact<std::uint64_t>::none(
      name == "EACCES" || name == "EPERM" ? Missing::kDenied : Missing::kError, std::string(kCommand));
}

}  // namespace

void parse_probe_devices(std::string_view text, Facts& facts) {
  std::string_view line;
  while (next_line(text, line)) {
    const auto words = split_blanks(line);
    if (words.size() < 2 || words[0].size() > 64) continue;
    const std::string name(words[0]);
    if (!facts.devices.contains(name) && facts.devices.size() >= kMostDevices) return;
    RdmaDevice& device = facts.devices[name];
    device.name = name;
    const Source source{std::string(kCommand), std::string(line)};
    for (std::size_t i = 1; i < words.size(); ++i) read_word(words[i], device, source, facts);
  }
}

void collect_device_limits(const Host& host, Facts& facts) {
  if (!host.live() || facts.rdma_present.value != true) return;
  const auto text = run_helper("pindown-probe", {"devices"});
  if (text) return parse_probe_devices(*text, facts);
  for (auto& [name, device] : facts.devices) {
    device.max_mr_size = Fact<std::uint64_t>::none(collect::missing_of(text.error().kind), std::string(kCommand));
  }
  if (text.error().kind != HostErrorKind::kNotFound) facts.problems.push_back(text.error().message);
}

}  // namespace pindown
