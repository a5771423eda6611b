// SPDX-License-Identifier: Apache-2.0
// Reads environment variables from `env`, export, "launch env: A=B C=D" and what NCCL says it was given. Entry points:
// read_env, parse_assignments. Variables that pindown has no use for are dropped unread: they may hold secrets.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"
#include "facts/proc.h"

namespace pindown::paste {
namespace {

constexpr std::size_t kMaxValue = 256;

bool is_variable_char(char c) {
  return (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

std::string_view take_variable(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && n < 80 && is_variable_char(text[n])) ++n;
  return text.substr(0, n);
}

/// A value up to a blank, or a quoted one.
std::string take_value(std::string_view& text) {
  const char quote = !text.empty() && (text[0] == '"' || text[0] == '\'') ? text[0] : '\0';
  if (quote != '\0') text.remove_prefix(1);
  std::size_t end = 0;
  while (end < text.size() && (quote != '\0' ? text[end] != quote : !is_blank(text[end]))) ++end;
  std::string value(text.substr(0, std::min(end, kMaxValue)));
  text.remove_prefix(std::min(end + (quote != '\0' ? 1 : 0), text.size()));
  return value;
}

/// What may stand in front of an assignment: "export ", "declare -x ", "-x ", "-e ", "env: ", "launch env: ".
void drop_lead(std::string_view& text) {
  static constexpr std::array<std::string_view, 7> kLeads = {"export ", "declare -x ", "-x ", "-e ",
                                                             "--env ",  "--env=",      "env "};
  const auto colon = text.substr(0, 40).find(": ");
  if (colon != text.npos && std::ranges::all_of(text.substr(0, colon), [](char c) {
        return is_alnum(c) || c == ' ' || c == '_' || c == '-';
      })) {
    text = trim(text.substr(colon + 2));
  }
  for (const std::string_view lead : kLeads) {
    if (consume(text, lead)) text = trim(text);
  }
}

/// "NCCL_IB_DISABLE set by environment to 0." (src/misc/param.cc, NCCL 2.x, NCCL_DEBUG=INFO).
bool read_set_by_environment(const Context& c) {
  std::string_view text = c.text;
  const auto info = text.find("NCCL INFO ");
  if (info != text.npos) text.remove_prefix(info + 10);
  const std::string_view name = take_variable(text);
  text.remove_prefix(name.size());
  if (name.empty() || !consume(text, " set by environment to ")) return false;
  text = trim(text);
  if (text.ends_with('.')) text.remove_suffix(1);
  if (keeps_variable(name)) learn_env(c, name, text);
  return keeps_variable(name);
}

/// csh: "setenv NAME VALUE".
bool read_setenv(const Context& c) {
  std::string_view text = c.text;
  if (!consume(text, "setenv ")) return false;
  text = trim(text);
  const std::string_view name = take_variable(text);
  if (!keeps_variable(name) || name.size() >= text.size()) return false;
  text = trim(text.substr(name.size()));
  learn_env(c, name, take_value(text));
  return true;
}

}  // namespace

bool keeps_variable(std::string_view name) {
  if (name.starts_with("BYTEPS_") || name.starts_with("MC_") || name.starts_with("NVSHMEM_")) return true;
  return is_kept_variable(name);
}

std::vector<std::pair<std::string, std::string>> parse_assignments(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> out;
  for (text = trim(text); !text.empty() && out.size() < kMaxList; text = trim(text)) {
    drop_lead(text);
    const std::string_view name = take_variable(text);
    if (name.empty() || name.size() >= text.size() || text[name.size()] != '=') break;
    text.remove_prefix(name.size() + 1);
    std::string value = take_value(text);
    if (keeps_variable(name)) out.emplace_back(name, std::move(value));
  }
  return out;
}

void learn_env(const Context& c, std::string_view name, std::string_view value) {
  const std::string key(name);
  const Fact<std::string> fact = Fact<std::string>::of(std::string(value.substr(0, kMaxValue)), c.source());
  const logs::Shape& shape = c.line.shape;
  const bool known_process = shape.rank || shape.pid || (c.question && c.question->other_process);
  if (known_process) {
    Process* p = subject(c);
    if (p && p->env.size() < kMaxList) p->env.try_emplace(key, fact);
  }
  // The first value seen anywhere also stands for the run: ranks of a job are given the same environment.
  if (c.facts.env.size() < kMaxList) c.facts.env.try_emplace(key, fact);
}

bool read_variable(const Context& c) {
  if (c.text.empty() || !c.question) return false;
  learn_env(c, c.question->arg, c.text);
  return true;
}

bool read_env(const Context& c) {
  if (c.text.find(" set by environment to ") != c.text.npos) return read_set_by_environment(c);
  if (c.text.starts_with("setenv ")) return read_setenv(c);
  const auto found = parse_assignments(c.text);
  for (const auto& [name, value] : found) learn_env(c, name, value);
  return !found.empty();
}

}  // namespace pindown::paste
