// SPDX-License-Identifier: Apache-2.0
// RDMA devices as sysfs shows them, and what the rdma and hugetlb cgroup controllers allow pindown's own cgroup, v1 or
// v2. Entry point: collect_rdma. Must not: open a device, or ask for the limits of anybody else's cgroup.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "facts/collect_detail.h"

namespace pindown::collect {
namespace {

constexpr std::string_view kClass = "/sys/class/infiniband";
// No machine has as many; a hostile directory may.
constexpr std::size_t kMaxDevices = 1024;
constexpr std::size_t kMaxCgroupDepth = 32;

/// "4: ACTIVE" (drivers/infiniband/core/sysfs.c state_show) → "ACTIVE".
Fact<std::string> port_state(const Host& host, const std::string& port, std::vector<std::string>& problems) {
  auto state = read_line(host, port + "/state", problems);
  if (!state) return state;
  const auto colon = state->find(':');
  if (colon != std::string::npos) state.value = std::string(trim(std::string_view(*state).substr(colon + 1)));
  return state;
}

/// The state and link layer of the first active port, else of the lowest one: a device with one port down can still
/// work.
void collect_ports(const Host& host, const std::string& directory, RdmaDevice& device,
                   std::vector<std::string>& problems) {
  const std::string ports = directory + "/ports";
  auto names = host.list(ports);
  if (!names) {
    note_problem(problems, names.error());
    device.state = Fact<std::string>::none(missing_of(names.error().kind), ports);
    return;
  }
  std::sort(names->begin(), names->end(), [](const auto& a, const auto& b) {
    return std::pair(a.size(), std::string_view(a)) < std::pair(b.size(), std::string_view(b));
  });
  for (const auto& name : *names) {
    const std::string port = fmt::format("{}/{}", ports, name);
    auto state = port_state(host, port, problems);
    const bool active = state && *state == "ACTIVE";
    if (device.state.known() && !active) continue;
    device.state = std::move(state);
    device.link_layer = read_line(host, port + "/link_layer", problems);
    if (active) return;
  }
}

void collect_devices(const Host& host, Facts& facts) {
  auto names = host.list(kClass);
  if (!names) {
    // /sys without the class: ib_core is not loaded. No /sys at all: nobody knows.
    const bool absent = names.error().kind == HostErrorKind::kNotFound && host.exists("/sys/class");
    note_problem(facts.problems, names.error());
    facts.rdma_present = absent ? Fact<bool>::of(false, {std::string(kClass), "no such directory"})
                                : Fact<bool>::none(missing_of(names.error().kind), std::string(kClass));
    return;
  }
  std::sort(names->begin(), names->end());
  if (names->size() > kMaxDevices) names->resize(kMaxDevices);
  std::string all;
  for (const auto& name : *names) all += all.empty() ? name : ' ' + name;
  facts.rdma_present = Fact<bool>::of(!names->empty(), {std::string(kClass), all});
  for (const auto& name : *names) {
    RdmaDevice& device = facts.devices[name];
    const std::string directory = fmt::format("{}/{}", kClass, name);
    device.name = name;
    device.firmware = read_line(host, directory + "/fw_ver", facts.problems);
    collect_ports(host, directory, device, facts.problems);
  }
}

/// The path after "N:controller:" (v1) or "0::" (v2) in /proc/self/cgroup.
std::optional<std::string> cgroup_path(std::string_view text, std::string_view controller) {
  std::string_view line;
  while (next_line(text, line)) {
    const auto first = line.find(':');
    const auto second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view path = line.substr(second + 1);
    // In a cgroup namespace a process outside of its root shows as "/../x": not a path below the mount.
    if (!path.starts_with('/') || path.starts_with("/..")) continue;
    const auto names = split(line.substr(first + 1, second - first - 1), ',');
    if (std::find(names.begin(), names.end(), controller) != names.end()) return std::string(path);
  }
  return std::nullopt;
}

/// Own cgroup first, then its ancestors up to the mount. Where the mount shows only the own part (a container without a
/// cgroup namespace), all but the last do not exist, and the last is the right one.
std::vector<std::string> directories_upward(const std::string& mount, std::string path) {
  std::vector<std::string> directories;
  while (path.size() > 1 && directories.size() < kMaxCgroupDepth) {
    directories.push_back(mount + path);
    path.resize(path.rfind('/'));
  }
  directories.push_back(mount);
  return directories;
}

struct Controller {
  std::vector<std::string> directories;
  bool v1 = false;
};

std::vector<Controller> controllers(std::string_view cgroup, std::string_view name) {
  std::vector<Controller> found;
  if (const auto path = cgroup_path(cgroup, name)) {
    found.push_back({directories_upward(fmt::format("/sys/fs/cgroup/{}", name), *path), true});
  }
  if (const auto path = cgroup_path(cgroup, "")) {
    found.push_back({directories_upward("/sys/fs/cgroup", *path), false});
  }
  return found;
}

std::optional<std::uint64_t> cgroup_number(std::string_view text) {
  text = trim(text);
  if (text == "max") return Limit::kInfinity;
  const auto number = parse_u64(text);
  // v1 writes "no limit" as PAGE_COUNTER_MAX rounded to the huge page size (mm/hugetlb_cgroup.c).
  if (number && *number >= (1ULL << 62)) return Limit::kInfinity;
  return number;
}

/// "hugetlb.2MB.max" (v2) or "hugetlb.2MB.limit_in_bytes" (v1) → "2MB". Reservation limits ("rsvd") fail at mmap, not
/// at the page fault while pinning.
std::string_view hugetlb_size(std::string_view file, bool v1) {
  if (!consume(file, "hugetlb.")) return {};
  const std::string_view suffix = v1 ? ".limit_in_bytes" : ".max";
  if (!file.ends_with(suffix)) return {};
  file.remove_suffix(suffix.size());
  return file.find('.') == file.npos ? file : std::string_view{};
}

/// The smallest limit on the way up is the one that counts.
void take_hugetlb_limit(const Fact<std::string>& line, Fact<std::uint64_t>& limit) {
  const auto number = cgroup_number(line.value.value_or(""));
  if (!number && !limit.known()) {
    limit = Fact<std::uint64_t>::none(line ? Missing::kMalformed : line.missing, line.source.path);
  }
  if (!number || (limit.known() && *limit <= *number)) return;
  limit = Fact<std::uint64_t>::of(*number, line.source);
}

void collect_hugetlb_directory(const Host& host, const std::string& directory, bool v1, Facts& facts) {
  const auto names = host.list(directory);
  if (!names) return;
  for (const auto& file : *names) {
    const std::string_view size = hugetlb_size(file, v1);
    if (size.empty()) continue;
    const auto line = read_line(host, fmt::format("{}/{}", directory, file), facts.problems);
    take_hugetlb_limit(line, facts.hugetlb_limit[std::string(size)]);
  }
}

struct Handles {
  Fact<std::uint64_t> handle;
  Fact<std::uint64_t> object;
};

/// The line "mlx5_0 hca_handle=2 hca_object=max" of a device (kernel/cgroup/rdma.c rdmacg_resource_read).
Handles rdma_line(const Host& host, const std::string& path, const std::string& device,
                  std::vector<std::string>& problems) {
  Handles found;
  const auto text = host.read(path);
  if (!text) {
    note_problem(problems, text.error());
    return found;
  }
  const std::string_view line = line_of(*text, device + " ");
  for (std::string_view word : split_blanks(line)) {
    Fact<std::uint64_t>* fact = consume(word, "hca_handle=")   ? &found.handle
                                : consume(word, "hca_object=") ? &found.object
                                                               : nullptr;
    const auto number = fact != nullptr ? cgroup_number(word) : std::nullopt;
    if (number) *fact = Fact<std::uint64_t>::of(*number, {path, std::string(line)});
  }
  return found;
}

/// The tightest limit of own cgroup and its ancestors, with the use counted in that same cgroup.
void take_tighter(Fact<std::uint64_t> max, Fact<std::uint64_t> current, Fact<std::uint64_t>& best,
                  Fact<std::uint64_t>& used) {
  if (!max || (best && *best <= *max)) return;
  best = std::move(max);
  used = std::move(current);
}

void collect_rdma_directory(const Host& host, const std::string& directory, Facts& facts) {
  for (auto& [name, device] : facts.devices) {
    Handles max = rdma_line(host, directory + "/rdma.max", name, facts.problems);
    if (!max.handle && !max.object) continue;
    Handles current = rdma_line(host, directory + "/rdma.current", name, facts.problems);
    take_tighter(std::move(max.handle), std::move(current.handle), device.cg_max_handle, device.cg_current_handle);
    take_tighter(std::move(max.object), std::move(current.object), device.cg_max_object, device.cg_current_object);
  }
}

}  // namespace

void collect_rdma(const Host& host, Facts& facts) {
  collect_devices(host, facts);
  const auto cgroup = host.read("/proc/self/cgroup");
  if (!cgroup) return;
  for (const auto& controller : controllers(*cgroup, "hugetlb")) {
    for (const auto& directory : controller.directories)
      collect_hugetlb_directory(host, directory, controller.v1, facts);
  }
  if (facts.devices.empty()) return;
  for (const auto& controller : controllers(*cgroup, "rdma")) {
    for (const auto& directory : controller.directories) collect_rdma_directory(host, directory, facts);
  }
}

}  // namespace pindown::collect
