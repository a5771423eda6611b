// SPDX-License-Identifier: Apache-2.0
// Recognises a shell prompt at the start of a line and says whose it is. Entry point: parse_prompt. A prompt that could
// as well be a comment or markup ("# ", "% ", "/ # ") is called weak: only a known command makes it one.
#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

constexpr std::size_t kMaxPrompt = 120;

bool is_name_char(char c) {
  return is_alnum(c) || c == '.' || c == '_' || c == '-';
}

bool is_path_char(char c) {
  return is_name_char(c) || c == '/' || c == '~' || c == '+' || c == '@' || c == ',' || c == '*';
}

std::string_view take_name(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_name_char(text[n])) ++n;
  const std::string_view name = text.substr(0, n);
  text.remove_prefix(n);
  return name;
}

/// "(venv) ", "(base) ": left by virtualenv and conda, any number of them.
void drop_environments(std::string_view& text) {
  for (int i = 0; i < 3 && text.starts_with('('); ++i) {
    const auto close = text.find(") ");
    if (close == text.npos || close > 40) return;
    if (text.substr(0, close).find(' ') != text.npos) return;
    text.remove_prefix(close + 2);
  }
}

/// The mark and the blank after it, or the mark at the end of the line.
bool take_mark(std::string_view& text, std::string_view marks, char& mark) {
  if (text.empty() || marks.find(text[0]) == marks.npos) return false;
  if (text.size() > 1 && !is_blank(text[1])) return false;
  mark = text[0];
  text = trim(text.substr(1));
  return true;
}

/// What stands between the host and the mark: ":~/x", ":/", " ~", " dir", "(…)" or nothing.
bool drop_directory(std::string_view& text) {
  if (!text.empty() && (text[0] == ':' || is_blank(text[0]))) text.remove_prefix(1);
  std::size_t n = 0;
  while (n < text.size() && n < kMaxPrompt && is_path_char(text[n])) ++n;
  text.remove_prefix(n);
  return true;
}

/// "user@host:~/x$ cmd", "[root@node01 ~]# cmd", "host:~ # cmd" is left to the caller.
std::optional<Prompt> named_prompt(std::string_view text) {
  const bool bracket = consume(text, "[");
  Prompt prompt;
  prompt.kind = PromptKind::kNamed;
  prompt.user = take_name(text);
  if (prompt.user.empty() || !consume(text, "@")) return std::nullopt;
  prompt.host = take_name(text);
  if (prompt.host.empty()) return std::nullopt;
  const std::string_view behind_host = text;
  drop_directory(text);
  const std::string_view directory = behind_host.substr(0, behind_host.size() - text.size());
  if (bracket && !consume(text, "]")) return std::nullopt;
  if (!text.empty() && is_blank(text[0])) text.remove_prefix(1);
  char mark = 0;
  if (!take_mark(text, "$#%>", mark)) return std::nullopt;
  if (mark == '>' || mark == '%') prompt.kind = PromptKind::kWeak;
  prompt.root = mark == '#' || prompt.user == "root";
  prompt.container = !bracket && prompt.user == "root" && (directory == ":/" || directory == ":/workspace");
  prompt.command = text;
  return prompt;
}

/// "[node01 ~]$ cmd": bash's PS1 "[\h \W]\$ ". A log's "[rank0]: " has neither the directory nor the mark.
std::optional<Prompt> bracket_prompt(std::string_view text) {
  if (!consume(text, "[")) return std::nullopt;
  Prompt prompt;
  prompt.kind = PromptKind::kNamed;
  prompt.host = take_name(text);
  if (prompt.host.empty() || text.empty() || text[0] != ' ') return std::nullopt;
  const std::size_t before = text.size();
  drop_directory(text);
  if (before - text.size() < 2 || !consume(text, "]")) return std::nullopt;
  char mark = 0;
  if (!take_mark(text, "$#", mark)) return std::nullopt;
  prompt.root = mark == '#';
  prompt.command = text;
  return prompt;
}

/// "laptop$ cmd".
std::optional<Prompt> host_prompt(std::string_view text) {
  Prompt prompt;
  prompt.kind = PromptKind::kWeak;
  prompt.host = take_name(text);
  char mark = 0;
  if (prompt.host.empty() || !take_mark(text, "$", mark)) return std::nullopt;
  prompt.command = text;
  return prompt;
}

/// "sh-5.1# cmd", "bash-4.4$ cmd".
std::optional<Prompt> shell_prompt(std::string_view text) {
  static constexpr std::string_view kShells[] = {"bash-", "sh-", "zsh-", "dash-", "ksh-"};
  const bool known = std::ranges::any_of(kShells, [&](std::string_view shell) { return consume(text, shell); });
  if (!known) return std::nullopt;
  std::size_t n = 0;
  while (n < text.size() && (is_digit(text[n]) || text[n] == '.')) ++n;
  text.remove_prefix(n);
  Prompt prompt;
  prompt.kind = PromptKind::kNamed;
  char mark = 0;
  if (n == 0 || !take_mark(text, "$#", mark)) return std::nullopt;
  prompt.root = mark == '#';
  prompt.command = text;
  return prompt;
}

/// "/ # cmd" of busybox, "node01:~ # cmd" of SUSE, "node01:/tmp$ cmd".
std::optional<Prompt> path_prompt(std::string_view text) {
  Prompt prompt;
  prompt.kind = PromptKind::kWeak;
  if (text[0] != '/' && text[0] != '~') {
    prompt.host = take_name(text);
    if (prompt.host.empty() || !consume(text, ":") || text.empty() || (text[0] != '~' && text[0] != '/')) {
      return std::nullopt;
    }
  }
  drop_directory(text);
  if (!text.empty() && is_blank(text[0])) text.remove_prefix(1);
  char mark = 0;
  if (!take_mark(text, "$#", mark)) return std::nullopt;
  prompt.root = mark == '#';
  prompt.command = text;
  return prompt;
}

std::optional<Prompt> marked_prompt(std::string_view text) {
  Prompt prompt;
  char mark = 0;
  if (take_mark(text, "$#%", mark)) {
    prompt.kind = mark == '$' ? PromptKind::kPlain : PromptKind::kWeak;
    prompt.root = mark == '#';
    prompt.command = text;
    return prompt;
  }
  if (consume(text, ">>> ")) {
    prompt.kind = PromptKind::kPython;
    prompt.command = trim(text);
    return prompt;
  }
  if (consume(text, "❯ ")) {
    prompt.command = trim(text);
    return prompt;
  }
  std::size_t plus = 0;
  while (plus < text.size() && plus < 4 && text[plus] == '+') ++plus;
  if (plus > 0 && plus < text.size() && text[plus] == ' ') {
    prompt.kind = PromptKind::kTrace;
    prompt.command = trim(text.substr(plus));
    return prompt;
  }
  return std::nullopt;
}

/// Most lines of a log end here: what stands before the mark must begin in one of these ways.
bool may_be_prompt(std::string_view text) {
  const char first = text[0];
  if (first == '/' || first == '~' || first == '(') return true;
  const std::string_view start = text.substr(0, 64);
  if (start.find('@') != start.npos || start.substr(0, 5).find("sh-") != start.npos) return true;
  if (first == '[' && (start.find("]$") != start.npos || start.find("]#") != start.npos)) return true;
  const auto dollar = start.find('$');
  if (dollar != start.npos && std::ranges::all_of(start.substr(0, dollar), is_name_char)) return true;
  const auto colon = start.find(':');
  if (colon == start.npos || colon + 1 >= text.size()) return false;
  return text[colon + 1] == '~' || text[colon + 1] == '/';
}

/// A prompt's mark stands at the end of the line or before a blank.
bool has_mark(std::string_view text) {
  text = text.substr(0, kMaxPrompt);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != '$' && c != '#' && c != '%' && c != '>') continue;
    if (i + 1 == text.size() || is_blank(text[i + 1])) return true;
  }
  return false;
}

}  // namespace

std::optional<Prompt> parse_prompt(std::string_view text) {
  if (text.empty()) return std::nullopt;
  switch (text[0]) {
    case '$':
    case '#':
    case '%':
    case '+':
    case '>':
    case '\xe2':
      return marked_prompt(text);
    default:
      break;
  }
  if (!may_be_prompt(text) || !has_mark(text)) return std::nullopt;
  drop_environments(text);
  if (text.empty()) return std::nullopt;
  if (text[0] == '$' || text[0] == '#') return marked_prompt(text);
  if (auto prompt = named_prompt(text)) return prompt;
  if (auto prompt = bracket_prompt(text)) return prompt;
  if (auto prompt = shell_prompt(text)) return prompt;
  if (auto prompt = path_prompt(text)) return prompt;
  return host_prompt(text);
}

}  // namespace pindown::paste
