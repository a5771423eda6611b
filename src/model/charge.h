// SPDX-License-Identifier: Apache-2.0
// What the kernel would say: whether a registration of a given size passes RLIMIT_MEMLOCK, as ib_umem_get() does it
// (drivers/infiniband/core/umem.c, identical logic in 5.10, 6.1, 6.12, 7.2; docs/kernel-facts.md K1-K4).
// Entry point: charge. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/size.h"

namespace pindown {

enum class Path {
  kHost,        // ib_umem_get on ordinary memory: charged
  kPeerMemory,  // GPU address through nvidia_peermem: charged (out-of-tree ib_core)
  kDmabuf,      // ib_umem_dmabuf_get: never charged
  kOdp,         // on-demand paging: never charged
};

struct ChargeInput {
  std::optional<Limit> soft;          // RLIMIT_MEMLOCK soft limit, bytes
  std::optional<bool> cap_effective;  // bit 14 of CapEff
  std::optional<bool> initial_userns;
  std::optional<std::uint64_t> pinned;   // VmPin, bytes; unknown counts as at least 0
  bool pinned_at_failure = false;        // VmPin was sampled at the failure, not later
  std::optional<std::uint64_t> request;  // bytes
  Path path = Path::kHost;
  bool siw_before_6_8 = false;  // siw on kernels <= 6.7 has no capability bypass
};

struct ChargeResult {
  enum class Answer { kAllowed, kRefused, kUnknown } answer = Answer::kUnknown;
  int error = 0;       // ENOMEM, or EPERM for a limit of 0
  bool proof = false;  // true: follows from what is known whatever the rest is (rule P1 or P3)
  std::string why;     // one clause, with the numbers
};

/// capable(CAP_IPC_LOCK): effective set and first user namespace; unknown if either is unknown and not decisive.
std::optional<bool> ipc_lock_usable(const ChargeInput& in);
ChargeResult charge(const ChargeInput& in);

}  // namespace pindown
