// SPDX-License-Identifier: Apache-2.0
// See environment_file.h.
#include "facts/environment_file.h"

#include <fmt/format.h>

#include "base/text.h"
#include "facts/config_path.h"

namespace pindown {
namespace {

constexpr std::size_t kMaxBytes = 1U << 20;
constexpr std::string_view kBlanks = " \t\n\r";
constexpr std::string_view kLineEnds = "\n\r";

/// A cursor over the file; `line` counts as an editor does.
struct EnvReader {
  std::string_view text;
  std::size_t at = 0;
  std::size_t line = 1;

  bool end() const { return at >= text.size() || text[at] == '\0'; }
  char take() {
    const char c = text[at++];
    if (c == '\n') ++line;
    return c;
  }
};

/// A backslash at the end of a comment's line makes the next line part of it.
void skip_comment(EnvReader& in) {
  while (!in.end()) {
    const char c = in.take();
    if (c == '\\' && !in.end())
      in.take();
    else if (kLineEnds.contains(c))
      return;
  }
}

/// The name before "="; empty if the line ends first.
std::string take_key(EnvReader& in, char first) {
  std::string key(1, first);
  while (!in.end()) {
    const char c = in.take();
    if (kLineEnds.contains(c)) return {};
    if (c == '=') return std::string(trim(key));
    key += c;
  }
  return {};
}

void take_quoted(EnvReader& in, char quote, std::string& value) {
  while (!in.end()) {
    char c = in.take();
    if (c == quote) return;
    if (c == '\\' && quote == '"' && !in.end()) {
      c = in.take();
      if (c == '\n') continue;
      if (!std::string_view("\"\\`$").contains(c)) value += '\\';
    }
    value += c;
  }
}

std::string take_value(EnvReader& in) {
  std::string value;
  bool bare = false;  // after the first character outside of quotes, quotes are text
  std::size_t keep = 0;
  while (!in.end()) {
    const char c = in.take();
    if (kLineEnds.contains(c)) break;
    if (!bare && (c == '\'' || c == '"')) {
      take_quoted(in, c, value);
      keep = value.size();
    } else if (c == '\\') {
      bare = true;
      if (in.end()) break;
      const char next = in.take();
      if (!kLineEnds.contains(next)) value += next;
      keep = value.size();
    } else if (bare || !kBlanks.contains(c)) {
      bare = true;
      value += c;
      if (!kBlanks.contains(c)) keep = value.size();
    }
  }
  value.resize(keep);
  return value;
}

}  // namespace

std::optional<std::pair<std::string, std::size_t>> read_environment_file(std::string_view text, std::string_view key) {
  std::optional<std::pair<std::string, std::size_t>> found;
  EnvReader in{text};
  while (!in.end()) {
    const std::size_t line = in.line;
    const char c = in.take();
    if (kBlanks.contains(c)) continue;
    if (c == '#' || c == ';') {
      skip_comment(in);
      continue;
    }
    const std::string name = take_key(in, c);
    if (name.empty()) continue;
    std::string value = take_value(in);
    if (name == key) found = {std::move(value), line};
  }
  return found;
}

std::vector<std::string> split_environment_words(std::string_view text) {
  std::vector<std::string> words;
  for (std::size_t at = text.find_first_not_of(kBlanks); at < text.size(); at = text.find_first_not_of(kBlanks, at)) {
    std::string& word = words.emplace_back();
    char quote = '\0';
    for (; at < text.size() && (quote != '\0' || !kBlanks.contains(text[at])); ++at) {
      const char c = text[at];
      if (c == '\\') {
        if (++at < text.size()) word += text[at];
      } else if (quote != '\0' ? c == quote : (c == '"' || c == '\'')) {
        quote = quote != '\0' ? '\0' : c;
      } else {
        word += c;
      }
    }
  }
  return words;
}

Fact<std::string> collect_environment_value(const Host& host, std::span<const EnvironmentPlace> places,
                                            std::vector<std::string>& problems) {
  LinkResolver links(host);
  for (const EnvironmentPlace& place : places) {
    const auto path = links.resolve(place.path);
    if (!path) continue;
    const ConfigText file = read_config(host, *path, kMaxBytes);
    if (file.missing == Missing::kAbsent) continue;
    if (file.missing) {
      problems.push_back(file.problem);
      return Fact<std::string>::none(*file.missing, std::string(place.path));
    }
    const auto found = read_environment_file(file.text, place.key);
    if (!found) return Fact<std::string>::none(Missing::kAbsent, std::string(place.path));
    const auto lines = split(file.text, '\n');
    const std::string_view text = found->second <= lines.size() ? lines[found->second - 1] : std::string_view{};
    return Fact<std::string>::of(found->first,
                                 {fmt::format("{}:{}", place.path, found->second), std::string(trim(text)), {}});
  }
  return Fact<std::string>::none(Missing::kAbsent, places.empty() ? std::string() : std::string(places[0].path));
}

}  // namespace pindown
