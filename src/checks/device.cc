// SPDX-License-Identifier: Apache-2.0
// PD5xx: the RDMA device, its firmware or its driver said no. Each row has its page and the function that recognises
// it. Entry point: device_checks. Must not: read files, or blame the device where the locked-memory limit is shown to
// have refused.
#include <errno.h>
#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

#include "base/size.h"
#include "checks/check.h"
#include "checks/look.h"

namespace pindown {
namespace {

using namespace look;

constexpr std::array<std::uint64_t, 3> kSiwUsesUmem = {6, 8, 0};        // 476b7c7e00ec, merged for 6.8
constexpr std::array<std::uint64_t, 3> kEfaSyncMemopsFix = {1, 29, 1};  // EFA installer
constexpr std::array<std::uint64_t, 3> kNcclCuMemDefault = {2, 19, 0};
constexpr std::uint64_t kNoSuchLength = std::uint64_t{1} << 46;  // more than any address space holds: see PD608

constexpr std::string_view kLimitFirst =
    "the request alone exceeds the locked-memory limit, which the kernel checks before it asks the device";

bool device_starts_with(const Situation& s, std::string_view prefix) {
  return device_name(s).starts_with(prefix);
}

std::string device_or(const Situation& s, std::string_view fallback) {
  const std::string name = device_name(s);
  return name.empty() ? std::string(fallback) : escape(name, 40);
}

// --- PD501 ---------------------------------------------------------------------------------------------------------

constexpr std::uint64_t kPage = 4096;
constexpr unsigned kEntriesPerSegment = 3;  // mlx4_core's log_mtts_per_seg where nobody sets it

/// log_num_mtt + log_mtts_per_seg such that 2^sum pages are at least twice the RAM.
unsigned mtt_sum(std::uint64_t ram) {
  unsigned sum = 0;
  while (sum < 40 && (kPage << sum) < 2 * ram) ++sum;
  return sum;
}

Remedy raise_mtt(const Situation& s) {
  Remedy r = {"mlx4-mtt", {}, {}, true, "grep -H . /sys/module/mlx4_core/parameters/log_*mtt*"};
  constexpr const char* kOptions = "echo \"options mlx4_core log_num_mtt={} log_mtts_per_seg={}\" > {}";
  constexpr const char* kFile = "/etc/modprobe.d/90-pindown-mlx4.conf";
  const auto total = s.facts->meminfo.bytes.find("MemTotal");
  if (total != s.facts->meminfo.bytes.end() && total->second < (std::uint64_t{1} << 50)) {
    const unsigned sum = std::max(mtt_sum(total->second), 20 + kEntriesPerSegment);
    r.title = fmt::format(
        "let mlx4_core map twice the machine's {}: log_num_mtt + log_mtts_per_seg = {} (2^{} pages of 4 KiB are {}); "
        "then reboot",
        format_size(total->second), sum, sum, format_size(kPage << sum));
    r.commands = {fmt::format(fmt::runtime(kOptions), sum - kEntriesPerSegment, kEntriesPerSegment, kFile)};
  } else {
    r.title =
        "let mlx4_core map twice the RAM: 2^(log_num_mtt + log_mtts_per_seg) x 4096 bytes must reach that; then reboot";
    r.commands = {"N=$(awk '/^MemTotal/ { n = 0; while (2 ^ n * 4096 < 2048 * $2) n++; print n }' /proc/meminfo)",
                  fmt::format(fmt::runtime(kOptions), "$((N - 3))", kEntriesPerSegment, kFile)};
  }
  r.commands.push_back("update-initramfs -u || dracut -f");
  return r;
}

/// Open MPI's sum is wrong for drivers that scale the table themselves.
Remedy mtt_false_alarm() {
  return {"mlx4-mtt-false-alarm",
          "first see whether it is a false alarm: without a log_num_mtt parameter (upstream's mlx4_core) the driver "
          "scales the table to twice the RAM itself, and Open MPI's sum is too low",
          {"modinfo -p mlx4_core | grep mtt"},
          false,
          ""};
}

/// Open MPI's own sum ("4096 MiB" in its help text), or VMA's line.
Outcome registerable_low(const Situation& s, const Event& first) {
  std::string summary = "the adapter is low on memory translation (MTT) entries";
  if (first.library == "openmpi") {
    const auto size = parse_size(first.detail);
    summary = fmt::format("Open MPI reckons that the adapter can map only {} of this machine's memory",
                          size ? format_limit(*size) : std::string("a part"));
  }
  std::vector<Evidence> evidence = {cite(first)};
  if (&first != &s.incident->first) evidence.push_back(s.failure_evidence());
  const bool warning_only = &first == &s.incident->first && (s.incident->continued || s.incident->echoes.empty());
  return with(at_severity(found(Certainty::kLikely, 90, std::move(summary), std::move(evidence)),
                          warning_only ? Severity::kWarning : Severity::kError),
              first.library == "openmpi" ? std::vector{mtt_false_alarm(), raise_mtt(s)} : std::vector{raise_mtt(s)});
}

/// The warning that came with a failed registration, where nothing speaks for the limit.
const Event* registerable_warning(const Situation& s) {
  if (!s.registration() || !s.enomem_possible() || limits::blamed(s)) return nullptr;
  for (const Event& echo : s.incident->echoes) {
    if (echo.kind == Kind::kRegisterableLow) return &echo;
  }
  return nullptr;
}

Outcome translation_table(const Situation& s) {
  if (first_is(s, {Kind::kRegisterableLow})) return registerable_low(s, s.incident->first);
  if (const Event* low = registerable_warning(s)) return registerable_low(s, *low);
  const bool blames_limit = first_is(s, {Kind::kMemlockWarning}) && device_starts_with(s, "mlx4");
  if (blames_limit && limits::standing(s) == limits::Standing::kPossible) {
    return candidate(60,
                     "the limit the library blames is generous; mlx4 adapters also fail when their MTT table is full",
                     "grep -H . /sys/module/mlx4_core/parameters/log_*mtt*");
  }
  if (!buffer_failed(s) || !s.enomem_possible()) return not_applicable();
  const bool named = says(s.incident->first, "mtt entries") || says(s.incident->first, "low mtt");
  auto kernel = kernel_line(s, {"mlx4", "mtt"});
  if (!kernel) kernel = kernel_line(s, {"low mtt"});
  if (named || kernel) {
    std::vector<Evidence> evidence = {s.failure_evidence()};
    if (kernel) evidence.push_back(kernel->evidence);
    return judged(
        s, with(found(Certainty::kLikely, 90, "the adapter ran out of memory translation (MTT) entries", evidence),
                {raise_mtt(s)}));
  }
  if (device_starts_with(s, "mlx5")) {
    return ruled_out(fmt::format("{} is an mlx5 device: mlx5_core has no log_num_mtt, log_mtts_per_seg or log_num_qp",
                                 device_name(s)));
  }
  if (!device_starts_with(s, "mlx4")) return not_applicable();
  if (limit_proven(s)) return ruled_out(std::string(kLimitFirst));
  if (limits::blamed(s)) return not_applicable();
  if (s.limit_cleared()) {
    return judged(
        s, with(found(Certainty::kLikely, 60,
                      fmt::format("{} is an mlx4 adapter and the memory limit did not refuse: its MTT table is full",
                                  device_name(s)),
                      {s.failure_evidence()}),
                {raise_mtt(s)}));
  }
  return candidate(35, "mlx4 adapters map only as much memory as their MTT table was made for",
                   "grep -H . /sys/module/mlx4_core/parameters/log_*mtt*");
}

// --- PD502 ---------------------------------------------------------------------------------------------------------

Remedy split_buffer() {
  return {"split-buffer",
          "register the buffer in pieces below max_mr_size (Mooncake: smaller global_segment_size, or a newer version)",
          {"ibv_devinfo -v | grep -e hca_id -e max_mr_size"},
          true,
          "ibv_devinfo -v | grep max_mr_size"};
}

/// bnxt_re_reg_user_mr (hw/bnxt_re/ib_verbs.c) logs both numbers before it answers ENOMEM.
std::optional<Outcome> driver_says_too_large(const Situation& s) {
  if (!buffer_failed(s) || !s.run) return std::nullopt;
  for (const Event& event : s.run->kernel) {
    if (event.kind != Kind::kDriverMessage || !event.detail.starts_with("Max supported:") || unrelated(s, event))
      continue;
    if (s.incident->first.length && s.incident->first.length != event.length) continue;
    const auto most = parse_u64(std::string_view(event.detail).substr(14));
    return judged(s, with(found(Certainty::kLikely, 90,
                                fmt::format("{} asked in one region, {} takes at most {}", format_size(*event.length),
                                            escape(event.device, 40), format_size(most.value_or(0))),
                                {s.failure_evidence(), cite(event)}),
                          {split_buffer()}));
  }
  return std::nullopt;
}

Outcome mr_too_large(const Situation& s) {
  const RdmaDevice* device = device_of(s);
  const bool known = device && device->max_mr_size;
  if (first_is(s, {Kind::kMrTooLarge})) {
    std::vector<Evidence> evidence = {s.failure_evidence()};
    if (known) evidence.push_back(cite(device->max_mr_size.source));
    const std::string most = known ? fmt::format(" ({})", format_size(*device->max_mr_size)) : std::string();
    return judged(
        s, with(found(known ? Certainty::kProven : Certainty::kLikely, 92,
                      fmt::format("one buffer is larger than {} takes in one region{}; the error text after it is "
                                  "left over from an older call",
                                  device_or(s, "the device"), most),
                      evidence),
                {split_buffer()}));
  }
  if (auto told = driver_says_too_large(s)) return *told;
  if (!buffer_failed(s) || !known || !s.incident->first.length) return not_applicable();
  const std::uint64_t asked = *s.incident->first.length;
  if (asked <= *device->max_mr_size) {
    return ruled_out(fmt::format("{} asked, {} takes up to {} in one region", format_size(asked),
                                 device_or(s, "the device"), format_size(*device->max_mr_size)));
  }
  if (asked > kNoSuchLength) return not_applicable();
  return judged(s, with(found(Certainty::kLikely, 85,
                              fmt::format("{} asked in one region, {} takes at most {}", format_size(asked),
                                          device_or(s, "the device"), format_size(*device->max_mr_size)),
                              {s.failure_evidence(), cite(device->max_mr_size.source)}),
                        {split_buffer()}));
}

// --- PD503 ---------------------------------------------------------------------------------------------------------

bool efa_signs(const Situation& s) {
  const std::string device = device_name(s);
  return icontains(device, "efa") || device.starts_with("rdmap") || says(s.incident->first, ":efa:") ||
         says(s.incident->first, "EFA ") || s.facts->versions.contains("efa_installer") ||
         kernel_event(s, Kind::kEfaCommand);
}
bool through_libfabric(const Situation& s) {
  const std::string& library = s.incident->first.library;
  return library == "libfabric" || library == "aws-ofi-nccl";
}

Remedy fewer_efa_pages() {
  return {"efa-hugepages",
          "back large buffers with huge pages, cap the registration cache, attach every EFA interface of the instance",
          {"export FI_EFA_USE_HUGE_PAGE=1", "export FI_EFA_MR_MAX_CACHED_COUNT=1024"},
          false,
          "dmesg | grep -i efa"};
}

/// Devices are called efa_0 or, renamed by udev, rdmap0s6: the wording alone is the driver's (efa_com.c).
std::optional<Evidence> efa_refusal(const Situation& s) {
  const Event* event = kernel_event(s, Kind::kEfaCommand);
  if (event && event->verb == "REG_MR") return cite(*event);
  const auto line = kernel_line(s, {"efa", "REG_MR"});
  return line ? std::optional(line->evidence) : std::nullopt;
}

Outcome efa_quota(const Situation& s) {
  if (!buffer_failed(s) || !s.enomem_possible()) return not_applicable();
  if (without_verbs(s)) return not_applicable();  // another provider's device
  if (const auto kernel = efa_refusal(s)) {
    return judged(
        s, with(found(Certainty::kLikely, 88, "the EFA device itself refused REG_MR: one of its quotas is used up",
                      {s.failure_evidence(), *kernel}),
                {fewer_efa_pages()}));
  }
  if (!through_libfabric(s)) return not_applicable();
  if (limit_proven(s)) return ruled_out(std::string(kLimitFirst));
  if (limits::blamed(s)) return not_applicable();
  const bool counts = says(s.incident->first, "mr reg count");
  if (s.limit_cleared() && (counts || efa_signs(s))) {
    return judged(s, with(found(Certainty::kLikely, counts ? 78 : 70,
                                "locked memory is not the limit here; EFA devices also cap pages and regions",
                                {s.failure_evidence()}),
                          {fewer_efa_pages()}));
  }
  return candidate(counts || efa_signs(s) ? 45 : 20, "EFA devices cap the pages and regions they register",
                   "dmesg | grep -i efa");
}

// --- PD504 ---------------------------------------------------------------------------------------------------------

Remedy cap_regions() {
  return {"cap-registration-cache",
          "cap the registration caches and look for regions that are never released",
          {"export UCX_IB_RCACHE_MAX_REGIONS=1000", "rdma resource show mr"},
          false,
          "rdma resource show"};
}

Outcome region_count(const RdmaDevice& device) {
  const std::uint64_t count = *device.mr_count;
  const std::uint64_t most = *device.max_mr;
  if (!nearly_full(count, most)) {
    return ruled_out(
        fmt::format("{} holds {} of {} memory regions", escape(device.name, 40), grouped(count), grouped(most)));
  }
  return with(found(Certainty::kLikely, 82,
                    fmt::format("{} holds {} of at most {} memory regions", escape(device.name, 40), grouped(count),
                                grouped(most)),
                    {cite(device.mr_count.source), cite(device.max_mr.source)}),
              {cap_regions()});
}

/// The kernel logged a refusal, but not of the failing thread, and the limit explains the failure as well.
Outcome beside_limit(std::string decide) {
  return candidate(45, "the kernel log has a refusal by the adapter, but of another process or time",
                   std::move(decide));
}

/// The kernel's own line, of a key made at once or ahead of its use (create_mkey_callback, hw/mlx5/mr.c). The
/// firmware's "no resources" (0xf) becomes EAGAIN, "limits exceeded" (0x8) ENOMEM (cmd_status_to_err, mlx5/core/cmd.c).
std::optional<KernelLine> refused_key(const Situation& s) {
  if (s.incident && s.has_errno(EAGAIN)) return kernel_line(s, {"CREATE_MKEY", "no resources"});
  auto kernel = kernel_line(s, {"CREATE_MKEY", "limits exceeded"});
  return kernel ? kernel : kernel_line(s, {"async reg mr failed", "-12"});
}

/// EAGAIN without the kernel's line: beside the rdma cgroup (PD508) only mlx5's firmware answers it.
Outcome firmware_busy(const Situation& s) {
  const std::string device = device_name(s);
  if (!device.empty() && !device.starts_with("mlx5") && !device.starts_with("ib") && !device.starts_with("roce"))
    return not_applicable();
  return candidate(40, "an mlx5 adapter whose firmware is out of resources (0xf) answers EAGAIN, which is rare",
                   "dmesg | grep -e 'mlx5_cmd.*no resources'");
}

/// Live: a device whose regions are nearly used up, or a note that its firmware refused one since boot.
Outcome regions_live(const Situation& s) {
  Outcome last;
  for (const auto& [key, device] : s.facts->devices) {
    if (!device.mr_count || !device.max_mr) continue;
    Outcome one = region_count(device);
    if (one.kind == Outcome::Kind::kFound) return at_severity(std::move(one), Severity::kWarning);
    last = std::move(one);
  }
  if (const auto kernel = refused_key(s)) {
    return at_severity(found(Certainty::kPossible, 40, "since boot the adapter has once run out of memory regions",
                             {kernel->evidence}),
                       Severity::kNote);
  }
  return last;
}

Outcome mr_count_exhausted(const Situation& s) {
  if (s.kind == SubjectKind::kMachine) return regions_live(s);
  if (!buffer_failed(s)) return not_applicable();
  const auto kernel = refused_key(s);
  if (s.has_errno(EAGAIN) && !kernel) return firmware_busy(s);
  if (!s.enomem_possible() && !s.has_errno(EAGAIN)) return not_applicable();
  if (kernel && !kernel_leads(s, *kernel)) return beside_limit("dmesg | grep CREATE_MKEY");
  if (kernel) {
    return judged(
        s, with(found(Certainty::kLikely, kernel->event ? 88 : 75,
                      fmt::format("{} has no {} left: its firmware refused CREATE_MKEY", device_or(s, "the adapter"),
                                  s.has_errno(EAGAIN) ? "resources for another memory region" : "memory region"),
                      {s.failure_evidence(), kernel->evidence}),
                {cap_regions()}));
  }
  const RdmaDevice* device = device_of(s);
  if (device && device->mr_count && device->max_mr) {
    Outcome out = region_count(*device);
    if (out.kind == Outcome::Kind::kFound) out.evidence.insert(out.evidence.begin(), s.failure_evidence());
    return judged(s, std::move(out));
  }
  if (!s.limit_unlikely()) return not_applicable();
  return candidate(30, "every registration takes one memory key, and an adapter has only so many",
                   "dmesg | grep -e CREATE_MKEY -e 'async reg mr'; rdma resource show");
}

// --- PD505 ---------------------------------------------------------------------------------------------------------

Remedy larger_uar_bar(const Situation& s) {
  const std::string device = limits::safe_word(device_starts_with(s, "mlx5") ? device_name(s) : "", "mlx5_0");
  return {"uar-bar",
          "start fewer processes on the node, or double the adapter's UAR space and reboot",
          {fmt::format("BDF=$(basename \"$(readlink /sys/class/infiniband/{}/device)\")", device),
           "N=$(mlxconfig -d \"$BDF\" query PF_LOG_BAR_SIZE | awk '/PF_LOG_BAR_SIZE/ { print $NF }')",
           "mlxconfig -d \"$BDF\" set PF_LOG_BAR_SIZE=$((N + 1))"},
          true,
          "dmesg | grep ALLOC_UAR"};
}

std::vector<Remedy> uar_remedies(const Situation& s) {
  Remedy fewer = {"fewer-processes", "start fewer processes on the node, or let them share a transport", {}, false, ""};
  const std::string name = device_name(s);
  if (!name.empty() && !name.starts_with("mlx5")) return {std::move(fewer)};  // mlxconfig is for NVIDIA adapters
  return {larger_uar_bar(s)};
}

Outcome uar_exhausted(const Situation& s) {
  if (!first_is(s, {Kind::kOpenDevice, Kind::kCreateQueue, Kind::kAllocPd})) return not_applicable();
  const bool opening = s.failure() == Kind::kOpenDevice;
  const auto kernel = kernel_line(s, {"ALLOC_UAR"});
  if (kernel && !kernel_leads(s, *kernel)) return beside_limit("dmesg | grep ALLOC_UAR");
  if (kernel) {
    const bool same = names_failing_thread(s, *kernel);
    const bool proven = same && opening && icontains(kernel->text, "limits exceeded");
    return judged(
        s,
        with(found(proven ? Certainty::kProven : Certainty::kLikely, opening ? 92 : 85,
                   fmt::format("{} has no UAR page left: its firmware refused ALLOC_UAR", device_or(s, "the adapter")),
                   {s.failure_evidence(), kernel->evidence}),
             uar_remedies(s)));
  }
  if (!opening) return not_applicable();
  const bool advised = says(s.incident->first, "PF_LOG_BAR_SIZE");  // uct/ib/mlx5/ib_mlx5.c, for ENOMEM of a UAR
  if (s.has_errno(ENOMEM) &&
      (advised || device_starts_with(s, "mlx5") || s.incident->first.verb.starts_with("mlx5dv_"))) {
    return judged(s,
                  with(found(Certainty::kLikely, advised ? 90 : 75,
                             "opening the device needs no locked memory; ENOMEM there means its UAR pages are used up",
                             {s.failure_evidence()}),
                       uar_remedies(s)));
  }
  if (s.has_errno(ENOMEM)) {
    return candidate(60, "opening a device locks no memory of the process; on mlx5 ENOMEM means no UAR page is left",
                     "dmesg | tail -n 50");
  }
  if (!s.no_errno()) return not_applicable();
  return candidate(20, "with very many processes on a node the adapter runs out of UAR pages",
                   "dmesg | grep ALLOC_UAR");
}

// --- PD506 ---------------------------------------------------------------------------------------------------------

Remedy fewer_queues() {
  return {"fewer-queues",
          "use fewer queue pairs: a shared transport, fewer channels or fewer processes per node",
          {"export UCX_TLS=sm,self,dc_x,ud_x", "export NCCL_IB_QPS_PER_CONNECTION=1", "rdma resource show"},
          false,
          "rdma resource show"};
}

std::optional<KernelLine> queue_refused(const Situation& s) {
  for (const std::string_view verb : {"CREATE_QP", "CREATE_CQ", "CREATE_SRQ", "CREATE_XRC_SRQ"}) {
    const bool again = s.has_errno(EAGAIN);  // see refused_key
    if (auto line = kernel_line(s, {"mlx5", verb, again ? "no resources" : "limits exceeded"})) return line;
    if (auto line = kernel_line(s, {"efa", verb, "Failed to process"})) return line;
  }
  return std::nullopt;
}

/// Whether the counts of the device speak: found, ruled out, or nothing.
std::optional<Outcome> queue_counts(const RdmaDevice& device) {
  std::optional<Outcome> fine;
  for (const auto& [what, count, most] : {std::tuple{"queue pairs", &device.qp_count, &device.max_qp},
                                          std::tuple{"completion queues", &device.cq_count, &device.max_cq}}) {
    if (!*count || !*most) continue;
    const std::string text =
        fmt::format("{} holds {} of {} {}", escape(device.name, 40), grouped(**count), grouped(**most), what);
    if (nearly_full(**count, **most)) {
      return with(found(Certainty::kLikely, 85, text, {cite((*count).source), cite((*most).source)}), {fewer_queues()});
    }
    if (!fine) fine = ruled_out(text);
  }
  return fine;
}

Outcome qp_cq_limit(const Situation& s) {
  if (!s.incident || !s.queue()) return not_applicable();
  const auto kernel = queue_refused(s);
  if (kernel && !kernel_leads(s, *kernel)) return beside_limit("dmesg | grep -e CREATE_QP -e CREATE_CQ");
  if (kernel) {
    return judged(s,
                  with(found(Certainty::kLikely, 92, "the device has no queue left: its firmware refused to make one",
                             {s.failure_evidence(), kernel->evidence}),
                       {fewer_queues()}));
  }
  if (s.has_errno(EAGAIN)) return firmware_busy(s);
  if (!s.enomem_possible()) return not_applicable();
  if (const RdmaDevice* device = device_of(s)) {
    if (auto counted = queue_counts(*device)) return judged(s, std::move(*counted));
  }
  if (limit_proven(s)) return ruled_out(std::string(kLimitFirst));
  if (limits::blamed(s)) return not_applicable();
  if (s.limit_cleared()) {
    // Neither a count nor the firmware's own line: what else answers ENOMEM is as open (mappings, CMA, UAR pages).
    return candidate(60, "locked memory is not what stopped the queue; the device or its firmware may have none left",
                     "dmesg | grep -e CREATE_QP -e CREATE_CQ; rdma resource show; ibv_devinfo -v | grep -e max_qp: -e "
                     "max_cq:");
  }
  return candidate(40, "a device makes only so many queues",
                   "dmesg | grep -e CREATE_QP -e CREATE_CQ; rdma resource show");
}

// --- PD507 ---------------------------------------------------------------------------------------------------------

Remedy fewer_firmware_pages() {
  return {"firmware-pages",
          "register fewer, larger regions on fewer adapters",
          {"export UCX_IB_PCI_RELAXED_ORDERING=auto", "export UCX_IB_RCACHE_MAX_REGIONS=1000"},
          false,
          "grep -H . /sys/kernel/debug/mlx5/*/pages/fw_pages_total"};
}

std::optional<KernelLine> pages_refused(const Situation& s) {
  if (auto line = kernel_line(s, {"mlx5", "give_pages"})) return line;
  if (auto line = kernel_line(s, {"mlx5", "pages_work_handler", "give fail"})) return line;
  return kernel_line(s, {"mlx5", "MANAGE_PAGES"});
}

Outcome firmware_pages(const Situation& s) {
  const auto kernel = pages_refused(s);
  if (s.kind != SubjectKind::kIncident) {
    if (s.kind != SubjectKind::kMachine || !kernel) return not_applicable();
    return at_severity(found(Certainty::kPossible, 40,
                             "since boot the host once had no memory for the adapter's firmware", {kernel->evidence}),
                       Severity::kNote);
  }
  if (first_is(s, {Kind::kHostOom, Kind::kKilled})) {
    if (kernel) {
      return candidate(55, "the adapter's firmware was asking the host for pages when memory ran out",
                       "grep -H . /sys/kernel/debug/mlx5/*/pages/fw_pages_total");
    }
    if (!s.run || !s.run->net_ib) return not_applicable();
    return candidate(20, "many regions on many adapters make the firmware take host memory that no process shows",
                     "grep -H . /sys/kernel/debug/mlx5/*/pages/fw_pages_total");
  }
  if (!kernel ||
      !first_is(s, {Kind::kRegMr, Kind::kRegDmabuf, Kind::kCreateQueue, Kind::kAllocPd, Kind::kOpenDevice})) {
    return not_applicable();
  }
  if (!kernel_leads(s, *kernel)) return beside_limit("dmesg | grep -e give_pages -e MANAGE_PAGES");
  return judged(s, with(found(Certainty::kLikely, 90, "the host had no page left to give to the adapter's firmware",
                              {s.failure_evidence(), kernel->evidence}),
                        {fewer_firmware_pages()}));
}

// --- PD508 ---------------------------------------------------------------------------------------------------------

Remedy raise_rdma_max(const std::string& device) {
  return {
      "rdma-max",
      "raise rdma.max of the job's cgroup (and of its parents), or remove the line that sets it",
      {"CG=/sys/fs/cgroup$(awk -F: '$1 == 0 { print $3 }' /proc/PID/cgroup)   # PID: of the job, on the host",
       fmt::format("echo '{} hca_handle=max hca_object=max' > \"$CG/rdma.max\"", limits::safe_word(device, "mlx5_0"))},
      false,
      "cat \"$CG/rdma.max\" \"$CG/rdma.current\""};
}

struct CgroupUse {
  std::string text;  // "hca_object 2,000 of 2,000"
  bool full = false;
  Source current, most;
};

/// What rdma.max caps on this device; nothing if neither resource has both numbers.
std::vector<CgroupUse> cgroup_use(const RdmaDevice& device) {
  std::vector<CgroupUse> uses;
  auto add = [&](std::string_view name, const Fact<std::uint64_t>& current, const Fact<std::uint64_t>& most) {
    if (!current || !most) return;
    uses.push_back({fmt::format("{} {} of {}", name, grouped(*current), grouped(*most)), *current >= *most,
                    current.source, most.source});
  };
  add("hca_handle", device.cg_current_handle, device.cg_max_handle);
  add("hca_object", device.cg_current_object, device.cg_max_object);
  return uses;
}

Outcome cgroup_full(const RdmaDevice& device, const CgroupUse& use, Certainty certainty) {
  return with(
      found(certainty, 90, fmt::format("the rdma cgroup allows no more on {}: {}", escape(device.name, 40), use.text),
            {cite(use.current), cite(use.most)}),
      {raise_rdma_max(device.name)});
}

Outcome cgroup_live(const Situation& s) {
  for (const auto& [key, device] : s.facts->devices) {
    for (const CgroupUse& use : cgroup_use(device)) {
      if (use.full) return at_severity(cgroup_full(device, use, Certainty::kLikely), Severity::kWarning);
    }
  }
  return not_applicable();
}

/// rdma.max of the job was shown and caps nothing on this device.
const RdmaDevice* uncapped(const Situation& s) {
  const RdmaDevice* device = device_of(s);
  const bool none = device && device->cg_max_handle.missing == Missing::kAbsent && !device->cg_max_handle &&
                    device->cg_max_object.missing == Missing::kAbsent && !device->cg_max_object;
  return none ? device : nullptr;
}

/// EAGAIN with neither a full cap nor a refusal of the firmware in sight: both may still be.
Outcome cgroup_open(const Situation& s) {
  if (const RdmaDevice* device = uncapped(s)) {
    return ruled_out(fmt::format("rdma.max of the job caps nothing on {} ({})", escape(device->name, 40),
                                 device->cg_max_handle.source.path));
  }
  std::string room;
  if (const RdmaDevice* device = device_of(s)) {
    for (const CgroupUse& use : cgroup_use(*device)) room += (room.empty() ? "" : ", ") + use.text;
  }
  const std::string kWhy = "EAGAIN is how the rdma cgroup refuses";
  const std::string decide =
      "CG=/sys/fs/cgroup$(awk -F: '$1 == 0 { print $3 }' /proc/PID/cgroup); grep . $CG/rdma.max $CG/rdma.current; "
      "dmesg "
      "| grep 'no resources'";
  if (room.empty()) return candidate(70, kWhy + "; an mlx5 adapter out of resources answers the same", decide);
  return candidate(45, fmt::format("{}, but there was room when it was counted: {}", kWhy, room), decide);
}

Outcome rdma_cgroup(const Situation& s) {
  if (s.kind == SubjectKind::kMachine) return cgroup_live(s);
  if (!first_is(s, {Kind::kRegMr, Kind::kRegDmabuf, Kind::kCreateQueue, Kind::kAllocPd, Kind::kOpenDevice})) {
    return not_applicable();
  }
  if (!s.has_errno(EAGAIN)) return not_applicable();
  if (const RdmaDevice* device = device_of(s)) {
    for (const CgroupUse& use : cgroup_use(*device)) {
      if (!use.full) continue;
      Outcome out = cgroup_full(*device, use, Certainty::kProven);
      out.evidence.insert(out.evidence.begin(), s.failure_evidence());
      return judged(s, std::move(out));
    }
  }
  const auto firmware = kernel_line(s, {"mlx5", "no resources"});
  if (firmware && names_failing_thread(s, *firmware)) {
    return ruled_out(
        fmt::format("the adapter's firmware refused the call of this process ({})", firmware->evidence.source));
  }
  return cgroup_open(s);
}

// --- PD509 ---------------------------------------------------------------------------------------------------------

Remedy match_userspace() {
  return {"match-rdma-core",
          "use an image whose rdma-core or OFED user space matches the host's kernel driver",
          {"ibv_devices", "ls /sys/class/infiniband_verbs/*/device/driver -d",
           "dpkg -l rdma-core ibverbs-providers 2>/dev/null || rpm -q rdma-core libibverbs"},
          true,
          "ibv_devinfo"};
}
Remedy efa_sync_memops_off() {
  return {"efa-installer",
          "install EFA installer 1.29.1 or newer in the image; until then switch the call off",
          {"export FI_EFA_SET_CUDA_SYNC_MEMOPS=0"},
          false,
          "cat /opt/amazon/efa_installed_packages"};
}

/// libfabric's EFA provider up to installer 1.29.0 fails on GPU memory that NCCL 2.19 and later allocates with cuMem.
Outcome efa_sync_memops(const Situation& s) {
  if (const auto* off = s.env("FI_EFA_SET_CUDA_SYNC_MEMOPS"); off && *off && **off == "0") {
    return ruled_out("FI_EFA_SET_CUDA_SYNC_MEMOPS=0 is set");
  }
  if (s.run && below(s.run->nccl_version, kNcclCuMemDefault)) {
    return ruled_out(
        fmt::format("NCCL {} is older than the change that needs a newer EFA", escape(s.run->nccl_version, 30)));
  }
  const auto at = s.facts->versions.find("efa_installer");
  if (at == s.facts->versions.end() || !at->second) {
    return candidate(55, "the EFA provider before installer 1.29.1 rejects GPU memory of NCCL 2.19 and later",
                     "cat /opt/amazon/efa_installed_packages");
  }
  const std::string version = escape(*at->second, 30);
  if (!below(version, kEfaSyncMemopsFix))
    return ruled_out(fmt::format("EFA installer {} has the fix of 1.29.1", version));
  return judged(
      s, with(found(Certainty::kLikely, 85,
                    fmt::format("EFA installer {} is older than 1.29.1: its provider rejects this GPU memory", version),
                    {s.failure_evidence(), cite(at->second.source)}),
              {efa_sync_memops_off()}));
}

/// A warning at start: a fault unless the job went on.
Outcome driver_missing(const Situation& s) {
  Outcome out = found(Certainty::kLikely, 92, "libibverbs has no usable user-space driver for a device it sees",
                      {s.failure_evidence()});
  return judged(s, with(std::move(out), {match_userspace()}));
}

Outcome userspace_mismatch(const Situation& s) {
  if (first_is(s, {Kind::kDriverMissing})) return driver_missing(s);
  if (first_is(s, {Kind::kRegMr}) && s.has_errno(EINVAL) && s.memory() != MemoryType::kHost && through_libfabric(s)) {
    return efa_sync_memops(s);
  }
  if (!s.incident || !s.queue()) return not_applicable();
  const bool typical = s.has_errno(ENODEV) || s.has_errno(EINVAL) || s.has_errno(EOPNOTSUPP) || s.has_errno(ENOSYS);
  if (!typical) return not_applicable();
  return candidate(s.in_container() ? 60 : 45,
                   "a driver library and a kernel driver of different ages reject each other's calls",
                   "ibv_devinfo | grep -e hca_id -e fw_ver   # in the job's image and on the host: both must work");
}

// --- PD510 ---------------------------------------------------------------------------------------------------------

bool uses_siw(const Situation& s) {
  if (device_starts_with(s, "siw")) return true;
  if (s.run) {
    for (const std::string& name : s.run->devices) {
      if (name.starts_with("siw")) return true;
    }
  }
  if (s.incident || s.facts->devices.empty()) return false;
  for (const auto& [key, device] : s.facts->devices) {
    if (!device.name.starts_with("siw")) return false;
  }
  return true;
}

Remedy raise_limit_for_siw() {
  return {"siw-raise-limit",
          "raise the limit itself, the capability does not help here; or run kernel 6.8 or newer",
          {"prlimit --memlock=unlimited:unlimited --pid PID"},
          false,
          "grep 'locked memory' /proc/PID/limits"};
}

Outcome siw_ignores_capability(const Situation& s) {
  if (s.kind == SubjectKind::kMachine || !uses_siw(s)) return not_applicable();
  if (s.incident && !host_enomem(s)) return not_applicable();
  if (s.soft() && s.soft()->is_unlimited()) return ruled_out("the limit is unlimited: no capability is needed");
  const bool kernel_known = s.facts->kernel && version_of(*s.facts->kernel);
  if (kernel_known && !below(*s.facts->kernel, kSiwUsesUmem)) {
    return ruled_out(fmt::format("kernel {}: siw honours CAP_IPC_LOCK since 6.8", escape(*s.facts->kernel, 40)));
  }
  if (s.ipc_lock.usable && !*s.ipc_lock.usable) return ruled_out("CAP_IPC_LOCK is not usable here: nothing is ignored");
  if (!kernel_known || !s.ipc_lock.usable) {
    if (!s.incident) return unknown({"kernel release", "CapEff of the process"}, how_to_read(s));
    return candidate(40, "siw before kernel 6.8 applies the limit even to processes with CAP_IPC_LOCK",
                     "uname -r; grep CapEff /proc/self/status   # in the job");
  }
  std::vector<Evidence> evidence;
  if (s.incident) evidence.push_back(s.failure_evidence());
  evidence.push_back(cite(s.facts->kernel.source));
  evidence.push_back(cite(s.ipc_lock.source, s.ipc_lock.why));
  Outcome out =
      found(Certainty::kLikely, s.soft() ? 80 : 65,
            fmt::format("siw of kernel {} applies the limit despite CAP_IPC_LOCK", escape(*s.facts->kernel, 40)),
            std::move(evidence));
  if (!s.incident) out.severity = Severity::kWarning;
  return judged(s, with(std::move(out), {raise_limit_for_siw()}));
}

// --- PD511 ---------------------------------------------------------------------------------------------------------

bool vendor_errno(const Situation& s) {
  for (const int number : {ERANGE, EIO, ENOSPC, E2BIG, EFBIG, EMSGSIZE, EOVERFLOW}) {
    if (s.has_errno(number)) return true;
  }
  return false;
}

/// On-demand paging asked for (access flag 0x40) and refused as a request, not for want of memory.
std::optional<Outcome> odp_refused(const Situation& s) {
  if (!first_is(s, {Kind::kRegMr}) || !on_demand(s.incident->first)) return std::nullopt;
  if (!s.has_errno(EINVAL) && !s.has_errno(EOPNOTSUPP)) return std::nullopt;
  const bool ucx = s.incident->first.library == "ucx";
  return candidate(60,
                   "the access flags ask for on-demand paging (0x40), which this adapter or this way of using it lacks",
                   ucx ? "export UCX_IB_REG_METHODS=rcache,direct   # without odp; ibv_devinfo -v | grep -i -A4 odp"
                       : "ibv_devinfo -v | grep -i -A4 odp");
}

Outcome vendor_limit(const Situation& s) {
  if (auto odp = odp_refused(s)) return *odp;
  if (!buffer_failed(s) || !vendor_errno(s)) return not_applicable();
  if (kernel_event(s, Kind::kDeviceHealth)) return not_applicable();  // PD705: the adapter failed before
  // "Input/output error" without a verbs call is UCX's own status word (ucp_mm.c), not an errno.
  if (s.incident->first.library == "ucx" && s.incident->first.verb.empty()) return not_applicable();
  const std::string device = device_name(s);
  bool vendor = log_says(s, "ascend") || log_says(s, "hccl") || log_says(s, "hccp");
  for (const std::string_view prefix :
       {"hns", "erdma", "hinic", "bnxt_re", "qedr", "irdma", "ionic", "mana", "xscale"}) {
    if (device.starts_with(prefix)) vendor = true;
  }
  const std::string words = escape(s.incident->first.error_text, 60);
  const Event* message = kernel_event(s, Kind::kDriverMessage);
  if (vendor || message || s.has_errno(ERANGE)) {
    return judged(
        s, found(Certainty::kLikely, 50,
                 fmt::format("the driver of {} refused the region with '{}', which no generic kernel check returns",
                             device_or(s, "the device"), words),
                 {s.failure_evidence()}));
  }
  return candidate(40, fmt::format("'{}' comes from a device driver, never from the locked-memory limit", words),
                   "dmesg | tail -n 50");
}

// --- PD512 ---------------------------------------------------------------------------------------------------------

bool active(const std::string& state) {
  return icontains(state, "ACTIVE") && !icontains(state, "INACTIVE");
}

/// What would bring the port up, by its state and kind of link.
Remedy bring_port_up(const Situation& s, const RdmaDevice* device) {
  const std::string name = limits::safe_word(device ? device->name : std::string(), "DEVICE");
  const bool init = device && device->state && icontains(*device->state, "INIT");
  const bool ethernet = device && device->link_layer && icontains(*device->link_layer, "ethernet");
  Remedy r = {"port-up", {}, {}, true, fmt::format("rdma link show {}/1   # state ACTIVE", name)};
  if (init && !ethernet) {
    r.title = "the link is up but no subnet manager has configured it: start one, on a switch or on one host";
    r.commands = {"systemctl enable --now opensm", "sminfo"};
  } else if (kernel_line(s, {"cable unplugged"})) {
    r.title = fmt::format("plug the cable or transceiver of {} in again, at the adapter or the switch", name);
    r.commands = {fmt::format("mlxlink -d {} -m   # what the module reports", name)};
  } else if (ethernet) {
    r.title = "bring the network interface up and give it an address; else the cable or the switch port";
    r.commands = {fmt::format("NETDEV=$(ls /sys/class/infiniband/{}/device/net | head -n 1)", name),
                  "ip link set \"$NETDEV\" up", "ip -br addr show dev \"$NETDEV\""};
  } else {
    r.title =
        "seat or replace the cable or transceiver, or enable the switch port; on InfiniBand a subnet manager must run";
    r.commands = {fmt::format("mlxlink -d {}   # physical state and why it is down", name),
                  fmt::format("mlxlink -d {} --port_state UP", name)};
  }
  return r;
}

struct Ports {
  std::vector<const RdmaDevice*> up, down;
};
Ports ports_of(const Situation& s) {
  Ports ports;
  const RdmaDevice* named = s.incident && !s.incident->first.device.empty() ? device_of(s) : nullptr;
  for (const auto& [key, device] : s.facts->devices) {
    if ((named && named != &device) || !device.state) continue;
    (active(*device.state) ? ports.up : ports.down).push_back(&device);
  }
  return ports;
}

Outcome ports_live(const Situation& s, const Ports& ports) {
  if (ports.down.empty()) return not_applicable();
  const RdmaDevice& first = *ports.down.front();
  const std::string text = fmt::format("{} is {}", escape(first.name, 40), escape(*first.state, 40));
  if (!ports.up.empty()) {
    return at_severity(found(Certainty::kPossible, 15, text + ", other devices are active", {cite(first.state.source)}),
                       Severity::kNote);
  }
  std::vector<Evidence> evidence = {cite(first.state.source)};
  if (const auto cable = kernel_line(s, {"cable unplugged"})) evidence.push_back(cable->evidence);
  return with(
      at_severity(found(Certainty::kLikely, 60, text + ": no RDMA device has an active port", std::move(evidence)),
                  Severity::kWarning),
      {bring_port_up(s, &first)});
}

/// A transfer gave up on its peer.
bool retries_exceeded(const Situation& s) {
  if (!first_is(s, {Kind::kCompletion})) return false;
  const Event& first = s.incident->first;
  return says(first, "error 12") || says(first, "status=12") || says(first, "retry count") || says(first, "retry exc");
}

bool came_before(const Event& event, const Event& first) {
  if (event.input == first.input) return event.line < first.line;
  return event.shape.time_us && first.shape.time_us && *event.shape.time_us <= *first.shape.time_us;
}

/// A port that went down before the failure and is not told to have come up again, or null. The kernel's link lines may
/// be of any port of the machine: they count for a transfer that gave up, not for a connection that was closed.
const Event* port_went_down(const Situation& s) {
  if (!s.run || !s.incident) return nullptr;
  const bool retries = retries_exceeded(s);
  if (!retries && !first_is(s, {Kind::kConnection})) return nullptr;
  std::map<std::string, const Event*> down;  // by who tells and of what
  for (const Event& event : s.run->kernel) {
    if (event.kind != Kind::kPortDown || unrelated(s, event) || !came_before(event, s.incident->first)) continue;
    if (!retries && event.library == "kernel") continue;
    const std::string port = event.library + ' ' + event.device;
    if (iequals(event.detail, "up") || event.detail == "port active") {
      down.erase(port);
    } else {
      down.try_emplace(port, &event);
    }
  }
  const auto first = std::ranges::min_element(
      down, {}, [](const auto& entry) { return std::pair(entry.second->input, entry.second->line); });
  return first == down.end() ? nullptr : first->second;
}

Outcome port_not_active(const Situation& s) {
  const Ports ports = ports_of(s);
  if (s.kind == SubjectKind::kMachine) return ports_live(s, ports);
  if (const Event* down = port_went_down(s)) {
    return judged(s, with(found(Certainty::kLikely, 97,
                                "a port went down on this side before the transfer failed: the peer need not be gone",
                                {s.failure_evidence(), cite(*down)}),
                          {bring_port_up(s, ports.down.empty() ? nullptr : ports.down.front())}));
  }
  if (!first_is(s, {Kind::kOpenDevice, Kind::kLibraryError, Kind::kCompletion, Kind::kConnection}))
    return not_applicable();
  if (!ports.up.empty()) return ruled_out(fmt::format("{} is active", escape(ports.up.front()->name, 40)));
  if (ports.down.empty()) return not_applicable();
  const RdmaDevice& first = *ports.down.front();
  return judged(
      s, with(found(Certainty::kLikely, s.failure() == Kind::kOpenDevice ? 78 : 65,
                    fmt::format("the port of {} is {}, not active", escape(first.name, 40), escape(*first.state, 40)),
                    {s.failure_evidence(), cite(first.state.source)}),
              {bring_port_up(s, ports.down.empty() ? nullptr : ports.down.front())}));
}

// --- the pages -----------------------------------------------------------------------------------------------------

constexpr Check kTable[] = {
    {"PD501",
     "translation-table-exhausted",
     Severity::kError,
     "the adapter's memory translation table (MTT) is full",
     {"The adapter keeps a table with the bus address of every registered page. When the table is full no more memory "
      "can be registered on this adapter by anybody, whatever the locked-memory limit says. Open MPI notices this at "
      "start and warns; the job goes on until it needs more than the table holds.",
      "mlx4 fixes the size of the table when the driver loads: 2^log_num_mtt x 2^log_mtts_per_seg x page size bytes. "
      "Upstream mlx4_core has only log_mtts_per_seg (drivers/net/ethernet/mellanox/mlx4/main.c) and scales the number "
      "of segments to twice the RAM (mlx4/profile.c); MLNX_OFED for mlx4 also has log_num_mtt and left it at 2^20. "
      "Open MPI up to 4.1 computes the same product in the openib BTL (help-mpi-btl-openib.txt) and got it wrong with "
      "OFED 3.5, so its warning alone can be a false alarm.\n\nmlx5_core has no such parameter: upstream knows only "
      "debug_mask and prof_sel (mlx5/core/main.c, seen in 7.2). `options mlx5_core log_num_qp=...` or log_num_mtt is "
      "ignored and dmesg says so.",
      "Open MPI's 'Registerable memory' below 'Total memory'; 'low MTT entries' of VMA; mlx4 kernel lines that name "
      "MTT; ENOMEM on an mlx4 device while the locked-memory limit is shown not to refuse. On mlx5 devices it is ruled "
      "out.",
      "Make 2^(log_num_mtt + log_mtts_per_seg) x page size at least twice the RAM: with 4 KiB pages a sum of 23 is 32 "
      "GiB (for 16 GiB of RAM), 25 is 128 GiB, 27 is 512 GiB. Where modinfo shows no log_num_mtt the driver does this "
      "itself. Then reload the driver or reboot:\n\n    modinfo -p mlx4_core | grep mtt\n    N=$(awk '/^MemTotal/ { n "
      "= 0; while (2 ^ n * 4096 < 2048 * $2) n++; print n }' /proc/meminfo)\n    echo \"options mlx4_core "
      "log_num_mtt=$((N - 3)) log_mtts_per_seg=3\" > /etc/modprobe.d/90-pindown-mlx4.conf\n    update-initramfs -u "
      "|| dracut -f\n\nHuge pages need fewer entries for the same memory.",
      "The job went on, and the machine's driver scales the table itself (upstream kernels): Open MPI's sum is then "
      "too low."},
     translation_table},
    {"PD502",
     "mr-larger-than-device-max",
     Severity::kError,
     "one buffer is larger than the device registers in one region",
     {"A single registration asked for more bytes than the device allows in one region (max_mr_size). The memory is "
      "there and the limit is fine; the buffer has to be cut.",
      "ibv_query_device reports max_mr_size; the kernel core (drivers/infiniband/core/uverbs_cmd.c) does not compare "
      "it with the request, so each driver answers in its own way: EINVAL, EIO, ENOMEM or ENOSPC. Mooncake compares "
      "the two itself and logs the text of whatever errno was set before: 'exceeds device max_mr_size, shrink it to N: "
      "No space left on device [28]' has nothing to do with disk space.",
      "A line that says max_mr_size was exceeded (bnxt_re: 'MR Size: N > Max supported:M' in the kernel log), or a "
      "requested length above the max_mr_size of the same device in "
      "pasted `ibv_devinfo -v` output. A request below it rules this out.",
      "Register in pieces below the device's value, or use a version of the library that splits:\n\n    ibv_devinfo -v "
      "| grep -e hca_id -e max_mr_size\n\nFor Mooncake choose a global_segment_size below it or run more segments.",
      "The library says it shrank the region and the smaller size is acceptable."},
     mr_too_large},
    {"PD503",
     "efa-quota",
     Severity::kError,
     "an EFA device quota (pages, regions) is used up",
     {"The Elastic Fabric Adapter limits how many host pages and how many regions it holds. Beyond that registration "
      "fails with ENOMEM although locked memory is unlimited and RAM is free.",
      "The efa driver passes REG_MR to the device after ib_umem_get() has pinned the pages "
      "(drivers/infiniband/hw/efa/efa_verbs.c); a device status is turned into -ENOMEM and logged as 'Failed to "
      "process command REG_MR (opcode 7) comp_status ... err -12'. With 4 KiB pages users meet the ceiling near 95 GiB "
      "for one adapter, and one region that allows remote writes is held to about a million pages (public libfabric "
      "reports 9739 and 10402). Newer libfabric prints 'total mr reg size' and 'mr reg count' in the warning.",
      "The kernel line above; libfabric's MR count in the failing line; or ENOMEM through libfabric's efa provider "
      "while the locked-memory limit is shown not to refuse. A limit that is smaller than the request rules it out: "
      "the kernel checks it first.",
      "Use huge pages for large buffers (one entry for 2 MiB instead of 512), cap the cache, and attach all EFA "
      "interfaces of the instance so that the load spreads:\n\n    export FI_EFA_USE_HUGE_PAGE=1\n    export "
      "FI_EFA_MR_MAX_CACHED_COUNT=1024\n    dmesg | grep -i efa",
      "Never when the kernel line is there. Without it, check the locked-memory limit of the rank first: `(4112) "
      "Failure to post internal receive buffers` is usually that."},
     efa_quota},
    {"PD504",
     "mr-count-exhausted",
     Severity::kError,
     "the device has no memory region (mkey) left",
     {"Every registration takes one memory key of the adapter, whatever its size. A cache without a cap, many tiny "
      "pools or a leak use them up; it then fails late in a run, on every process of the node.",
      "mlx5 firmware answers CREATE_MKEY with status 'limits exceeded' (0x8), which cmd_status_to_err() maps to "
      "-ENOMEM (drivers/net/ethernet/mellanox/mlx5/core/cmd.c, 5.10 to 7.2). The line is logged by mlx5_cmd_out_err "
      "(mlx5_cmd_check in older kernels); keys made ahead of time fail as 'async reg mr failed. status -12' in "
      "create_mkey_callback (hw/mlx5/mr.c). UCX keeps regions in a cache whose default cap is infinite.",
      "CREATE_MKEY with 'limits exceeded' or a failed asynchronous key in the kernel log next to an ENOMEM "
      "registration, CREATE_MKEY with 'no resources' (0xf) next to EAGAIN; or `rdma resource show` within two percent "
      "of max_mr. Counts far below max_mr rule it out.",
      "Cap the cache and find who holds the regions (the pid is in the listing):\n\n    export "
      "UCX_IB_RCACHE_MAX_REGIONS=1000\n    rdma resource show\n    rdma resource show mr\n\nFor BytePS and other pools "
      "of small buffers lower the depth (BYTEPS_RDMA_RX_DEPTH): each 56-byte region takes a key and pins a page.",
      "A line that is older than the run you look at: the kernel log keeps it until the next boot."},
     mr_count_exhausted},
    {"PD505",
     "uar-exhausted",
     Severity::kError,
     "the adapter has no UAR page left for another process",
     {"Each process that opens the adapter gets doorbell pages (UAR) from its PCI BAR. With very many ranks on a node "
      "they run out, and opening the device fails. No locked-memory setting changes that.",
      "mlx5 allocates UARs with the firmware command ALLOC_UAR (0x802) when a context is made and for DEVX users "
      "(drivers/infiniband/hw/mlx5/main.c); 'limits exceeded' becomes -ENOMEM. ibv_open_device() itself pins nothing, "
      "so its ENOMEM is never RLIMIT_MEMLOCK (public reports: openucx 6049, Open MPI 6854; about 126 and more "
      "processes on a node).",
      "ibv_open_device failing with ENOMEM on an mlx5 device (a candidate on any other), certain when the kernel log "
      "has "
      "ALLOC_UAR with the same pid; or queues failing next to that kernel line.",
      "Start fewer processes per node, or enlarge the UAR BAR by one power of two and reboot (VF_LOG_BAR_SIZE for "
      "virtual functions):\n\n    BDF=$(basename \"$(readlink /sys/class/infiniband/mlx5_0/device)\")\n    N=$("
      "mlxconfig -d \"$BDF\" query PF_LOG_BAR_SIZE | awk '/PF_LOG_BAR_SIZE/ { print $NF }')\n    mlxconfig -d "
      "\"$BDF\" set PF_LOG_BAR_SIZE=$((N + 1))",
      "The processes need no RDMA: choose another transport for them (UCX_TLS=sm,self,tcp)."},
     uar_exhausted},
    {"PD506",
     "qp-cq-limit",
     Severity::kError,
     "the device or its firmware refuses another queue",
     {"Creating a completion queue or queue pair failed because the device has none left, or because its firmware has "
      "a fault. Registration of buffers would still work.",
      "mlx5 firmware answers CREATE_QP, CREATE_CQ or CREATE_SRQ with 'limits exceeded' (-ENOMEM). The number of queue "
      "pairs grows with ranks x peers x channels. EFA gives 256 queue pairs per adapter, and more than 128 Open MPI "
      "ranks on one adapter use them up (libfabric 9356).\n\nThe same ENOMEM comes from "
      "the locked-memory limit, because mlx5, mlx4, bnxt_re and others pin the queue's own memory with ib_umem_get(): "
      "at 64 KiB the first failing call is a queue, not a buffer. Only the kernel log or the limit tells them apart. "
      "log_num_qp is no parameter of mlx5_core.",
      "CREATE_QP, CREATE_CQ or CREATE_SRQ 'limits exceeded' in the kernel log; or counts of `rdma resource show` near "
      "the device's maximum. ENOMEM on a queue alone stays a candidate, even where the limit is shown not to refuse.",
      "Use fewer queues (a shared transport such as dc, fewer channels, fewer ranks per adapter), and compare firmware "
      "with a node that works:\n\n    rdma resource show\n    export UCX_TLS=sm,self,dc_x,ud_x\n    export "
      "NCCL_IB_QPS_PER_CONNECTION=1",
      "The locked-memory limit of the rank is finite and small: treat that first."},
     qp_cq_limit},
    {"PD507",
     "firmware-pages",
     Severity::kError,
     "the adapter's firmware found no host memory for its tables",
     {"mlx5 firmware keeps its tables in pages that it borrows from the host. Many regions on many adapters make that "
      "grow to gigabytes that belong to no process; then registration fails, or the host's OOM killer strikes minutes "
      "into the run.",
      "The driver hands pages over in give_pages() with MANAGE_PAGES "
      "(drivers/net/ethernet/mellanox/mlx5/core/pagealloc.c); what it gave is in debugfs as fw_pages_total, 4 KiB "
      "each. The memory is in no RSS and no cgroup. UCX and NIXL registered every region twice while relaxed ordering "
      "was on, once with and once without it.",
      "give_pages, MANAGE_PAGES or 'give fail' (pages_work_handler) failures in the kernel log next to a failed "
      "registration. After an OOM kill in a run "
      "over NET/IB it is a candidate.",
      "Compare the pages with a quiet node, then register fewer and larger regions on fewer adapters:\n\n    grep "
      "-H . /sys/kernel/debug/mlx5/*/pages/fw_pages_total\n    export UCX_IB_PCI_RELAXED_ORDERING=auto\n    export "
      "UCX_IB_RCACHE_MAX_REGIONS=1000",
      "The number is stable and small against the RAM."},
     firmware_pages},
    {"PD508",
     "rdma-cgroup-limit",
     Severity::kError,
     "the rdma cgroup allows no more handles or objects",
     {"The job's cgroup caps how many RDMA objects (regions, queues, domains) or open device handles it may hold, and "
      "the cap is reached.",
      "rdmacg_try_charge() returns -EAGAIN when rdma.max would be exceeded (kernel/cgroup/rdma.c, since 4.11). "
      "hca_object counts objects, not bytes; hca_handle counts open contexts. A parent's cap counts too. mlx5's 'no "
      "resources' status (0xf) is EAGAIN as well but rare. Newer kernels also have rdma.peak and rdma.events.",
      "EAGAIN ('Resource temporarily unavailable') from opening a device, making a queue or registering: proven when "
      "rdma.current equals rdma.max for that device, a candidate without the two. Ruled out when rdma.max caps nothing "
      "on that device, or when the kernel log has the adapter's 'no resources(0xf)' of the same process.",
      "Raise or remove the cap in the job's cgroup and its parents. In an OCI spec it is linux.resources.rdma; "
      "Kubernetes sets none itself:\n\n    CG=/sys/fs/cgroup$(awk -F: '$1 == 0 { print $3 }' /proc/PID/cgroup)\n  "
      "  cat \"$CG/rdma.max\" \"$CG/rdma.current\"\n    echo 'mlx5_0 hca_handle=max hca_object=max' > "
      "\"$CG/rdma.max\"",
      "The cap is policy and the job leaks regions: then fix the job (PD504)."},
     rdma_cgroup},
    {"PD509",
     "userspace-kernel-mismatch",
     Severity::kError,
     "RDMA user space and kernel driver or library do not match",
     {"The verbs library in the image cannot drive the device: its provider is missing, or it speaks another version "
      "than the kernel driver or the communication library expects.",
      "libibverbs loads lib<name>-rdmav<ABI>.so for each device; if it cannot, it prints \"couldn't load driver\" or "
      "'no userspace device-specific driver found' (rdma-core libibverbs/init.c) and the device does not exist for the "
      "job. MLNX_OFED in the image over an inbox driver on the host (or the reverse) gives EINVAL, EOPNOTSUPP or "
      "ENODEV in create_qp.\n\nOn AWS: libfabric's EFA provider set CU_POINTER_ATTRIBUTE_SYNC_MEMOPS while "
      "registering; memory that NCCL 2.19 and later allocates with cuMem does not support it, so registration of type "
      "2 (CUDA) memory failed with RC -22. libfabric 1.19 moved that call out of registration (pull request 9459), "
      "shipped with EFA installer 1.29.1.",
      "The libibverbs warnings; RC -22 on CUDA memory through libfabric with a printed EFA installer below 1.29.1 (a "
      "candidate without the version; ruled out by NCCL before 2.19 or FI_EFA_SET_CUDA_SYNC_MEMOPS=0); EINVAL, ENODEV "
      "or EOPNOTSUPP from create_qp as a candidate.",
      "Use matching versions: rdma-core of the image's distribution with an inbox driver, or the same MLNX_OFED/DOCA "
      "release on both sides. Compare:\n\n    ibv_devices\n    dpkg -l rdma-core ibverbs-providers 2>/dev/null || rpm "
      "-q rdma-core libibverbs\n\nFor EFA install 1.29.1 or newer, or for now:\n\n    export "
      "FI_EFA_SET_CUDA_SYNC_MEMOPS=0",
      "The warning names a driver of hardware that this machine does not have and the job goes on; pindown is silent "
      "on one of another driver than all devices that NCCL lists as in use."},
     userspace_mismatch},
    {"PD510",
     "driver-ignores-capability",
     Severity::kError,
     "siw before kernel 6.8 applies the limit despite CAP_IPC_LOCK",
     {"On soft-iWARP (siw) devices of older kernels root and CAP_IPC_LOCK do not lift the locked-memory limit. What is "
      "true of every other driver is not true here.",
      "Up to 6.7 siw pinned pages itself: siw_umem_get() in drivers/infiniband/sw/siw/siw_mem.c refuses when pinned_vm "
      "would exceed the limit without asking capable(CAP_IPC_LOCK) (seen in 5.10 and 6.1). Commit 476b7c7e00ec, merged "
      "for 6.8, made it use ib_umem_get() like the others.",
      "A device called siw*, a kernel before 6.8, a usable CAP_IPC_LOCK and a limit that is not unlimited.",
      "Raise the limit itself (the capability is no way round), or run kernel 6.8 or newer:\n\n    prlimit "
      "--memlock=unlimited:unlimited --pid PID\n    uname -r",
      "The limit is unlimited, or siw is only used for tests."},
     siw_ignores_capability},
    {"PD511",
     "vendor-driver-limit",
     Severity::kError,
     "a vendor's driver refused the region by a rule of its own",
     {"The driver answered with an error that neither the locked-memory limit nor the kernel core returns. The "
      "vendor's own ceiling (size, alignment, number of pages) was met.",
      "ib_umem_get() gives ENOMEM, EFAULT, EINVAL, EPERM and EOPNOTSUPP only (drivers/infiniband/core/umem.c, 5.10 to "
      "7.2). ERANGE, EIO, ENOSPC, E2BIG and the like come from the driver after the pages were pinned: hns, erdma and "
      "the Ascend stack are known for size and page-table limits.",
      "Such an errno on a registration, likely when the device or the library is one of those vendors', a candidate "
      "otherwise. UCX's second line 'Input/output error' is its own status and is not counted.",
      "Read the driver's line in the kernel log, try smaller buffers or huge pages, and update the vendor's driver and "
      "firmware:\n\n    dmesg | tail -n 50\n    ibv_devinfo -v",
      "The line says max_mr_size was exceeded: that is PD502."},
     vendor_limit},
    {"PD512",
     "port-not-active",
     Severity::kError,
     "the RDMA port is down or has no usable address",
     {"The device is there, but its port does not carry traffic. NCCL and UCX then say 'no device found' or use "
      "sockets; memory has nothing to do with it.",
      "Libraries skip ports that are not in state ACTIVE (NCCL src/transport/net_ib.cc asks ibv_query_port for "
      "IBV_PORT_ACTIVE). An InfiniBand port stays in INIT until a subnet manager configures it; a RoCE port follows "
      "its network interface and has no GID without an address.",
      "A pasted or read port state that is not ACTIVE next to a failed open, a library error without a call, or a "
      "broken connection; a library's port event or the kernel's line on the port or its cable, before a transfer that "
      "gave up on its peer. An active port rules it out.",
      "Look at the state and bring the link up; on InfiniBand check that a subnet manager runs:\n\n    ibv_devinfo | "
      "grep -e hca_id -e state -e link_layer\n    rdma link show\n    sminfo",
      "The port is not meant to be used (NCCL_IB_HCA or UCX_NET_DEVICES select others)."},
     port_not_active},
};
static_assert(all_well_formed(kTable));

}  // namespace

std::span<const Check> device_checks() {
  return kTable;
}

}  // namespace pindown
