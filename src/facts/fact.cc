// SPDX-License-Identifier: Apache-2.0
// The words for why a fact is missing. Entry point: missing_name. Stable: they appear in reports.
#include "facts/fact.h"

namespace pindown {

std::string_view missing_name(Missing missing) {
  switch (missing) {
    case Missing::kNotAsked:
      return "not recorded";
    case Missing::kAbsent:
      return "not there";
    case Missing::kDenied:
      return "permission denied";
    case Missing::kMalformed:
      return "malformed";
    case Missing::kVanished:
      return "the process has ended";
    case Missing::kError:
      return "read error";
  }
  return "unknown";
}

}  // namespace pindown
