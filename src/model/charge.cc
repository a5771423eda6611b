// SPDX-License-Identifier: Apache-2.0
// See charge.h. Rule names (P1, P3, R1 …) are explained in docs/kernel-facts.md.
#include "model/charge.h"

#include <fmt/format.h>

#include <cerrno>
#include <limits>

namespace pindown {

namespace {
constexpr std::uint64_t kPage = 4096;
}  // namespace

// include/rdma/ib_umem.h ib_umem_num_pages: ALIGN(address + length) - ALIGN_DOWN(address).
std::uint64_t spanned(std::uint64_t address, std::uint64_t length) {
  const std::uint64_t offset = address % kPage;
  if (offset + length < length || offset + length > std::numeric_limits<std::uint64_t>::max() - kPage) return length;
  return (offset + length + kPage - 1) / kPage * kPage;
}

// drivers/infiniband/core/umem.c: addr + size < addr || PAGE_ALIGN(addr + size) < addr + size.
bool wraps(std::uint64_t address, std::uint64_t length) {
  const std::uint64_t end = address + length;
  return end < address || end + kPage - 1 < end;
}

std::optional<bool> ipc_lock_usable(const ChargeInput& in) {
  if (in.siw_before_6_8) return false;  // siw_mem.c up to 6.7 never asks for the capability
  if (in.cap_effective == false || in.initial_userns == false) return false;
  if (in.cap_effective == true && in.initial_userns == true) return true;
  return std::nullopt;
}

namespace {

using Answer = ChargeResult::Answer;

ChargeResult refused(int error, bool proof, std::string why) {
  return {Answer::kRefused, error, proof, std::move(why)};
}
ChargeResult allowed(std::string why) {
  return {Answer::kAllowed, 0, true, std::move(why)};
}
ChargeResult unclear(std::string why) {
  return {Answer::kUnknown, 0, false, std::move(why)};
}

// npages == 0 || npages > UINT_MAX, after can_do_mlock() and before the limit is compared.
bool impossible_number_of_pages(const ChargeInput& in) {
  if (!in.request) return false;
  return *in.request == 0 || pages_at_least(*in.request) > std::numeric_limits<std::uint32_t>::max();
}

ChargeResult charge_against(Limit soft, bool cap_known_absent, const ChargeInput& in) {
  // can_do_mlock() comes before any size (mm/mlock.c).
  if (soft.bytes == 0 && cap_known_absent) return refused(EPERM, true, "the limit is 0");
  if (!in.request) return unclear("the size of the request is not known");
  const std::uint64_t request = pages_at_least(*in.request);
  const std::uint64_t pinned = in.pinned.value_or(0) >> 12;
  const std::string numbers = fmt::format("{} asked for, {} pinned already, limit {}", format_size(*in.request),
                                          in.pinned ? format_size(*in.pinned) : "unknown", format_limit(soft));
  if (request > soft.pages() && cap_known_absent) return refused(ENOMEM, true, numbers);
  if (pinned + request > soft.pages() && cap_known_absent) return refused(ENOMEM, in.pinned_at_failure, numbers);
  if (request > soft.pages()) return unclear(numbers + "; whether CAP_IPC_LOCK is usable is not known");
  if (in.pinned && in.pinned_at_failure) return allowed(numbers);
  return unclear(numbers);
}

/// Of a path that is charged, without what comes before and after the charge.
ChargeResult charge_alone(const ChargeInput& in) {
  const std::optional<bool> usable = ipc_lock_usable(in);
  if (usable == true) return allowed("CAP_IPC_LOCK is usable");
  if (!in.soft) return unclear("the soft limit is not known");
  if (in.soft->is_unlimited()) return allowed("the soft limit is unlimited");
  return charge_against(*in.soft, usable == false, in);
}

}  // namespace

// The order is that of ib_uverbs_reg_mr() (uverbs_cmd.c: ib_check_mr_access() comes before the driver) and of
// ib_umem_get() (umem.c); the same in 6.1 and 6.12.
ChargeResult charge(const ChargeInput& in) {
  if (in.invalid) return refused(EINVAL, false, "the address wraps, or the access flags contradict each other");
  if (in.path == Path::kDmabuf) return allowed("dma-buf registrations are not charged");
  if (in.path == Path::kOdp) return allowed("on-demand paging registrations are not charged");
  ChargeResult result = charge_alone(in);
  if (result.error == EPERM) return result;
  if (impossible_number_of_pages(in)) return refused(EINVAL, false, "no page at all, or 2^32 and more");
  if (result.answer == Answer::kAllowed && in.unreachable)
    return refused(EFAULT, false, "the memory cannot be reached as it is asked for");
  return result;
}

}  // namespace pindown
