// SPDX-License-Identifier: Apache-2.0
// PD6xx: the kernel's memory management could not pin these pages, or the caller asked for something that cannot be
// pinned. Each row has its page and the function that recognises it. Entry point: memory_checks. Must not: read files,
// or repeat the myths (fragmentation, overcommit, log_num_qp) as causes.
#include <errno.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/host_name.h"
#include "checks/check.h"
#include "checks/look.h"

namespace pindown {
namespace {

using namespace look;

constexpr std::array<std::uint64_t, 3> kKhoFirst = {6, 16, 0};  // kernel/kexec_handover.c
constexpr std::uint64_t kMapCountDefault = 65530;               // include/linux/mm.h DEFAULT_MAX_MAP_COUNT
constexpr std::uint64_t kMuchCma = std::uint64_t{1} << 30;
constexpr std::uint64_t kAbsurdLength = std::uint64_t{1} << 46;

std::optional<std::uint64_t> meminfo(const Situation& s, const char* name) {
  const auto at = s.facts->meminfo.bytes.find(name);
  return at == s.facts->meminfo.bytes.end() ? std::nullopt : std::optional(at->second);
}
Evidence cite_meminfo(const Situation& s, const char* name, std::string note = {}) {
  const auto at = s.facts->meminfo.source.find(name);
  return cite(at == s.facts->meminfo.source.end() ? Source{"/proc/meminfo", name} : at->second, std::move(note));
}

/// A word of /proc/cmdline such as "kho=off", whole.
bool booted_with(const Situation& s, std::string_view word) {
  if (!s.facts->cmdline) return false;
  const auto words = split_blanks(*s.facts->cmdline);
  return std::ranges::find(words, word) != words.end();
}
bool booted_with_prefix(const Situation& s, std::string_view prefix) {
  if (!s.facts->cmdline) return false;
  return std::ranges::any_of(split_blanks(*s.facts->cmdline), [&](auto word) { return word.starts_with(prefix); });
}

// --- PD601 ---------------------------------------------------------------------------------------------------------

/// CmaFree above CmaTotal: pageblocks that are CMA although no CMA area owns them, which is what KHO leaves behind.
bool orphan_cma(const Situation& s) {
  const auto total = meminfo(s, "CmaTotal");
  const auto free = meminfo(s, "CmaFree");
  return free && *free > total.value_or(0) && *free > 0;
}

Remedy kho_off() {
  return {"kho-off",
          "boot with kho=off: add it as your distribution does, reboot (live update over kexec is lost; check kdump)",
          {"grep -n '^GRUB_CMDLINE_LINUX' /etc/default/grub",
           "# Debian, Ubuntu: add kho=off inside the quotes of GRUB_CMDLINE_LINUX there, then: update-grub",
           "# RHEL, Fedora: grubby --update-kernel=ALL --args=kho=off"},
          true,
          "grep -o 'kho=off' /proc/cmdline; grep -i cma /proc/meminfo"};
}

std::string cma_numbers(const Situation& s) {
  const auto total = meminfo(s, "CmaTotal");
  return fmt::format("CmaFree {}, CmaTotal {}", format_size(*meminfo(s, "CmaFree")),
                     total ? format_size(*total) : std::string("not listed"));
}

/// What the machine's numbers say whoever asks; nothing if they are not known.
std::optional<Outcome> kho_ruled_out(const Situation& s) {
  if (booted_with(s, "kho=off") || booted_with(s, "kho=n") || booted_with(s, "kho=0")) {
    return ruled_out("the kernel was booted with kho=off");
  }
  const auto free = meminfo(s, "CmaFree");
  if (free && meminfo(s, "CmaTotal") && !orphan_cma(s)) return ruled_out("CMA adds up: " + cma_numbers(s));
  const auto kernel = kernel_release(s);
  if (!free && kernel && below(*kernel, kKhoFirst)) {
    return ruled_out(fmt::format("kernel {} has no kexec handover (6.16 and later)", escape(*kernel, 40)));
  }
  return std::nullopt;
}

Outcome kho_live(const Situation& s) {
  if (auto out = kho_ruled_out(s)) return *out;
  if (orphan_cma(s)) {
    return with(at_severity(found(Certainty::kLikely, 70,
                                  fmt::format("{}: kexec handover left CMA memory that can't be pinned for long",
                                              cma_numbers(s)),
                                  {cite_meminfo(s, "CmaFree", "above CmaTotal")}),
                            Severity::kWarning),
                {kho_off()});
  }
  const bool plausible = s.facts->kernel && version_of(*s.facts->kernel) && !below(*s.facts->kernel, kKhoFirst);
  if (!plausible || !s.facts->meminfo.bytes.empty()) return not_applicable();
  return unknown({"CmaTotal and CmaFree of /proc/meminfo"}, "record /proc/meminfo");
}

/// Kernels whose builds switch KHO on by default: 7.0 of Ubuntu and NVIDIA on arm64.
bool kho_default_kernel(const Situation& s) {
  if (!s.facts->kernel || !s.facts->kernel->starts_with("7.0")) return false;
  const bool arm = s.facts->arch && *s.facts->arch == "aarch64";
  return arm || icontains(*s.facts->kernel, "nvidia");
}

Outcome kho_found(const Situation& s) {
  std::vector<Evidence> evidence = {s.failure_evidence(), cite_meminfo(s, "CmaFree", "above CmaTotal")};
  if (s.facts->kernel) evidence.push_back(cite(s.facts->kernel.source));
  if (limits::blamed(s)) {
    return at_severity(found(Certainty::kPossible, 30,
                             "CMA doesn't add up either, but the locked-memory limit explains this failure", evidence),
                       Severity::kNote);
  }
  return judged(
      s, with(found(Certainty::kLikely, s.limit_cleared() ? 88 : 72,
                    fmt::format("{}: kexec handover turned this memory into CMA, from which the kernel could not "
                                "move pages to pin them",
                                cma_numbers(s)),
                    std::move(evidence)),
              {kho_off()}));
}

Outcome kho_cma(const Situation& s) {
  if (!s.incident) return kho_live(s);
  if (!host_enomem(s)) return not_applicable();
  if (auto out = kho_ruled_out(s)) return *out;
  if (orphan_cma(s)) return kho_found(s);
  if (limits::blamed(s)) return not_applicable();
  static constexpr const char* kDecide =
      "grep -i cma /proc/meminfo; cat /proc/cmdline   # CmaFree above CmaTotal decides";
  if (kho_default_kernel(s)) {
    return candidate(s.limit_unlikely() ? 62 : 35, "this kernel's builds turn kexec handover memory into CMA", kDecide);
  }
  if (!s.limit_unlikely()) return not_applicable();
  return candidate(25, "on kernels from 6.16 kexec handover memory becomes CMA that can't be pinned for long", kDecide);
}

// --- PD602 ---------------------------------------------------------------------------------------------------------

Remedy shrink_movable() {
  return {"shrink-movable",
          "shrink what may not hold long-term pins: cma=, movablecore=, movable_node, hot-plugged memory",
          {"grep -o -e 'cma=[^ ]*' -e 'movablecore=[^ ]*' -e 'kernelcore=[^ ]*' -e movable_node /proc/cmdline",
           "grep -A 12 'zone *Movable' /proc/zoneinfo | grep -e Node -e present"},
          true,
          "grep -i cma /proc/meminfo"};
}

Outcome cma_movable(const Situation& s) {
  if (!host_enomem(s) || limits::blamed(s)) return not_applicable();
  const bool kho = orphan_cma(s) && !booted_with(s, "kho=off");
  if (kho) return not_applicable();
  const auto cma = meminfo(s, "CmaTotal");
  const auto total = meminfo(s, "MemTotal");
  const bool movable = booted_with_prefix(s, "movablecore=") || booted_with_prefix(s, "kernelcore=") ||
                       booted_with_prefix(s, "cma=") || booted_with(s, "movable_node");
  const bool large = cma && *cma >= kMuchCma;
  static constexpr const char* kDecide =
      "grep pgmigrate_fail /proc/vmstat   # before and after one failing run: it grows";
  auto kernel = kernel_line(s, {"movable"});
  if (!kernel) kernel = kernel_line(s, {"longterm"});
  if (kernel) {
    return judged(
        s, with(found(Certainty::kLikely, 85, "the kernel could not move pages out of the movable zone to pin them",
                      {s.failure_evidence(), kernel->evidence}),
                {shrink_movable()}));
  }
  if (!large && !movable) {
    if (!cma || !s.facts->cmdline) return not_applicable();
    return ruled_out(fmt::format("CmaTotal is {} and the kernel was booted without a movable zone", format_size(*cma)));
  }
  if (!s.limit_cleared()) {
    return candidate(s.limit_unlikely() ? 62 : 25, "part of this memory must be moved before it can be pinned",
                     kDecide);
  }
  if (large && total && *cma >= *total / 4) {
    return judged(s,
                  with(found(Certainty::kLikely, 55,
                             fmt::format("{} of {} RAM is CMA: pages must move out of it to be pinned, and that failed",
                                         format_size(*cma), format_size(*total)),
                             {s.failure_evidence(), cite_meminfo(s, "CmaTotal")}),
                       {shrink_movable()}));
  }
  return candidate(62, "part of this memory (CMA or the movable zone) must be moved before it can be pinned", kDecide);
}

// --- PD603 ---------------------------------------------------------------------------------------------------------

struct MapCount {
  std::uint64_t count = 0;
  std::uint64_t most = kMapCountDefault;
  bool most_known = false;
  Source source;
  std::string text() const {
    return fmt::format("{} of {} maps{}", grouped(count), grouped(most), most_known ? "" : " (the default)");
  }
};

/// Nothing that both name differs: a count of another host's or pid's maps is not this failure's.
bool may_be_the_failing(const Process& p, const Event& first) {
  if (!p.where.host.empty() && !first.shape.host.empty() && !same_host(p.where.host, first.shape.host)) return false;
  return !p.where.pid || !first.shape.pid || p.where.pid == first.shape.pid;
}

std::optional<MapCount> map_count(const Situation& s) {
  const Process* process = s.process && s.process->map_count ? s.process : nullptr;
  if (!process && s.incident) {
    for (const Process& other : s.facts->processes) {
      if (other.map_count && may_be_the_failing(other, s.incident->first)) process = &other;
    }
  }
  if (!process) return std::nullopt;
  MapCount out;
  out.count = *process->map_count;
  out.source = process->map_count.source;
  const auto at = s.facts->sysctl.find("vm.max_map_count");
  if (at != s.facts->sysctl.end() && at->second) {
    if (const auto most = parse_u64(trim(*at->second))) {
      out.most = *most;
      out.most_known = true;
    }
  }
  return out;
}

/// The variables that switch on MADV_DONTFORK for every registration, if one of them is set.
const Fact<std::string>* fork_safe(const Situation& s) {
  for (const char* name : {"RDMAV_FORK_SAFE", "IBV_FORK_SAFE"}) {
    const auto* value = s.env(name);
    if (value && *value) return value;
  }
  return nullptr;
}

Remedy raise_max_map_count() {
  return {"max-map-count",
          "raise vm.max_map_count, or drop fork protection where the kernel copies pinned pages on fork (6.1 does, "
          "5.10 does not)",
          {"sysctl -w vm.max_map_count=1048576",
           "echo 'vm.max_map_count = 1048576' > /etc/sysctl.d/90-pindown-max-map-count.conf",
           "unset RDMAV_FORK_SAFE IBV_FORK_SAFE"},
          true,
          "sysctl vm.max_map_count; wc -l /proc/PID/maps"};
}

Outcome maps_live(const Situation& s) {
  if (s.kind != SubjectKind::kProcess || !s.process) return not_applicable();
  const auto maps = map_count(s);
  if (!maps) {
    const bool uses_rdma = s.process->nccl_mapped.known() || (s.process->verbs_open && !s.process->verbs_open->empty());
    if (!uses_rdma || s.process->map_count.missing != Missing::kDenied) return not_applicable();
    return unknown({s.process->map_count.source.path}, how_to_read(s));
  }
  if (!nearly_full(maps->count, maps->most)) return ruled_out(maps->text());
  const bool full = maps->count >= maps->most;
  return with(at_severity(found(Certainty::kLikely, 80,
                                fmt::format("{}: the next mapping or protected registration fails", maps->text()),
                                {cite(maps->source)}),
                          full ? Severity::kError : Severity::kWarning),
              {raise_max_map_count()});
}

Outcome maps_full(const Situation& s, const MapCount& maps) {
  const auto* safe = fork_safe(s);
  std::vector<Evidence> evidence = {s.failure_evidence(), cite(maps.source)};
  if (safe) evidence.push_back(cite(safe->source, "fork protection splits a map at every registration"));
  const bool proven = safe && s.limit_cleared() && maps.count >= maps.most;
  return judged(s, with(found(proven ? Certainty::kProven : Certainty::kLikely, 80,
                              fmt::format("the process has {}: fork protection cannot split another one", maps.text()),
                              std::move(evidence)),
                        {raise_max_map_count()}));
}

Outcome max_map_count(const Situation& s) {
  if (!s.incident) return maps_live(s);
  if (!host_enomem(s)) return not_applicable();
  if (const auto maps = map_count(s)) {
    if (!nearly_full(maps->count, maps->most)) return ruled_out(maps->text());
    if (limit_proven(s)) return ruled_out("the locked-memory limit alone refuses this request");
    return maps_full(s, *maps);
  }
  if (limits::blamed(s)) return not_applicable();
  static constexpr const char* kDecide = "wc -l /proc/PID/maps; sysctl vm.max_map_count";
  if (fork_safe(s)) {
    return candidate(s.limit_cleared() ? 60 : 35, "fork protection is on: every registration may split a map", kDecide);
  }
  if (!s.limit_unlikely()) return not_applicable();
  return candidate(30, "with fork protection every registration may split a map, up to vm.max_map_count", kDecide);
}

// --- PD604 ---------------------------------------------------------------------------------------------------------

Remedy hugepages_safe() {
  return {"hugepages-safe",
          "tell libibverbs about huge pages, or leave fork protection off",
          {"export RDMAV_HUGEPAGES_SAFE=1", "unset RDMAV_FORK_SAFE IBV_FORK_SAFE"},
          false,
          "tr '\\0' '\\n' < /proc/PID/environ | grep -e ^RDMAV_ -e ^IBV_"};
}

bool huge_pages_in_use(const Situation& s) {
  const auto pool = meminfo(s, "HugePages_Total");
  if (pool && *pool > 0) return true;
  return log_says(s, "huge");
}

Outcome fork_hugepages(const Situation& s) {
  if (first_is(s, {Kind::kForkHugepages})) {
    return judged(
        s, with(found(Certainty::kLikely, 92, "fork protection does not know that this buffer lies in huge pages",
                      {s.failure_evidence()}),
                {hugepages_safe()}));
  }
  if (!first_is(s, {Kind::kRegMr}) || !s.has_errno(EINVAL) || s.memory() == MemoryType::kGpu) return not_applicable();
  if (log_says(s, "RDMAV_HUGEPAGES_SAFE=1")) {
    return judged(s, with(found(Certainty::kLikely, 92, "UCX itself says so: huge pages without RDMAV_HUGEPAGES_SAFE",
                                {s.failure_evidence()}),
                          {hugepages_safe()}));
  }
  if (const auto* set = s.env("RDMAV_HUGEPAGES_SAFE"); set && *set) return ruled_out("RDMAV_HUGEPAGES_SAFE is set");
  const auto* safe = fork_safe(s);
  if (safe && huge_pages_in_use(s)) {
    return judged(s, with(found(Certainty::kLikely, 70, "fork protection is on and huge pages are in use",
                                {s.failure_evidence(), cite(safe->source)}),
                          {hugepages_safe()}));
  }
  static constexpr const char* kDecide =
      "tr '\\0' '\\n' < /proc/PID/environ | grep -e ^RDMAV_ -e ^IBV_; grep ^Huge /proc/meminfo";
  if (safe) return candidate(45, "fork protection is on; with huge pages it makes registration fail so", kDecide);
  if (s.memory() != MemoryType::kHost || on_demand(s.incident->first)) return not_applicable();
  return candidate(25, "fork protection over huge pages gives EINVAL", kDecide);
}

// --- PD605 ---------------------------------------------------------------------------------------------------------

Remedy no_huge_alloc() {
  return {"hugetlb",
          "ask for huge pages in the pod (resources: hugepages-2Mi), or keep UCX from using them",
          {"export UCX_ALLOC_PRIO=md:sysv,md:posix,thp,md:*,mmap,heap", "export UCX_RC_MLX5_ALLOC=thp,md,mmap,heap",
           "export UCX_UD_MLX5_ALLOC=thp,md,mmap,heap"},
          false,
          "cat /sys/fs/cgroup/hugetlb.2MB.max"};
}

/// A UCX_*ALLOC variable that puts huge pages into play.
const Fact<std::string>* huge_alloc(const Situation& s) {
  for (const auto* vars : {&s.facts->env, s.process ? &s.process->env : nullptr}) {
    if (!vars) continue;
    for (const auto& [name, value] : *vars) {
      if (name.starts_with("UCX_") && contains(name, "ALLOC") && value && icontains(*value, "huge")) return &value;
    }
  }
  return nullptr;
}

Outcome hugetlb_found(const Situation& s, const std::string& size, const Fact<std::uint64_t>& limit) {
  std::vector<Evidence> evidence = {s.failure_evidence(), cite(limit.source)};
  if (const auto* alloc = huge_alloc(s)) evidence.push_back(cite(alloc->source));
  return judged(
      s, with(found(Certainty::kLikely, 85,
                    fmt::format("this cgroup allows {} in {} huge pages: mapping worked, the first touch did not",
                                format_size(*limit), escape(size, 10)),
                    std::move(evidence)),
              {no_huge_alloc()}));
}

Outcome hugetlb_cgroup(const Situation& s) {
  if (!first_is(s, {Kind::kRegMr, Kind::kCreateQueue}) || !s.has_errno(EFAULT) || s.memory() == MemoryType::kGpu) {
    return not_applicable();
  }
  const auto length = s.incident->first.length;
  std::string room;
  for (const auto& [size, limit] : s.facts->hugetlb_limit) {
    if (!limit) continue;
    if (*limit == 0 || (length && *limit < *length)) return hugetlb_found(s, size, limit);
    room += fmt::format("{}{} in {} pages", room.empty() ? "" : ", ", format_size(*limit), escape(size, 10));
  }
  if (!room.empty()) return ruled_out("this cgroup allows " + room);
  static constexpr const char* kDecide =
      "cat /sys/fs/cgroup/hugetlb.*.max   # in the pod; v1: hugetlb/hugetlb.*.limit_in_bytes";
  const auto* alloc = huge_alloc(s);
  const auto free = meminfo(s, "HugePages_Free");
  if (alloc && s.in_container() && free && *free > 0) {
    return judged(s, with(found(Certainty::kLikely, 65,
                                "UCX takes huge pages that the node has free and the container may not use",
                                {s.failure_evidence(), cite(alloc->source)}),
                          {no_huge_alloc()}));
  }
  if (alloc) return candidate(50, "UCX allocates from huge pages here, which a cgroup may forbid", kDecide);
  if (s.incident->first.library != "ucx" || !s.in_container()) return not_applicable();
  return candidate(40, "UCX tries huge pages first, which a pod without such a resource may map but not touch",
                   kDecide);
}

// --- PD606, PD607 --------------------------------------------------------------------------------------------------

std::optional<std::string_view> odd_mapping(const Situation& s) {
  for (const std::string_view word : {"/dev/mem", "/dev/dax", "/dev/pmem", "fsdax", "dax=", "devdax", "pfnmap",
                                      "gdrdrv", "gdr_map", "gdrcopy", "xpmem", "secretmem", "vm_io"}) {
    if (log_says(s, word)) return word;
  }
  return std::nullopt;
}

/// The shown line of /proc/PID/maps that holds the failing address.
const Mapping* mapping_of(const Situation& s) {
  const auto address = s.incident->first.address;
  if (!address) return nullptr;
  for (const Mapping& mapping : s.facts->mappings) {
    if (*address >= mapping.start && *address < mapping.end) return &mapping;
  }
  return nullptr;
}

/// The only shown mapping, where the failing address is not known: read-only, and so worth a look.
const Mapping* lone_read_only(const Situation& s) {
  if (s.incident->first.address || s.facts->mappings.size() != 1) return nullptr;
  const Mapping& mapping = s.facts->mappings.front();
  return mapping.permissions.size() > 1 && mapping.permissions[1] != 'w' ? &mapping : nullptr;
}

bool is_device_mapping(const Mapping& mapping) {
  return mapping.path.starts_with("/dev/") && !mapping.path.starts_with("/dev/shm/") &&
         !mapping.path.starts_with("/dev/zero");
}

Remedy ordinary_memory() {
  return {
      "ordinary-memory",
      "register ordinary memory instead and copy, or hand the buffer over as dma-buf where its driver can; the mapping "
      "shows which memory it is",
      {"cat /proc/PID/maps   # the line that holds the address"},
      false,
      ""};
}

Outcome unpinnable_mapping(const Situation& s) {
  if (!first_is(s, {Kind::kRegMr}) || s.memory() == MemoryType::kGpu) return not_applicable();
  if (!s.has_errno(EFAULT) && !s.has_errno(EOPNOTSUPP)) return not_applicable();
  if (const Mapping* mapping = mapping_of(s); mapping && is_device_mapping(*mapping)) {
    return judged(s, with(found(Certainty::kLikely, 80,
                                fmt::format("the buffer is a mapping of {}, which the kernel does not pin",
                                            escape(mapping->path, 80)),
                                {s.failure_evidence(), cite(mapping->source)}),
                          {ordinary_memory()}));
  }
  if (const auto word = odd_mapping(s)) {
    return judged(s, with(found(Certainty::kLikely, 72,
                                fmt::format("the buffer is a mapping that the kernel does not pin ({})", *word),
                                {s.failure_evidence()}),
                          {ordinary_memory()}));
  }
  static constexpr const char* kDecide = "cat /proc/PID/maps   # what backs the address: /dev/…, a DAX file, r--s?";
  if (s.memory() == MemoryType::kHost)
    return candidate(35, "host memory that cannot be pinned: a device mapping or DAX file", kDecide);
  if (s.gpu_possible()) return not_applicable();
  return candidate(20, "a device mapping or DAX file cannot be pinned", kDecide);
}

Outcome read_only_mapping(const Situation& s) {
  if (!first_is(s, {Kind::kRegMr}) || !s.has_errno(EFAULT) || s.memory() == MemoryType::kGpu) return not_applicable();
  if (const Mapping* mapping = mapping_of(s); mapping && mapping->permissions[1] != 'w') {
    return judged(s, found(Certainty::kLikely, 85, "the buffer is a read-only mapping, registered for writing",
                           {s.failure_evidence(), cite(mapping->source, "permissions " + mapping->permissions)}));
  }
  static constexpr const char* kDecide = "grep -e ' r--p' -e ' r--s' /proc/PID/maps   # is the address in one of them?";
  if (const Mapping* mapping = lone_read_only(s)) {
    return candidate(60, fmt::format("the mapping that is shown may not be written to: {}", escape(mapping->path, 60)),
                     "UCX_LOG_LEVEL=info or RUST_LOG=debug prints the address; is it in that mapping?");
  }
  for (const std::string_view word : {"read-only", "read only", "readonly", "PROT_READ", "r--s", "r--p"}) {
    if (log_says(s, word)) return candidate(45, fmt::format("the log speaks of a mapping that is '{}'", word), kDecide);
  }
  if (s.gpu_possible()) return not_applicable();
  return candidate(30, "a read-only mapping registered for writing gives EFAULT", kDecide);
}

// --- PD608 ---------------------------------------------------------------------------------------------------------

Outcome caller_bug(const Situation& s) {
  if (!buffer_failed(s)) return not_applicable();
  const Event& first = s.incident->first;
  const bool null_address = first.address && *first.address == 0;
  const bool whole_space = null_address && first.length && *first.length == ~std::uint64_t{0};
  if (whole_space && on_demand(first))
    return ruled_out("address 0 with the greatest length asks for implicit on-demand paging; it is no mistake");
  if (whole_space && !access_flags(first)) {
    return candidate(35, "address 0 with the greatest length is a mistake, or implicit on-demand paging (access 0x40)",
                     "UCX_LOG_LEVEL=info prints access=, and the same job again");
  }
  std::string what;
  if (null_address) {
    what = "address 0";
  } else if (first.length && *first.length == 0) {
    what = "length 0";
  } else if (first.length && *first.length > kAbsurdLength) {
    what = fmt::format("a length of {}", format_size(*first.length));
  }
  if (what.empty()) {
    if (!first.address || !first.length || !(s.has_errno(EFAULT) || s.has_errno(EINVAL))) return not_applicable();
    return ruled_out(fmt::format("address {:#x} and length {} look sane", *first.address, grouped(*first.length)));
  }
  return judged(s, with(found(Certainty::kLikely, 85, fmt::format("the library asked to register {}", what),
                              {s.failure_evidence()}),
                        {{"upgrade-library",
                          "upgrade the library that made the call, and report it there with a stack",
                          {"pip list 2>/dev/null | grep -i -e nccl -e ucx -e nixl -e mooncake -e nvshmem"},
                          true,
                          "NCCL_DEBUG=INFO UCX_LOG_LEVEL=info, and the same job again"}}));
}

// --- the pages -----------------------------------------------------------------------------------------------------

constexpr Check kTable[] = {
    {"PD601",
     "kho-cma",
     Severity::kError,
     "kexec handover turned memory into CMA that can't be pinned for long",
     {"Registration fails with ENOMEM although the locked-memory limit is unlimited, gigabytes are free and the kernel "
      "log is silent. It comes and goes with memory pressure; a second start may work. Raising memlock changes "
      "nothing.",
      "Kexec handover (KHO) reserves scratch memory at boot and gives it to the page allocator as CMA pageblocks: "
      "kho_init() calls init_cma_reserved_pageblock() for them (kernel/kexec_handover.c from 6.16, kernel/liveupdate "
      "later). A long-term pin may not stay in CMA, so pin_user_pages_fast() first moves the pages out (mm/gup.c, "
      "migrate_longterm_unpinnable_folios()), and when there is nowhere to move them to it returns -ENOMEM to "
      "ib_umem_get(). The kernels 7.0 that Ubuntu and NVIDIA build for arm64 (DGX Spark, GB10) switch KHO on by "
      "default; about 9.3 GiB were seen. These pageblocks count in CmaFree but belong to no CMA area, so CmaTotal does "
      "not know them (public reports: NVIDIA/NV-Kernels 590 and 591).\n\nNot the cause, whatever is recommended "
      "elsewhere: vm.overcommit_memory is consulted by mmap and brk, never when pinning; fragmentation does not matter "
      "because ib_umem_get() pins single pages and needs none of them contiguous; mlx5_core has no log_num_qp or "
      "log_num_mtt.",
      "ENOMEM on host memory with CmaFree above CmaTotal, which nothing else produces. With a 7.0 kernel of that kind "
      "and no meminfo it stays a candidate. kho=off on the command line, sane CMA numbers or a kernel before 6.16 rule "
      "it out.",
      "Boot with kho=off. Only live update over kexec loses by it; check that kdump still works. Or use a kernel with "
      "KHO off by default, or 6.17 of the same vendor. Debian and Ubuntu: add kho=off inside the quotes of "
      "GRUB_CMDLINE_LINUX, run update-grub, reboot:\n\n    grep -n '^GRUB_CMDLINE_LINUX' /etc/default/grub\n\nRHEL "
      "and Fedora, then reboot:\n\n    grubby --update-kernel=ALL --args=kho=off\n\nAfter the reboot:\n\n    grep -o "
      "'kho=off' /proc/cmdline\n    grep -i cma /proc/meminfo\n\nUntil the reboot, leaving more host or unified memory "
      "free makes it rarer.",
      "No job on this machine registers much memory while RAM is nearly full."},
     kho_cma},
    {"PD602",
     "cma-movable-pin-failure",
     Severity::kError,
     "pages could not be moved out of CMA or the movable zone to be pinned",
     {"A large part of this machine's memory may only hold pages that can be moved. To register a buffer there the "
      "kernel has to move it elsewhere first, and that failed with ENOMEM although memory is free.",
      "mm/gup.c refuses long-term pins in CMA pageblocks and ZONE_MOVABLE and migrates such pages "
      "(migrate_longterm_unpinnable_folios()). Migration fails when the remaining zones are full or a page "
      "is held for the moment, and the caller sees -ENOMEM. Such memory comes from cma=, movablecore=, kernelcore=, "
      "movable_node and memory that was hot-plugged as online_movable.",
      "ENOMEM on host memory, the limit shown not to refuse, and at least a quarter of RAM in CMA; with less, or with "
      "a movable zone on the command line, it stays a candidate. A small CmaTotal and a plain command line rule it "
      "out.",
      "See whether migration failures grow during one failing run, then shrink the movable part:\n\n    grep "
      "pgmigrate_fail /proc/vmstat\n    grep -i cma /proc/meminfo\n    grep -o -e 'cma=[^ ]*' -e 'movablecore=[^ ]*' "
      "-e 'kernelcore=[^ ]*' -e movable_node /proc/cmdline\n    grep -A 12 'zone *Movable' /proc/zoneinfo | grep -e "
      "Node -e present",
      "pgmigrate_fail stands still during the failure."},
     cma_movable},
    {"PD603",
     "max-map-count",
     Severity::kError,
     "the process has as many mappings as vm.max_map_count allows",
     {"After many registrations one more fails with ENOMEM, with memlock unlimited and nothing in the kernel log. The "
      "process has run out of mappings, not of memory.",
      "Pinning itself never looks at vm.max_map_count. Fork protection does: with RDMAV_FORK_SAFE or IBV_FORK_SAFE "
      "set, or after ibv_fork_init(), libibverbs calls madvise(MADV_DONTFORK) on every buffer before registering it "
      "(ibv_dontfork_range(), rdma-core libibverbs/memory.c), and each call may split a mapping. __split_vma() fails "
      "at sysctl_max_map_count (mm/vma.c or mm/mmap.c; 65,530 by default). rdma-core from v35 makes ibv_fork_init() do "
      "nothing where the kernel reports copy-on-fork (absent in 5.10, present in 6.1). UCX and others may call madvise "
      "themselves.\n\nSo raising it helps only with fork protection and a count near the ceiling. Overcommit settings "
      "and memory fragmentation have no part in it, and mlx5_core's supposed log_num_qp does not exist.",
      "Lines of /proc/PID/maps within two percent of vm.max_map_count (65,530 is assumed if the setting is not known); "
      "proven together with a fork protection variable and a cleared limit. A count far below rules it out, and the "
      "report prints it.",
      "Raise it at once and for good; drop fork protection where the kernel copies pinned pages on fork (6.1 does, "
      "5.10 "
      "does not):\n\n    wc -l /proc/PID/maps\n    sysctl -w vm.max_map_count=1048576\n    echo "
      "'vm.max_map_count = 1048576' > /etc/sysctl.d/90-pindown-max-map-count.conf\n    unset RDMAV_FORK_SAFE "
      "IBV_FORK_SAFE",
      "The count is high by design (a JVM, a database) and the job does not use fork protection."},
     max_map_count},
    {"PD604",
     "fork-safe-hugepages",
     Severity::kError,
     "fork protection is on and the buffer lies in huge pages",
     {"Registration of a buffer in huge pages fails with EINVAL because libibverbs protects it in units of ordinary "
      "pages.",
      "With fork protection libibverbs calls madvise(MADV_DONTFORK) with the system page size; on a hugetlb mapping "
      "the kernel wants multiples of the huge page and returns EINVAL. RDMAV_HUGEPAGES_SAFE makes it look up the page "
      "size of each range in /proc/self/smaps (rdma-core libibverbs/memory.c, get_page_size()). UCX adds the hint "
      "'Application is using HUGE pages. Please set environment variable RDMAV_HUGEPAGES_SAFE=1' to EINVAL.",
      "That hint, or EINVAL on host memory with RDMAV_FORK_SAFE or IBV_FORK_SAFE set and huge pages in use. "
      "RDMAV_HUGEPAGES_SAFE being set rules it out.",
      "Set it for every rank before the program starts, or leave fork protection off:\n\n    export "
      "RDMAV_HUGEPAGES_SAFE=1\n    unset RDMAV_FORK_SAFE IBV_FORK_SAFE",
      "The buffer is GPU memory: see PD403 and PD405 for EINVAL there."},
     fork_hugepages},
    {"PD605",
     "hugetlb-cgroup",
     Severity::kError,
     "the cgroup allows no huge pages, so the buffer could not be touched",
     {"The library took huge pages that the node has, but the container may not use. The mapping succeeded; when "
      "registration touched it the kernel said EFAULT. Elsewhere the same ends in SIGBUS.",
      "mmap(MAP_HUGETLB) only reserves; the hugetlb cgroup is charged at the fault (mm/hugetlb.c, "
      "hugetlb_cgroup_charge_cgroup()) and a refusal is VM_FAULT_SIGBUS, which pin_user_pages_fast() returns as "
      "-EFAULT. Kubernetes sets hugetlb.2MB.max to 0 for pods that ask for no huge pages. UCX's receive pools try "
      "'huge' first by default (public report: openucx 8999).",
      "EFAULT on host memory with a hugetlb limit of 0, or below the buffer's length, in the cgroup; or UCX told to "
      "use huge pages in a container while the node has some free. A sufficient limit rules it out. Missing peer "
      "memory (PD401) is not meant: the buffer is on the host.",
      "Ask for the resource in the pod (hugepages-2Mi in limits), or keep UCX from huge pages:\n\n    cat "
      "/sys/fs/cgroup/hugetlb.2MB.max\n    export UCX_ALLOC_PRIO=md:sysv,md:posix,thp,md:*,mmap,heap\n    export "
      "UCX_RC_MLX5_ALLOC=thp,md,mmap,heap\n    export UCX_UD_MLX5_ALLOC=thp,md,mmap,heap",
      "The failing buffer is GPU memory."},
     hugetlb_cgroup},
    {"PD606",
     "unpinnable-mapping",
     Severity::kError,
     "the buffer is a mapping that the kernel does not pin",
     {"The address is valid for the program, but there are no ordinary pages behind it: device memory, a DAX file, "
      "another process's memory or a GPU window. Such a range cannot be registered the plain way.",
      "check_vma_flags() in mm/gup.c returns -EFAULT for VM_IO and VM_PFNMAP (/dev/mem, gdr_map() of gdrcopy, XPMEM "
      "attachments) and for secretmem; a long-term pin of a filesystem DAX file is -EOPNOTSUPP because the file system "
      "could not move its blocks any more; a writable mapping of a file on a file system that tracks dirty pages is "
      "-EFAULT too (5.10 to 7.2, details differ).",
      "EFAULT or EOPNOTSUPP on host memory, likely when the log names /dev/mem, DAX, gdrcopy, XPMEM or a PFN map. "
      "NCCL's plain ibv_reg_mr with [RO] in its NET/IB line is always a host buffer.",
      "See what backs the address, and register ordinary memory instead. For persistent memory use devdax, or ODP "
      "where the adapter has it:\n\n    cat /proc/PID/maps\n    ibv_devinfo -v | grep -i -e odp -e general_odp",
      "The address belongs to a GPU: then PD401, PD403 or PD404."},
     unpinnable_mapping},
    {"PD607",
     "read-only-mapping",
     Severity::kError,
     "a read-only mapping was registered with write access",
     {"The program registered memory that it may only read (a model file mapped read-only, say) and asked for local or "
      "remote write access.",
      "ib_umem_get() pins with FOLL_WRITE unless the access flags are read-only (drivers/infiniband/core/umem.c); "
      "check_vma_flags() answers -EFAULT when the mapping is not writable. Older kernels passed FOLL_FORCE and broke "
      "copy-on-write instead; 6.x no longer does. A shared file that was opened read-only fails even for read access. "
      "With a locked-memory limit that is too low the answer is ENOMEM: the limit comes first.",
      "EFAULT on host memory, and a read-only line of /proc/PID/maps that holds the failing address. Without the "
      "address "
      "or the maps only a candidate, stronger when the log speaks of a read-only mapping: the mapping's flags decide.",
      "Look the address up; map the file writable and private, copy it, or register with read access only:\n\n    grep "
      "-e ' r--p' -e ' r--s' /proc/PID/maps",
      "The address is not in a read-only mapping."},
     read_only_mapping},
    {"PD608",
     "caller-bug",
     Severity::kError,
     "the library asked to register a range that cannot exist",
     {"The address is null, the length is zero, or it is larger than any address space. The kernel is right to refuse; "
      "the library above made a mistake, often after an allocation of its own had failed.",
      "ib_umem_get() returns EINVAL for a length of 0, for an address that wraps and for 2^32 pages or more "
      "(drivers/infiniband/core/umem.c, 5.10 to 7.2), and EFAULT for an unmapped address. Address 0 with the greatest "
      "length is different if the access flags have 0x40: it asks for implicit on-demand paging.",
      "The address or length that the failing line itself prints. Sane values rule it out.",
      "Upgrade the library that made the call. Look one screen up in its log for an allocation that failed first:\n\n  "
      "  pip list 2>/dev/null | grep -i -e nccl -e ucx -e nixl -e mooncake -e nvshmem",
      "The line prints no real address, only a placeholder."},
     caller_bug},
};
static_assert(all_well_formed(kTable));

}  // namespace

std::span<const Check> memory_checks() {
  return kTable;
}

}  // namespace pindown
