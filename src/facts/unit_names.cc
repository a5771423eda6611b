// SPDX-License-Identifier: Apache-2.0
// See unit_names.h.
#include "facts/unit_names.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace pindown {
namespace {

constexpr std::size_t kMaxName = 256;  // UNIT_NAME_MAX
constexpr auto kTypes = std::to_array<std::string_view>(
    {"service", "socket", "target", "device", "mount", "automount", "swap", "timer", "path", "slice", "scope"});
constexpr auto kAliasTypes =
    std::to_array<std::string_view>({"service", "socket", "target", "device", "timer", "path"});

bool is_name_char(char c) {
  return is_alnum(c) || c == ':' || c == '-' || c == '_' || c == '.' || c == '\\' || c == '@';
}

/// The prefix one dash shorter, or nothing.
std::optional<std::string> shorter_prefix(std::string prefix) {
  bool chopped = false;
  for (;;) {
    const auto dash = prefix.rfind('-');
    if (dash == std::string::npos || dash == 0) return std::nullopt;
    if (dash + 1 < prefix.size() || chopped) {
      prefix.resize(dash + 1);
      return prefix;
    }
    prefix.resize(dash);  // a trailing dash, once
    chopped = true;
  }
}

void add_names(UnitName name, std::vector<std::string>& out) {
  for (;;) {
    out.push_back(name.text());
    if (name.is_instance()) add_names(name.with_instance(""), out);
    auto prefix = shorter_prefix(name.prefix);
    if (!prefix) return;
    // src/basic/unit-name.c unit_name_build: without an instance there is no "@".
    name.prefix = std::move(*prefix);
    if (name.is_template()) name.instance.reset();
  }
}

}  // namespace

std::string UnitName::text() const {
  return prefix + (instance ? "@" + *instance : "") + "." + type;
}

UnitName UnitName::with_instance(std::string_view text) const {
  return {prefix, std::string(text), type};
}

std::optional<UnitName> parse_unit_name(std::string_view name) {
  const auto dot = name.rfind('.');
  if (name.size() >= kMaxName || dot == std::string_view::npos || dot == 0) return std::nullopt;
  UnitName out;
  out.type = std::string(name.substr(dot + 1));
  if (std::ranges::find(kTypes, out.type) == kTypes.end()) return std::nullopt;
  const std::string_view stem = name.substr(0, dot);
  if (!std::ranges::all_of(stem, is_name_char)) return std::nullopt;
  const auto at = stem.find('@');
  if (at == 0) return std::nullopt;
  out.prefix = std::string(stem.substr(0, at));
  if (at != std::string_view::npos) out.instance = std::string(stem.substr(at + 1));
  return out;
}

std::vector<std::string> drop_in_names(const UnitName& name) {
  std::vector<std::string> out;
  add_names(name, out);
  return out;
}

bool may_alias(const UnitName& link, const UnitName& target) {
  if (std::ranges::find(kAliasTypes, link.type) == kAliasTypes.end()) return false;
  if (link.type != target.type || link.text() == target.text()) return false;
  if (link.is_instance()) return target.is_template() || target.instance == link.instance;
  return link.instance.has_value() == target.instance.has_value() && link.is_template() == target.is_template();
}

std::string expand_specifiers(std::string_view text, const UnitName& unit) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      out += text[at];
      continue;
    }
    const char c = ++at < text.size() ? text[at] : '\0';
    if (c == '%')
      out += '%';
    else if (c == 'i')
      out += unit.instance.value_or("");
    else if (c == 'p')
      out += unit.prefix;
    else if (c == 'n')
      out += unit.text();
    else if (c == 'N')
      out += unit.text().substr(0, unit.text().rfind('.'));
    else
      return std::string(text);
  }
  return out;
}

}  // namespace pindown
