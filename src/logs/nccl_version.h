// SPDX-License-Identifier: Apache-2.0
// NCCL releases told apart by the position and wording of their ibvwrap.cc messages. A hint: vendor builds shift lines.
#pragma once

#include <string>

#include "logs/event.h"

namespace pindown::logs {

/// "2.28.7-2.29.3", "2.12.7-2.12.12 or 2.14.3-2.17.1", or empty when the position fits no release.
std::string nccl_version_hint(const Event& event);

/// Compares "2.12.7" style versions: negative, zero, positive.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace pindown::logs
