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
  bool quiet = false;           // "-session": a module that is not there is no error and not logged
  std::string control;          // "required", "[success=1 default=ignore]", "include", "substack", "@include"
  std::string module;           // "pam_limits.so", "/lib/security/pam_limits.so", or the file of an include
  std::vector<std::string> arguments;
  Source source;
};

struct PamConf {
  /// By service name, from the first directory that has it: /etc/pam.d, /usr/lib/pam.d (libpam/pam_handlers.c
  /// _pam_open_config_file; the vendor directory where the distribution has one). A name read and not found anywhere is
  /// there with its reason. Each is at most 1 MiB, at most 1,000 files.
  std::map<std::string, Fact<std::vector<PamLine>>> services;
  bool has_directory = false;  // /etc/pam.d exists: /etc/pam.conf is not read then
  /// File names in the module directories (/lib/*/security, /usr/lib/*/security, /lib64/security, …); empty and
  /// `modules_known` false if none of those could be listed.
  std::set<std::string> modules;
  bool modules_known = false;
  std::vector<std::string> problems;
};

/// A malformed line (no such type, no module) is dropped and named in `problems`, if given: libpam logs it and puts a
/// module that always fails there, which the model must know of: it becomes a line with control "bad" and no module.
std::vector<PamLine> parse_pam_file(std::string_view text, std::string_view path);

PamConf collect_pam(const Host& host);

}  // namespace pindown
