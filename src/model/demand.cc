// SPDX-License-Identifier: Apache-2.0
// See demand.h.
#include "model/demand.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/size.h"
#include "base/text.h"
#include "logs/nccl_version.h"

namespace pindown {
namespace {

using logs::Event;
using logs::Kind;
using logs::MemoryType;

constexpr std::uint64_t kFifo = 131072;  // sender FIFO: 256 slots * 8 receives * 64 bytes

bool is_nccl(const Event& e) {
  return e.library == "nccl" || e.library == "rccl";
}

/// The last line of the connect functions in transport/net.cc; what calls from below registers buffers of the program
/// itself (read in the tagged sources).
std::uint64_t last_connect_line(std::string_view version) {
  if (logs::compare_versions(version, "2.22") < 0) return 930;
  if (logs::compare_versions(version, "2.27") < 0) return 1000;
  if (logs::compare_versions(version, "2.28") < 0) return 1010;
  return 1180;
}

bool from_user_buffer(const logs::Incident& incident, std::string_view version) {
  return std::ranges::any_of(incident.echoes, [version](const Event& e) {
    if (!e.source_file.ends_with("transport/net.cc") || !e.source_line) return false;
    return *e.source_line > last_connect_line(version);
  });
}

/// One release, from the banner or a hint that names a range: its first.
std::string version_of(const logs::Incident& incident, const logs::RunContext& run) {
  if (!run.nccl_version.empty()) return run.nccl_version;
  const std::string& hint = incident.version_hint;
  return hint.substr(0, hint.find_first_of("- "));
}

/// With relaxed ordering data buffers go through ibv_reg_mr_iova2, so a plain ibv_reg_mr is one of NCCL's own
/// (net_ib.cc, 2.12 on).
bool plain_reg_mr_is_control(const logs::Incident& incident, const logs::RunContext& run) {
  if (host_context(incident, run).relaxed_ordering != true) return false;
  const std::string version = version_of(incident, run);
  return version.empty() || logs::compare_versions(version, "2.12") >= 0;
}

BufferGuess nccl_data_buffer(const logs::Incident& incident, const logs::RunContext& run) {
  const logs::HostContext here = host_context(incident, run);
  BufferGuess guess;
  if (from_user_buffer(incident, version_of(incident, run)))
    return {guess.memory, "a buffer the program registered itself", {}, {}, true};
  const bool host_only = !here.gdr_channels && (here.host_channels || run.gdr_enabled == false);
  if (host_only) {
    guess.memory = MemoryType::kHost;
    guess.what =
        "a data buffer in host memory (by default 0.5 to 9.2 MiB a connection, the send/receive pool up to 128 MiB)";
  } else if (here.gdr_channels) {
    // Even then the LL send buffer stays on the host, so the memory type remains open.
    guess.what = "a data buffer on the GPU, or the LL buffer (512 KiB by default) in host memory";
  } else {
    guess.what = "a data buffer";
  }
  return guess;
}

}  // namespace

logs::HostContext host_context(const logs::Incident& incident, const logs::RunContext& run) {
  const std::string& host = incident.first.shape.host;
  const auto at = run.by_host.find(host);
  if (at != run.by_host.end()) return at->second;
  const bool of_others = !host.empty() && !run.by_host.empty();
  return {of_others ? std::nullopt : run.relaxed_ordering, run.gdr_channels, run.host_channels};
}

BufferGuess derive_buffer(const logs::Incident& incident, const logs::RunContext& run) {
  const Event& first = incident.first;
  BufferGuess guess;
  guess.memory = first.memory;
  for (const Event& e : incident.echoes) {
    if (guess.memory == MemoryType::kUnknown && e.library == first.library) guess.memory = e.memory;
  }
  if (first.kind == Kind::kRegDmabuf) {
    guess.memory = MemoryType::kGpu;
    guess.what = "GPU memory through dma-buf";
  } else if (first.kind == Kind::kAllocPd) {
    guess.memory = MemoryType::kHost;
    guess.what = "a protection domain, which pins no memory of the process";
  } else if (first.kind == Kind::kCreateQueue) {
    guess.memory = MemoryType::kHost;
    guess.what = "the rings of a queue, small and always in host memory";
  } else if (is_nccl(first) && first.kind == Kind::kRegMr) {
    if (first.verb == "ibv_reg_mr" && plain_reg_mr_is_control(incident, run)) {
      guess = {MemoryType::kHost, "one of NCCL's own control buffers in host memory", {}, kFifo, false};
    } else {
      guess = nccl_data_buffer(incident, run);
    }
  }
  guess.length = first.length;
  return guess;
}

std::string describe_buffer(const BufferGuess& guess) {
  std::string length = guess.length ? format_size(*guess.length) : std::string();
  if (guess.what.empty()) return length;
  if (!length.empty()) return fmt::format("{}, {}", guess.what, length);
  if (!guess.at_most) return guess.what;
  return fmt::format("{}, at most {} with NCCL's defaults", guess.what, format_size(*guess.at_most));
}

}  // namespace pindown
