// SPDX-License-Identifier: Apache-2.0
// What pam_limits does to a session: lines of limits.conf → limits, with the semantics of the version that reads them.
// Entry point: derive_pam_limits. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/accounts.h"
#include "facts/facts.h"
#include "facts/limits_conf.h"

namespace pindown {

/// How a line is split and what a session starts from; by PAM version and distribution (docs/kernel-facts.md).
enum class PamDialect {
  kUpTo153,   // sscanf "%s%s%s%s": the value is one word
  k160,       // the value is the rest of the line, blanks included (1.6.0)
  kSince161,  // the rest of the line, blanks trimmed, CR kept
};

struct PamVersion {
  PamDialect dialect = PamDialect::kUpTo153;
  bool debian_root =
      false;            // "*" and @group do not reach root (Debian's 027_pam_limits_better_init_allow_explicit_root)
  bool resets = false;  // starts from /proc/1/limits even without set_all (Debian before 1.7.0-1)
  bool eperm_ignored = false;  // a refused setrlimit is no error (Debian's 032)
  bool main_required = false;  // every file must open, limits.conf first (up to 1.5.2: PAM_SERVICE_ERR otherwise)
  /// Its files are read, too: "/usr/etc" (SUSE), "/usr/share" (Fedora, RHEL from 10 on); empty: none (Debian).
  std::string_view vendor;
};

/// From the package version ("1.5.2-6+deb12u1") and /etc/os-release's ID and ID_LIKE; nothing if the version cannot be
/// told.
std::optional<PamVersion> pam_version(std::string_view package_version, std::string_view distro_ids);

/// Where the version is not known: one of each kind that the distribution may have. All kinds if that is not known
/// either (`distro_ids` empty).
std::vector<PamVersion> pam_versions(std::string_view distro_ids);

struct PamLimitsCall {
  std::vector<std::string> arguments;  // set_all, conf=…, noaudit, utmp_early, change_uid, debug
  Source source;                       // of the line in the stack
};

struct SessionLimits {
  std::optional<Limit> soft, hard;  // empty: unknown
  Source decided_by;                // the line that set soft; empty if nothing changed it
  bool refused = false;             // the module returns an error that ends the session
  int code = 0;                     // what it returns: 0, PAM_SERVICE_ERR 3, PAM_PERM_DENIED 6
  Source refused_by;                // the line or file that makes it one
  std::string why;                  // one clause: "the user is exempted by …", "cannot raise …"
  /// What could refuse the session, but is not known here: "maxlogins 4: sessions are not counted".
  std::vector<std::string> unknown;
};

/// `start` are the limits of the process that opens the session; `pid1` those of /proc/1/limits; `may_raise` whether
/// the process has CAP_SYS_RESOURCE in the first user namespace (daemons run by PID 1 do; a container's do not).
SessionLimits derive_pam_limits(const PamLimitsCall& call, const LimitsConf& conf, const ConfigFile* named,
                                const Account& user, const PamVersion& version, const MemlockLimit& start,
                                const std::optional<MemlockLimit>& pid1, bool may_raise);

/// A line as this version reads it; for tests, and to say of a line why it does not count.
struct LimitsLine {
  enum class Kind { kNothing, kLimit, kExempt } kind = Kind::kNothing;
  std::string domain, type, item, value;  // as the module has them after lower-casing type, item and value
  std::optional<Limit> limit;             // of a memlock line whose value is valid, bytes
  std::string ignored;                    // why it is kNothing though it is no comment: "the value is not a number"
};
LimitsLine parse_limits_line(std::string_view line, PamDialect dialect);

/// What fgets(3) with LINE_LENGTH 1,024 makes of a line up to 1.5.3: pieces of 1,023 bytes, each a line of its own; the
/// whole line since getline(3) (1.6.0).
std::vector<std::string_view> limits_pieces(std::string_view line, PamDialect dialect);

}  // namespace pindown
