// SPDX-License-Identifier: Apache-2.0
// Reads device nodes below /dev/infiniband and the errors of looking up paths. Entry points: read_device_node,
// read_lookup_error.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

constexpr std::string_view kDirectory = "/dev/infiniband";

void add_node(const Context& c, std::string_view path, std::string_view mode, std::string_view error) {
  if (c.facts.device_nodes.size() >= kMaxList) return;
  c.facts.device_nodes.push_back({std::string(path), std::string(mode), std::string(error.substr(0, 100)), c.source()});
}

bool is_mode(std::string_view word) {
  return word.size() >= 10 && word.size() <= 11 && (word[0] == 'c' || word[0] == 'b') &&
         std::ranges::all_of(word.substr(1, 9), [](char c) { return contains("rwxsStT-", std::string_view(&c, 1)); });
}

/// The path of "ls: cannot access '/dev/infiniband': No such file or directory", with any of coreutils' quotes.
std::string_view quoted_path(std::string_view text) {
  const auto start = text.find('/');
  if (start == text.npos) return {};
  std::string_view path = text.substr(start);
  return path.substr(0, path.find_first_of("'\":\xe2\x80 "));
}

std::string_view error_of(std::string_view text) {
  const auto at = text.rfind(": ");
  return at == text.npos ? std::string_view{} : trim(text.substr(at + 2));
}

bool is_error(std::string_view error) {
  static constexpr std::array<std::string_view, 3> kErrors = {"No such file or directory", "Permission denied",
                                                              "Operation not permitted"};
  return std::ranges::find(kErrors, error) != kErrors.end();
}

}  // namespace

/// "crw-rw-rw- 1 root root 231, 192 Nov  1 10:00 uverbs0": a bare name is one of the directory that was asked for.
bool read_device_node(const Context& c) {
  const auto words = split_blanks(c.text.substr(0, 300));
  if (words.size() < 5 || !is_mode(words[0])) return false;
  const std::string_view name = words.back();
  if (name.starts_with(kDirectory)) {
    add_node(c, name, words[0].substr(0, 10), {});
    return true;
  }
  const bool verbs = name.starts_with("uverbs") || name.starts_with("rdma_cm") || name.starts_with("umad") ||
                     name.starts_with("issm") || name.starts_with("ucm");
  if (!verbs || name.find('/') != name.npos) return false;
  add_node(c, std::string(kDirectory) + "/" + std::string(name), words[0].substr(0, 10), {});
  return true;
}

bool read_lookup_error(const Context& c) {
  const std::string_view error = error_of(c.text);
  if (!is_error(error)) return false;
  const std::string_view path = quoted_path(c.text);
  if (path.starts_with(kDirectory)) {
    add_node(c, path, {}, error);
    return true;
  }
  if (error != "No such file or directory") return false;
  if (path.starts_with("/sys/kernel/mm/memory_peers")) {  // peer-memory clients of ib_core
    add_node(c, path, {}, error);
    return true;
  }
  std::string_view module = path;
  if (consume(module, "/sys/module/")) {
    learn_module(c, module.substr(0, module.find('/')), false);
    return true;
  }
  if (path == "/sys/class/infiniband" || path == "/sys/class/infiniband/") {
    c.learn(c.facts.rdma_present, false);
    return true;
  }
  return false;
}

}  // namespace pindown::paste
