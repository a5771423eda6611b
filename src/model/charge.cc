// SPDX-License-Identifier: Apache-2.0
// See charge.h. Rule names (P1, P3, R1 …) are explained in docs/kernel-facts.md.
#include "model/charge.h"

#include <fmt/format.h>

#include <cerrno>

namespace pindown {

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

}  // namespace

ChargeResult charge(const ChargeInput& in) {
  if (in.path == Path::kDmabuf) return allowed("dma-buf registrations are not charged");
  if (in.path == Path::kOdp) return allowed("on-demand paging registrations are not charged");
  const std::optional<bool> usable = ipc_lock_usable(in);
  if (usable == true) return allowed("CAP_IPC_LOCK is usable");
  if (!in.soft) return unclear("the soft limit is not known");
  if (in.soft->is_unlimited()) return allowed("the soft limit is unlimited");
  return charge_against(*in.soft, usable == false, in);
}

}  // namespace pindown
