// SPDX-License-Identifier: Apache-2.0
// See sudoers.h. Follows sudo 1.9.13 and 1.9.16: plugins/sudoers/gram.y, toke.l, defaults.c. Must not: say whom a
// scoped line means.
#include "facts/sudoers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "facts/read_config.h"

namespace pindown {
namespace {

constexpr std::size_t kMaxSudoersBytes = 4U << 20;
constexpr std::size_t kMaxAllBytes = 64U << 20;
constexpr std::size_t kMaxSudoersFiles = 10'000;
constexpr int kMaxSudoersDepth = 128;  // MAX_SUDOERS_DEPTH, plugins/sudoers/toke.l
constexpr std::size_t kMaxSettings = 10'000;
constexpr std::size_t kMaxMembers = 1'000;

struct Reader {
  const Host& host;
  std::vector<SudoersSetting> settings;
  std::size_t files = 0;
  std::size_t bytes = 0;
  std::optional<Fact<std::string>> failed;  // an included file that could not be read
};

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

/// One word of a list, with its quotes and backslashes.
std::string take_member(std::string_view& text) {
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
  std::string member(text.substr(0, end));
  text.remove_prefix(std::min(end, text.size()));
  return member;
}

/// "alice, ! %wheel, ALL" before the entries: words with commas between, as the grammar's lists.
std::vector<std::string> take_scope(std::string_view& text) {
  std::vector<std::string> members;
  do {
    skip_blanks(text);
    std::string negations;
    while (consume(text, "!")) {
      negations += '!';
      skip_blanks(text);
    }
    members.push_back(negations + take_member(text));
    if (members.size() > kMaxMembers) return members;
    std::string_view after = text;
    skip_blanks(after);
    if (!after.starts_with(',')) break;
    text = after;
  } while (consume(text, ","));
  return members;
}

SudoersScope scope_of(char mark) {
  if (mark == ':') return SudoersScope::kUser;
  if (mark == '@') return SudoersScope::kHost;
  if (mark == '>') return SudoersScope::kTarget;
  return mark == '!' ? SudoersScope::kCommand : SudoersScope::kEverybody;
}

/// What sudo warns of and leaves as it was: a value of the wrong kind.
bool takes(const Entry& entry) {
  if (entry.variable == "rlimit_memlock") return entry.negated || (entry.value && parse_sudoers_rlimit(*entry.value));
  if (entry.variable == "pam_session") return !entry.value;
  if (entry.variable == "pam_service" || entry.variable == "pam_login_service") return entry.value.has_value();
  return false;
}

void read_defaults(std::string_view text, const Source& source, Reader& reader) {
  SudoersSetting setting;
  setting.source = source;
  const char mark = text.empty() ? ' ' : text.front();
  setting.scope = scope_of(mark);
  if (setting.scope != SudoersScope::kEverybody) {
    text.remove_prefix(1);
    setting.members = take_scope(text);
  } else if (!is_blank(mark)) {
    return;
  }
  const auto entries = parse_entries(text);
  if (!entries) return;
  for (const Entry& entry : *entries) {
    if (!takes(entry)) continue;
    if (reader.settings.size() >= kMaxSettings && !reader.failed) {
      reader.failed = Fact<std::string>::none(Missing::kError, source.path);
    }
    if (reader.failed) return;
    setting.variable = entry.variable;
    setting.value = entry.value;
    setting.negated = entry.negated;
    reader.settings.push_back(setting);
  }
}

/// A line with its continuations: a backslash before the newline. In a quoted string the blanks that follow go, too.
struct Logical {
  std::string text;
  Source source;
};

/// Whether what was read of a logical line so far ends within a quoted string.
class Quotes {
 public:
  void read(std::string_view text) {
    for (std::size_t i = 0; i < text.size() && !comment_; ++i) {
      if (text[i] == '\\') {
        ++i;
      } else if (text[i] == '"') {
        quoted_ = !quoted_;
      } else {
        comment_ = text[i] == '#' && !quoted_;
      }
    }
  }
  bool unclosed() const { return quoted_ && !comment_; }

 private:
  bool quoted_ = false;
  bool comment_ = false;
};

/// The next line with its continuations; empty lines and comments are passed over.
class LogicalLines {
 public:
  LogicalLines(std::string_view text, const std::string& path) : lines_(text), path_(path) {}

  bool next(Logical& logical) {
    Quotes quotes;
    bool continued = false;
    for (std::string_view line; lines_.next(line);) {
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!continued) {
        if (is_nothing(line)) continue;
        logical = {{}, {fmt::format("{}:{}", path_, lines_.number()), std::string(line), {}}};
      }
      continued = add(line, continued, quotes, logical.text);
      if (!continued) return true;
    }
    return continued;
  }

 private:
  static bool is_nothing(std::string_view line) {
    if (line.starts_with("#include")) return false;
    skip_blanks(line);
    return line.empty() || line[0] == '#';
  }

  /// True: the next line belongs to it.
  static bool add(std::string_view line, bool continued, Quotes& quotes, std::string& text) {
    if (continued && quotes.unclosed()) skip_blanks(line);
    std::string_view before = line;
    while (!before.empty() && is_blank(before.back())) before.remove_suffix(1);
    // A comment ends at its newline, backslash or not.
    if (!before.ends_with('\\') || (!continued && line.starts_with('#'))) {
      text += line;
      return false;
    }
    before.remove_suffix(1);
    quotes.read(before);
    text += before;
    if (!quotes.unclosed()) text += ' ';
    return true;
  }

  TextLines lines_;
  const std::string& path_;
};

void read_sudoers(const std::string& path, bool must_exist, int depth, Reader& reader);

/// The running machine's, which may have got another one than its file says.
std::string host_name(const Host& host) {
  for (const char* path : {"/proc/sys/kernel/hostname", "/etc/hostname"}) {
    const auto name = host.read(path, 4096);
    if (name && !trim(*name).empty()) return std::string(trim(*name));
  }
  return {};
}

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
    const std::string name = host_name(host);
    if (name.empty()) return std::nullopt;
    const std::string_view short_name = std::string_view(name).substr(0, name.find('.'));
    path.replace(at, 2, short_name);
    at += short_name.size();
  }
  if (path.empty()) return std::nullopt;
  if (path.front() != '/') path = from.substr(0, from.rfind('/') + 1) + path;
  return path;
}

void read_directory(const std::string& directory, int depth, Reader& reader) {
  auto names = reader.host.list(directory);
  if (!names) {
    if (names.error().kind == HostErrorKind::kDenied && !reader.failed) {
      reader.failed = Fact<std::string>::none(Missing::kDenied, directory);
    }
    return;
  }
  std::sort(names->begin(), names->end());
  for (const std::string& name : *names) {
    const bool skipped = name.ends_with('~') || contains(name, ".");
    if (!skipped) read_sudoers(fmt::format("{}/{}", directory, name), false, depth + 1, reader);
  }
}

/// True if the line was an include.
bool read_include(std::string_view text, const std::string& path, int depth, Reader& reader) {
  // "#include" counts in the first column only, or it is a comment.
  if (!consume(text, "#include")) {
    skip_blanks(text);
    if (!consume(text, "@include")) return false;
  }
  const bool directory = consume(text, "dir");
  if (text.empty() || !is_blank(text.front())) return false;
  const auto target = include_path(text, path, reader.host);
  if (!target) return true;
  if (directory) {
    read_directory(*target, depth, reader);
  } else {
    read_sudoers(*target, true, depth + 1, reader);
  }
  return true;
}

void read_sudoers(const std::string& path, bool must_exist, int depth, Reader& reader) {
  if (depth > kMaxSudoersDepth || reader.failed) return;
  if (++reader.files > kMaxSudoersFiles || reader.bytes > kMaxAllBytes) {
    reader.failed = Fact<std::string>::none(Missing::kError, path);
    return;
  }
  std::vector<std::string> ignored;
  const Fact<std::string> text = read_text(reader.host, path, kMaxSudoersBytes, ignored);
  if (!text) {
    const bool counts = text.missing != Missing::kAbsent || (must_exist && depth == 0);
    if (counts && !reader.failed) reader.failed = text;
    return;
  }
  reader.bytes += text->size();
  LogicalLines lines(*text, path);
  for (Logical line; lines.next(line);) {
    if (read_include(line.text, path, depth, reader)) continue;
    std::string_view rest = line.text;
    skip_blanks(rest);
    if (consume(rest, "Defaults")) read_defaults(rest, line.source, reader);
  }
}

}  // namespace

namespace {

bool parse_side(std::string_view text, Limit& limit) {
  if (text == "infinity") {
    limit = Limit::unlimited();
    return true;
  }
  const auto bytes = parse_u64(text);
  if (bytes) limit = Limit{*bytes};
  return bytes.has_value();
}

}  // namespace

std::optional<SudoersLimit> parse_sudoers_rlimit(std::string_view value) {
  if (value == "user") return SudoersLimit{{}, {}, true};
  if (value == "default") return SudoersLimit{};
  const std::size_t comma = value.find(',');
  Limit soft, hard;
  if (!parse_side(value.substr(0, comma), soft)) return std::nullopt;
  if (!parse_side(comma == std::string_view::npos ? value : value.substr(comma + 1), hard)) return std::nullopt;
  if (soft > hard) return SudoersLimit{};  // setrlimit(2) answers EINVAL and sudo goes on
  return SudoersLimit{soft, hard, false};
}

Fact<Sudoers> collect_sudoers(const Host& host) {
  Reader reader{host, {}, 0, 0, std::nullopt};
  read_sudoers("/etc/sudoers", true, 0, reader);
  if (reader.failed) return Fact<Sudoers>::none(reader.failed->missing, reader.failed->source.path);
  Sudoers out;
  out.settings = std::move(reader.settings);
  out.host = host_name(host);
  return Fact<Sudoers>::of(std::move(out), {"/etc/sudoers", {}, {}});
}

}  // namespace pindown
