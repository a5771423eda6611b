// SPDX-License-Identifier: Apache-2.0
// Whether pindown itself runs in a container. Entry point: collect_inside_container. No single file says "no": only the
// machine's own first namespaces do; where neither side is shown the answer stays missing.
#include <fmt/format.h>

#include "base/text.h"
#include "facts/collect_detail.h"

namespace pindown::collect {
namespace {

constexpr std::string_view kMarkers[] = {"/.dockerenv", "/run/.containerenv"};
// Parts of cgroup paths that only container managers make.
constexpr std::string_view kCgroupWords[] = {
    "/docker/", "/docker-",     "kubepods", "/libpod-",        "/libpod_parent",
    "/lxc/",    "/lxc.payload", "/crio-",   "cri-containerd-", "/machine.slice/libpod"};
// The first namespaces of a kernel have fixed numbers: include/uapi/linux/nsfs.h (7.2), include/linux/proc_ns.h before.
// The mount and network namespaces had none until 6.18.
struct FirstNamespace {
  std::string_view path;
  std::string_view target;
};
constexpr FirstNamespace kFirst[] = {
    {"/proc/self/ns/pid", "pid:[4026531836]"},       {"/proc/self/ns/user", "user:[4026531837]"},
    {"/proc/self/ns/uts", "uts:[4026531838]"},       {"/proc/self/ns/ipc", "ipc:[4026531839]"},
    {"/proc/self/ns/cgroup", "cgroup:[4026531835]"},
};

Fact<bool> from_cgroup(const Host& host, const std::string& path) {
  const auto text = host.read(path);
  if (!text) return Fact<bool>::none(missing_of(text.error().kind), path);
  std::string_view rest = *text;
  std::string_view line;
  while (next_line(rest, line)) {
    for (const std::string_view word : kCgroupWords) {
      if (contains(line, word)) return Fact<bool>::of(true, {path, std::string(line)});
    }
  }
  return {};
}

/// A pid namespace of our own is a container; all first namespaces, and PID 1's mounts as ours, are the machine itself.
Fact<bool> from_namespaces(const Host& host) {
  bool all_first = true;
  for (const auto& first : kFirst) {
    const auto target = host.link(first.path);
    if (!target) return Fact<bool>::none(missing_of(target.error().kind), std::string(first.path));
    const bool is_first = *target == first.target;
    if (!is_first && first.path.ends_with("/pid")) return Fact<bool>::of(true, {std::string(first.path), *target});
    all_first = all_first && is_first;
  }
  const auto own = host.link("/proc/self/ns/mnt");
  const auto init = host.link("/proc/1/ns/mnt");
  if (own && init && *own != *init) {
    return Fact<bool>::none(Missing::kNotAsked, "/proc/self/ns/mnt");  // a container, or a service with private mounts
  }
  if (own && init) return Fact<bool>::of(false, {"/proc/1/ns/mnt", *init});
  if (all_first) return Fact<bool>::of(false, {std::string(kFirst[0].path), std::string(kFirst[0].target)});
  return Fact<bool>::none(Missing::kNotAsked, "/proc/1/ns/mnt");
}

/// Every namespace is the kernel's first, and PID 1 sees the same files: a marker in them is left over from the image
/// that the machine was made of.
bool on_the_machine(const Host& host) {
  for (const auto& first : kFirst) {
    const auto target = host.link(first.path);
    if (!target || *target != first.target) return false;
  }
  const auto own = host.link("/proc/self/ns/mnt");
  if (own && *own == "mnt:[4026531832]") return true;  // fixed since 6.18, where PID 1's own may not be readable
  const auto init = host.link("/proc/1/ns/mnt");
  return own && init && *own == *init;
}

}  // namespace

Fact<bool> collect_inside_container(const Host& host) {
  const bool machine = on_the_machine(host);
  for (const std::string_view marker : kMarkers) {
    if (!machine && host.exists(marker)) return Fact<bool>::of(true, {std::string(marker), "exists"});
  }
  // Own cgroup first: in a pod with hostPID, PID 1 is the machine's.
  for (const char* path : {"/proc/self/cgroup", "/proc/1/cgroup"}) {
    auto answer = from_cgroup(host, path);
    if (answer) return answer;
  }
  return from_namespaces(host);
}

}  // namespace pindown::collect
