// SPDX-License-Identifier: Apache-2.0
// PD401-PD405 (table: gpu.cc): memory of a GPU that the adapter cannot reach, and registrations refused for their
// flags. Judges the failed call of a log. Must not: blame a limit.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "base/size.h"
#include "base/text.h"
#include "checks/gpu_rows.h"
#include "checks/look.h"
#include "model/demand.h"

namespace pindown::gpu {
namespace {

using logs::Kind;
using logs::MemoryType;

constexpr std::uint64_t kMiB = 1U << 20;
constexpr std::uint64_t kSmallBar1 = 256 * kMiB;
/// The kernel's ENOTSUPP: not an errno of user space, so strerror(3) says "Unknown error 524".
constexpr int kKernelEnotsupp = 524;

const logs::Event& first(const Situation& s) {
  return s.incident->first;
}

bool fails_as(const Situation& s, Kind kind) {
  return s.incident != nullptr && s.failure() == kind;
}

std::string failing_line(const Situation& s) {
  return s.failure_evidence().source;
}

/// What was asked for. perftest names the size where it allocates, and registers all of it (perftest_resources.c).
std::optional<std::uint64_t> request(const Situation& s) {
  if (first(s).length || s.run == nullptr || first(s).library != "perftest") return first(s).length;
  std::optional<std::uint64_t> last;
  for (const logs::Event& note : s.run->notes) {
    const bool before = note.input == first(s).input && note.line < first(s).line;
    if (before && note.library == "perftest" && note.length) last = note.length;
  }
  return last;
}

std::string size_words(const Situation& s) {
  const auto size = request(s);
  return size ? format_size(*size) + " of GPU memory" : std::string("GPU memory");
}

/// "[RO]" of the failing host.
std::optional<bool> relaxed_ordering(const Situation& s) {
  return s.run == nullptr ? std::nullopt : host_context(*s.incident, *s.run).relaxed_ordering;
}

/// In NCCL 2.12 and later only data buffers get the relaxed-ordering flag and with it ibv_reg_mr_iova2; sender and
/// receiver FIFOs, sizes and the flush word stay with plain ibv_reg_mr (net_ib.cc ncclIbRegMrDmaBuf against
/// ncclIbConnect).
bool control_buffer(const Situation& s) {
  const bool nccl = first(s).library == "nccl" || first(s).library == "rccl";
  return nccl && first(s).verb == "ibv_reg_mr" && relaxed_ordering(s).value_or(false);
}

/// Why the buffer is known to be host memory, or nothing.
std::optional<std::string> host_buffer(const Situation& s) {
  if (control_buffer(s)) {
    return fmt::format(
        "{}: with [RO] in the NET/IB line, ibv_reg_mr registers NCCL's control buffers, which are host memory",
        failing_line(s));
  }
  if (s.memory() == MemoryType::kHost) return fmt::format("{} registers a host buffer", failing_line(s));
  return std::nullopt;
}

bool amd(const Situation& s) {
  const std::string& library = first(s).library;
  return library == "mori" || library == "rccl" || library == "rocshmem" || icontains(first(s).raw, "rocshmem");
}

// ---------------------------------------------------------------------------------------------------------- PD401

constexpr std::array<const char*, 2> kPeerModules = {"nvidia_peermem", "nv_peer_mem"};

/// Where a module's state was read; a whole lsmod also shows what is not there.
Source module_source(const Situation& s, const std::string& name) {
  const auto it = s.facts->modules.find(name);
  return it != s.facts->modules.end() && it->second.known() ? it->second.source : s.facts->modules_complete.source;
}

const char* loaded_peer_module(const Situation& s) {
  for (const char* name : kPeerModules) {
    if (s.module_loaded(name)) return name;
  }
  return nullptr;
}

/// lsmod's row of `nvidia` names the modules that use it; a peer-memory module does. Null if the row is not shown.
const Source* users_without_peer(const Situation& s) {
  const auto row = s.facts->modules.find("nvidia");
  if (row == s.facts->modules.end() || row->second.value != true) return nullptr;
  const auto words = split_blanks(std::string_view(row->second.source.text).substr(0, 2000));
  const auto name = std::ranges::find(words, "nvidia");
  if (words.end() - name < 4) return nullptr;
  for (const char* peer : kPeerModules) {
    if (contains(*(name + 3), peer)) return nullptr;
  }
  return &row->second.source;
}

/// The module that is shown not to be loaded, or null. Experimental verbs end with MLNX_OFED 4, which is older than
/// nvidia_peermem (driver 470): there nv_peer_mem is the only one.
const char* absent_peer_module(const Situation& s) {
  if (s.module_absent(kPeerModules[0])) return kPeerModules[0];
  return first(s).verb.starts_with("ibv_exp_") && s.module_absent(kPeerModules[1]) ? kPeerModules[1] : nullptr;
}

bool peer_module_absent(const Situation& s) {
  if (loaded_peer_module(s) != nullptr) return false;
  return absent_peer_module(s) != nullptr || users_without_peer(s) != nullptr;
}

/// "(md reg_mem_types 0x3)", UCX up to 1.11: ucs_memory_type_t has CUDA as bit 1 and ROCm as bit 3
/// (ucs/memory/memory_type.h).
bool reg_mem_types_have_gpu(std::string_view line) {
  constexpr std::string_view kLead = "reg_mem_types 0x";
  constexpr std::uint64_t kCudaOrRocm = 0xa;
  const auto at = line.find(kLead);
  if (at == std::string_view::npos) return false;
  line = line.substr(at + kLead.size(), 16);
  return (parse_hex(line.substr(0, line.find_first_not_of("0123456789abcdef"))).value_or(0) & kCudaOrRocm) != 0;
}

/// UCX names the kinds of memory a domain registers: the GPU's is among them only where it found a peer-memory client
/// or dma-buf when it opened the device (uct/ib/base/ib_md.c).
bool ucx_found_gpu_path(const Situation& s) {
  if (s.run == nullptr) return false;
  const auto says_so = [](const logs::Event& e) {
    if (reg_mem_types_have_gpu(e.raw)) return true;
    const auto at = e.raw.find("md supports: ");
    if (at == std::string::npos) return false;
    const std::string_view kinds = std::string_view(e.raw).substr(at + 13, 120);
    return contains(kinds, "cuda") || contains(kinds, "rocm");
  };
  return says_so(first(s)) || std::ranges::any_of(s.incident->echoes, says_so);
}

/// How to keep the buffers on the host meanwhile, in the words of the library that failed; nothing if it has no switch.
std::vector<Remedy> host_staging(const Situation& s) {
  const std::string& library = first(s).library;
  if (library == "nccl" || library == "rccl" || library == "torch") {
    return {{"nccl-without-gdr",
             "until then: keep NCCL's buffers on the host (slower)",
             {"export NCCL_NET_GDR_LEVEL=LOC"},
             false,
             "grep -c GDRDMA nccl.log"}};
  }
  if (library != "ucx") return {};
  return {{"ucx-without-gdr",
           "until then: let UCX copy through the host (slower)",
           {"export UCX_IB_GPU_DIRECT_RDMA=no"},
           false,
           ""}};
}

std::vector<Remedy> peer_memory_remedies(const Situation& s) {
  std::vector<Remedy> remedies = host_staging(s);
  remedies.insert(remedies.begin(), {"load-nvidia-peermem",
                                     "load nvidia-peermem now and at every boot, then restart the job",
                                     {"modprobe nvidia-peermem",
                                      "echo nvidia-peermem > /etc/modules-load.d/90-pindown-nvidia-peermem.conf"},
                                     true,
                                     "lsmod | grep nvidia_peermem"});
  return remedies;
}

std::vector<Remedy> amd_remedies() {
  return {
      {"amdgpu-dma-buf",
       "let RCCL use dma-buf (needs CONFIG_DMABUF_MOVE_NOTIFY or a kernel without that option, and CONFIG_PCI_P2PDMA)",
       {"export NCCL_DMABUF_ENABLE=1"},
       false,
       "grep -E 'CONFIG_(DMABUF_MOVE_NOTIFY|PCI_P2PDMA)' /boot/config-$(uname -r)"}};
}

/// /sys/kernel/mm/memory_peers was looked for and is not there.
const DeviceNode* no_peer_clients(const Situation& s) {
  const auto& nodes = s.facts->device_nodes;
  const auto at = std::ranges::find_if(nodes, [](const DeviceNode& node) {
    return node.path.starts_with("/sys/kernel/mm/memory_peers") && icontains(node.error, "no such file");
  });
  return at == nodes.end() ? nullptr : &*at;
}

Outcome amd_peer_memory(const Situation& s) {
  // That ib_uverbs exports ib_register_peer_memory_client does not mean that amdgpu is its client.
  constexpr const char* kDecide = "ls /sys/kernel/mm/memory_peers/   # amdkfd is there: amdgpu is known";
  const auto disabled = look::told(s, "Dmabuf feature disabled");
  if (const DeviceNode* peers = no_peer_clients(s); peers != nullptr && disabled) {
    Outcome out = found(Certainty::kLikely, 74,
                        fmt::format("RCCL's dma-buf is off and the kernel has no peer-memory client: {} cannot be "
                                    "registered",
                                    size_words(s)),
                        {s.failure_evidence(), cite(peers->source), disabled->evidence});
    out.remedies = amd_remedies();
    return look::judged(s, std::move(out));
  }
  if (s.memory() != MemoryType::kGpu && first(s).library != "mori") {
    return candidate(45, "an AMD GPU buffer needs amdgpu's peer memory in ib_core, or dma-buf", kDecide);
  }
  Outcome out =
      found(Certainty::kLikely, 58,
            fmt::format("the RDMA core does not know amdgpu's memory: {} cannot be registered", size_words(s)),
            {s.failure_evidence()});
  out.remedies = amd_remedies();
  return look::judged(s, std::move(out));
}

/// What is known once the call is an EFAULT on memory that may be a GPU's.
Outcome judge_peer_module(const Situation& s) {
  if (const char* name = loaded_peer_module(s)) {
    return ruled_out(fmt::format("{} is loaded ({})", name, module_source(s, name).path));
  }
  const bool absent = peer_module_absent(s);
  if (!absent && ucx_found_gpu_path(s)) {
    return candidate(42, "UCX found a way to register GPU memory when it started, yet this registration failed",
                     "lsmod | grep -E 'nvidia_peermem|nv_peer_mem'; dmesg | grep -i -e peer -e NVRM");
  }
  if (!absent && s.memory() != MemoryType::kGpu) {
    return candidate(55, "EFAULT is what a GPU address gives when no peer-memory module is loaded",
                     "lsmod | grep -E 'nvidia_peermem|nv_peer_mem'");
  }
  const char* module = absent_peer_module(s);
  const std::string missing = absent ? fmt::format(", {} is not loaded", module ? module : kPeerModules[0]) : "";
  Outcome out = found(Certainty::kLikely, absent ? 75 : 60,
                      fmt::format("nothing translates GPU addresses for the adapter: {} cannot be registered{}",
                                  size_words(s), missing),
                      {s.failure_evidence()});
  if (absent) {
    out.evidence.push_back(module ? cite(module_source(s, module), "not loaded")
                                  : cite(*users_without_peer(s), "no peer-memory module among its users"));
  }
  out.remedies = peer_memory_remedies(s);
  return look::judged(s, std::move(out));
}

}  // namespace

Outcome peer_memory_missing(const Situation& s) {
  if (!fails_as(s, Kind::kRegMr)) return not_applicable();
  const bool fault = s.has_errno(EFAULT);
  const bool amd_refusal = amd(s) && s.has_errno(EINVAL);
  if (!fault && !amd_refusal && !s.no_errno()) return not_applicable();
  if (look::without_verbs(s)) return not_applicable();
  const auto symbol = look::kernel_line(s, {"unknown symbol", "peer_memory"});
  if (s.no_errno() && !symbol) {
    if (!look::gpu_buffer(s) || first(s).library != "perftest" || loaded_peer_module(s) != nullptr)
      return not_applicable();
    return candidate(60, "the buffer is the GPU's, and without a peer-memory module or dma-buf no adapter reaches it",
                     "lsmod | grep -E 'nvidia_peermem|nv_peer_mem'");
  }
  if (const auto host = host_buffer(s)) return ruled_out(*host);
  if (symbol) {
    Outcome out = found(fault ? Certainty::kProven : Certainty::kLikely, 92,
                        "the peer-memory module was built for another RDMA stack and does not load",
                        {symbol->evidence, s.failure_evidence()});
    out.remedies = peer_memory_remedies(s);
    out.remedies.front().id = "rebuild-peer-memory";
    out.remedies.front().title = "reinstall the GPU driver after the RDMA stack so that its peer-memory module matches";
    out.remedies.front().commands = {"dkms autoinstall -k $(uname -r)", "modprobe nvidia-peermem"};
    return look::judged(s, std::move(out));
  }
  if (!s.gpu_possible()) return ruled_out(fmt::format("nothing at {} speaks of GPU memory", failing_line(s)));
  if (amd(s)) return amd_peer_memory(s);
  return judge_peer_module(s);
}

namespace {

// ---------------------------------------------------------------------------------------------------------- PD402

/// vGPU profiles end in a size and a class letter: "GRID T4-16Q", "NVIDIA A40-48C".
bool looks_like_vgpu(std::string_view product) {
  if (icontains(product, "vgpu") || icontains(product, "grid")) return true;
  const auto dash = product.rfind('-');
  if (dash == std::string_view::npos) return false;
  std::string_view profile = product.substr(dash + 1);
  if (take_digits(profile).empty()) return false;
  return profile.size() == 1 && std::string_view("QCBA").find(profile.front()) != std::string_view::npos;
}

/// NVRM: nvidia_p2p_get_pages … NV_ERR_NO_MEMORY, or a line that names the window.
std::optional<Evidence> bar_exhausted(const Situation& s) {
  for (const char* words : {"NV_ERR_NO_MEMORY", "BAR1", "out of memory"}) {
    if (const auto line = look::kernel_line(s, {"NVRM", words})) return line->evidence;
  }
  return std::nullopt;
}

enum class BarAnswer { kUnknown, kFits, kTooSmall };

/// A window of 256 MiB is shared with the driver's own mappings, so half of it is already more than a job can count on.
BarAnswer judge_bar1(const Gpu& gpu, std::optional<std::uint64_t> request) {
  if (!request || (!gpu.bar1_total && !gpu.bar1_free)) return BarAnswer::kUnknown;
  if (gpu.bar1_free && *request > *gpu.bar1_free) return BarAnswer::kTooSmall;
  if (gpu.bar1_total && *request > *gpu.bar1_total) return BarAnswer::kTooSmall;
  if (gpu.bar1_free) return BarAnswer::kFits;
  if (*gpu.bar1_total <= kSmallBar1) return *request > *gpu.bar1_total / 2 ? BarAnswer::kTooSmall : BarAnswer::kUnknown;
  return BarAnswer::kUnknown;
}

std::string bar1_words(const Gpu& gpu) {
  if (gpu.bar1_free && gpu.bar1_total) {
    return fmt::format("{} of BAR1, {} of it free", format_size(*gpu.bar1_total), format_size(*gpu.bar1_free));
  }
  return gpu.bar1_free ? fmt::format("{} of BAR1 free", format_size(*gpu.bar1_free))
                       : fmt::format("{} of BAR1", format_size(*gpu.bar1_total));
}

const Source& bar1_source(const Gpu& gpu) {
  return gpu.bar1_free ? gpu.bar1_free.source : gpu.bar1_total.source;
}

Outcome bar1_found(const Situation& s, int weight, std::string summary, Evidence because) {
  Outcome out = found(Certainty::kLikely, weight, std::move(summary), {s.failure_evidence(), std::move(because)});
  out.remedies = host_staging(s);
  out.remedies.push_back(
      {"resizable-bar",
       "turn on Above 4G Decoding and Resizable BAR in the firmware setup, reboot; else register smaller pieces",
       {},
       true,
       "nvidia-smi -q -d MEMORY | grep -A3 BAR1"});
  return look::judged(s, std::move(out));
}

/// What the listed GPUs say; nothing if none of them decides.
std::optional<Outcome> judge_gpus(const Situation& s) {
  bool all_fit = !s.facts->gpus.empty();
  for (const Gpu& gpu : s.facts->gpus) {
    const BarAnswer answer = judge_bar1(gpu, request(s));
    if (answer == BarAnswer::kTooSmall) {
      return bar1_found(s, 80,
                        fmt::format("{} do not fit through the GPU's window: {}", size_words(s), bar1_words(gpu)),
                        cite(bar1_source(gpu)));
    }
    if (gpu.product && (icontains(*gpu.product, "geforce") || looks_like_vgpu(*gpu.product))) {
      Outcome out = bar1_found(
          s, 72, fmt::format("{} is not a GPU whose memory adapters can be counted on to reach", *gpu.product),
          cite(gpu.product.source));
      Remedy& fix = out.remedies.back();  // no firmware setting gives such a board GPUDirect RDMA
      fix.id = "other-gpu";
      fix.title = "keep buffers in host memory, or use a data-centre or workstation GPU (on vGPU: a full-size profile)";
      fix.verify = "nvidia-smi -L";
      return out;
    }
    all_fit = all_fit && answer == BarAnswer::kFits;
  }
  if (!all_fit) return std::nullopt;
  const Gpu& gpu = s.facts->gpus.front();
  return ruled_out(fmt::format("{} fit: {} ({})", size_words(s), bar1_words(gpu), bar1_source(gpu).path));
}

Outcome amd_bar_candidate(int weight) {
  return candidate(weight, "the GPU's BAR may not show all of its memory (Resizable BAR off)",
                   "dmesg | grep 'Detected VRAM'   # BAR= as large as RAM=");
}

/// A window that was shown leaves its use at the time of the failure to be asked.
Outcome bar1_candidate(const Situation& s, int weight) {
  const auto shown =
      std::ranges::find_if(s.facts->gpus, [](const Gpu& gpu) { return gpu.bar1_total || gpu.bar1_free; });
  if (shown == s.facts->gpus.end()) {
    return candidate(weight, "the GPU's BAR1 window may be too small for the buffer",
                     "nvidia-smi -q -d MEMORY | grep -A3 BAR1");
  }
  return candidate(weight,
                   fmt::format("the GPU has {} ({}), which may have been too little when it failed", bar1_words(*shown),
                               bar1_source(*shown).path),
                   "nvidia-smi -q -d MEMORY -l 1 | grep -A3 BAR1  # while the job starts: its Free");
}

/// ENOMEM is the limit's errno first: the window is only meant once the limit is cleared or the buffer is called the
/// GPU's.
bool limit_comes_first(const Situation& s) {
  if (!s.has_errno(ENOMEM) || s.failure() != Kind::kRegMr) return false;
  return limits::blamed(s) || (s.memory() != MemoryType::kGpu && !s.limit_cleared());
}

}  // namespace

Outcome bar1_too_small(const Situation& s) {
  if (!fails_as(s, Kind::kRegMr) && !fails_as(s, Kind::kRegDmabuf)) return not_applicable();
  const bool perftest = s.no_errno() && first(s).library == "perftest" && look::gpu_buffer(s);
  if (!s.has_errno(EFAULT) && !s.has_errno(ENOMEM) && !perftest) return not_applicable();
  if (look::without_verbs(s)) return not_applicable();
  if (const auto host = host_buffer(s)) return ruled_out(*host);
  if (!s.gpu_possible() && s.facts->gpus.empty()) return not_applicable();
  const bool limit_first = limit_comes_first(s);
  if (!limit_first) {
    if (auto decided = judge_gpus(s)) return *decided;
  }
  const auto line = limits::blamed(s) ? std::nullopt : bar_exhausted(s);
  if (line) {
    return bar1_found(s, 80, fmt::format("the GPU driver ran out of room to map {} for the adapter", size_words(s)),
                      *line);
  }
  if (!s.gpu_possible()) return not_applicable();
  if (amd(s)) return amd_bar_candidate(limit_first ? 20 : 40);
  return bar1_candidate(s, limit_first ? 20 : 40);
}

namespace {

// ---------------------------------------------------------------------------------------------------------- PD403

const Fact<std::string>* allocator_setting(const Situation& s) {
  for (const char* name : {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF"}) {
    if (const Fact<std::string>* value = s.env(name); value != nullptr && value->known()) return value;
  }
  return nullptr;
}

/// "a:b,expandable_segments:True": options are comma-separated, blanks are allowed.
bool expandable(std::string_view setting) {
  for (std::string_view option : split(setting, ',')) {
    option = trim(option);
    if (!consume(option, "expandable_segments")) continue;
    option = trim(option);
    if (consume(option, ":") && iequals(trim(option), "true")) return true;
  }
  return false;
}

/// The setting that makes allocations span several physical handles, or null.
const Fact<std::string>* vmm_setting(const Situation& s) {
  const Fact<std::string>* allocator = allocator_setting(s);
  if (allocator != nullptr && expandable(**allocator)) return allocator;
  const Fact<std::string>* cumem = s.env("NCCL_CUMEM_ENABLE");
  const bool nccl = first(s).library == "nccl";
  return nccl && cumem != nullptr && cumem->known() && trim(**cumem) == "1" ? cumem : nullptr;
}

std::vector<Remedy> vmm_remedies(bool allocator) {
  constexpr const char* kVerify = "tr '\\0' '\\n' < /proc/PID/environ | grep -E 'ALLOC_CONF|NCCL_CUMEM'";
  if (!allocator) {
    return {{"nccl-cumem-off", "give NCCL plain cudaMalloc buffers", {"export NCCL_CUMEM_ENABLE=0"}, false, kVerify}};
  }
  return {{"unset-expandable-segments",
           "unset the allocator variables in the launcher, and look for _set_allocator_settings in the code",
           {"unset PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF"},
           false,
           kVerify}};
}

Outcome vmm_found(const Situation& s, const Fact<std::string>& setting) {
  const bool allocator = &setting == allocator_setting(s);
  int weight = allocator ? 78 : 66;
  // Without a peer-memory module no GPU address registers, whatever the allocator: PD401 leads then.
  if (s.failure() == Kind::kRegMr && peer_module_absent(s)) weight = 64;
  const char* who = allocator ? "PyTorch's expandable segments" : "NCCL_CUMEM_ENABLE=1";
  Outcome out = found(Certainty::kLikely, weight,
                      fmt::format("{} make buffers of several physical pieces, which cannot be registered as one", who),
                      {s.failure_evidence(), cite(setting.source)});
  if (const char* name = loaded_peer_module(s))
    out.evidence.push_back(cite(module_source(s, name), "loaded, so not that"));
  out.remedies = vmm_remedies(allocator);
  return look::judged(s, std::move(out));
}

}  // namespace

Outcome vmm_not_registrable(const Situation& s) {
  const bool plain = fails_as(s, Kind::kRegMr);
  if (!plain && !fails_as(s, Kind::kRegDmabuf)) return not_applicable();
  if (!s.has_errno(EFAULT) && !s.has_errno(EINVAL)) return not_applicable();
  if (const auto host = host_buffer(s)) return ruled_out(*host);
  const Fact<std::string>* setting = vmm_setting(s);
  if (setting != nullptr) return vmm_found(s, *setting);
  if (!s.gpu_possible()) return not_applicable();
  if (const Fact<std::string>* other = allocator_setting(s)) {
    return ruled_out(fmt::format("the allocator is set to \"{}\" ({})", trim(**other), other->source.path));
  }
  return candidate(s.memory() == MemoryType::kGpu ? 45 : 30,
                   "the buffer may come from an allocator that maps several pieces",
                   amd(s) ? "tr '\\0' '\\n' < /proc/PID/environ | grep ALLOC_CONF"
                          : "tr '\\0' '\\n' < /proc/PID/environ | grep -E 'ALLOC_CONF|NCCL_CUMEM'");
}

namespace {

// ---------------------------------------------------------------------------------------------------------- PD404

/// dma-buf registration came with commit bfe0cc6eb249, v5.12; vendor kernels and MLNX_OFED carry it further back.
bool kernel_without_dmabuf(const Situation& s) {
  if (!s.facts->kernel || icontains(*s.facts->kernel, ".el") || s.facts->versions.contains("ofed")) return false;
  std::string_view rest = *s.facts->kernel;
  const auto major = parse_u64(take_digits(rest));
  if (!major || !consume(rest, ".")) return false;
  const auto minor = parse_u64(take_digits(rest));
  return minor && (*major < 5 || (*major == 5 && *minor < 12));
}

bool unsupported(const Situation& s) {
  return s.has_errno(EOPNOTSUPP) || s.has_errno(EPROTONOSUPPORT) || s.has_errno(kKernelEnotsupp);
}

bool through_libfabric(const Situation& s) {
  return first(s).library == "aws-ofi-nccl" || first(s).library == "libfabric";
}

/// fi_mr_regattr() of GPU memory that was asked for as a dma-buf: the plugin and NCCL say so beforehand.
bool libfabric_dmabuf(const Situation& s) {
  if (!fails_as(s, Kind::kRegMr) || !through_libfabric(s) || s.memory() == MemoryType::kHost) return false;
  const bool gpu = s.memory() == MemoryType::kGpu ||
                   std::ranges::any_of(s.incident->same, [](const auto& e) { return e.memory == MemoryType::kGpu; });
  return gpu && unsupported(s);
}

std::vector<Remedy> libfabric_remedies() {
  return {{"ofi-dmabuf-off",
           "register GPU memory without dma-buf (EFA: with the efa_nv_peermem module loaded)",
           {"export OFI_NCCL_DISABLE_DMABUF=1 FI_HMEM_CUDA_USE_DMABUF=0"},
           false,
           "grep 'DMA-BUF registrations' nccl.log"},
          {"dmabuf-stack", "or make dma-buf work: kernel 5.12+ and a driver that has it", {}, true, "uname -r"}};
}

std::vector<Remedy> dmabuf_remedies(const Situation& s) {
  if (through_libfabric(s)) return libfabric_remedies();
  const bool ucx = first(s).library == "ucx";
  return {{"nccl-dmabuf-off",
           "use peer memory instead of dma-buf",
           {"modprobe nvidia-peermem", ucx ? "export UCX_CUDA_COPY_DMABUF=no" : "export NCCL_DMABUF_ENABLE=0"},
           false,
           ucx ? "lsmod | grep nvidia_peermem" : "grep -c ibv_reg_dmabuf_mr nccl.log"},
          {"dmabuf-stack",
           "or make dma-buf work: open NVIDIA kernel modules, kernel 5.12+, rdma-core 34+",
           {},
           true,
           "modinfo -F license nvidia; uname -r"}};
}

}  // namespace

Outcome dmabuf_unsupported(const Situation& s) {
  const bool dmabuf = fails_as(s, Kind::kRegDmabuf);
  if (fails_as(s, Kind::kRegMr) && s.no_errno() && first(s).library == "perftest" && look::gpu_buffer(s)) {
    return candidate(38, "with --use_cuda_dmabuf every part of the chain must know dma-buf",
                     "modinfo -F license nvidia; uname -r");
  }
  const bool libfabric = libfabric_dmabuf(s);
  const bool leaked = libfabric || (fails_as(s, Kind::kRegMr) && s.has_errno(kKernelEnotsupp));
  if (!dmabuf && !leaked) return not_applicable();
  if (dmabuf && s.has_errno(EINVAL)) {
    return candidate(40, "some adapters and drivers refuse a dma-buf with EINVAL",
                     "modinfo -F license nvidia; uname -r");
  }
  if (!unsupported(s)) return not_applicable();
  const bool old_kernel = kernel_without_dmabuf(s);
  std::string summary = "the adapter's driver or the kernel cannot register GPU memory as dma-buf";
  if (s.has_errno(kKernelEnotsupp))
    summary += fmt::format(" ({})", first(s).device.empty() ? "ENOTSUPP" : first(s).device);
  const bool proven = old_kernel && !libfabric;  // the line does not name the call
  Outcome out = found(proven ? Certainty::kProven : Certainty::kLikely, dmabuf || libfabric ? 85 : 70,
                      std::move(summary), {s.failure_evidence()});
  if (old_kernel) out.evidence.push_back(cite(s.facts->kernel.source, "dma-buf registration needs 5.12"));
  if (s.facts->nvidia_license && iequals(trim(*s.facts->nvidia_license), "NVIDIA")) {
    out.evidence.push_back(cite(s.facts->nvidia_license.source, "proprietary modules export no dma-buf"));
  }
  out.remedies = dmabuf_remedies(s);
  return look::judged(s, std::move(out));
}

namespace {

// ---------------------------------------------------------------------------------------------------------- PD405

/// IBV_ACCESS_RELAXED_ORDERING is bit 20, the first optional access flag (ib_user_ioctl_verbs.h); UCX prints the flags.
bool prints_relaxed_flag(const logs::Event& event) {
  return ((look::access_flags(event).value_or(0) >> 20) & 1U) != 0;
}

bool relaxed_ordering_used(const Situation& s) {
  const bool nccl = first(s).library == "nccl" || first(s).library == "rccl";
  if (nccl && first(s).verb == "ibv_reg_mr_iova2") return true;  // NCCL calls it only with the flag
  return prints_relaxed_flag(first(s));
}

bool fork_protection(const Situation& s) {
  if (look::log_says(s, "HUGE pages")) return true;
  for (const char* name : {"RDMAV_FORK_SAFE", "IBV_FORK_SAFE"}) {
    if (const Fact<std::string>* value = s.env(name); value != nullptr && value->known()) return true;
  }
  return false;
}

const Fact<std::string>* unset_in_vain(const Situation& s) {
  const Fact<std::string>* value = s.env("NCCL_IB_PCI_RELAXED_ORDERING");
  return value != nullptr && value->known() && trim(**value) == "0" ? value : nullptr;
}

/// The run that worked was started with relaxed ordering off.
bool cured_by_turning_off(const Situation& s) {
  if (!s.incident->rerun) return false;
  const std::string& command = s.incident->rerun->detail;
  return contains(command, "PCI_RELAXED_ORDERING=off") || contains(command, "PCI_RELAXED_ORDERING=0") ||
         contains(command, "PCI_RELAXED_ORDERING=n");
}

/// What stands beside the failure: "[RO]" among the devices, flags that were printed, a setting that did not arrive.
bool relaxed_ordering_shown(const Situation& s) {
  return relaxed_ordering(s) == true || unset_in_vain(s) != nullptr || prints_relaxed_flag(first(s)) ||
         cured_by_turning_off(s);
}

Outcome relaxed_found(const Situation& s) {
  const Fact<std::string>* in_vain = unset_in_vain(s);
  Outcome out = found(Certainty::kLikely, cured_by_turning_off(s) ? 88 : 60,
                      "the adapter refuses the relaxed-ordering flag that the library sets", {s.failure_evidence()});
  if (in_vain != nullptr) {
    out.summary += "; NCCL_IB_PCI_RELAXED_ORDERING=0 did not reach this rank";
    out.evidence.push_back(cite(in_vain->source, "set, but this rank still asks for relaxed ordering"));
  }
  const bool nccl = first(s).library != "ucx";
  const char* name = nccl ? "NCCL_IB_PCI_RELAXED_ORDERING=0" : "UCX_IB_PCI_RELAXED_ORDERING=off";
  out.remedies = {{"relaxed-ordering-off",
                   "turn relaxed ordering off for every rank (mpirun: -x NAME; srun: --export=ALL)",
                   {fmt::format("export {}", name)},
                   false,
                   nccl ? "grep -F '[RO]' nccl.log" : "ucx_info -c | grep RELAXED_ORDERING"}};
  return look::judged(s, std::move(out));
}

}  // namespace

Outcome relaxed_ordering_rejected(const Situation& s) {
  if (!fails_as(s, Kind::kRegMr) || !s.has_errno(EINVAL)) return not_applicable();
  const std::string& library = first(s).library;
  // libfabric's own EINVALs (PD509) and mori's (PD401) have nothing to do with the flag.
  if (library == "aws-ofi-nccl" || library == "libfabric" || library == "mori") return not_applicable();
  if (control_buffer(s)) {
    return ruled_out(fmt::format("{}: NCCL registers control buffers without relaxed ordering", failing_line(s)));
  }
  if (look::on_demand(first(s)) && !prints_relaxed_flag(first(s))) {
    return ruled_out(fmt::format("{}: the access flags have no relaxed-ordering bit (0x100000)", failing_line(s)));
  }
  if (fork_protection(s)) {
    return candidate(25, "fork protection with huge pages gives the same EINVAL",
                     "export NCCL_IB_PCI_RELAXED_ORDERING=0");
  }
  const Fact<std::string>* setting = vmm_setting(s);
  if (setting != nullptr && !host_buffer(s)) {
    return candidate(25, "the allocator setting explains the EINVAL better", "export NCCL_IB_PCI_RELAXED_ORDERING=0");
  }
  if (relaxed_ordering_used(s)) {
    // The call alone says that the flag was set, not that the adapter minds it: EINVAL has other causes.
    if (relaxed_ordering_shown(s)) return relaxed_found(s);
    return candidate(55, "the call carries the relaxed-ordering flag, which some adapters and virtual functions refuse",
                     "export NCCL_IB_PCI_RELAXED_ORDERING=0  # does it run now?");
  }
  if (relaxed_ordering(s) == false) {
    return candidate(35, "some cloud adapters accept only registrations with relaxed ordering, which is off here",
                     "export NCCL_IB_PCI_RELAXED_ORDERING=1");
  }
  if (library == "ucx" && look::access_flags(first(s))) {
    return candidate(35, "some cloud adapters accept only registrations with relaxed ordering, which the flags lack",
                     "export UCX_IB_PCI_RELAXED_ORDERING=on");
  }
  return candidate(35, "the access flags may be what the adapter refuses", "export NCCL_IB_PCI_RELAXED_ORDERING=0");
}

}  // namespace pindown::gpu
