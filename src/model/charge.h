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

/// What ib_umem_num_pages() makes of address and length, in bytes: whole pages outwards. Nothing only for a length of 0
/// at the start of a page.
std::uint64_t spanned(std::uint64_t address, std::uint64_t length);
/// address + length, or that rounded up to a page, passes 2^64.
bool wraps(std::uint64_t address, std::uint64_t length);

struct ChargeInput {
  std::optional<Limit> soft;          // RLIMIT_MEMLOCK soft limit, bytes
  std::optional<bool> cap_effective;  // bit 14 of CapEff
  std::optional<bool> initial_userns;
  std::optional<std::uint64_t> pinned;   // VmPin, bytes; unknown counts as at least 0
  bool pinned_at_failure = false;        // VmPin was sampled at the failure, not later
  std::optional<std::uint64_t> request;  // bytes
  bool invalid = false;                  // the address wraps, or remote write or atomic access without local write
  bool unreachable = false;              // pinning would fail: unmapped, no access, read-only asked for writing
  Path path = Path::kHost;
  bool siw_before_6_8 = false;  // siw on kernels <= 6.7 has no capability bypass
};

struct ChargeResult {
  enum class Answer { kAllowed, kRefused, kUnknown } answer = Answer::kUnknown;
  int error = 0;       // ENOMEM, or EPERM for a limit of 0; EINVAL, EFAULT: not the limit's doing
  bool proof = false;  // true: the limit's answer follows from what is known whatever the rest is (rule P1 or P3)
  std::string why;     // one clause, with the numbers
};

/// capable(CAP_IPC_LOCK): effective set and first user namespace; unknown if either is unknown and not decisive.
std::optional<bool> ipc_lock_usable(const ChargeInput& in);
/// The first refusal in the kernel's order: EINVAL, EPERM, EINVAL for no or too many pages, ENOMEM, EFAULT.
ChargeResult charge(const ChargeInput& in);

}  // namespace pindown
