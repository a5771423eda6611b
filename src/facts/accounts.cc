// SPDX-License-Identifier: Apache-2.0
// Users and groups from /etc/passwd and /etc/group, and rlimit_memlock of sudoers. Entry points: collect_account,
// collect_sudoers. Must not: guess whom a scoped line of sudoers means.
#include "facts/accounts.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/text.h"
#include "facts/name_service.h"
#include "facts/read_config.h"

namespace pindown {
namespace {

constexpr std::size_t kMaxAccountBytes = 64U << 20;

std::optional<std::uint32_t> parse_id(std::string_view text) {
  const auto number = parse_u64(text);
  if (!number || *number > 0xffffffffU) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

/// glibc's nss/nss_files/files-parse.c: leading blanks are skipped, '#' is a comment.
std::vector<std::string_view> fields_of(std::string_view line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  if (line.empty() || line.front() == '#') return {};
  return split(line, ':');
}

std::optional<Account> account_of(const std::vector<std::string_view>& fields) {
  if (fields.size() < 4 || fields[0].empty() || fields[0][0] == '+' || fields[0][0] == '-') return std::nullopt;
  const auto uid = parse_id(fields[2]);
  const auto gid = parse_id(fields[3]);
  if (!uid || !gid) return std::nullopt;
  return Account{std::string(fields[0]), *uid, *gid, {}};
}

/// By name first, as getpwnam(3) would be asked first; a number that is nobody's name is a uid.
Fact<Account> find_account(std::string_view passwd, std::string_view user, std::string_view path) {
  Fact<Account> by_uid = Fact<Account>::none(Missing::kAbsent, std::string(path));
  const auto uid = parse_id(user);
  for (const ConfigLine& line : split_lines(passwd, path)) {
    auto account = account_of(fields_of(line.text));
    if (!account) continue;
    if (account->name == user) return Fact<Account>::of(std::move(*account), line.source);
    if (uid && account->uid == *uid && !by_uid) by_uid = Fact<Account>::of(std::move(*account), line.source);
  }
  return by_uid;
}

struct Group {
  std::string name;
  std::uint32_t gid = 0;
  bool member = false;
};

std::vector<Group> groups_of(std::string_view text, std::string_view user) {
  std::vector<Group> groups;
  for (const ConfigLine& line : split_lines(text, {})) {
    const auto fields = fields_of(line.text);
    if (fields.size() < 3 || fields[0].empty() || fields[0][0] == '+' || fields[0][0] == '-') continue;
    const auto gid = parse_id(fields[2]);
    if (!gid) continue;
    const auto members = fields.size() > 3 ? split(fields[3], ',') : std::vector<std::string_view>();
    const bool member = std::find(members.begin(), members.end(), user) != members.end();
    groups.push_back({std::string(fields[0]), *gid, member});
  }
  return groups;
}

void add_groups(Account& account, std::string_view text) {
  const std::vector<Group> groups = groups_of(text, account.name);
  std::set<std::uint32_t> gids = {account.gid};
  for (const Group& group : groups) {
    if (group.member) gids.insert(group.gid);
  }
  std::set<std::string_view> seen;
  account.groups = {{std::string(), account.gid}};
  for (const Group& group : groups) {
    // getgrnam(3) answers with the first of a name; a later one of the same name is never found by it.
    if (!seen.insert(group.name).second || !gids.contains(group.gid)) continue;
    if (group.gid == account.gid && account.groups[0].first.empty()) {
      account.groups[0].first = group.name;
    } else {
      account.groups.emplace_back(group.name, group.gid);
    }
  }
}

}  // namespace

namespace {

Fact<Account> account_in_files(const Host& host, std::string_view user) {
  std::vector<std::string> ignored;
  const Fact<std::string> passwd = read_text(host, "/etc/passwd", kMaxAccountBytes, ignored);
  if (!passwd) return Fact<Account>::none(passwd.missing, "/etc/passwd");
  Fact<Account> account = find_account(*passwd, user, "/etc/passwd");
  if (!account) return account;
  const Fact<std::string> group = read_text(host, "/etc/group", kMaxAccountBytes, ignored);
  // Without the groups nobody can say which lines apply; without the file there are none.
  if (!group && group.missing != Missing::kAbsent) return Fact<Account>::none(group.missing, "/etc/group");
  add_groups(*account.value, group ? std::string_view(*group) : std::string_view());
  return account;
}

}  // namespace

Fact<Account> collect_account(const Host& host, std::string_view user) {
  Fact<Account> account = account_in_files(host, user);
  const bool may_be_elsewhere = account.known() || account.missing == Missing::kAbsent;
  const std::string others = may_be_elsewhere ? other_name_services(host, account ? "group" : "passwd") : std::string();
  if (others.empty()) return account;
  if (auto asked = ask_id(host, user)) return Fact<Account>::of(std::move(*asked), {fmt::format("id {}", user), {}});
  if (account) account.value->groups_elsewhere = others;
  return account;
}

// ---- sudoers ----
namespace {

constexpr std::size_t kMaxSudoersBytes = 4U << 20;
constexpr std::size_t kMaxSudoersFiles = 10'000;
constexpr int kMaxSudoersDepth = 128;  // MAX_SUDOERS_DEPTH, plugins/sudoers/toke.l
constexpr std::string_view kVariable = "rlimit_memlock";

/// sudo applies generic, host and user lines in one pass in the order of the files, then those for a target user, then
/// those for a command (update_defaults, plugins/sudoers/defaults.c and sudoers.c, 1.9.13 and 1.9.16).
enum class Pass { kFirst, kRunas, kCommand };

struct Setting {
  Pass pass = Pass::kFirst;
  bool everybody = true;
  std::optional<std::string> value;  // empty: "!rlimit_memlock"
  Source source;
};

struct Sudoers {
  const Host& host;
  std::vector<Setting> settings;
  std::size_t files = 0;
  std::optional<Fact<std::string>> failed;  // an included file that could not be read
};

bool valid_side(std::string_view text, Limit& limit) {
  if (text == "infinity") {
    limit = Limit::unlimited();
    return true;
  }
  const auto bytes = parse_u64(text);
  if (bytes) limit = Limit{*bytes};
  return bytes.has_value();
}

/// store_rlimit and check_rlimit of plugins/sudoers/defaults.c: digits or "infinity", once or twice; "user", "default".
std::optional<SudoersLimit> parse_rlimit(std::string_view value) {
  if (value == "user") return SudoersLimit{{}, {}, true};
  if (value == "default") return SudoersLimit{};
  const std::size_t comma = value.find(',');
  Limit soft, hard;
  if (!valid_side(value.substr(0, comma), soft)) return std::nullopt;
  if (!valid_side(comma == std::string_view::npos ? value : value.substr(comma + 1), hard)) return std::nullopt;
  if (soft > hard) return SudoersLimit{};  // setrlimit(2) answers EINVAL and sudo goes on
  return SudoersLimit{soft, hard, false};
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
}

/// "[a-z_]+"
std::string take_variable(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && ((text[n] >= 'a' && text[n] <= 'z') || text[n] == '_')) ++n;
  std::string name(text.substr(0, n));
  text.remove_prefix(n);
  return name;
}

/// A value: "…" with \" inside, or a word up to a blank, comma, '=', '#' or quote, where a backslash quotes.
std::optional<std::string> take_value(std::string_view& text) {
  const bool quoted = consume(text, "\"");
  std::string value;
  while (!text.empty()) {
    const char c = text.front();
    if (quoted && c == '"') break;
    if (!quoted && (is_blank(c) || c == ',' || c == '=' || c == '#' || c == '"')) break;
    if (!quoted && value.empty() && c == '!') return std::nullopt;
    if (c == '\\' && text.size() > 1) text.remove_prefix(1);
    value += text.front();
    text.remove_prefix(1);
  }
  if (quoted && !consume(text, "\"")) return std::nullopt;
  if (value.empty()) return std::nullopt;
  return value;
}

struct Entry {
  std::string variable;
  std::optional<std::string> value;
  bool negated = false;
};

std::optional<Entry> take_entry(std::string_view& text) {
  Entry entry;
  skip_blanks(text);
  while (consume(text, "!")) entry.negated = !entry.negated;
  skip_blanks(text);
  entry.variable = take_variable(text);
  if (entry.variable.empty()) return std::nullopt;
  skip_blanks(text);
  const bool assigns = consume(text, "=") || consume(text, "+=") || consume(text, "-=");
  if (!assigns) return entry;
  skip_blanks(text);
  entry.value = take_value(text);
  if (!entry.value || entry.negated) return std::nullopt;
  skip_blanks(text);
  return entry;
}

/// The entries after "Defaults[scope]"; nothing if the line is a syntax error anywhere, for sudo skips it whole then.
std::optional<std::vector<Entry>> parse_entries(std::string_view text) {
  std::vector<Entry> entries;
  for (;;) {
    auto entry = take_entry(text);
    if (!entry) return std::nullopt;
    entries.push_back(std::move(*entry));
    skip_blanks(text);
    if (text.empty() || text.front() == '#') return entries;
    if (!consume(text, ",")) return std::nullopt;
  }
}

/// "alice, %wheel, ALL" before the entries: words with commas between, as the grammar's lists. True: everybody.
bool take_scope(std::string_view& text) {
  bool everybody = true;
  do {
    skip_blanks(text);
    std::size_t end = 0;
    bool quoted = false;
    for (; end < text.size(); ++end) {
      if (text[end] == '\\') {
        ++end;
      } else if (text[end] == '"') {
        quoted = !quoted;
      } else if (!quoted && (is_blank(text[end]) || text[end] == ',')) {
        break;
      }
    }
    end = std::min(end, text.size());
    everybody = everybody && text.substr(0, end) == "ALL";
    text.remove_prefix(end);
    std::string_view after = text;
    skip_blanks(after);
    if (!after.starts_with(',')) break;
    text = after;
  } while (consume(text, ","));
  return everybody;
}

void read_defaults(std::string_view text, const Source& source, Sudoers& sudoers) {
  Setting setting;
  setting.source = source;
  const char scope = text.empty() ? ' ' : text.front();
  if (scope == ':' || scope == '@' || scope == '>' || scope == '!') {
    text.remove_prefix(1);
    setting.pass = scope == '>' ? Pass::kRunas : scope == '!' ? Pass::kCommand : Pass::kFirst;
    setting.everybody = take_scope(text);
  } else if (!is_blank(scope)) {
    return;
  }
  const auto entries = parse_entries(text);
  if (!entries) return;
  for (const Entry& entry : *entries) {
    if (entry.variable != kVariable) continue;
    if (!entry.value && !entry.negated) continue;              // "no value specified"
    if (entry.value && !parse_rlimit(*entry.value)) continue;  // "value is invalid"
    setting.value = entry.value;
    sudoers.settings.push_back(setting);
  }
}

/// A line with its continuations: a backslash before the newline. In a quoted string the blanks that follow go, too.
struct Logical {
  std::string text;
  Source source;
};

bool open_quote(std::string_view text) {
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (text[i] == '#' && !quoted) {
      return false;
    }
  }
  return quoted;
}

std::vector<Logical> logical_lines(std::string_view text, const std::string& path) {
  std::vector<Logical> lines;
  bool continued = false;
  for (const ConfigLine& raw : split_lines(text, path)) {
    std::string_view line = raw.text;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!continued) lines.push_back({{}, {raw.source.path, std::string(line)}});
    Logical& logical = lines.back();
    if (continued && open_quote(logical.text)) skip_blanks(line);
    std::string_view before = line;
    while (!before.empty() && is_blank(before.back())) before.remove_suffix(1);
    std::string_view start = before;
    skip_blanks(start);
    // A comment ends at its newline, backslash or not.
    continued = before.ends_with('\\') && (continued || !start.starts_with('#'));
    if (continued) {
      before.remove_suffix(1);
      logical.text += before;
      if (!open_quote(logical.text)) logical.text += ' ';
    } else {
      logical.text += line;
    }
  }
  return lines;
}

void read_sudoers(const std::string& path, bool must_exist, int depth, Sudoers& sudoers);

/// expand_include of toke.l: quotes go, %h is the short host name, a relative path stands beside the including file.
std::optional<std::string> include_path(std::string_view text, const std::string& from, const Host& host) {
  skip_blanks(text);
  std::string path;
  if (text.starts_with('"')) {
    auto value = take_value(text);
    if (!value) return std::nullopt;
    path = std::move(*value);
  } else {
    const std::size_t end = text.find_first_of(" \t");
    path = std::string(text.substr(0, end));
  }
  for (std::size_t at = path.find("%h"); at != std::string::npos; at = path.find("%h", at)) {
    const auto name = host.read("/etc/hostname", 4096);
    if (!name) return std::nullopt;
    const std::string_view short_name = trim(*name).substr(0, trim(*name).find('.'));
    path.replace(at, 2, short_name);
    at += short_name.size();
  }
  if (path.empty()) return std::nullopt;
  if (path.front() != '/') path = from.substr(0, from.rfind('/') + 1) + path;
  return path;
}

void read_directory(const std::string& directory, int depth, Sudoers& sudoers) {
  auto names = sudoers.host.list(directory);
  if (!names) {
    if (names.error().kind == HostErrorKind::kDenied && !sudoers.failed) {
      sudoers.failed = Fact<std::string>::none(Missing::kDenied, directory);
    }
    return;
  }
  std::sort(names->begin(), names->end());
  for (const std::string& name : *names) {
    const bool skipped = name.ends_with('~') || contains(name, ".");
    if (!skipped) read_sudoers(fmt::format("{}/{}", directory, name), false, depth + 1, sudoers);
  }
}

/// True if the line was an include.
bool read_include(std::string_view text, const std::string& path, int depth, Sudoers& sudoers) {
  // "#include" counts in the first column only, or it is a comment.
  if (!consume(text, "#include")) {
    skip_blanks(text);
    if (!consume(text, "@include")) return false;
  }
  const bool directory = consume(text, "dir");
  if (text.empty() || !is_blank(text.front())) return false;
  const auto target = include_path(text, path, sudoers.host);
  if (!target) return true;
  if (directory) {
    read_directory(*target, depth, sudoers);
  } else {
    read_sudoers(*target, true, depth + 1, sudoers);
  }
  return true;
}

void read_sudoers(const std::string& path, bool must_exist, int depth, Sudoers& sudoers) {
  if (depth > kMaxSudoersDepth || ++sudoers.files > kMaxSudoersFiles) return;
  std::vector<std::string> ignored;
  const Fact<std::string> text = read_text(sudoers.host, path, kMaxSudoersBytes, ignored);
  if (!text) {
    const bool counts = text.missing != Missing::kAbsent || (must_exist && depth == 0);
    if (counts && !sudoers.failed) sudoers.failed = text;
    return;
  }
  for (const Logical& line : logical_lines(*text, path)) {
    if (read_include(line.text, path, depth, sudoers)) continue;
    std::string_view rest = line.text;
    skip_blanks(rest);
    if (consume(rest, "Defaults")) read_defaults(rest, line.source, sudoers);
  }
}

}  // namespace

Fact<SudoersLimit> collect_sudoers(const Host& host) {
  Sudoers sudoers{host, {}, 0, std::nullopt};
  read_sudoers("/etc/sudoers", true, 0, sudoers);
  if (sudoers.failed) return Fact<SudoersLimit>::none(sudoers.failed->missing, sudoers.failed->source.path);
  // The later pass wins, then the later line; one that is not for everybody may or may not.
  const Setting* last = nullptr;
  for (const Setting& setting : sudoers.settings) {
    if (!last || setting.pass >= last->pass) last = &setting;
  }
  if (!last) return Fact<SudoersLimit>::none(Missing::kAbsent, "/etc/sudoers");
  if (!last->everybody) return Fact<SudoersLimit>{std::nullopt, last->source, Missing::kNotAsked};
  if (!last->value) return Fact<SudoersLimit>::of({}, last->source);
  return Fact<SudoersLimit>::of(*parse_rlimit(*last->value), last->source);
}

}  // namespace pindown
