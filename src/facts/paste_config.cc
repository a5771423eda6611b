// SPDX-License-Identifier: Apache-2.0
// Reads configuration that people paste: systemctl show and cat, sshd -T, limits.conf lines, Slurm's configuration.
// Entry points: read_*. Nothing is judged here: a wrong value is kept as it stood.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

/// "65536", "infinity", "64M": systemd.exec(5). Suffixes are powers of 1024, upper case only.
std::optional<Limit> parse_unit_value(std::string_view text) {
  text = trim(text);
  if (text == "infinity") return Limit::unlimited();
  if (text.empty() || !is_digit(text[0])) return std::nullopt;
  if (const auto bytes = parse_u64(text)) return Limit{*bytes};
  const char last = text.back();
  if (!is_digit(last) && !contains("KMGTPEB", std::string_view(&last, 1))) return std::nullopt;
  const auto limit = parse_size(text);
  return limit ? std::optional(*limit) : std::nullopt;
}

/// The entry of this unit that the open block made; a new one if there is none.
UnitLimit* unit_of_block(const Context& c, bool own) {
  auto& units = c.facts.units;
  const std::string& name = c.question->arg;
  if (!own && !units.empty() && units.back().unit == name) return &units.back();
  if (units.size() >= kMaxList) return nullptr;
  UnitLimit& unit = units.emplace_back();
  unit.unit = name;
  unit.source = c.source();
  return &unit;
}

/// LimitMEMLOCK is the hard limit in `systemctl show`, LimitMEMLOCKSoft the soft one.
bool learn_unit(const Context& c, std::string_view value, bool hard) {
  const auto limit = parse_unit_value(value);
  if (!limit || !c.question || c.question->arg.empty()) return false;
  const auto& units = c.facts.units;
  const bool same = !units.empty() && units.back().unit == c.question->arg;
  const bool taken = same && (hard ? units.back().memlock.hard : units.back().memlock.soft).has_value();
  UnitLimit* unit = unit_of_block(c, taken);
  if (!unit) return false;
  (hard ? unit->memlock.hard : unit->memlock.soft) = limit;
  return true;
}

bool is_limit_type(std::string_view word) {
  return word == "-" || word == "soft" || word == "hard";
}

/// grep's "path:" or "path:12:" in front of a limits.conf line.
std::string_view drop_grep_path(std::string_view text) {
  const auto at = text.find(".conf:");
  if (at == text.npos || text.substr(0, at).find(' ') != text.npos) return text;
  text.remove_prefix(at + 6);
  std::string_view rest = text;
  if (!take_digits(rest).empty() && consume(rest, ":")) return rest;
  return text;
}

bool wanted_in_slurm(std::string_view key) {
  static constexpr std::array<std::string_view, 10> kKeys = {"PropagateResourceLimits",
                                                             "PropagateResourceLimitsExcept",
                                                             "UsePAM",
                                                             "SLURM_VERSION",
                                                             "TaskPlugin",
                                                             "LaunchParameters",
                                                             "PrologFlags",
                                                             "PlugStackConfig",
                                                             "ProctrackType",
                                                             "SlurmdParameters"};
  return std::ranges::any_of(kKeys, [&](std::string_view each) { return iequals(each, key); });
}

/// Slurm's keys are case-insensitive in slurm.conf; the spelling of `scontrol show config` is the one kept.
std::string slurm_key(std::string_view key) {
  if (iequals(key, "PropagateResourceLimits")) return "PropagateResourceLimits";
  if (iequals(key, "PropagateResourceLimitsExcept")) return "PropagateResourceLimitsExcept";
  if (iequals(key, "UsePAM")) return "UsePAM";
  return std::string(key);
}

}  // namespace

std::string unit_name(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kTypes = {".service", ".socket", ".slice",
                                                             ".scope",   ".mount",  ".target"};
  const auto typed = [&](std::string_view type) { return name.ends_with(type); };
  return std::string(name) + (std::ranges::any_of(kTypes, typed) ? "" : ".service");
}

bool read_unit_show(const Context& c) {
  std::string_view text = c.text;
  if (consume(text, "LimitMEMLOCKSoft=")) return learn_unit(c, text, false);
  return consume(text, "LimitMEMLOCK=") && learn_unit(c, text, true);
}

bool read_unit_show_value(const Context& c) {
  return learn_unit(c, c.text, c.question->hard);
}

/// "LimitMEMLOCK=soft:hard" or one value for both. A later line wins; an invalid one is ignored by systemd.
bool read_unit_file(const Context& c) {
  std::string_view text = c.text;
  if (!consume(text, "LimitMEMLOCK=") || !c.question) return false;
  const auto parts = split(trim(text), ':');
  const auto soft = parse_unit_value(parts[0]);
  const auto hard = parts.size() == 2 ? parse_unit_value(parts[1]) : soft;
  if (!soft || !hard || parts.size() > 2) return false;
  UnitLimit* unit = unit_of_block(c, false);
  if (!unit) return false;
  unit->memlock = {soft, hard};
  unit->source = c.source();
  return true;
}

/// "UsePAM no" of the configuration, "usepam no" of sshd -T. The first value counts (sshd_config(5)).
bool read_sshd(const Context& c) {
  const auto words = split_blanks(c.text.substr(0, 100));
  if (words.size() != 2 || !iequals(words[0], "usepam")) return false;
  if (!iequals(words[1], "yes") && !iequals(words[1], "no")) return false;
  c.learn(c.facts.sshd_usepam, iequals(words[1], "yes"));
  return true;
}

/// "* soft memlock unlimited". Without a known file only memlock lines are taken.
bool read_limits_conf(const Context& c) {
  const std::string_view text = drop_grep_path(c.text.substr(0, 1024));
  if (text.starts_with('#')) return false;
  const auto words = split_blanks(text);
  if (words.size() < 4 || !is_limit_type(words[1])) return false;
  const bool asked = c.question && c.question->topic == Topic::kLimitsConf;
  if (!asked && (words[2] != "memlock" || (words.size() > 4 && !words[4].starts_with('#')))) return false;
  if (c.facts.limits_conf.size() >= kMaxList) return false;
  c.facts.limits_conf.push_back(
      {std::string(words[0]), std::string(words[1]), std::string(words[2]), std::string(words[3]), c.source()});
  return true;
}

/// "PropagateResourceLimits = ALL" (scontrol), "PropagateResourceLimitsExcept=MEMLOCK" (slurm.conf, several on a line).
bool read_slurm(const Context& c) {
  const auto equals = c.text.find('=');
  if (equals == c.text.npos || c.text.starts_with('#')) return false;
  const std::string_view key = trim(c.text.substr(0, equals));
  if (!wanted_in_slurm(key) || c.facts.slurm_conf.size() >= kMaxList) return false;
  std::string_view value = trim(c.text.substr(equals + 1));
  if (value.find('=') != value.npos) value = value.substr(0, value.find_first_of(" \t"));
  value = trim(value.substr(0, value.find('#')));
  c.learn(c.facts.slurm_conf[slurm_key(key)], std::string(value.substr(0, 200)));
  if (key == "SLURM_VERSION") c.learn(c.facts.versions["slurm"], std::string(value.substr(0, 40)));
  return true;
}

/// UsePAM is a key of sshd ("UsePAM no") and of Slurm ("UsePAM = 1").
bool read_pam_or_slurm(const Context& c) {
  return contains(c.text, "=") ? read_slurm(c) : read_sshd(c);
}

}  // namespace pindown::paste
