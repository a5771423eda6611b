// SPDX-License-Identifier: Apache-2.0
// Reads which kernel modules are loaded: lsmod, greps and counts of it, modinfo, modprobe errors, /sys/module. Entry
// points: read_*, conclude_no_module. "Not loaded" is only said where something shows it.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

/// Modules that decide something here. A grep for a part of a name ("peermem") means these.
constexpr std::string_view kKnown[] = {
    "nvidia_peermem", "nv_peer_mem", "nvidia",  "nvidia_uvm",  "amdgpu",  "ib_core",  "ib_uverbs",
    "ib_umad",        "mlx5_core",   "mlx5_ib", "mlx4_core",   "mlx4_ib", "rdma_cm",  "rdma_ucm",
    "ib_ucm",         "efa",         "irdma",   "bnxt_re",     "siw",     "rdma_rxe", "hns_roce",
    "erdma",          "iw_cxgb4",    "gdrdrv",  "ib_peer_mem", "mana_ib",
};

std::string normal(std::string_view name) {
  std::string out(name.substr(0, 64));
  std::ranges::replace(out, '-', '_');
  return out;
}

bool is_module_name(std::string_view name) {
  return name.size() >= 2 && name.size() <= 64 && (is_alpha(name[0]) || is_digit(name[0])) &&
         std::ranges::all_of(name, [](char c) { return is_alnum(c) || c == '_' || c == '-'; });
}

/// Names that a bare line may hold without lsmod in front of it.
bool is_known(std::string_view name) {
  return std::ranges::find(kKnown, normal(name)) != std::end(kKnown);
}

/// What the pattern of a grep could have found: its own words and the known modules that hold them.
std::vector<std::string> names_of(const Grep& grep) {
  std::vector<std::string> out;
  std::string pattern = grep.ignore_case ? lower(grep.pattern) : grep.pattern;
  std::erase_if(pattern, [](char c) { return c == '\\' || c == '(' || c == ')' || c == '^' || c == '$'; });
  for (const std::string_view part : split(pattern, '|')) {
    const std::string name = normal(trim(part));
    if (name.size() < 3 || !is_module_name(name)) continue;
    out.push_back(name);
    for (const std::string_view known : kKnown) {
      if (!grep.whole_word && known != name && contains(known, name)) out.emplace_back(known);
    }
  }
  return out;
}

struct Row {
  std::string_view name;
  bool valid = false;
};

/// "nvidia_peermem 16384 0", "ib_core 450560 12 rdma_cm,ib_ipoib": lsmod(8); /proc/modules has " - Live 0x…" behind it.
Row parse_row(std::string_view text) {
  const auto words = split_blanks(text.substr(0, 400));
  if (words.size() < 3 || words.size() > 8 || !is_module_name(words[0])) return {};
  const auto size = parse_u64(words[1]);
  const auto used = parse_i64(words[2]);
  if (!size || *size < 512 || !used || *used < -2) return {};
  return {words[0], true};
}

bool is_list_header(std::string_view text) {
  const auto words = split_blanks(text.substr(0, 100));
  return words.size() == 4 && words[0] == "Module" && words[1] == "Size" && words[2] == "Used" && words[3] == "by";
}

/// A whole list was asked for, or the header shows that nothing filtered it.
bool read_header(const Context& c) {
  if (!is_list_header(c.text)) return false;
  const bool filtered = c.question && (c.question->partial || c.question->reshaped);
  if (!filtered) c.learn(c.facts.modules_complete, true);
  return true;
}

/// "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument".
std::string_view quoted_name(std::string_view text) {
  for (const std::string_view lead :
       {"could not insert '", "could not insert module ", "can't change directory", "Module "}) {
    const auto at = text.find(lead);
    if (at == text.npos) continue;
    const std::string_view rest = text.substr(at + lead.size());
    return base_name(rest.substr(0, rest.find_first_of("' :")));
  }
  return {};
}

bool read_count(const Context& c) {
  const auto count = parse_u64(c.text);
  if (!count) return false;
  const Grep& grep = c.question->grep;
  if (grep.invert) return true;
  const auto names = names_of(grep);
  if (*count == 0) {
    for (const std::string& name : names) learn_module(c, name, false);
  } else if (names.size() == 1) {
    learn_module(c, names[0], true);
  } else if (names.size() == 2 && is_known(names[1]) && !is_known(names[0])) {
    learn_module(c, names[1], true);  // "peermem" can only be nvidia_peermem
  }
  return true;
}

}  // namespace

void learn_module(const Context& c, std::string_view name, bool loaded) {
  if (!is_module_name(name) || c.facts.modules.size() >= kMaxList) return;
  c.learn(c.facts.modules[normal(name)], loaded);
}

bool read_module_row(const Context& c) {
  if (read_header(c)) return true;
  const Row row = parse_row(c.text);
  if (!row.valid || !is_known(row.name)) return false;
  learn_module(c, row.name, true);
  return true;
}

bool read_modules(const Context& c) {
  if (c.question->counts) return read_count(c);
  if (read_header(c)) return true;
  if (c.text.starts_with("...") || c.text.starts_with("[...")) {  // shortened by hand
    c.facts.modules_complete = {};
    return true;
  }
  const Row row = parse_row(c.text);
  if (row.valid) learn_module(c, row.name, true);
  return row.valid;
}

bool read_module_error(const Context& c) {
  const bool modinfo = contains(c.text, "modinfo: ERROR:");
  const bool loader = contains(c.text, "modprobe: ERROR:") || contains(c.text, "modprobe: FATAL:") ||
                      contains(c.text, "insmod: ERROR:");
  if (!modinfo && !loader) return false;
  // "Module already in kernel", "File exists": it is loaded.
  const bool present = contains(c.text, "File exists") || contains(c.text, "already in kernel");
  std::string name(quoted_name(c.text));
  if (const auto at = name.find(".ko"); at != name.npos) name.resize(at);
  if (name.empty()) return false;
  learn_module(c, name, present);
  return true;
}

/// "license:        Dual MIT/GPL", "version:        535.104.05".
bool read_modinfo(const Context& c) {
  const auto colon = c.text.find(':');
  if (colon == c.text.npos) return false;
  const std::string_view field = c.text.substr(0, colon);
  if (field != "license" && field != "version") return false;
  Question q = *c.question;
  q.arg += ':' + std::string(field);
  Context answer = c;
  answer.question = &q;
  answer.text = trim(c.text.substr(colon + 1));
  return read_modinfo_field(answer);
}

bool read_modinfo_field(const Context& c) {
  const auto parts = split(c.question->arg, ':');
  if (parts.size() != 2 || c.text.empty() || c.text.size() > 100 || c.facts.versions.size() >= kMaxList) return false;
  const bool nvidia = parts[0] == "nvidia";
  if (parts[1] == "license") {
    if (nvidia) c.learn(c.facts.nvidia_license, std::string(c.text));
    return nvidia;
  }
  if (parts[1] != "version" || !is_digit(c.text[0])) return false;
  c.learn(c.facts.versions[nvidia ? "nvidia_driver" : normal(parts[0])], std::string(c.text));
  return true;
}

/// Content of /sys/module/NAME/version: there only while the module is loaded.
bool read_module_version(const Context& c) {
  if (c.text.empty() || !is_digit(c.text[0]) || c.text.find(' ') != c.text.npos) return false;
  learn_module(c, c.question->arg, true);
  const std::string name = normal(c.question->arg);
  if (c.facts.versions.size() < kMaxList) {
    c.learn(c.facts.versions[name == "nvidia" ? "nvidia_driver" : name], std::string(c.text.substr(0, 100)));
  }
  return true;
}

/// `ls /sys/module/NAME` that lists anything; `ls /sys/module | grep NAME`.
bool read_list_module(const Context& c) {
  if (c.question->counts) return read_count(c);
  if (contains(c.text, "No such file") || contains(c.text, "cannot access")) return false;
  if (!c.question->arg.empty()) {
    learn_module(c, c.question->arg, true);
    return true;
  }
  const auto names = split_blanks(c.text);
  for (const std::string_view name : names) {
    if (is_known(name)) learn_module(c, name, true);
  }
  return !names.empty();
}

void conclude_no_module(const Context& c, const Question& q) {
  const bool list = q.topic == Topic::kModules || (q.topic == Topic::kListModule && q.arg.empty());
  if (!list || q.counts || q.reshaped || q.grep.invert || q.grep.pattern.empty()) return;
  for (const std::string& name : names_of(q.grep)) learn_module(c, name, false);
}

}  // namespace pindown::paste
