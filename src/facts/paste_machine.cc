// SPDX-License-Identifier: Apache-2.0
// Reads what tells of the machine as a whole: kernel, distribution, command line, meminfo, sysctls, buddyinfo. Entry
// points: read_*.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"
#include "facts/proc.h"

namespace pindown::paste {
namespace {

constexpr std::size_t kMaxBuddyinfo = 4096;

/// "5.15.0-91-generic": two numbers at least, no blank.
bool is_release(std::string_view word) {
  if (take_digits(word).empty() || !consume(word, ".")) return false;
  return !take_digits(word).empty() && word.size() < 100;
}

bool is_arch(std::string_view word) {
  static constexpr std::array<std::string_view, 8> kArches = {"x86_64",  "aarch64", "ppc64le", "s390x",
                                                              "riscv64", "arm64",   "i686",    "loongarch64"};
  return std::ranges::find(kArches, word) != kArches.end();
}

/// A container's name is not the machine's, and neither is that of a host asked over ssh.
void learn_host(const Context& c, std::string_view name) {
  const bool elsewhere = c.stream.open && (c.stream.kind == ProcessKind::kContainer || !c.stream.command.host.empty());
  if (!elsewhere && !logs::looks_like_docker_id(name) && c.facts.host.empty()) c.facts.host = name;
}

std::string unquote(std::string_view text) {
  text = trim(text);
  if (text.size() >= 2 && (text[0] == '"' || text[0] == '\'') && text.back() == text[0])
    text = text.substr(1, text.size() - 2);
  return std::string(text.substr(0, 200));
}

}  // namespace

bool is_host_name(std::string_view word) {
  return !word.empty() && word.size() <= 253 &&
         std::ranges::all_of(word, [](char c) { return is_alnum(c) || c == '-' || c == '.' || c == '_'; });
}

/// "Linux node07 5.15.0-91-generic #101-Ubuntu SMP … x86_64 GNU/Linux", "Linux version 5.15.0 (…".
bool read_uname(const Context& c) {
  const auto words = split_blanks(c.text.substr(0, 400));
  if (words.size() >= 3 && words[1] == "version" && is_release(words[2])) {
    c.learn(c.facts.kernel, std::string(words[2]));
    return true;
  }
  if (words.size() < 4 || words[0] != "Linux" || !is_release(words[2]) || !words[3].starts_with('#')) return false;
  c.learn(c.facts.kernel, std::string(words[2]));
  learn_host(c, words[1]);
  const auto arch = std::ranges::find_if(words, is_arch);
  if (arch != words.end()) c.learn(c.facts.arch, std::string(*arch));
  return true;
}

/// Output of uname with -r among its options: "5.15.0-91-generic", "Linux 5.15.0-91-generic x86_64".
bool read_kernel_release(const Context& c) {
  const auto words = split_blanks(c.text);
  if (words.empty() || words.size() > 4) return false;
  const auto release = std::ranges::find_if(words, is_release);
  if (release == words.end() || (words.size() > 1 && words[0] != "Linux")) return false;
  c.learn(c.facts.kernel, std::string(*release));
  const auto arch = std::ranges::find_if(words, is_arch);
  if (arch != words.end()) c.learn(c.facts.arch, std::string(*arch));
  return true;
}

bool read_arch(const Context& c) {
  if (is_arch(c.text)) c.learn(c.facts.arch, std::string(c.text));
  return is_arch(c.text);
}

bool read_hostname(const Context& c) {
  if (is_host_name(c.text)) learn_host(c, c.text);
  return is_host_name(c.text);
}

bool read_cmdline(const Context& c) {
  const auto boot = c.text.find("BOOT_IMAGE=");
  const bool asked = c.question && c.question->topic == Topic::kKernelCmdline;
  if (boot == c.text.npos && !(asked && (contains(c.text, "root=") || contains(c.text, "ro ")))) return false;
  if (!asked && boot != 0 && !contains(c.text.substr(0, boot), "ommand line: ")) return false;
  c.learn(c.facts.cmdline, std::string(boot == c.text.npos ? c.text : c.text.substr(boot)));
  return true;
}

/// PRETTY_NAME="Debian GNU/Linux 12 (bookworm)".
bool read_distro(const Context& c) {
  std::string_view text = c.text;
  if (!consume(text, "PRETTY_NAME=")) return false;
  c.learn(c.facts.distro, unquote(text));
  return true;
}

bool read_distro_line(const Context& c) {
  if (c.text.size() > 100 || !contains(c.text, "release")) return false;
  c.learn(c.facts.distro, std::string(c.text));
  return true;
}

/// lsb_release: "Description:    Ubuntu 22.04.3 LTS"; hostnamectl: "Operating System: …", "Kernel: Linux 5.15.0".
bool read_lsb(const Context& c) {
  std::string_view text = c.text;
  if (consume(text, "Description:") || consume(text, "Operating System:")) {
    c.learn(c.facts.distro, unquote(text));
    return true;
  }
  if (!consume(text, "Kernel: Linux ") || !is_release(trim(text))) return false;
  c.learn(c.facts.kernel, std::string(trim(text)));
  return true;
}

/// Open MPI's help text: "Total memory:          262091 MiB".
static bool read_total_memory(const Context& c) {
  std::string_view text = c.text;
  if (!consume(text, "Total memory:") || !text.ends_with(" MiB")) return false;
  text = trim(text.substr(0, text.size() - 4));
  const auto mib = parse_u64(text);
  if (!mib || *mib == 0 || *mib > (std::uint64_t{1} << 30)) return false;
  if (c.facts.meminfo.bytes.emplace("MemTotal", *mib << 20).second)
    c.facts.meminfo.source.emplace("MemTotal", c.source());
  return true;
}

bool read_meminfo(const Context& c) {
  if (c.text.starts_with("Total memory:")) return read_total_memory(c);
  const Meminfo seen = parse_meminfo(c.text, {});
  for (const auto& [name, value] : seen.bytes) {
    if (c.facts.meminfo.bytes.size() >= kMaxList || !c.facts.meminfo.bytes.emplace(name, value).second) continue;
    c.facts.meminfo.source.emplace(name, c.source());
  }
  return !seen.bytes.empty();
}

/// "vm.max_map_count = 65530": the blanks around '=' are sysctl(8)'s; a file has other spellings.
bool read_sysctl(const Context& c) {
  const auto at = c.text.find(" = ");
  if (at == c.text.npos || at > 100) return false;
  const std::string_view name = c.text.substr(0, at);
  const bool dotted = contains(name, ".") && std::ranges::all_of(name, [](char ch) {
                        return is_alnum(ch) || ch == '.' || ch == '_' || ch == '-' || ch == '/';
                      });
  if (!dotted || c.facts.sysctl.size() >= kMaxList) return false;
  c.learn(c.facts.sysctl[std::string(name)], std::string(trim(c.text.substr(at + 3)).substr(0, 200)));
  return true;
}

bool read_sysctl_value(const Context& c) {
  if (c.text.empty() || c.text.size() > 200 || c.facts.sysctl.size() >= kMaxList) return false;
  // All that pindown looks at are numbers.
  for (const std::string_view word : split_blanks(c.text)) {
    if (!parse_i64(word)) return false;
  }
  c.learn(c.facts.sysctl[c.question->arg], std::string(c.text));
  return true;
}

/// "Node 0, zone   Normal   1046    527 …"; the lines of one listing are kept together.
bool read_buddyinfo(const Context& c) {
  std::string_view text = c.text;
  if (!consume(text, "Node ") || take_digits(text).empty() || !consume(text, ", zone ")) return false;
  Fact<std::string>& fact = c.facts.buddyinfo;
  if (!fact.known()) {
    fact = Fact<std::string>::of(std::string(c.text), c.source());
  } else if (fact.value->size() + c.text.size() < kMaxBuddyinfo) {
    *fact.value += '\n';
    *fact.value += c.text;
  }
  return true;
}

}  // namespace pindown::paste
