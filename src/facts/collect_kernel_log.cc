// SPDX-License-Identifier: Apache-2.0
// The kernel's log of the live machine, cut down to what can matter to registered memory. Entry points:
// collect_kernel_log, pick_kernel_lines. Must not: understand a line (logs/ does), or keep a whole log.
#include <fmt/format.h>
#include <sys/klog.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "base/text.h"
#include "facts/collect_detail.h"

namespace pindown::collect {
namespace {

constexpr int kReadAll = 3;      // SYSLOG_ACTION_READ_ALL, include/linux/syslog.h
constexpr int kSizeBuffer = 10;  // SYSLOG_ACTION_SIZE_BUFFER
constexpr int kMaxBytes = 1 << 20;
constexpr std::size_t kMaxLines = 4096;
constexpr std::size_t kMaxLineBytes = 2048;

// Lower case. All must begin a word: "efa" is in "default" and "oom" in "room".
constexpr std::string_view kWords[] = {
    "rdma",
    "irdma",
    "infiniband",
    "ib_",
    "mlx4",
    "mlx5",
    "efa",
    "rxe",
    "siw",
    "rocep",
    "bnxt_re",
    "hfi1",
    "nvrm",
    "nvidia",
    "amdgpu",
    "oom",
    "out of memory",
    "killed process",
    "segfault",
    "peer_mem",
    "peermem",
    "nv_peer_mem",
    "nvidia_peermem",
    "avc:",
    "apparmor",
    "unknown symbol",
    "dmar:",
    "amd-vi:",
    "hugetlb_",
    "general protection",
};

/// For each byte: a bit for each letter that may follow it at the start of a word, and whether it is inside one. One
/// look-up a byte instead of thirty searches a line.
constexpr std::uint32_t kInWord = 1U << 31;
constexpr std::array<std::uint32_t, 256> kBytes = [] {
  std::array<std::uint32_t, 256> bytes{};
  for (unsigned c = 0; c < 256; ++c) {
    const char byte = static_cast<char>(c);
    for (const std::string_view word : kWords) {
      if (word[0] == to_lower(byte)) bytes[c] |= 1U << (word[1] - 'a');
    }
    if (is_alnum(byte)) bytes[c] |= kInWord;
  }
  return bytes;
}();

bool starts_with_word(std::string_view text) {
  const char first = to_lower(text[0]);
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view word) {
    return word[0] == first && iequals(text.substr(0, word.size()), word);
  });
}

bool matters(std::string_view line) {
  std::uint32_t before = 0;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const std::uint32_t here = kBytes[static_cast<unsigned char>(line[i])];
    const bool may_begin = (before & kInWord) == 0 && (here & ~kInWord) != 0;
    before = here;
    if (!may_begin) continue;
    const unsigned second = static_cast<unsigned char>(to_lower(line[i + 1]) - 'a');
    if (second < 26U && (here >> second & 1U) != 0 && starts_with_word(line.substr(i))) return true;
  }
  return false;
}

std::string_view without_priority(std::string_view line) {
  std::string_view rest = line;
  if (!consume(rest, "<") || take_digits(rest).empty() || !consume(rest, ">")) return line;
  return rest;
}

}  // namespace

std::vector<std::string> pick_kernel_lines(std::string_view text) {
  std::vector<std::string> kept;
  std::string_view line;
  while (next_line(text, line)) {
    line = without_priority(line).substr(0, kMaxLineBytes);
    if (matters(line)) kept.emplace_back(line);
  }
  if (kept.size() > kMaxLines) kept.erase(kept.begin(), kept.end() - static_cast<std::ptrdiff_t>(kMaxLines));
  return kept;
}

void collect_kernel_log(const Host& host, Facts& facts) {
  using Lines = Fact<std::vector<std::string>>;
  if (!host.live()) return;
  const int size = std::clamp(::klogctl(kSizeBuffer, nullptr, 0), 1 << 16, kMaxBytes);
  const auto buffer = std::make_unique_for_overwrite<char[]>(static_cast<std::size_t>(size));
  const int n = ::klogctl(kReadAll, buffer.get(), size);
  if (n >= 0) {
    facts.kernel_log = Lines::of(pick_kernel_lines({buffer.get(), static_cast<std::size_t>(n)}), {"dmesg", {}});
    return;
  }
  // kernel.dmesg_restrict, or a container's seccomp profile (kernel/printk/printk.c check_syslog_permissions).
  const bool denied = errno == EPERM || errno == EACCES;
  facts.kernel_log = Lines::none(denied ? Missing::kDenied : Missing::kError, "dmesg");
  facts.problems.push_back(fmt::format("cannot read the kernel log: {} (dmesg | pindown check - judges it, too)",
                                       denied ? "permission denied" : "not available here"));
}

}  // namespace pindown::collect
