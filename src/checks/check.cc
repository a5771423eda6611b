// SPDX-License-Identifier: Apache-2.0
// See check.h: the short constructors of outcomes, and the catalogue in code order.
#include "checks/check.h"

#include "base/text.h"

namespace pindown {

Outcome found(Certainty certainty, int weight, std::string summary, std::vector<Evidence> evidence) {
  Outcome out;
  out.kind = Outcome::Kind::kFound;
  out.certainty = certainty;
  out.weight = weight;
  out.summary = std::move(summary);
  out.evidence = std::move(evidence);
  return out;
}

Outcome candidate(int weight, std::string why, std::string decide) {
  Outcome out;
  out.kind = Outcome::Kind::kCandidate;
  out.weight = weight;
  out.why = std::move(why);
  out.decide = std::move(decide);
  return out;
}

Outcome ruled_out(std::string why) {
  Outcome out;
  out.kind = Outcome::Kind::kRuledOut;
  out.why = std::move(why);
  return out;
}

Outcome unknown(std::vector<std::string> missing, std::string how) {
  Outcome out;
  out.kind = Outcome::Kind::kUnknown;
  out.missing = std::move(missing);
  out.how = std::move(how);
  return out;
}

const std::vector<const Check*>& all_checks() {
  static const std::vector<const Check*> rows = [] {
    std::vector<const Check*> all;
    for (const auto table : {login_checks(), service_checks(), container_checks(), gpu_checks(), device_checks(),
                             memory_checks(), other_checks(), fleet_checks(), self_checks()}) {
      for (const Check& row : table) all.push_back(&row);
    }
    return all;
  }();
  return rows;
}

const Check* find_check(std::string_view code_or_slug) {
  for (const Check* row : all_checks()) {
    if (iequals(row->code, code_or_slug) || iequals(row->slug, code_or_slug)) return row;
  }
  return nullptr;
}

}  // namespace pindown
