// SPDX-License-Identifier: Apache-2.0
// Reads versions of drivers, libraries and packages. Entry points: read_version_line (lines that name the program),
// read_package (dpkg, rpm, apt), read_version_answer (a bare answer to a known command).
#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

void learn_version(const Context& c, const std::string& key, std::string_view version) {
  if (c.facts.versions.size() < kMaxList) c.learn(c.facts.versions[key], std::string(version.substr(0, 100)));
}

/// The word at the start, if it begins with a digit.
std::string_view version_word(std::string_view text) {
  text = trim(text);
  if (text.empty() || !is_digit(text[0])) return {};
  text = text.substr(0, text.find_first_of(" \t,;()"));
  while (!text.empty() && (text.back() == ':' || text.back() == '.')) text.remove_suffix(1);
  return text;
}

struct Row {
  std::string_view lead;
  std::string_view key;
};
/// Lines that say themselves whose version they are.
constexpr Row kRows[] = {
    {"MLNX_OFED_LINUX-", "ofed"},
    {"libfabric: ", "libfabric"},
    {"# Library version: ", "ucx"},
    {"# UCT version=", "ucx"},
    {"# UCX version ", "ucx"},
    {"Library version: ", "ucx"},  // a '#' lost in pasting
    {"EFA installer version: ", "efa_installer"},
    {"# EFA installer version: ", "efa_installer"},
    {"Docker version ", "docker"},
    {"podman version ", "podman"},
};

/// "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  535.104.05  Release Build" (/proc/driver/nvidia/version).
bool read_nvrm(const Context& c) {
  if (!c.text.starts_with("NVRM version:")) return false;
  const auto words = split_blanks(c.text.substr(0, 300));
  const auto version = std::ranges::find_if(
      words, [](std::string_view word) { return !word.empty() && is_digit(word[0]) && contains(word, "."); });
  if (version == words.end()) return false;
  learn_version(c, "nvidia_driver", *version);
  // The open modules say so in their banner; modinfo would show "Dual MIT/GPL" (kernel-open/nvidia/nv.c, 515 and
  // later).
  if (contains(c.text, "Open Kernel Module")) c.learn(c.facts.nvidia_license, std::string("Dual MIT/GPL"));
  return true;
}

/// Packages whose version is that of the verbs library.
bool is_rdma_core(std::string_view name) {
  return name == "rdma-core" || name == "libibverbs" || name == "libibverbs1";
}

/// "ii  rdma-core  35.0-1  amd64  RDMA core …"; an epoch ("2:") is no part of the version.
bool read_dpkg(const Context& c) {
  const auto words = split_blanks(c.text.substr(0, 300));
  if (words.size() < 3 || words[0] != "ii") return false;
  if (!is_rdma_core(words[1].substr(0, words[1].find(':')))) return false;
  const auto epoch = words[2].find(':');
  const std::string_view version = epoch == words[2].npos ? words[2] : words[2].substr(epoch + 1);
  learn_version(c, "rdma_core", version);
  return true;
}

/// "rdma-core/jammy,now 39.0-1 amd64 [installed]".
bool read_apt(const Context& c) {
  const auto words = split_blanks(c.text.substr(0, 300));
  if (words.size() < 3 || !contains(words.back(), "installed")) return false;
  const auto slash = words[0].find('/');
  if (slash == words[0].npos || !is_rdma_core(words[0].substr(0, slash)) || version_word(words[1]).empty())
    return false;
  learn_version(c, "rdma_core", version_word(words[1]));
  return true;
}

/// "rdma-core-35.0-1.el8.x86_64", one word.
bool read_rpm(const Context& c) {
  std::string_view text = c.text;
  if (text.size() > 100 || text.find_first_of(" \t/") != text.npos) return false;
  if (!consume(text, "rdma-core-") && !consume(text, "libibverbs-")) return false;
  if (text.empty() || !is_digit(text[0]) || !contains(text, ".")) return false;
  for (const std::string_view arch : {".x86_64", ".aarch64", ".ppc64le", ".noarch"}) {
    if (text.ends_with(arch)) text.remove_suffix(arch.size());
  }
  learn_version(c, "rdma_core", text);
  return true;
}

/// The key in Facts::versions of a program asked for its version.
std::string key_of(std::string_view program) {
  if (program == "ofed_info") return "ofed";
  if (program == "fi_info") return "libfabric";
  if (program == "ucx_info") return "ucx";
  return std::string(program);
}

}  // namespace

bool read_version_line(const Context& c) {
  if (read_nvrm(c)) return true;
  for (const Row& row : kRows) {
    std::string_view text = c.text;
    if (!consume(text, row.lead)) continue;
    const std::string_view version = version_word(text);
    if (version.empty()) return false;
    learn_version(c, std::string(row.key), version);
    return true;
  }
  return false;
}

bool read_package(const Context& c) {
  return read_dpkg(c) || read_apt(c) || read_rpm(c);
}

/// "slurm 22.05.8", "systemd 252 (252.22-1)", "OFED-internal-24.10-0.7.0:".
bool read_version_answer(const Context& c) {
  if (read_version_line(c)) return true;
  const std::string& program = c.question->arg;
  std::string_view text = c.text;
  if (program == "ofed_info" && consume(text, "OFED-internal-")) {
    learn_version(c, "ofed", version_word(text));
    return !version_word(text).empty();
  }
  if (!consume(text, program) && !(program == "slurm" && consume(text, "slurm-wlm"))) return false;
  const std::string_view version = version_word(text);
  if (version.empty() || program == "fi_info") return false;
  learn_version(c, key_of(program), version);
  return true;
}

}  // namespace pindown::paste
