// SPDX-License-Identifier: Apache-2.0
// Which buffer a failed registration was for and how large it can have been, from the verb, [RO], the channels and the
// trace lines; sizes are NCCL's defaults (src/include/comm.h, src/transport/net.cc; 2.12 to 2.30). Entry point:
// derive_buffer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "logs/incident.h"

namespace pindown {

struct BufferGuess {
  logs::MemoryType memory = logs::MemoryType::kUnknown;
  std::string what;                      // "one of NCCL's own control buffers (FIFO)"; empty if nothing is known
  std::optional<std::uint64_t> length;   // bytes, as the failing line says
  std::optional<std::uint64_t> at_most;  // bytes, with NCCL's default parameters
  bool user_buffer = false;              // ncclCommRegister or graph registration: failure there is often harmless
};

/// What the lines of the failing host say of its transport, else those of a log without hosts. "[RO]" is each host's
/// own; that channels go through a GPU is taken from the others, too.
logs::HostContext host_context(const logs::Incident& incident, const logs::RunContext& run);

BufferGuess derive_buffer(const logs::Incident& incident, const logs::RunContext& run);

/// "a data buffer in host memory, at most 4.6 MiB with NCCL's defaults"
std::string describe_buffer(const BufferGuess& guess);

}  // namespace pindown
