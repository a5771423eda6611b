// SPDX-License-Identifier: Apache-2.0
// See sshd_config.h. Follows OpenSSH 9.2 to 10.5: servconf.c load_server_config, parse_server_config_depth,
// process_server_config_line_depth; misc.c argv_split and strdelim. Before 8.7 sshd took no comment after a value, and
// before 8.2 it knew no Include.
#include "facts/sshd_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "facts/config_path.h"
#include "facts/sshd_glob.h"
#include "facts/sshd_keywords.h"
#include "facts/sshd_options.h"
#include "facts/sshd_words.h"

namespace pindown {
namespace {

constexpr int kMaxDepth = 16;  // servconf.c SERVCONF_MAX_DEPTH
constexpr std::size_t kMaxFiles = 10'000;
constexpr std::size_t kMaxFileBytes = 1U << 20;
constexpr std::size_t kMaxBytes = 64U << 20;
constexpr std::size_t kMaxPath = 4096;     // PATH_MAX
constexpr std::size_t kMaxListed = 1'000;  // shadowed lines and problems that are named
constexpr std::string_view kDirectory = "/etc/ssh";

/// Whether lines count. kUnknown: a Match block that depends on sshd's own version.
enum class Active { kYes, kNo, kUnknown };

/// Where a line stands: `never` is servconf.c SSHCFG_NEVERMATCH, a file included from a block that is not active.
struct Scope {
  Active active = Active::kYes;
  bool never = false;
  int depth = 0;
  bool command_line = false;
};

class Reader {
 public:
  Reader(const Host& host, SshdConf& out) : host_(host), out_(out), links_(host) {}

  void read_main(const Source& options);
  void read_command_line(const SshdOptions& options, const Source& source);

 private:
  void finish();
  void read_file(const std::string& path, Scope scope, const Source& included_by);
  void read_missing(const std::string& path, const std::optional<std::string>& resolved, const Source& source);
  void read_text(const std::string& path, std::string_view text, Scope scope);
  void read_line(std::string_view text, Scope& scope, const Source& source);
  void read_keyword(const SshdKeyword& keyword, const std::vector<std::string>& arguments, std::string_view rest,
                    Scope& scope, const Source& source);
  void read_use_pam(const std::vector<std::string>& arguments, Active active, const Source& source);
  void read_match(std::string_view rest, Scope& scope, const Source& source);
  void read_include(const std::vector<std::string>& arguments, const Scope& scope, const Source& source);
  std::vector<std::string> glob(std::string_view pattern);
  bool is_there(const std::string& path);
  std::vector<std::string> expand(const std::vector<std::string>& bases, const SshdGlob& name);

  void refuse(const Source& source, std::string why);
  void problem(std::string text);
  void lose(Missing why, const std::string& path);

  const Host& host_;
  SshdConf& out_;
  LinkResolver links_;
  bool decided_ = false;      // the first UsePAM that counts was seen, or cannot be known any more
  bool no_includes_ = false;  // a bound was reached
  std::size_t files_ = 0;
  std::size_t bytes_ = 0;
};

void Reader::refuse(const Source& source, std::string why) {
  if (out_.refuses) return;
  out_.refuses = source;
  out_.why = std::move(why);
}

void Reader::problem(std::string text) {
  if (out_.problems.size() < kMaxListed) out_.problems.push_back(std::move(text));
}

/// A file that cannot be read may hold the first UsePAM, so what comes after it does not decide.
void Reader::lose(Missing why, const std::string& path) {
  if (decided_) return;
  decided_ = true;
  out_.use_pam = Fact<bool>::none(why, path);
}

void Reader::read_use_pam(const std::vector<std::string>& arguments, Active active, const Source& source) {
  const bool yes = !arguments.empty() && iequals(arguments[0], "yes");
  if (!yes && (arguments.empty() || !iequals(arguments[0], "no"))) return;
  if (active == Active::kUnknown) {
    problem(fmt::format("{}: whether this block counts depends on the version of sshd", source.path));
    return lose(Missing::kMalformed, source.path);
  }
  if (!decided_) {
    decided_ = true;
    out_.use_pam = Fact<bool>::of(yes, source);
  } else if (out_.use_pam.known() && out_.shadowed.size() < kMaxListed) {
    out_.shadowed.push_back(source);
  }
}

void Reader::read_match(std::string_view rest, Scope& scope, const Source& source) {
  const SshdMatch match = parse_sshd_match(rest);
  if (!match.error.empty()) refuse(source, match.error);
  // Only "all" is true of no connection at all, which is what sshd starts with (connectinfo is NULL).
  if (match.depends_on_version)
    scope.active = Active::kUnknown;
  else
    scope.active = match.all ? Active::kYes : Active::kNo;
  if (scope.never) scope.active = Active::kNo;
}

/// The next step of a pattern: `bases` are directories.
std::vector<std::string> Reader::expand(const std::vector<std::string>& bases, const SshdGlob& name) {
  std::vector<std::string> out;
  for (const std::string& base : bases) {
    if (!name.is_pattern()) {
      out.push_back(base + "/" + name.literal());
      continue;
    }
    const auto directory = links_.resolve(base.empty() ? "/" : base);
    if (!directory) continue;
    auto names = host_.list(*directory);
    if (!names && (names.error().kind == HostErrorKind::kDenied || names.error().kind == HostErrorKind::kTooLarge)) {
      problem(names.error().message);
      lose(Missing::kDenied, *directory);
    }
    if (!names) continue;
    names->insert(names->end(), {".", ".."});
    for (const std::string& entry : *names) {
      if (name.matches(entry)) out.push_back(fmt::format("{}/{}", base, entry));
    }
    if (out.size() > kMaxFiles) break;
  }
  return out;
}

/// No braces, no tilde; names that start with a dot need one in the pattern; sorted as bytes.
std::vector<std::string> Reader::glob(std::string_view pattern) {
  std::vector<std::string> paths = {""};
  if (pattern.size() >= kMaxPath) return {};
  bool last_is_pattern = false;
  for (const std::string_view part : split(pattern, '/')) {
    if (part.empty()) continue;
    const auto name = compile_sshd_glob(part);
    if (!name) return {};
    last_is_pattern = name->is_pattern();
    paths = expand(paths, *name);
    if (paths.size() <= kMaxFiles) continue;
    problem(fmt::format("{}: more than {} files match; the rest is not read", shorten(escape(pattern, 200), 80),
                        kMaxFiles));
    paths.resize(kMaxFiles);
    lose(Missing::kError, std::string(pattern));
  }
  if (!last_is_pattern) std::erase_if(paths, [&](const std::string& path) { return !is_there(path); });
  std::ranges::sort(paths);
  return paths;
}

/// glob asks with lstat: a link to nothing is there.
bool Reader::is_there(const std::string& path) {
  const auto at = links_.resolve(path, /*follow_last=*/false);
  return at && (host_.exists(*at) || host_.link(*at));
}

void Reader::read_include(const std::vector<std::string>& arguments, const Scope& scope, const Source& source) {
  if (arguments.empty()) return refuse(source, "Include names no file");
  for (const std::string& argument : arguments) {
    if (argument.empty()) return refuse(source, "Include has an empty argument");
    // "~" is not expanded (no GLOB_TILDE), so it is a name below the working directory, "/".
    const bool absolute = argument[0] == '/' || argument[0] == '~';
    for (const std::string& path : glob(absolute ? argument : fmt::format("{}/{}", kDirectory, argument))) {
      if (scope.depth + 1 > kMaxDepth) {
        no_includes_ = true;
        return refuse(source, fmt::format("Include is nested deeper than {}", kMaxDepth));
      }
      if (no_includes_) return;
      Scope inner = scope;
      inner.depth = scope.depth + 1;
      inner.never = scope.active == Active::kNo;
      read_file(path, inner, source);
    }
  }
}

/// A missing file ends sshd. In a copy of a machine that has not even the file's directory, it may just not have been
/// copied.
void Reader::read_missing(const std::string& path, const std::optional<std::string>& resolved, const Source& source) {
  if (!resolved || host_.exists(parent_path(*resolved)))
    return refuse(source, fmt::format("{} cannot be opened: no such file", path));
  problem(fmt::format("{} leads to {}, which is not here", path, *resolved));
  lose(Missing::kAbsent, path);
}

void Reader::read_file(const std::string& path, Scope scope, const Source& included_by) {
  const auto resolved = links_.resolve(path);
  if (!resolved) return read_missing(path, resolved, included_by);
  if (++files_ > kMaxFiles || bytes_ > kMaxBytes) {
    if (!no_includes_) problem(fmt::format("{}: too many files are included; the rest is not read", path));
    no_includes_ = true;
    return lose(Missing::kError, path);
  }
  const ConfigText file = read_config(host_, *resolved, kMaxFileBytes);
  if (file.directory) return;  // fopen(3) takes a directory, and reading it yields nothing
  if (file.missing == Missing::kAbsent) return read_missing(path, resolved, included_by);
  if (file.missing) {
    problem(file.problem);
    return lose(*file.missing, path);
  }
  bytes_ += file.text.size();
  read_text(path, file.text, scope);
}

/// servconf.c load_server_config copies each line up to its first NUL, and its newline lies behind that: the next line
/// is glued to it.
void Reader::read_text(const std::string& path, std::string_view text, Scope scope) {
  std::string glued;
  bool joined = false;
  std::size_t start = 0;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::string_view raw = text.substr(0, text.find('\n'));
    text = raw.size() == text.size() ? std::string_view{} : text.substr(raw.size() + 1);
    const auto first = raw.find_first_not_of(" \t\r");
    std::string_view piece = first == std::string_view::npos ? std::string_view{} : raw.substr(first);
    if (!joined) start = number;
    const auto nul = piece.find('\0');
    if (joined || nul != std::string_view::npos) glued += piece.substr(0, nul);
    joined = nul != std::string_view::npos && !text.empty();
    if (joined) continue;
    if (!glued.empty() || nul != std::string_view::npos) piece = glued;
    if (!piece.empty() && piece[0] != '#')
      read_line(piece, scope, {fmt::format("{}:{}", path, start), std::string(raw), {}});
    glued.clear();
  }
}

void Reader::read_line(std::string_view text, Scope& scope, const Source& source) {
  while (text.size() > 1 && std::string_view(" \t\r\n\f").find(text.back()) != std::string_view::npos)
    text.remove_suffix(1);
  std::optional<std::string_view> rest = text;
  auto word = next_sshd_word(rest);
  if (word && word->empty()) word = next_sshd_word(rest);
  if (!word || word->empty() || word->starts_with('#')) return;
  const std::string shown = shorten(escape(*word, 200), 40);
  if (!rest || rest->empty()) return refuse(source, fmt::format("'{}' has no argument", shown));
  const SshdKeyword* keyword = find_sshd_keyword(*word);
  if (keyword == nullptr) return refuse(source, fmt::format("sshd does not know the option '{}'", shown));
  const auto arguments = split_sshd_arguments(*rest);
  if (!arguments) return refuse(source, fmt::format("a quote after '{}' is not closed", shown));
  if (scope.active == Active::kNo && keyword->global)
    return refuse(source, fmt::format("{} is not allowed within a Match block", shown));
  const std::string error = sshd_argument_error(*keyword, *arguments);
  if (!error.empty()) refuse(source, error);
  read_keyword(*keyword, *arguments, *rest, scope, source);
}

void Reader::read_keyword(const SshdKeyword& keyword, const std::vector<std::string>& arguments, std::string_view rest,
                          Scope& scope, const Source& source) {
  if (scope.command_line && (keyword.kind == SshdKind::kInclude || keyword.kind == SshdKind::kMatch))
    return refuse(source, fmt::format("{} is not allowed on the command line", keyword.name));
  switch (keyword.kind) {
    case SshdKind::kUsePam:
      return read_use_pam(arguments, scope.active, source);
    case SshdKind::kPamService:
      if (scope.active == Active::kYes && !out_.pam_service.known() && !arguments.empty())
        out_.pam_service = Fact<std::string>::of(arguments[0], source);
      return;
    case SshdKind::kMatch:
      return read_match(rest, scope, source);
    case SshdKind::kInclude:
      return read_include(arguments, scope, source);
    default:
      return;
  }
}

/// -o lines come first, so they win over the file: sshd.c main, process_server_config_line.
void Reader::read_command_line(const SshdOptions& options, const Source& source) {
  if (!options.error.empty()) refuse(source, options.error);
  for (const std::string& line : options.lines) {
    Scope scope;
    scope.command_line = true;
    const auto first = line.find_first_not_of('\0');
    if (first != std::string::npos) read_line(std::string_view(line).substr(0, line.find('\0')), scope, source);
  }
}

void Reader::read_main(const Source& options) {
  if (iequals(out_.file, "none")) return finish();
  const auto resolved = links_.resolve(out_.file);
  ConfigText file;
  if (resolved) file = read_config(host_, *resolved, kMaxFileBytes);
  if (!resolved || file.missing == Missing::kAbsent) {
    if (!options.path.empty()) refuse(options, fmt::format("{} cannot be opened: no such file", out_.file));
    return lose(Missing::kAbsent, out_.file);
  }
  if (file.missing && !file.directory) {
    problem(file.problem);
    return lose(*file.missing, out_.file);
  }
  ++files_;
  bytes_ += file.text.size();
  read_text(out_.file, file.text, {});
  finish();
}

void Reader::finish() {
  if (!decided_) out_.use_pam = Fact<bool>::of(false, {out_.file, {}, {}});
}

/// SUSE's sshd reads the vendor's file where /etc has none.
std::string default_file(const Host& host) {
  LinkResolver links(host);
  for (const std::string_view path : {"/etc/ssh/sshd_config", "/usr/etc/ssh/sshd_config"}) {
    const auto at = links.resolve(path);
    if (at && host.exists(*at)) return std::string(path);
  }
  return "/etc/ssh/sshd_config";
}

}  // namespace

SshdConf collect_sshd(const Host& host) {
  SshdConf out;
  out.options = collect_sshd_options(host, out.problems);
  SshdOptions options;
  if (out.options.known()) options = parse_sshd_options(*out.options);
  const bool named = !options.file.empty();
  out.file = named ? options.file : default_file(host);
  if (out.file[0] != '/' && !iequals(out.file, "none")) out.file.insert(0, "/");  // a unit's working directory
  Reader reader(host, out);
  reader.read_command_line(options, out.options.source);
  reader.read_main(named ? out.options.source : Source{});
  return out;
}

}  // namespace pindown
