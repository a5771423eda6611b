// SPDX-License-Identifier: Apache-2.0
// What pam_limits makes of a line of limits.conf(5): which words it honours, how it reads a value, which of several
// lines wins. Follows modules/pam_limits/pam_limits.c (Linux-PAM 1.5.2 to 1.7.2) and Debian's explicit-root patch.
// Entry points: pam_value, line_problem, pam_effective. Pure; knows only lines that were seen, never claims that there
// are no others.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/facts.h"

namespace pindown {

/// How the fourth field is cut out of a line.
enum class PamParser {
  kFirstWord,   // up to Linux-PAM 1.5.3: sscanf %s, any white space (also CR) ends it
  kRestOfLine,  // since 1.6.1: the rest of the line without blanks and tabs around it; a CR stays
};

/// nullopt: PAM skips the line ("wrong limit value", logged at debug level only up to 1.7.2).
std::optional<Limit> pam_value(std::string_view value, PamParser parser);

/// The classes of pam_limits.c: the smaller one wins whatever the order of files and lines.
enum class PamClass { kUser = 0, kGroup = 1, kDefault = 4, kNever = 9 };
PamClass pam_class(std::string_view domain);

/// soft, hard or "-" (both), in any case; anything else makes PAM skip the line.
struct LineSides {
  bool soft = false;
  bool hard = false;
};
LineSides pam_type(std::string_view type);

/// A memlock line that PAM skips, or reads as something its author cannot have meant.
struct LineProblem {
  std::string why;
  std::optional<Limit> reads_as;    // empty: the line is skipped
  bool depends_on_version = false;  // skipped by Linux-PAM 1.6 and newer only
};
std::optional<LineProblem> line_problem(const LimitsConfLine& line);

/// Whose session it is, as far as known. An empty user is somebody, not root.
struct PamSubject {
  std::string user;
  bool root = false;
  bool explicit_root = false;  // Debian and Ubuntu: `*` and `@group` do not apply to root
  PamParser parser = PamParser::kFirstWord;
};

/// Which line decides soft and hard among those that surely apply (`*`, the user's own name, root's uid range).
/// Membership of groups is not known here, so `@group` lines never count.
struct LinesOutcome {
  std::optional<Limit> soft, hard;
  const LimitsConfLine* soft_line = nullptr;
  const LimitsConfLine* hard_line = nullptr;
};
LinesOutcome pam_effective(const std::vector<LimitsConfLine>& lines, const PamSubject& subject);

/// The line surely applies to the subject.
bool pam_applies(const LimitsConfLine& line, const PamSubject& subject);
bool is_memlock_line(const LimitsConfLine& line);

}  // namespace pindown
