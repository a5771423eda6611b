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

// NCCL defaults (src/include/comm.h, src/enqueue.cc): LL 8*512*8*16 bytes, LL128 120*640*8*8, SIMPLE NCCL_BUFFSIZE 4
// MiB.
constexpr std::uint64_t kLl = 524288;
constexpr std::uint64_t kLl128 = 4915200;
constexpr std::uint64_t kFifo = 131072;  // sender FIFO: 256 slots * 8 receives * 64 bytes

bool is_nccl(const Event& e) {
  return e.library == "nccl" || e.library == "rccl";
}

/// Trace lines under the failure tell who asked: net.cc beyond the connect functions is user-buffer registration.
bool from_user_buffer(const logs::Incident& incident) {
  return std::ranges::any_of(incident.echoes, [](const Event& e) {
    if (!e.source_file.ends_with("net.cc") || !e.source_line) return false;
    return *e.source_line > 1200;  // 2.30.7 has recvProxyConnect up to 1177; registration of user buffers comes after
  });
}

bool plain_reg_mr_is_control(const logs::RunContext& run, const std::string& version_hint) {
  if (run.relaxed_ordering != true) return false;
  const std::string version = run.nccl_version.empty() ? version_hint : run.nccl_version;
  return version.empty() || logs::compare_versions(version, "2.12") >= 0;
}

BufferGuess nccl_data_buffer(const logs::Incident& incident, const logs::RunContext& run) {
  BufferGuess guess;
  guess.user_buffer = from_user_buffer(incident);
  const bool gdr_off = run.gdr_enabled == false || (run.host_channels && !run.gdr_channels);
  if (gdr_off) {
    guess.memory = MemoryType::kHost;
    guess.what = "a data buffer in host memory";
    guess.at_most = kLl128;
  } else if (run.gdr_channels && !run.host_channels) {
    // Even then the LL send buffer stays on the host, so the memory type remains open.
    guess.what = "a data buffer on the GPU, or the LL buffer in host memory";
    guess.at_most = kLl128;
  } else {
    guess.what = "a data buffer";
    guess.at_most = kLl128;
  }
  if (guess.user_buffer) guess = {guess.memory, "a buffer the program registered itself", std::nullopt, true};
  return guess;
}

}  // namespace

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
  } else if (first.kind == Kind::kCreateQueue || first.kind == Kind::kAllocPd) {
    guess.memory = MemoryType::kHost;
    guess.what = "the rings of a queue, small and always in host memory";
  } else if (is_nccl(first) && first.kind == Kind::kRegMr) {
    if (first.verb == "ibv_reg_mr" && plain_reg_mr_is_control(run, incident.version_hint)) {
      return {MemoryType::kHost, "one of NCCL's own control buffers in host memory", kFifo, false};
    }
    return nccl_data_buffer(incident, run);
  }
  if (first.length) guess.at_most = first.length;
  return guess;
}

std::string describe_buffer(const BufferGuess& guess) {
  if (guess.what.empty()) return {};
  if (!guess.at_most) return guess.what;
  return fmt::format("{}, at most {} with default parameters", guess.what, format_size(*guess.at_most));
}

}  // namespace pindown
