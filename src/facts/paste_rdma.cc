// SPDX-License-Identifier: Apache-2.0
// Reads RDMA devices: ibv_devinfo, ibstat, rdma(8), sysfs, and the rdma and hugetlb cgroups. Entry points: read_*.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

constexpr std::size_t kMaxDevices = 256;
constexpr std::uint64_t kDetailLines = 80;  // lines of ibv_devinfo -v for one port

bool is_device_name(std::string_view name) {
  return !name.empty() && name.size() <= 64 && is_alpha(name[0]) &&
         std::ranges::all_of(name, [](char c) { return is_alnum(c) || c == '_' || c == '-' || c == '.'; });
}

RdmaDevice* device_at(const Context& c, std::string_view name) {
  auto& devices = c.facts.devices;
  const std::string host = c.source().host;
  const std::string key = host.empty() ? std::string(name) : fmt::format("{}/{}", host, name);
  const auto known = devices.find(key);
  if (known != devices.end()) return &known->second;
  if (devices.size() >= kMaxDevices) return nullptr;
  RdmaDevice& device = devices[key];
  device.name = name;
  device.host = host;
  return &device;
}

RdmaDevice* start_device(const Context& c, std::string_view name) {
  if (!is_device_name(name)) return nullptr;
  c.stream.device = name;
  c.stream.detail_lines = kDetailLines;
  c.learn(c.facts.rdma_present, true);
  return device_at(c, name);
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

/// A device with several ports has the best port's state: one that works is enough.
void learn_state(const Context& c, RdmaDevice& device, std::string_view state) {
  const bool better =
      device.state.known() && contains(upper(state), "ACTIVE") && !contains(upper(*device.state), "ACTIVE");
  if (better) device.state = {};
  c.learn(device.state, upper(state));
}

std::string_view first_word(std::string_view text) {
  text = trim(text);
  return text.substr(0, text.find_first_of(" \t"));
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  const std::string_view word = first_word(text);
  return word.starts_with("0x") ? parse_hex(word) : parse_u64(word);
}

using NumberMember = Fact<std::uint64_t> RdmaDevice::*;
constexpr std::pair<std::string_view, NumberMember> kNumbers[] = {
    {"max_mr_size", &RdmaDevice::max_mr_size},
    {"max_mr", &RdmaDevice::max_mr},
    {"max_qp", &RdmaDevice::max_qp},
    {"max_cq", &RdmaDevice::max_cq},
};

/// These names are the verbs API's own; they are read even where the device's name got lost in pasting.
bool read_number_field(const Context& c, std::string_view name, std::string_view value) {
  for (const auto& [key, member] : kNumbers) {
    if (key != name) continue;
    const auto number = parse_number(value);
    RdmaDevice* device = number ? device_at(c, c.stream.device) : nullptr;
    if (!device) return false;
    c.learn(device->*member, *number);
    return true;
  }
  return false;
}

/// "state: PORT_ACTIVE (4)", "State: Active", "4: ACTIVE" (sysfs, ibstatus).
std::string_view state_word(std::string_view value) {
  value = trim(value);
  const auto colon = value.find(": ");
  if (colon != value.npos && colon < 3) value = value.substr(colon + 2);
  return first_word(value);
}

bool read_text_field(const Context& c, std::string_view name, std::string_view value) {
  RdmaDevice* device = c.stream.device.empty() ? nullptr : device_at(c, c.stream.device);
  value = trim(value);
  if (!device || value.empty() || value.size() > 80) return false;
  if (name == "fw_ver" || name == "Firmware version") {
    c.learn(device->firmware, std::string(first_word(value)));
  } else if (name == "state" || name == "State") {
    learn_state(c, *device, state_word(value));
  } else if (name == "link_layer" || name == "Link layer") {
    c.learn(device->link_layer, std::string(value));
  } else {
    return false;
  }
  return true;
}

/// "key value key value": the number behind `key`.
std::optional<std::uint64_t> number_after(std::span<const std::string_view> words, std::string_view key) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    if (words[i] == key) return parse_u64(words[i + 1]);
  }
  return std::nullopt;
}

void learn_cgroup(const Context& c, Fact<std::uint64_t>& fact, std::string_view value) {
  if (const auto number = parse_u64(value)) {
    c.learn(fact, *number);
  } else if (value == "max" && !fact.known()) {
    fact = Fact<std::uint64_t>::none(Missing::kAbsent, c.source().path);
  }
}

}  // namespace

/// "hca_id: mlx5_0" (ibv_devinfo), "CA 'mlx5_0'" (ibstat), "Infiniband device 'mlx5_0' port 1 status:" (ibstatus).
bool read_ib_device(const Context& c) {
  std::string_view text = c.text;
  if (consume(text, "hca_id:")) return start_device(c, trim(text)) != nullptr;
  if (!consume(text, "CA '") && !consume(text, "Infiniband device '")) return false;
  const auto end = text.find('\'');
  return end != text.npos && start_device(c, text.substr(0, end)) != nullptr;
}

bool read_ib_field(const Context& c) {
  const auto colon = c.text.find(':');
  if (colon == c.text.npos || colon > 40) return false;
  const std::string_view name = trim(c.text.substr(0, colon));
  const std::string_view value = c.text.substr(colon + 1);
  return read_number_field(c, name, value) || read_text_field(c, name, value);
}

/// "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0"; older iproute2 has "0/1: mlx5_0/1: state …".
bool read_rdma_link(const Context& c) {
  const auto words = split_blanks(c.text.substr(0, 300));
  if (words.size() < 4) return false;
  std::string_view name = words[1];
  if (words[0] != "link" && !(is_digit(words[0][0]) && words[0].ends_with(':') && name.ends_with(':'))) return false;
  const auto slash = name.find('/');
  const auto state = std::ranges::find(words, "state");
  if (slash == name.npos || state == words.end() || state + 1 == words.end()) return false;
  RdmaDevice* device = start_device(c, name.substr(0, slash));
  if (!device) return false;
  c.stream.device.clear();
  learn_state(c, *device, *(state + 1));
  return true;
}

/// "0: mlx5_0: pd 3 cq 5 qp 4 cm_id 0 mr 3000 ctx 1" of `rdma resource`.
bool read_rdma_resource(const Context& c) {
  auto words = split_blanks(c.text.substr(0, 300));
  const bool indexed = words.size() > 1 && words[0].ends_with(':') && words[1].ends_with(':');
  if (indexed && !parse_u64(words[0].substr(0, words[0].size() - 1))) return false;
  // "0: " in front looks like a launcher's rank, and is gone then.
  if (indexed) words.erase(words.begin());
  if (words.size() < 5 || !words[0].ends_with(':')) return false;
  const std::string_view name = words[0].substr(0, words[0].size() - 1);
  const auto mr = number_after(words, "mr");
  const auto qp = number_after(words, "qp");
  const auto cq = number_after(words, "cq");
  if (!is_device_name(name) || (!mr && !qp) || !cq) return false;
  RdmaDevice* device = device_at(c, name);
  if (!device) return false;
  c.learn(c.facts.rdma_present, true);
  if (mr) c.learn(device->mr_count, *mr);
  if (qp) c.learn(device->qp_count, *qp);
  c.learn(device->cq_count, *cq);
  return true;
}

/// "mlx5_0 hca_handle=4 hca_object=2000"; the file it was read from says whether it is the limit or the use.
bool read_rdma_cgroup(const Context& c) {
  const auto words = split_blanks(c.text.substr(0, 300));
  if (!c.question || words.size() < 2 || words.size() > 3 || !is_device_name(words[0])) return false;
  if (!words[1].starts_with("hca_")) return false;
  const bool limit = c.question->topic == Topic::kRdmaMax;
  RdmaDevice* device = device_at(c, words[0]);
  if (!device) return false;
  for (std::string_view word : std::span(words).subspan(1)) {
    if (consume(word, "hca_handle=")) learn_cgroup(c, limit ? device->cg_max_handle : device->cg_current_handle, word);
    if (consume(word, "hca_object=")) learn_cgroup(c, limit ? device->cg_max_object : device->cg_current_object, word);
  }
  return true;
}

bool read_hugetlb(const Context& c) {
  const auto bytes = c.text == "max" ? std::optional(Limit::kInfinity) : parse_u64(c.text);
  if (!bytes || c.facts.hugetlb_limit.size() >= kMaxList) return false;
  c.learn(c.facts.hugetlb_limit[c.question->arg], *bytes);
  return true;
}

namespace {

constexpr std::size_t kMaxGids = 1024;

/// "fe80:0000:0000:0000:ba59:9fff:fe0c:1234", or shortened as ibv_devinfo prints it.
bool is_gid(std::string_view text) {
  return text.size() >= 2 && text.size() <= 45 && std::ranges::count(text, ':') >= 2 &&
         std::ranges::all_of(text, [](char ch) {
           return is_digit(ch) || (ch >= 'a' && ch <= 'f') || (ch >= 'A' && ch <= 'F') || ch == ':' || ch == '.';
         });
}

/// ::ffff:10.0.0.1, in its two spellings.
std::string ipv4_of(std::string_view gid) {
  if (consume(gid, "::ffff:") && contains(gid, ".")) return std::string(gid);
  if (!consume(gid, "0000:0000:0000:0000:0000:ffff:") || gid.size() != 9) return {};
  const auto high = parse_hex(gid.substr(0, 4));
  const auto low = parse_hex(gid.substr(5));
  if (!high || !low) return {};
  return fmt::format("{}.{}.{}.{}", *high >> 8, *high & 0xff, *low >> 8, *low & 0xff);
}

bool keep_gid(RdmaDevice& device, GidEntry entry) {
  if (device.gids.size() >= kMaxGids) return false;
  const auto same = [&entry](const GidEntry& known) { return known.port == entry.port && known.index == entry.index; };
  if (std::ranges::none_of(device.gids, same)) device.gids.push_back(std::move(entry));
  return true;
}

}  // namespace

/// "mlx5_0  1  3  0000:0000:0000:0000:0000:ffff:0a00:0001  10.0.0.1  v2  eth0" of show_gids.
bool read_gid_row(const Context& c) {
  const auto words = split_blanks(c.text.substr(0, 300));
  if (words.size() < 4 || words.size() > 7 || !is_device_name(words[0]) || !is_gid(words[3])) return false;
  const auto port = parse_u64(words[1]);
  const auto index = parse_u64(words[2]);
  if (!port || !index) return false;
  GidEntry entry{*port, *index, std::string(words[3]), ipv4_of(words[3]), 0, c.source()};
  for (const std::string_view word : std::span(words).subspan(4)) {
    if (word == "v1" || word == "v2") entry.roce_version = word[1] - '0';
  }
  RdmaDevice* device = device_at(c, words[0]);
  return device != nullptr && keep_gid(*device, std::move(entry));
}

/// "GID[  3]:  ::ffff:10.0.0.1, RoCE v2" of ibv_devinfo -v.
bool read_gid_field(const Context& c) {
  std::string_view rest = c.text;
  if (c.stream.device.empty() || !consume(rest, "GID[")) return false;
  const auto close = rest.find("]:");
  if (close == rest.npos) return false;
  const auto index = parse_u64(trim(rest.substr(0, close)));
  const std::string_view value = trim(rest.substr(close + 2));
  const std::string_view gid = value.substr(0, value.find_first_of(", \t"));
  if (!index || !is_gid(gid)) return false;
  GidEntry entry{0, *index, std::string(gid), ipv4_of(gid), 0, c.source()};
  if (contains(value, "RoCE v2")) entry.roce_version = 2;
  if (contains(value, "RoCE v1")) entry.roce_version = 1;
  RdmaDevice* device = device_at(c, c.stream.device);
  return device != nullptr && keep_gid(*device, std::move(entry));
}

/// A file below /sys/class/infiniband: arg is "mlx5_0/fw_ver" or "mlx5_0/ports/1/state".
bool read_ib_attribute(const Context& c) {
  const std::string_view path = c.question->arg;
  const auto slash = path.find('/');
  if (slash == path.npos || !is_device_name(path.substr(0, slash))) return false;
  const std::string before = c.stream.device;
  c.stream.device = path.substr(0, slash);
  const bool understood = read_text_field(c, base_name(path), c.text);
  c.stream.device = before;
  if (understood) c.learn(c.facts.rdma_present, true);
  return understood;
}

/// Names in `ls /sys/class/infiniband`.
bool read_ib_class(const Context& c) {
  if (contains(c.text, "No such file") || c.text.starts_with("total ")) return false;
  bool any = false;
  for (const std::string_view name : split_blanks(c.text)) {
    const bool link = contains(c.text, " -> ");  // ls -l: only the name before the arrow
    if (link && !contains(c.text, std::string(name) + " -> ")) continue;
    if (!is_device_name(name) || !device_at(c, name)) continue;
    any = true;
  }
  if (any) c.learn(c.facts.rdma_present, true);
  return any;
}

}  // namespace pindown::paste
