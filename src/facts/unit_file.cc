// SPDX-License-Identifier: Apache-2.0
// See unit_file.h.
#include "facts/unit_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/text.h"
#include "facts/config_path.h"
#include "facts/unit_index.h"
#include "facts/unit_names.h"
#include "facts/unit_text.h"

namespace pindown {
namespace {

constexpr std::size_t kMaxFileBytes = 4U << 20;
constexpr std::size_t kMaxBytes = 64U << 20;
constexpr std::size_t kMaxListed = 1'000;

/// The limit as it stands after each assignment, and what the others were.
struct LimitTrack {
  Fact<MemlockLimit> limit;
  std::vector<Source> ignored;

  void ignore(const Source& source) {
    if (ignored.size() < kMaxListed) ignored.push_back(source);
  }
  void assign(const UnitAssignment& assignment) {
    const auto value = parse_unit_limit(assignment.value);
    if (!value) return ignore(assignment.source);
    if (limit.known()) ignore(limit.source);
    limit = Fact<MemlockLimit>::of(*value, assignment.source);
  }
  /// A file that cannot be read may set the limit; a later one may set it again.
  void lose(Missing why, const std::string& path) {
    if (limit.known()) ignore(limit.source);
    limit = Fact<MemlockLimit>::none(why, path);
  }
};

void add_problem(std::vector<std::string>& problems, std::string text) {
  if (!text.empty() && problems.size() < kMaxListed) problems.push_back(std::move(text));
}

/// src/basic/extract-word.c without quotes: a backslash takes the next character as it is.
bool take_part(std::string_view& text, std::string& part) {
  part.clear();
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == ':') {
      text.remove_prefix(at + 1);
      return true;
    }
    if (text[at] == '\\') ++at;
    if (at == text.size()) return false;
    part += text[at];
  }
  text = {};
  return true;
}

struct Unit {
  char letter;
  int shift;
};
constexpr auto kUnits =
    std::to_array<Unit>({{'E', 60}, {'P', 50}, {'T', 40}, {'G', 30}, {'M', 20}, {'K', 10}, {'B', 0}, {'\0', 0}});

/// "1.5G" or one piece of "1G 512M" at `p`: bytes, and which unit; moves behind it. Nothing: it is none.
struct Piece {
  std::uint64_t bytes;
  std::size_t unit;
};
std::optional<Piece> take_piece(const char*& p, std::size_t first_unit) {
  constexpr std::string_view kBlanks = " \t\n\r";
  while (*p != '\0' && kBlanks.find(*p) != std::string_view::npos) ++p;
  if (*p == '-') return std::nullopt;
  char* end = nullptr;
  errno = 0;
  const std::uint64_t whole = std::strtoull(p, &end, 10);
  if (errno != 0 || end == p) return std::nullopt;
  double fraction = 0;
  if (*end == '.') {
    const char* digits = ++end;
    if (is_digit(*digits)) fraction = static_cast<double>(std::strtoull(digits, &end, 10));
    if (errno != 0) return std::nullopt;
    for (; digits < end; ++digits) fraction /= 10;
  }
  while (*end != '\0' && kBlanks.find(*end) != std::string_view::npos) ++end;
  std::size_t unit = first_unit;
  while (unit < kUnits.size() && kUnits[unit].letter != *end && kUnits[unit].letter != '\0') ++unit;
  if (unit >= kUnits.size()) return std::nullopt;
  const std::uint64_t factor = std::uint64_t{1} << kUnits[unit].shift;
  if (whole + (fraction > 0 ? 1 : 0) > Limit::kInfinity / factor) return std::nullopt;
  p = end + (kUnits[unit].letter == '\0' ? 0 : 1);
  return Piece{whole * factor + static_cast<std::uint64_t>(fraction * static_cast<double>(factor)), unit};
}

/// src/basic/parse-util.c parse_size: pieces with ever smaller units, added up; then rlimit_parse_size.
std::optional<Limit> parse_unit_size(const std::string& text) {
  if (text == "infinity") return Limit::unlimited();
  std::uint64_t sum = 0;
  std::size_t first_unit = 0;
  const char* p = text.c_str();
  do {
    const auto piece = take_piece(p, first_unit);
    if (!piece || piece->bytes > Limit::kInfinity - sum) return std::nullopt;
    sum += piece->bytes;
    first_unit = piece->unit + 1;
  } while (*p != '\0');
  if (sum == Limit::kInfinity) return std::nullopt;
  return Limit{sum};
}

/// "foo.socket" has its limits in [Socket].
std::string section_of(std::string_view name) {
  const auto unit = parse_unit_name(name);
  if (!unit || unit->type.empty()) return "Service";
  std::string section = unit->type;
  section[0] = static_cast<char>(section[0] - 'a' + 'A');
  return section;
}

constexpr auto kUnitKeys =
    std::to_array<std::string_view>({"LimitMEMLOCK", "PAMName", "User", "CapabilityBoundingSet", "AmbientCapabilities",
                                     "PrivateUsers", "DynamicUser", "Accept"});

void set_text(Fact<std::string>& fact, const UnitAssignment& assignment, const UnitName& unit) {
  if (assignment.value.empty())
    fact = Fact<std::string>::none(Missing::kAbsent, assignment.source.path);
  else
    fact = Fact<std::string>::of(expand_specifiers(assignment.value, unit), assignment.source);
}

class UnitCollector {
 public:
  UnitCollector(const Host& host, UnitFile& out) : host_(host), out_(out), unit_(parse_unit_name(out.name)) {}

  void read_fragment(const UnitPath& file);
  void read_drop_in(const UnitPath& file);
  LimitTrack& track() { return track_; }

 private:
  void lose(Missing why, const UnitPath& file, std::string problem);
  void apply(const UnitText& text);

  const Host& host_;
  UnitFile& out_;
  std::optional<UnitName> unit_;
  LimitTrack track_;
  std::size_t bytes_ = 0;
};

void UnitCollector::lose(Missing why, const UnitPath& file, std::string problem) {
  add_problem(out_.problems, std::move(problem));
  track_.lose(why, file.path);
}

void UnitCollector::apply(const UnitText& text) {
  for (const UnitAssignment& assignment : text.assignments) {
    if (assignment.key == "LimitMEMLOCK")
      track_.assign(assignment);
    else if (assignment.key == "PAMName" && unit_)
      set_text(out_.pam_name, assignment, *unit_);
    else if (assignment.key == "User" && unit_)
      set_text(out_.user, assignment, *unit_);
    else if (assignment.key == "Accept" && unit_)
      set_text(out_.accept, assignment, *unit_);
    else if (assignment.key == "DynamicUser")
      out_.dynamic_user = parse_unit_boolean(assignment.value).value_or(out_.dynamic_user);
    else if (out_.capabilities.size() < kMaxListed)
      out_.capabilities.push_back(assignment);
  }
}

void UnitCollector::read_fragment(const UnitPath& file) {
  const ConfigText text = read_config(host_, file.resolved, kMaxFileBytes);
  if (file.resolved.empty() || text.missing) {
    const Missing why = file.resolved.empty() ? Missing::kAbsent : *text.missing;
    out_.fragment = Fact<std::string>::none(why, file.path);
    if (why != Missing::kAbsent) lose(why, file, text.problem);
    return;
  }
  out_.fragment = Fact<std::string>::of(file.path, {file.path, {}, {}});
  out_.masked = text.text.empty();
  bytes_ += text.text.size();
  const UnitText lines = parse_unit_text(text.text, file.path, section_of(out_.name), kUnitKeys);
  apply(lines);
  if (!lines.stopped) return;
  out_.refuses = lines.stopped;
  out_.why = lines.why;
}

/// systemd reads the drop-ins that it can, and of a broken one what comes before the break.
void UnitCollector::read_drop_in(const UnitPath& file) {
  if (file.resolved.empty()) return;
  if (bytes_ > kMaxBytes)
    return lose(Missing::kError, file, fmt::format("{}: not read, there is too much before it", file.path));
  const ConfigText text = read_config(host_, file.resolved, kMaxFileBytes);
  if (text.missing == Missing::kAbsent || text.directory) return;
  if (text.missing) return lose(*text.missing, file, text.problem);
  bytes_ += text.text.size();
  const UnitText lines = parse_unit_text(text.text, file.path, section_of(out_.name), kUnitKeys);
  apply(lines);
  if (lines.stopped)
    add_problem(out_.problems, fmt::format("{}: {}; systemd reads no further there", lines.stopped->path, lines.why));
}

constexpr auto kConfDirectories = std::to_array<std::string_view>(
    {"/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd", "/lib/systemd"});
constexpr auto kManagerKeys = std::to_array<std::string_view>({"DefaultLimitMEMLOCK"});

/// False: systemd reads no further file (src/shared/conf-parser.c config_parse_many_files returns the first error).
bool read_manager_file(const Host& host, const UnitPath& file, LimitTrack& track, ManagerConf& out, bool& found) {
  found = false;
  if (file.resolved.empty()) {
    add_problem(out.problems, fmt::format("{}: too many levels of links; systemd reads no further file", file.path));
    return false;
  }
  const ConfigText text = read_config(host, file.resolved, kMaxFileBytes);
  if (text.missing == Missing::kAbsent) return true;
  found = true;
  if (text.directory) {
    add_problem(out.problems, fmt::format("{}: it is a directory; systemd reads no further file", file.path));
    return false;
  }
  if (text.missing) {
    add_problem(out.problems, text.problem);
    track.lose(*text.missing, file.path);
    return true;
  }
  const UnitText lines = parse_unit_text(text.text, file.path, "Manager", kManagerKeys);
  for (const UnitAssignment& assignment : lines.assignments) track.assign(assignment);
  if (!lines.stopped) return true;
  add_problem(out.problems, fmt::format("{}: {}; systemd reads no further file", lines.stopped->path, lines.why));
  return false;
}

}  // namespace

std::optional<MemlockLimit> parse_unit_limit(std::string_view value) {
  if (value.find('\0') != std::string_view::npos) return std::nullopt;
  std::string_view rest = value;
  std::string part;
  const bool two = value.find(':') != std::string_view::npos;
  if (!take_part(rest, part)) return std::nullopt;
  const auto soft = parse_unit_size(part);
  if (!soft) return std::nullopt;
  // A value without a colon ends here; an escaped colon is no separator, and no number either.
  if (!two) return MemlockLimit{soft, soft};
  if (!take_part(rest, part) || !rest.empty()) return std::nullopt;
  const auto hard = parse_unit_size(part);
  if (!hard || *soft > *hard) return std::nullopt;
  return MemlockLimit{soft, hard};
}

std::optional<bool> parse_unit_boolean(std::string_view value) {
  constexpr auto kYes = std::to_array<std::string_view>({"1", "yes", "y", "true", "t", "on"});
  constexpr auto kNo = std::to_array<std::string_view>({"0", "no", "n", "false", "f", "off"});
  const std::string word = lower(value);
  if (std::ranges::find(kYes, word) != kYes.end()) return true;
  if (std::ranges::find(kNo, word) != kNo.end()) return false;
  return std::nullopt;
}

UnitFile collect_unit(const Host& host, std::string_view name, bool user_manager) {
  UnitFile out;
  UnitFiles files = find_unit_files(host, name, user_manager);
  out.name = files.name;
  out.user_manager = user_manager;
  out.problems = std::move(files.problems);
  out.fragment = Fact<std::string>::none(Missing::kAbsent, files.name);
  for (Fact<std::string>* fact : {&out.pam_name, &out.user, &out.accept})
    *fact = Fact<std::string>::none(Missing::kAbsent, files.name);
  UnitCollector collector(host, out);
  collector.track().limit = Fact<MemlockLimit>::none(Missing::kAbsent, files.name);
  if (files.fragment) collector.read_fragment(*files.fragment);
  if (files.left_out > 0) {
    add_problem(out.problems,
                fmt::format("{} has too many drop-ins: the first {} are not read", files.name, files.left_out));
    collector.track().lose(Missing::kError, files.name);
  }
  for (const UnitPath& file : files.drop_ins) {
    out.drop_ins.push_back(file.path);
    collector.read_drop_in(file);
  }
  if (files.unsure) collector.track().lose(Missing::kDenied, files.name);
  out.memlock = std::move(collector.track().limit);
  out.ignored = std::move(collector.track().ignored);
  return out;
}

ManagerConf collect_manager(const Host& host, bool user_manager) {
  ManagerConf out;
  LimitTrack track;
  LinkResolver links(host);
  const std::string name = user_manager ? "user.conf" : "system.conf";
  track.limit = Fact<MemlockLimit>::none(Missing::kAbsent, fmt::format("/etc/systemd/{}", name));
  std::vector<std::string> directories;
  bool more = true;
  bool found = false;
  for (const std::string_view directory : kConfDirectories) {
    directories.push_back(fmt::format("{}/{}.d", directory, name));
    const std::string path = fmt::format("{}/{}", directory, name);
    if (more && !found) more = read_manager_file(host, {path, links.resolve(path).value_or("")}, track, out, found);
  }
  UnitFiles files;
  find_drop_ins(host, directories, links, files);
  if (files.left_out > 0) {
    add_problem(out.problems, fmt::format("{}.d has too many files: the first {} are not read", name, files.left_out));
    track.lose(Missing::kError, directories[0]);
  }
  for (std::string& text : files.problems) add_problem(out.problems, std::move(text));
  for (const UnitPath& file : files.drop_ins) {
    if (more) more = read_manager_file(host, file, track, out, found);
  }
  if (files.unsure) track.lose(Missing::kDenied, directories[0]);
  out.default_memlock = std::move(track.limit);
  out.ignored = std::move(track.ignored);
  return out;
}

}  // namespace pindown
