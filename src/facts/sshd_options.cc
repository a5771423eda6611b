// SPDX-License-Identifier: Apache-2.0
// See sshd_options.h.
#include "facts/sshd_options.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "facts/environment_file.h"

namespace pindown {
SshdOptions parse_sshd_options(std::string_view value) {
  static constexpr std::string_view kWithArgument = "CEbcfghkopu";
  static constexpr std::string_view kWithout = "46DGQRTVdeiqrt";
  SshdOptions out;
  const std::vector<std::string> words = split_environment_words(value);
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word == "--" && at + 1 == words.size()) return out;
    if (word.size() < 2 || word[0] != '-' || word == "--") {
      out.error = fmt::format("sshd takes no argument '{}'", shorten(escape(word, 200), 40));
      return out;
    }
    for (std::size_t i = 1; i < word.size(); ++i) {
      const char option = word[i];
      if (kWithout.contains(option)) continue;
      const bool last = i + 1 == word.size();
      if (!kWithArgument.contains(option) || (last && at + 1 == words.size())) {
        out.error = fmt::format("sshd does not take the option '{}' like that", shorten(escape(word, 200), 40));
        return out;
      }
      const std::string argument = last ? words[++at] : word.substr(i + 1);
      if (option == 'f') out.file = argument;
      if (option == 'o') out.lines.push_back(argument);
      break;
    }
  }
  return out;
}

Fact<std::string> collect_sshd_options(const Host& host, std::vector<std::string>& problems) {
  static constexpr auto kPlaces = std::to_array<EnvironmentPlace>(
      {{"/etc/default/ssh", "SSHD_OPTS"}, {"/etc/sysconfig/sshd", "OPTIONS"}, {"/etc/sysconfig/ssh", "SSHD_OPTS"}});
  return collect_environment_value(host, kPlaces, problems);
}

}  // namespace pindown
