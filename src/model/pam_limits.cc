// SPDX-License-Identifier: Apache-2.0
// pam_limits, statement for statement: modules/pam_limits/pam_limits.c of Linux-PAM 1.3.1 to 1.7.2 and of Debian's
// 1.5.2-6 and 1.7.0-5. Entry points: derive_pam_limits, parse_limits_line, pam_version. Must not: read a file.
#include "model/pam_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"

namespace pindown {
namespace {

constexpr int kServiceErr = 3;
constexpr int kPermDenied = 6;
constexpr std::size_t kPiece = 1'023;
/// What nr_open can be raised to on 64 bits (fs/file.c sysctl_nr_open_max) and what it is unless somebody raised it.
constexpr std::uint64_t kNrOpenMax = 2'147'483'584, kNrOpenDefault = 1'048'576;

/// LIMITS_DEF_*: the smaller number has more say.
enum Rank { kUser, kGroup, kAllGroup, kAll, kDefault, kKernel, kNone };

// ---- numbers as strtoul(3) reads them ----

struct Number {
  unsigned long value = 0;
  std::size_t used = 0;  // 0: no digits
  bool overflow = false;
};

Number read_number(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_space(text[at])) ++at;
  const bool negative = at < text.size() && text[at] == '-';
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  const std::size_t first = at;
  Number number;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    const auto digit = static_cast<unsigned long>(text[at] - '0');
    const bool fits = number.value <= (std::numeric_limits<unsigned long>::max() - digit) / 10;
    number.overflow = number.overflow || !fits;
    number.value = number.value * 10 + digit;
  }
  if (at == first) return {};
  number.used = at;
  if (number.overflow) {
    number.value = std::numeric_limits<unsigned long>::max();
  } else if (negative) {
    number.value = -number.value;
  }
  return number;
}

/// strtol(3) and then cut to an int, as maxlogins has it.
std::optional<int> read_int(std::string_view text) {
  const Number number = read_number(text);
  if (number.used == 0) return std::nullopt;
  const bool negative = contains(text.substr(0, number.used), "-");
  const unsigned long magnitude = negative && !number.overflow ? -number.value : number.value;
  const auto most = static_cast<unsigned long>(std::numeric_limits<int>::max());
  const int cut = magnitude > most ? std::numeric_limits<int>::max() : static_cast<int>(magnitude);
  return negative ? -cut : cut;
}

bool is_infinity(std::string_view value) {
  return value == "-1" || value == "-" || value == "unlimited" || value == "infinity";
}

// ---- lines ----

std::string_view take_word(std::string_view& rest, bool (*separates)(char)) {
  while (!rest.empty() && separates(rest.front())) rest.remove_prefix(1);
  std::size_t n = 0;
  while (n < rest.size() && !separates(rest[n])) ++n;
  const std::string_view word = rest.substr(0, n);
  rest.remove_prefix(n);
  return word;
}

struct Words {
  std::string_view domain, type, item, value;
  int count = 0;
};

/// split() of 1.6.0: strtok_r leaves what follows the item and one separator, blanks at both ends included; 1.6.1
/// trims.
std::string_view rest_of_line(std::string_view rest, PamDialect dialect) {
  if (!rest.empty()) rest.remove_prefix(1);
  if (dialect == PamDialect::k160) return rest;
  while (!rest.empty() && is_blank(rest.front())) rest.remove_prefix(1);
  while (!rest.empty() && is_blank(rest.back())) rest.remove_suffix(1);
  return rest;
}

Words split_words(std::string_view line, PamDialect dialect) {
  const bool scanf = dialect == PamDialect::kUpTo153;
  bool (*separates)(char) = scanf ? +[](char c) { return is_space(c); } : +[](char c) { return is_blank(c); };
  Words words;
  words.domain = take_word(line, separates);
  words.type = take_word(line, separates);
  words.item = take_word(line, separates);
  words.value = scanf ? take_word(line, separates) : rest_of_line(line, dialect);
  for (const std::string_view word : {words.domain, words.type, words.item, words.value}) words.count += !word.empty();
  return words;
}

struct Range {
  enum class Kind { kError, kNone, kOne, kFrom, kBoth } kind = Kind::kNone;
  std::uint32_t low = 0xffffffff, high = 0xffffffff;
};

/// parse_uid_range: numbers are cut to 32 bits, signs and all.
Range parse_range(std::string_view domain) {
  const std::size_t colon = domain.find(':');
  if (colon == std::string_view::npos) return {};
  std::string_view low = domain;
  const std::string_view high = domain.substr(colon + 1);
  if (low[0] == '@' || low[0] == '%') low.remove_prefix(1);
  Range range{Range::Kind::kBoth};
  const Range error{Range::Kind::kError};
  if (low[0] == ':') {
    range.kind = Range::Kind::kOne;
  } else {
    const Number number = read_number(low);
    if (number.overflow || number.used == 0 || number.used >= low.size() || low[number.used] != ':') return error;
    range.low = static_cast<std::uint32_t>(number.value);
  }
  if (high.empty()) return range.kind == Range::Kind::kOne ? error : Range{Range::Kind::kFrom, range.low};
  const Number number = read_number(high);
  if (number.overflow || number.used != high.size()) return error;
  range.high = static_cast<std::uint32_t>(number.value);
  if (range.kind == Range::Kind::kOne) range.low = range.high;
  return range;
}

constexpr std::array<std::string_view, 15> kItems = {"cpu",     "fsize",      "data",     "stack", "core",
                                                     "rss",     "nproc",      "nofile",   "as",    "locks",
                                                     "memlock", "sigpending", "msgqueue", "nice",  "rtprio"};
constexpr std::array<std::string_view, 5> kOtherItems = {"maxlogins", "maxsyslogins", "priority", "nonewprivs",
                                                         "chroot"};

template <class List>
bool one_of(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

bool any_type(std::string_view item) {
  return item == "maxlogins" || item == "maxsyslogins" || item == "nonewprivs";
}

std::optional<Limit> memlock_value(std::string_view value) {
  if (is_infinity(value)) return Limit::unlimited();
  const Number number = read_number(value);
  if (number.used == 0) return std::nullopt;
  return Limit::of_kib(number.value);
}

std::string_view why_not(const LimitsLine& line) {
  if (!one_of(kItems, line.item) && !one_of(kOtherItems, line.item)) return "there is no such item";
  const bool type = line.type == "soft" || line.type == "hard" || line.type == "-";
  if (!type && !any_type(line.item)) return "the type is neither soft nor hard nor -";
  if (line.item == "memlock" && !memlock_value(line.value)) return "the value is not a number";
  return {};
}

}  // namespace

std::vector<std::string_view> limits_pieces(std::string_view line, PamDialect dialect) {
  if (dialect != PamDialect::kUpTo153 || line.size() <= kPiece) return {line};
  std::vector<std::string_view> pieces;
  for (; !line.empty(); line.remove_prefix(std::min(line.size(), kPiece))) pieces.push_back(line.substr(0, kPiece));
  return pieces;
}

LimitsLine parse_limits_line(std::string_view line, PamDialect dialect) {
  line = line.substr(0, line.find('\0'));
  while (!line.empty() && is_space(line.front())) line.remove_prefix(1);
  line = line.substr(0, line.find('#'));
  const Words words = split_words(line, dialect);
  LimitsLine out{LimitsLine::Kind::kNothing, std::string(words.domain), lower(words.type), std::string(words.item),
                 std::string(words.value)};
  if (line.empty()) return out;
  if (parse_range(words.domain).kind == Range::Kind::kError) {
    out.ignored = "the domain is no range of ids";
  } else if (words.count == 2 && out.type.starts_with('-')) {
    out.kind = LimitsLine::Kind::kExempt;
  } else if (words.count != 4) {
    out.ignored = "a line has four words";
  } else {
    out.item = lower(words.item);
    out.value = lower(words.value);
    out.ignored = why_not(out);
    if (out.ignored.empty()) out.kind = LimitsLine::Kind::kLimit;
    if (out.ignored.empty() && out.item == "memlock") out.limit = memlock_value(out.value);
  }
  return out;
}

namespace {

// ---- whom a line is for ----

bool in_group(const Account& user, std::string_view name) {
  return std::any_of(user.groups.begin(), user.groups.end(),
                     [&](const auto& group) { return !name.empty() && group.first == name; });
}

/// pam_modutil_user_in_group_nam_gid wants an entry in /etc/group.
bool in_gid(const Account& user, std::uint32_t gid) {
  return std::any_of(user.groups.begin(), user.groups.end(),
                     [&](const auto& group) { return group.second == gid && !group.first.empty(); });
}

bool in_range(const Range& range, std::uint32_t id) {
  switch (range.kind) {
    case Range::Kind::kOne:
      return id == range.high;
    case Range::Kind::kBoth:
      return id <= range.high && id >= range.low;
    case Range::Kind::kFrom:
      return id >= range.low;
    default:
      return false;
  }
}

/// "@name", "@:gid" are memberships; "@min:", "@min:max" look at the primary group alone.
bool group_matches(const Range& range, std::string_view domain, const Account& user) {
  if (range.kind == Range::Kind::kNone) return in_group(user, domain.substr(1));
  if (range.kind == Range::Kind::kOne) return in_gid(user, range.high);
  return in_range(range, user.gid);
}

std::optional<Rank> percent_rank(const Range& range, std::string_view domain, const Account& user) {
  if (range.kind == Range::Kind::kNone && domain == "%") return kAll;
  const bool named = range.kind == Range::Kind::kNone && in_group(user, domain.substr(1));
  const bool numbered = range.kind == Range::Kind::kOne && in_gid(user, range.high);
  if (named || numbered) return kAllGroup;
  return std::nullopt;
}

/// The class by which a line of four words is the user's. With Debian's explicit-root patch "@…" and "%…" lines are
/// nothing special for root, so that a range in them is one of uids.
std::optional<Rank> rank_of(std::string_view domain, const Account& user, bool debian_root) {
  const Range range = parse_range(domain);
  const bool guarded_root = debian_root && user.uid == 0;
  if (domain == user.name) return kUser;
  if (domain.starts_with('@') && !guarded_root) {
    return group_matches(range, domain, user) ? std::optional(kGroup) : std::nullopt;
  }
  if (domain.starts_with('%') && !guarded_root) return percent_rank(range, domain, user);
  if (range.kind == Range::Kind::kNone) {
    return domain == "*" && !guarded_root ? std::optional(kDefault) : std::nullopt;
  }
  return in_range(range, user.uid) ? std::optional(kUser) : std::nullopt;
}

bool exempts(std::string_view domain, const Account& user) {
  const Range range = parse_range(domain);
  if (domain == user.name) return true;
  if (domain.starts_with('@')) return group_matches(range, domain, user);
  return in_range(range, user.uid);
}

// ---- reading the files ----

struct Reading {
  const Account& user;
  const PamVersion& version;
  bool may_raise = false;

  std::optional<Limit> soft, hard;
  Rank soft_rank = kNone, hard_rank = kNone;
  Source soft_line, hard_line;
  std::optional<int> logins;
  Rank logins_rank = kNone;
  Source logins_line;
  bool exempt = false;
  Source exempt_line;
  int code = 0;
  Source failed;
  std::string cannot_tell;  // a file that was not read
  std::vector<std::string> unknown;
  std::optional<std::uint64_t> nofile;  // the hard limit for open files; infinite is fs.nr_open
  Rank nofile_rank = kNone;
  Source nofile_line;

  bool ended() const { return exempt || code != 0 || !cannot_tell.empty(); }
};

/// process_limit. A soft value that has less say ends the function, so "-" leaves hard alone, too.
void take_memlock(const LimitsLine& line, const Source& source, Rank rank, Reading& reading) {
  if (line.type != "hard") {
    if (reading.soft_rank < rank) return;
    reading.soft = line.limit;
    reading.soft_rank = rank;
    reading.soft_line = source;
  }
  if (line.type != "soft") {
    if (reading.hard_rank < rank) return;
    reading.hard = line.limit;
    reading.hard_rank = rank;
    reading.hard_line = source;
  }
}

void take_logins(const LimitsLine& line, const Source& source, Rank rank, Reading& reading) {
  const std::optional<int> count = is_infinity(line.value) ? std::optional(-1) : read_int(line.value);
  if (!count || reading.logins_rank < rank) return;
  reading.logins = count;
  reading.logins_rank = rank;
  reading.logins_line = source;
}

/// Other limits end the session where setrlimit's EPERM does: upstream, without CAP_SYS_RESOURCE or above fs.nr_open.
void take_other(const LimitsLine& line, const Source& source, Rank rank, Reading& reading) {
  if (line.item == "chroot" && reading.version.debian_root) {
    reading.unknown.push_back(fmt::format("{}: the session is refused if {} is no directory", source.path, line.value));
  }
  if (reading.version.eperm_ignored || line.type == "soft" || !one_of(kItems, line.item)) return;
  if (!reading.may_raise) {
    reading.unknown.push_back(fmt::format("{}: the session is refused if this raises the limit", source.path));
  }
  const Number number = read_number(line.value);
  const bool infinite = is_infinity(line.value);
  if (line.item != "nofile" || (number.used == 0 && !infinite) || reading.nofile_rank < rank) return;
  reading.nofile = infinite ? 0 : number.value;
  reading.nofile_rank = rank;
  reading.nofile_line = source;
}

void take_line(std::string_view text, const Source& source, Reading& reading) {
  const LimitsLine line = parse_limits_line(text, reading.version.dialect);
  if (line.kind == LimitsLine::Kind::kNothing) return;
  if (line.kind == LimitsLine::Kind::kExempt) {
    if (!exempts(line.domain, reading.user)) return;
    reading.exempt = true;
    reading.exempt_line = source;
    return;
  }
  const auto rank = rank_of(line.domain, reading.user, reading.version.debian_root);
  if (!rank) return;
  const bool percent = *rank == kAll || *rank == kAllGroup;
  if (line.item == "maxlogins" || (line.item == "maxsyslogins" && !percent)) {
    take_logins(line, source, *rank, reading);
  } else if (percent) {
    return;  // "'%' domain valid for maxlogins type only"
  } else if (line.item == "memlock") {
    take_memlock(line, source, *rank, reading);
  } else {
    take_other(line, source, *rank, reading);
  }
}

void read_lines(const std::vector<ConfigLine>& lines, Reading& reading) {
  for (const ConfigLine& line : lines) {
    for (const std::string_view piece : limits_pieces(line.text, reading.version.dialect)) {
      take_line(piece, line.source, reading);
      if (reading.exempt) return;
    }
  }
}

/// A file that is not there is an error up to 1.5.2, and always for conf=.
void read_file(const ConfigFile& file, bool required, Reading& reading) {
  if (file) return read_lines(*file, reading);
  if (file.missing != Missing::kAbsent) {
    // pam_limits runs as root: what pindown may not read, it can.
    reading.cannot_tell = fmt::format("{} could not be read", file.source.path);
  } else if (required) {
    reading.code = kServiceErr;
    reading.failed = {file.source.path, {}};
  }
}

/// A file of a vendor's directory that this version does not look into.
bool of_another_vendor(const ConfigFile& file, const PamVersion& version) {
  std::string_view path = file.source.path;
  if (!path.starts_with("/usr/")) return false;
  return version.vendor.empty() || !consume(path, version.vendor) || !path.starts_with("/");
}

void read_standard(const LimitsConf& conf, Reading& reading) {
  const bool absent = !conf.main && conf.main.missing == Missing::kAbsent;
  const bool vendor = absent && conf.vendor && !of_another_vendor(conf.vendor, reading.version);
  read_file(vendor ? conf.vendor : conf.main, reading.version.main_required, reading);
  for (const ConfigFile& file : conf.drop_ins) {
    if (reading.ended()) return;
    if (of_another_vendor(file, reading.version)) continue;
    read_file(file, reading.version.main_required, reading);
  }
}

// ---- applying ----

std::string_view conf_argument(const PamLimitsCall& call) {
  std::string_view path;
  for (const std::string& argument : call.arguments) {
    if (argument.starts_with("conf=")) path = std::string_view(argument).substr(5);
  }
  return path;
}

bool has_argument(const PamLimitsCall& call, std::string_view name) {
  return one_of(call.arguments, name);
}

bool names_file(const PamLimitsCall& call) {
  return std::any_of(call.arguments.begin(), call.arguments.end(),
                     [](const std::string& argument) { return argument.starts_with("conf="); });
}

void refuse(SessionLimits& out, int code, Source by, std::string why) {
  out.refused = true;
  out.code = code;
  out.refused_by = std::move(by);
  out.why = std::move(why);
}

/// setrlimit(2): a hard limit above the one there needs CAP_SYS_RESOURCE; nothing is set then. Unknown: no answer.
std::optional<bool> kernel_allows(const std::optional<Limit>& hard, const MemlockLimit& start, bool may_raise) {
  if (may_raise) return true;
  if (!hard || !start.hard) return std::nullopt;
  return *hard <= *start.hard;
}

void apply(const Reading& reading, const MemlockLimit& start, SessionLimits& out) {
  if (reading.soft_rank == kNone && reading.hard_rank == kNone) return;
  const std::optional<Limit> hard = reading.hard;
  std::optional<Limit> soft = reading.soft;
  Source decided = reading.soft_line;
  // The smaller of the two is known as soon as one of them is 0.
  if (soft && hard && *soft > *hard) {
    soft = hard;
    if (reading.hard_rank != kNone) decided = reading.hard_line;
  } else if (!hard && !(soft && soft->bytes == 0)) {
    soft.reset();
  }
  const std::optional<bool> allowed = kernel_allows(hard, start, reading.may_raise);
  if (!allowed) {
    out.soft.reset();
    out.hard.reset();
    out.why = "whether the hard limit may be set is not known";
    if (!reading.version.eperm_ignored)
      out.unknown.push_back("the session is refused if the hard limit would be raised");
    return;
  }
  if (!*allowed) {
    const std::string why = fmt::format("the hard limit cannot be raised from {} to {} without CAP_SYS_RESOURCE",
                                        format_limit(*start.hard), format_limit(*hard));
    if (!reading.version.eperm_ignored) return refuse(out, kPermDenied, reading.hard_line, why);
    out.why = why + "; it stays";
    return;
  }
  out.soft = soft;
  out.hard = hard;
  out.decided_by = decided;
}

void apply_logins(const PamLimitsCall& call, const Reading& reading, SessionLimits& out) {
  if (reading.user.uid == 0 || !reading.logins || *reading.logins < 0) return;
  if (*reading.logins == 0) {
    return refuse(out, kPermDenied, reading.logins_line, fmt::format("{} allows no login", reading.logins_line.path));
  }
  out.unknown.push_back(fmt::format("{}: the session is refused if {} others are open", reading.logins_line.path,
                                    *reading.logins - (has_argument(call, "utmp_early") ? 1 : 0)));
}

/// alloc_fdtable's bound: above fs.nr_open setrlimit(2) answers EPERM to everybody (kernel/sys.c do_prlimit).
void apply_nofile(const Reading& reading, SessionLimits& out) {
  if (!reading.nofile || out.refused || !reading.may_raise) return;
  if (*reading.nofile > kNrOpenMax) {
    refuse(out, kPermDenied, reading.nofile_line,
           fmt::format("{} is above what fs.nr_open can be", reading.nofile_line.path));
  } else if (*reading.nofile > kNrOpenDefault) {
    out.unknown.push_back(
        fmt::format("{}: the session is refused if this is above fs.nr_open", reading.nofile_line.path));
  }
}

/// init_limits: what the process has, or what PID 1 has.
void start_from(const PamLimitsCall& call, const MemlockLimit& start, const std::optional<MemlockLimit>& pid1,
                Reading& reading) {
  reading.soft = start.soft;
  reading.hard = start.hard;
  if (!reading.version.resets && !has_argument(call, "set_all")) return;
  const MemlockLimit first = pid1.value_or(MemlockLimit{});
  reading.soft = first.soft;
  reading.hard = first.hard;
  reading.soft_rank = reading.hard_rank = kKernel;
  reading.soft_line.path = reading.hard_line.path = "/proc/1/limits";
}

}  // namespace

SessionLimits derive_pam_limits(const PamLimitsCall& call, const LimitsConf& conf, const ConfigFile* named,
                                const Account& user, const PamVersion& version, const MemlockLimit& start,
                                const std::optional<MemlockLimit>& pid1, bool may_raise) {
  Reading reading{.user = user, .version = version, .may_raise = may_raise};
  start_from(call, start, pid1, reading);
  if (!names_file(call)) {
    read_standard(conf, reading);
  } else if (conf_argument(call).empty()) {
    read_file(ConfigFile::none(Missing::kAbsent, "conf="), true, reading);
  } else if (named) {
    read_file(*named, true, reading);
  } else {
    reading.cannot_tell = fmt::format("{} was not read", conf_argument(call));
  }

  SessionLimits out;
  out.soft = start.soft;
  out.hard = start.hard;
  if (reading.exempt) {
    out.why = fmt::format("{} exempts the user: pam_limits sets nothing", reading.exempt_line.path);
    return out;
  }
  if (!reading.cannot_tell.empty()) return {.why = reading.cannot_tell, .unknown = {reading.cannot_tell}};
  if (reading.code != 0) {
    refuse(out, reading.code, reading.failed, fmt::format("{} is missing", reading.failed.path));
    return out;
  }
  out.unknown = reading.unknown;
  apply(reading, start, out);
  apply_nofile(reading, out);
  apply_logins(call, reading, out);
  return out;
}

// ---- versions ----

namespace {

struct Release {
  std::array<std::uint64_t, 3> parts{};
  friend auto operator<=>(const Release&, const Release&) = default;
};

/// "1.5.2-6+deb12u1", "1:1.3.1-5": the numbers before anything else.
std::optional<Release> parse_release(std::string_view version) {
  const std::size_t epoch = version.find(':');
  if (epoch != std::string_view::npos) version.remove_prefix(epoch + 1);
  Release release;
  for (std::size_t i = 0; i < release.parts.size(); ++i) {
    const auto number = parse_u64(take_digits(version));
    if (!number) return i == 0 ? std::nullopt : std::optional(release);
    release.parts[i] = *number;
    if (!consume(version, ".")) break;
  }
  return release;
}

bool has_word(std::string_view words, std::string_view wanted) {
  return one_of(split_blanks(words), wanted);
}

}  // namespace

std::optional<PamVersion> pam_version(std::string_view package_version, std::string_view distro_ids) {
  const auto release = parse_release(trim(package_version));
  if (!release || trim(distro_ids).empty()) return std::nullopt;
  PamVersion version;
  if (*release >= Release{{1, 6, 1}}) {
    version.dialect = PamDialect::kSince161;
  } else if (*release >= Release{{1, 6, 0}}) {
    version.dialect = PamDialect::k160;
  }
  version.main_required = *release < Release{{1, 5, 3}};
  const bool debian = has_word(distro_ids, "debian") || has_word(distro_ids, "ubuntu");
  version.debian_root = version.eperm_ignored = debian;
  // 1.7.0-1: "pam_limits: do not override systemd's limits by default" (Debian bug 995236).
  version.resets = debian && *release < Release{{1, 7, 0}};
  if (version.main_required) return version;
  // --enable-vendordir of the packages' spec files: %{_distconfdir} and %{_datadir}.
  if (has_word(distro_ids, "suse") || has_word(distro_ids, "opensuse")) version.vendor = "/usr/etc";
  if (has_word(distro_ids, "fedora") || has_word(distro_ids, "rhel")) version.vendor = "/usr/share";
  return version;
}

std::vector<PamVersion> pam_versions(std::string_view distro_ids) {
  std::vector<std::string_view> distributions = {distro_ids};
  if (trim(distro_ids).empty()) distributions = {"debian", "fedora", "suse"};
  std::vector<PamVersion> versions;
  for (const std::string_view ids : distributions) {
    for (const char* release : {"1.3.1", "1.5.3", "1.6.0", "1.6.1", "1.7.0"})
      versions.push_back(*pam_version(release, ids));
  }
  return versions;
}

}  // namespace pindown
