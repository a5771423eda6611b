// SPDX-License-Identifier: Apache-2.0
// Reads what tells who a process is and what it may do: /proc/PID/status, id, capsh, getpcaps, user namespaces, number
// of mappings. Entry points: read_*.
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "facts/paste_internal.h"
#include "facts/proc.h"

namespace pindown::paste {
namespace {

constexpr std::string_view kCapNames[] = {
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
};
static_assert(kCapNames[kCapIpcLock] == "ipc_lock" && kCapNames[kCapSysResource] == "sys_resource");
constexpr std::uint64_t kAllCaps = (std::uint64_t{1} << std::size(kCapNames)) - 1;

using CapMember = std::optional<std::uint64_t> CapabilitySets::*;
constexpr CapMember kSets[] = {&CapabilitySets::inheritable, &CapabilitySets::permitted, &CapabilitySets::effective,
                               &CapabilitySets::bounding, &CapabilitySets::ambient};

bool contradicts(const CapabilitySets& known, const CapabilitySets& seen) {
  return std::ranges::any_of(kSets,
                             [&](CapMember set) { return known.*set && seen.*set && *(known.*set) != *(seen.*set); });
}

/// Sets come one line each. The line of the effective set is the one to cite: it decides.
void learn_caps(const Context& c, const CapabilitySets& seen) {
  Process* p = subject(c);
  if (p && p->caps.known() && contradicts(*p->caps, seen)) p = another_subject(c);
  if (!p) return;
  if (!p->caps.known()) {
    p->caps = Fact<CapabilitySets>::of(seen, c.source());
    return;
  }
  for (const CapMember set : kSets) {
    if (!((*p->caps.value).*set)) (*p->caps.value).*set = seen.*set;
  }
  if (seen.effective) p->caps.source = c.source();
}

template <class T>
void learn_of(const Context& c, Fact<T> Process::* member, T value) {
  Process* p = subject(c);
  if (p && (p->*member).known() && *(p->*member) != value) p = another_subject(c);
  if (p) c.learn(p->*member, value);
}

bool has_caps(const CapabilitySets& caps) {
  return std::ranges::any_of(kSets, [&](CapMember set) { return (caps.*set).has_value(); });
}

void learn_user(const Context& c, std::uint32_t uid, std::string_view name) {
  Process* p = subject(c);
  if (p && p->euid.known() && *p->euid != uid) p = another_subject(c);
  if (!p) return;
  c.learn(p->euid, uid);
  // What id(1) says beats the name in a prompt.
  p->user = name.empty() ? std::to_string(uid) : std::string(name.substr(0, 64));
}

std::optional<std::uint32_t> take_uid(std::string_view& text) {
  const auto number = parse_u64(take_digits(text));
  if (!number || *number > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

/// "(name)" at the start.
std::string_view take_paren(std::string_view& text) {
  if (!text.starts_with('(')) return {};
  const auto close = text.find(')');
  if (close == text.npos) return {};
  const std::string_view name = text.substr(1, close - 1);
  text.remove_prefix(close + 1);
  return name;
}

struct Clause {
  std::uint64_t caps = kAllCaps;
  std::string_view operations;
};

std::optional<Clause> split_clause(std::string_view word) {
  const auto at = word.find_first_of("=+-");
  if (at == word.npos) return std::nullopt;
  Clause out;
  out.operations = word.substr(at);
  const std::string_view list = word.substr(0, at);
  if (list.empty() || iequals(list, "all")) return out;
  const auto caps = parse_cap_names(list);
  if (!caps) return std::nullopt;
  out.caps = *caps;
  return out;
}

/// "+ep-i", "=eip", "=": cap_from_text(3).
bool apply_clause(const Clause& clause, CapText& out) {
  char op = 0;
  const auto each = [&](char flag, bool on) {
    std::uint64_t& set = flag == 'e' ? out.effective : flag == 'p' ? out.permitted : out.inheritable;
    set = on ? set | clause.caps : set & ~clause.caps;
  };
  for (const char ch : clause.operations) {
    if (ch == '=' || ch == '+' || ch == '-') {
      op = ch;
      if (op == '=') {
        for (const char flag : {'e', 'p', 'i'}) each(flag, false);
      }
    } else if (ch == 'e' || ch == 'p' || ch == 'i') {
      each(ch, op != '-');
    } else {
      return false;
    }
  }
  return true;
}

/// The current sets: what follows "Current:" or "1234:".
bool learn_current(const Context& c, std::string_view text) {
  const auto caps = parse_cap_text(trim(text));
  if (!caps) return false;
  CapabilitySets seen;
  seen.effective = caps->effective;
  seen.permitted = caps->permitted;
  seen.inheritable = caps->inheritable;
  learn_caps(c, seen);
  return true;
}

bool learn_named_set(const Context& c, std::string_view text, CapMember set) {
  CapabilitySets seen;
  const auto caps = trim(text).empty() ? std::optional<std::uint64_t>(0) : parse_cap_names(trim(text));
  if (!caps) return false;
  seen.*set = caps;
  learn_caps(c, seen);
  return true;
}

/// "1234: =ep" and "Capabilities for `1234': = cap_chown+ep" of getpcaps.
bool read_getpcaps(const Context& c) {
  std::string_view text = c.text;
  consume(text, "Capabilities for `");
  const bool digits = !take_digits(text).empty();
  consume(text, "'");
  return digits && consume(text, ":") && learn_current(c, text);
}

}  // namespace

std::optional<std::uint64_t> parse_cap_names(std::string_view text) {
  std::uint64_t out = 0;
  for (std::string_view name : split(text.substr(0, kMaxLine), ',')) {
    name = trim(name);
    if (name.size() < 5 || !iequals(name.substr(0, 4), "cap_")) return std::nullopt;
    name.remove_prefix(4);
    const auto known = std::ranges::find_if(kCapNames, [&](std::string_view each) { return iequals(each, name); });
    if (known != std::end(kCapNames)) {
      out |= std::uint64_t{1} << (known - std::begin(kCapNames));
    } else if (const auto bit = parse_u64(name); bit && *bit < 64) {
      out |= std::uint64_t{1} << *bit;  // a capability newer than libcap: "cap_41"
    } else {
      return std::nullopt;
    }
  }
  return out;
}

std::optional<CapText> parse_cap_text(std::string_view text) {
  CapText out;
  for (const std::string_view word : split_blanks(text.substr(0, kMaxLine))) {
    const auto clause = split_clause(word);
    if (!clause || !apply_clause(*clause, out)) return std::nullopt;
  }
  return out;
}

bool read_status_line(const Context& c) {
  const StatusFields fields = parse_status(c.text);
  if (has_caps(fields.caps)) return learn_caps(c, fields.caps), true;
  if (fields.vm_pin) return learn_of(c, &Process::vm_pin, *fields.vm_pin), true;
  if (fields.vm_lck) return learn_of(c, &Process::vm_lck, *fields.vm_lck), true;
  if (fields.no_new_privs) return learn_of(c, &Process::no_new_privs, *fields.no_new_privs), true;
  return false;
}

bool read_status_field(const Context& c) {
  if (read_status_line(c)) return true;
  const StatusFields fields = parse_status(c.text);
  if (fields.euid) {
    learn_user(c, *fields.euid, {});
    return true;
  }
  if (fields.name.empty() && !fields.ppid) return false;
  Process* p = subject(c);
  if (p && !fields.name.empty() && p->comm.empty()) p->comm = fields.name.substr(0, 64);
  if (p && fields.ppid && !p->ppid) p->ppid = fields.ppid;
  return true;
}

bool read_capabilities(const Context& c) {
  std::string_view text = c.text;
  if (consume(text, "Current IAB:")) return true;
  if (consume(text, "Current:")) {
    // Outside `capsh --print` the word is too common.
    const bool sure = c.question || contains(text, "cap_") || trim(text).starts_with('=');
    return sure && learn_current(c, text);
  }
  if (consume(text, "Bounding set =")) return learn_named_set(c, text, &CapabilitySets::bounding);
  if (consume(text, "Ambient set =")) return learn_named_set(c, text, &CapabilitySets::ambient);
  return c.question && read_getpcaps(c);
}

/// "uid=1000(app) gid=1000(app) groups=… euid=0(root)".
bool read_id(const Context& c) {
  std::string_view text = c.text;
  if (!consume(text, "uid=") || !contains(text, "gid=")) return false;
  auto uid = take_uid(text);
  if (!uid) return false;
  std::string_view name = take_paren(text);
  const auto at = text.find(" euid=");
  if (at != text.npos) {
    text.remove_prefix(at + 6);
    if (const auto euid = take_uid(text)) {
      uid = euid;
      name = take_paren(text);
    }
  }
  learn_user(c, *uid, name);
  return true;
}

bool read_user_id(const Context& c) {
  std::string_view text = c.text;
  const auto uid = take_uid(text);
  if (!uid || !text.empty()) return false;
  learn_user(c, *uid, *uid == 0 ? "root" : "");
  return true;
}

bool read_user_name(const Context& c) {
  if (c.text.empty() || c.text.size() > 32 || c.text.find_first_of(" \t:/") != c.text.npos) return false;
  if (c.text == "root") {
    learn_user(c, 0, "root");
  } else if (Process* p = subject(c)) {
    p->user = c.text;
  }
  return true;
}

/// "0 100000 65536", also behind "uid_map:".
bool read_uid_map(const Context& c) {
  std::string_view text = c.text;
  if (consume(text, "uid_map")) {
    text = trim(text);
    if (!consume(text, ":")) consume(text, "=");
  }
  const auto initial = parse_uid_map_is_initial(text);
  if (initial) learn_of(c, &Process::initial_userns, *initial);
  return initial.has_value();
}

/// "user:[4026531837]", also behind "… -> " of `ls -l`.
bool read_user_ns(const Context& c) {
  const auto at = c.text.find("user:[");
  if (at == c.text.npos) return false;
  std::string_view link = c.text.substr(at);
  link = link.substr(0, link.find_first_of(" '\"\t"));
  const auto initial = is_initial_userns_link(link);
  if (!initial) return false;
  Context named = c;
  const auto path_at = c.question ? c.text.npos : c.text.substr(0, at).rfind("/proc/");
  const Question q = path_at == c.text.npos ? Question{} : question_of_path(split_blanks(c.text.substr(path_at))[0]);
  if (q.topic == Topic::kUserNs) named.question = &q;
  learn_of(named, &Process::initial_userns, *initial);
  return true;
}

bool read_map_count(const Context& c) {
  if (read_map_count_line(c)) return true;
  const auto count = parse_u64(c.text);
  if (count) learn_of(c, &Process::map_count, *count);
  return count.has_value();
}

/// "65531 /proc/123/maps" of wc -l.
bool read_map_count_line(const Context& c) {
  const auto words = split_blanks(c.text.substr(0, 200));
  if (words.size() != 2) return false;
  const auto count = parse_u64(words[0]);
  if (!count || !words[1].starts_with("/proc/")) return false;
  const Question q = question_of_path(words[1]);
  if (q.topic != Topic::kMapCount) return false;
  Context named = c;
  named.question = &q;
  learn_of(named, &Process::map_count, *count);
  return true;
}

}  // namespace pindown::paste
