// SPDX-License-Identifier: Apache-2.0
// The row type of the catalogue. A cause is one row: its names, its page, and the function that recognises it. From the
// row come `explain`, `list`, the man page section, JSON fields and the report's words; there is no other registry.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "finding/report.h"
#include "model/situation.h"

namespace pindown {

/// What a check says of one situation. Silence (kNotApplicable) is never "healthy".
struct Outcome {
  enum class Kind {
    kNotApplicable,  // this cause cannot be meant here
    kRuledOut,       // looked, and it is not this: `why` with the number or line that says so
    kUnknown,        // would decide it, but a fact is missing: `missing`, `how`
    kCandidate,      // possible; `decide` is the one command that would tell
    kFound,          // likely or proven (or possible, as a note)
  } kind = Kind::kNotApplicable;

  Certainty certainty = Certainty::kPossible;
  std::optional<Severity> severity;  // instead of the row's own
  /// Among outcomes of equal certainty the higher weight leads. Scale: 90+ the line itself names the cause; 70-89 a
  /// fact beside it does; 50-69 the errno/verb/size pattern fits this best; 30-49 common; 10-29 rare. Use the scale,
  /// not fine-tuning.
  int weight = 50;
  std::string summary;
  std::string why;     // kRuledOut, kCandidate
  std::string decide;  // kCandidate
  std::vector<Evidence> evidence;
  std::vector<Remedy> remedies;
  std::vector<std::string> missing;  // kUnknown
  std::string how;
};

Outcome found(Certainty certainty, int weight, std::string summary, std::vector<Evidence> evidence = {});
Outcome candidate(int weight, std::string why, std::string decide);
Outcome ruled_out(std::string why);
Outcome unknown(std::vector<std::string> missing, std::string how);
inline Outcome not_applicable() {
  return {};
}

/// The page `pindown explain CODE` shows. Plain text; paragraphs separated by blank lines; no markup but `code`.
struct Page {
  std::string_view meaning;     // what it means for the job
  std::string_view why;         // why the kernel or library does it: file, function, version range
  std::string_view recognised;  // from which lines and facts pindown tells it
  std::string_view fix;         // how to fix it, copy-safe commands on lines of their own, indented by four blanks
  std::string_view ignore_when;
};

struct Check {
  std::string_view code;  // "PD102", for ever
  std::string_view slug;
  Severity severity = Severity::kError;
  std::string_view title;  // one line, lower case, no full stop
  Page page;
  /// Null for a code this version documents but cannot recognise yet; `list` says so.
  Outcome (*eval)(const Situation&) = nullptr;
};

/// Refuses to compile a malformed row: code PDnnn, slug in kebab case, every page part filled.
consteval bool well_formed(const Check& c) {
  auto kebab = [](std::string_view s) {
    if (s.empty() || s.front() == '-' || s.back() == '-') return false;
    for (char ch : s) {
      if (!((ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') || ch == '-')) return false;
    }
    return true;
  };
  if (c.code.size() != 5 || c.code[0] != 'P' || c.code[1] != 'D') return false;
  for (char ch : c.code.substr(2)) {
    if (ch < '0' || ch > '9') return false;
  }
  return kebab(c.slug) && !c.title.empty() && c.title.size() <= 72 && !c.page.meaning.empty() && !c.page.why.empty() &&
         !c.page.recognised.empty() && !c.page.fix.empty() && !c.page.ignore_when.empty();
}
template <std::size_t N>
consteval bool all_well_formed(const Check (&rows)[N]) {
  for (const Check& row : rows) {
    if (!well_formed(row)) return false;
  }
  return true;
}

// One table a family; each defined in the file of that name.
std::span<const Check> login_checks();      // PD1xx
std::span<const Check> service_checks();    // PD2xx
std::span<const Check> container_checks();  // PD3xx
std::span<const Check> gpu_checks();        // PD4xx
std::span<const Check> device_checks();     // PD5xx
std::span<const Check> memory_checks();     // PD6xx
std::span<const Check> other_checks();      // PD7xx
std::span<const Check> fleet_checks();      // PD8xx
std::span<const Check> self_checks();       // PD9xx

/// Every row, in code order.
const std::vector<const Check*>& all_checks();
const Check* find_check(std::string_view code_or_slug);

}  // namespace pindown
