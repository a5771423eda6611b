// SPDX-License-Identifier: Apache-2.0
// PAM service files, pam.d(5): bytes → lines with type, control, module and arguments. Includes are not followed here;
// model/pam_session walks them. Entry points: parse_pam_file, collect_pam.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "facts/config_line.h"
#include "host/host.h"

namespace pindown {

enum class PamType { kAuth, kAccount, kPassword, kSession };

/// "session [success=1 default=ignore] pam_succeed_if.so user = alice": words are split as libpam does (blanks; "[…]"
/// is one word, "\]" inside it is a bracket; a backslash at the end of a line joins the next; "#" starts a comment).
/// `control` is lower case for the four keywords, include, substack; "[…]" keeps its inside.
struct PamLine {
  std::optional<PamType> type;  // empty for "@include FILE", which brings lines of every type (Debian, Ubuntu)
  bool quiet = false;           // "-session": a module that is not there is not logged; it fails all the same
  bool must_fail = false;       // malformed: stands for a module that always fails, under this line's control
  bool ends_reading = false;    // libpam gives up on the whole file here: a backslash at its end
  std::string control;          // "required", "[success=1 default=ignore]", "include", "substack", "@include"
  std::string module;           // "pam_limits.so", "/lib/security/pam_limits.so", or the file of an include
  std::vector<std::string> arguments;
  Source source;
};

struct PamConf {
  /// By service name, from the first directory that has it: /etc/pam.d, /usr/lib/pam.d (libpam/pam_handlers.c
  /// _pam_open_config_file; the vendor directory where the distribution has one). A name read and not found anywhere is
  /// there with its reason. Each is at most 1 MiB, at most 1,000 files.
  /// A file included by its full path is there under that path.
  std::map<std::string, Fact<std::vector<PamLine>>> services;
  bool has_directory = false;  // /etc/pam.d exists: /etc/pam.conf is not read then (without it, `services` has its)
  /// Debian's 031_pam_include: "include", "substack" and "@include" look below /etc/pam.d only. By /etc/os-release.
  bool includes_from_etc_only = false;
  /// File names in the module directories (/lib/*/security, /usr/lib/*/security, /lib64/security, …); empty and
  /// `modules_known` false if none of those could be listed.
  std::set<std::string> modules;
  bool modules_known = false;
  std::set<std::string> missing_paths;  // modules that lines name by a full path and that are not there
  std::vector<std::string> problems;
};

/// A malformed line (no such type, no module) is named in `problems`, if given: libpam logs it and puts a module that
/// always fails there, which the model must know of: it has `must_fail`. Without a word for the control that is "bad".
/// A word that is no type makes `type` empty: libpam takes it for an auth line, or for one of the include's type.
/// Read as by 1.5.2 (libpam/pam_handlers.c _pam_assemble_line), but without its limit of 1,023 bytes a line; where a
/// later version reads differently (a blank or comment line within a continued one) that is a problem.
std::vector<PamLine> parse_pam_file(std::string_view text, std::string_view path,
                                    std::vector<std::string>* problems = nullptr);

PamConf collect_pam(const Host& host);

}  // namespace pindown
