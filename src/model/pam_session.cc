// SPDX-License-Identifier: Apache-2.0
// A service's session stack as libpam builds and runs it: libpam/pam_handlers.c (_pam_parse_conf_file,
// _pam_load_conf_file), pam_misc.c (_pam_parse_control), pam_dispatch.c (_pam_dispatch_aux), Linux-PAM 1.5.2 and 1.7.0
// with Debian's patches. Entry points: derive_pam_session, derive_pam_outcome. Must not: read a file.
#include "model/pam_session.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/text.h"

namespace pindown {
namespace {

// ---- return values and actions ----

constexpr int kReturns = 32;  // _PAM_RETURN_VALUES
constexpr int kSuccess = 0, kServiceErr = 3, kPermDenied = 6, kAuthErr = 7, kSessionErr = 14, kIgnored = 25;
constexpr int kAbort = 26, kModuleUnknown = 28, kIncomplete = 31;
constexpr int kMustFail = kPermDenied;  // PAM_MUST_FAIL_CODE

enum Action { kIgnore = 0, kOk = -1, kDone = -2, kBad = -3, kDie = -4, kReset = -5, kUndefined = -6 };  // jumps: > 0
using Actions = std::array<int, kReturns>;

constexpr std::array<std::string_view, kReturns + 1> kReturnNames = {"success",
                                                                     "open_err",
                                                                     "symbol_err",
                                                                     "service_err",
                                                                     "system_err",
                                                                     "buf_err",
                                                                     "perm_denied",
                                                                     "auth_err",
                                                                     "cred_insufficient",
                                                                     "authinfo_unavail",
                                                                     "user_unknown",
                                                                     "maxtries",
                                                                     "new_authtok_reqd",
                                                                     "acct_expired",
                                                                     "session_err",
                                                                     "cred_unavail",
                                                                     "cred_expired",
                                                                     "cred_err",
                                                                     "no_module_data",
                                                                     "conv_err",
                                                                     "authtok_err",
                                                                     "authtok_recover_err",
                                                                     "authtok_lock_busy",
                                                                     "authtok_disable_aging",
                                                                     "try_again",
                                                                     "ignore",
                                                                     "abort",
                                                                     "authtok_expired",
                                                                     "module_unknown",
                                                                     "bad_item",
                                                                     "conv_again",
                                                                     "incomplete",
                                                                     "default"};
constexpr std::array<std::string_view, 6> kActionNames = {"ignore", "ok", "done", "bad", "die", "reset"};
constexpr int kNewAuthtok = 12;

void fill(Actions& actions, int action) {
  std::replace(actions.begin(), actions.end(), static_cast<int>(kUndefined), action);
}

void skip_space(std::string_view& text) {
  while (!text.empty() && (text[0] == ' ' || (text[0] >= '\t' && text[0] <= '\r'))) text.remove_prefix(1);
}

/// The first name that `text` starts with, as strncmp in table order finds it.
template <std::size_t N>
std::optional<std::size_t> take_name(std::string_view& text, const std::array<std::string_view, N>& names) {
  for (std::size_t i = 0; i < N; ++i) {
    if (consume(text, names[i])) return i;
  }
  return std::nullopt;
}

/// An action's name, or a jump of one line or more.
std::optional<int> take_action(std::string_view& text) {
  if (const auto name = take_name(text, kActionNames)) return -static_cast<int>(*name);
  const auto number = parse_u64(take_digits(text));
  if (!number || *number == 0) return std::nullopt;
  return static_cast<int>(std::min<std::uint64_t>(*number, 1'000'000'000));
}

/// "success=1 default=ignore". False: a syntax error, after which every answer is bad.
bool parse_control(std::string_view text, Actions& actions) {
  for (;;) {
    skip_space(text);
    if (text.empty()) return true;
    const auto answer = take_name(text, kReturnNames);
    if (!answer) return false;
    skip_space(text);
    if (!consume(text, "=")) return false;
    skip_space(text);
    const auto action = take_action(text);
    if (!action) return false;
    if (*answer == kReturns) {
      fill(actions, *action);
    } else {
      actions[*answer] = *action;
    }
  }
}

Actions keyword(int success, int ignored, int rest) {
  Actions actions;
  actions.fill(rest);
  actions[kSuccess] = actions[kNewAuthtok] = success;
  actions[kIgnored] = ignored;
  return actions;
}

struct Control {
  Actions actions{};
  bool wrong = false;  // not a control word at all
};

Control control_of(std::string_view text) {
  if (text == "required") return {keyword(kOk, kIgnore, kBad)};
  if (text == "requisite") return {keyword(kOk, kIgnore, kDie)};
  if (text == "optional") return {keyword(kOk, kIgnore, kIgnore)};
  if (text == "sufficient") return {keyword(kDone, kIgnore, kIgnore)};
  Control control;
  control.actions.fill(kUndefined);
  if (text.starts_with('[')) text = text.substr(1, text.size() - 2);
  control.wrong = !parse_control(text, control.actions);
  if (control.wrong) control.actions.fill(kBad);
  fill(control.actions, kBad);
  return control;
}

// ---- the stack ----

struct Handler {
  const PamLine* line = nullptr;
  Control control;
  int level = 0;
  bool must_fail = false;
  bool marks_substack = false;
  std::string why;  // of must_fail
};

constexpr int kMaxLevel = 16;  // PAM_SUBSTACK_MAX_LEVEL
constexpr std::size_t kMaxHandlers = 10'000;
constexpr std::size_t kMaxLoads = 10'000;  // files that include others twice double at every step

struct Builder {
  const PamConf& conf;
  PamType type;  // whose lines are wanted
  std::vector<Handler> handlers;
  std::vector<const Fact<std::vector<PamLine>>*> open;  // the files being read, to see a loop
  std::vector<std::string> unknown;
  std::string why;  // of a failure
  std::size_t loads = 0;
};

enum class Load { kFine, kFailed };

Load load_lines(Builder& builder, const std::vector<PamLine>& lines, bool type_known, int level);

/// A file's own directories: Debian looks for what is included below /etc/pam.d only.
bool reachable(const PamConf& conf, const PamLine& line, const Fact<std::vector<PamLine>>& file) {
  const bool full = line.module.starts_with('/');
  if (full || !(conf.includes_from_etc_only || line.control == "@include")) return true;
  return conf.has_directory && file.source.path.starts_with("/etc/pam.d/");
}

Load load_include(Builder& builder, const PamLine& line, bool type_known, int level) {
  const auto it = builder.conf.services.find(line.module);
  const bool known = it != builder.conf.services.end();
  if (known && !it->second && it->second.missing != Missing::kAbsent) {
    builder.unknown.push_back(fmt::format("{} could not be read", it->second.source.path));
    return Load::kFine;
  }
  builder.why = fmt::format("{} includes {}, which is missing", line.source.path, line.module);
  if (!known || !it->second || !reachable(builder.conf, line, it->second)) return Load::kFailed;
  const bool loop = std::find(builder.open.begin(), builder.open.end(), &it->second) != builder.open.end();
  builder.why = fmt::format("{} includes {} too deep", line.source.path, line.module);
  if (level >= kMaxLevel || loop || builder.handlers.size() >= kMaxHandlers) return Load::kFailed;
  // libpam counts includes since 1.7.0 and substacks alone before.
  if (builder.open.size() > kMaxLevel) {
    builder.unknown.push_back(fmt::format("{} is the {}th file in a row; libpam from 1.7.0 on stops there",
                                          line.source.path, builder.open.size()));
  }
  if (builder.open.size() > std::size_t{10} * kMaxLevel) return Load::kFailed;
  if (++builder.loads > kMaxLoads) {
    if (builder.loads == kMaxLoads + 1)
      builder.unknown.push_back(fmt::format("{}: more than {} includes in one stack", line.source.path, kMaxLoads));
    return Load::kFine;
  }
  builder.open.push_back(&it->second);
  const Load load = load_lines(builder, *it->second, type_known, level);
  builder.open.pop_back();
  return load;
}

void add_failing(Builder& builder, const PamLine& line, int level, std::string why) {
  Handler handler{&line, control_of("bad"), level, true, false, std::move(why)};
  builder.handlers.push_back(std::move(handler));
}

/// "@include FILE" that fails: outside of any other include there is no type to put the failure under, and libpam gives
/// up altogether. Inside one it fails like any line, but under actions that Debian's 031_pam_include never sets.
Load load_at_include(Builder& builder, const PamLine& line, bool type_known, int level) {
  const bool loaded = !line.must_fail && load_include(builder, line, type_known, level) == Load::kFine;
  if (loaded) return Load::kFine;
  if (!type_known) return Load::kFailed;
  builder.unknown.push_back(fmt::format("{}, and what libpam does then is undefined", builder.why));
  add_failing(builder, line, level, builder.why);
  return Load::kFine;
}

Load load_line(Builder& builder, const PamLine& line, bool type_known, int level) {
  if (line.ends_reading) {
    builder.why = fmt::format("{}: the file ends in a backslash", line.source.path);
    return Load::kFailed;
  }
  if (line.control == "@include") return load_at_include(builder, line, type_known, level);
  // A line without a type counts as one of the include's type, and for auth otherwise.
  const bool wanted = line.type ? *line.type == builder.type : type_known;
  if (!wanted) return Load::kFine;
  const bool substack = line.control == "substack";
  if (substack || line.control == "include") {
    if (substack) builder.handlers.push_back({&line, {}, level, false, true, {}});
    if (line.module.empty()) builder.why = fmt::format("{} names no file", line.source.path);
    const bool loaded =
        !line.module.empty() && load_include(builder, line, true, level + (substack ? 1 : 0)) == Load::kFine;
    if (!loaded) add_failing(builder, line, level, builder.why);
    return Load::kFine;
  }
  std::string why = line.must_fail ? fmt::format("{} is malformed", line.source.path) : std::string();
  builder.handlers.push_back({&line, control_of(line.control), level, line.must_fail, false, std::move(why)});
  return Load::kFine;
}

Load load_lines(Builder& builder, const std::vector<PamLine>& lines, bool type_known, int level) {
  for (const PamLine& line : lines) {
    if (builder.loads > kMaxLoads) return Load::kFine;
    if (builder.handlers.size() >= kMaxHandlers) {
      builder.unknown.push_back(fmt::format("{}: more than {} lines in one stack", line.source.path, kMaxHandlers));
      return Load::kFine;
    }
    if (load_line(builder, line, type_known, level) == Load::kFailed) return Load::kFailed;
  }
  return Load::kFine;
}

// ---- modules ----

std::string_view file_name(std::string_view module) {
  return module.substr(module.rfind('/') + 1);
}

/// Linux-PAM's modules without pam_sm_open_session, 1.5.2 and 1.7.0: in a session stack they are "unknown modules".
constexpr std::array kNoSession = {"pam_cap.so",       "pam_canonicalize_user.so",
                                   "pam_cracklib.so",  "pam_faildelay.so",
                                   "pam_faillock.so",  "pam_ftp.so",
                                   "pam_group.so",     "pam_issue.so",
                                   "pam_nologin.so",   "pam_pwhistory.so",
                                   "pam_pwquality.so", "pam_rhosts.so",
                                   "pam_rootok.so",    "pam_securetty.so",
                                   "pam_sepermit.so",  "pam_shells.so",
                                   "pam_time.so",      "pam_userdb.so",
                                   "pam_wheel.so"};
/// Those without pam_sm_acct_mgmt; a session module in an account stack is the usual way to get one there.
constexpr std::array kNoAccount = {"pam_cap.so",       "pam_canonicalize_user.so",
                                   "pam_cracklib.so",  "pam_faildelay.so",
                                   "pam_ftp.so",       "pam_group.so",
                                   "pam_issue.so",     "pam_keyinit.so",
                                   "pam_limits.so",    "pam_mail.so",
                                   "pam_mkhomedir.so", "pam_motd.so",
                                   "pam_namespace.so", "pam_pwhistory.so",
                                   "pam_pwquality.so", "pam_rhosts.so",
                                   "pam_selinux.so",   "pam_setquota.so",
                                   "pam_timestamp.so", "pam_tty_audit.so",
                                   "pam_umask.so",     "pam_xauth.so"};
constexpr std::array kSteadyAccount = {"pam_permit.so", "pam_unix.so", "pam_echo.so"};
/// What succeeds in any session that is not broken in other ways, so that nobody would let it decide a jump.
constexpr std::array kSteady = {
    "pam_permit.so",    "pam_unix.so", "pam_env.so",     "pam_umask.so",    "pam_keyinit.so", "pam_limits.so",
    "pam_mail.so",      "pam_motd.so", "pam_lastlog.so", "pam_loginuid.so", "pam_selinux.so", "pam_systemd.so",
    "pam_mkhomedir.so", "pam_echo.so", "pam_warn.so",    "pam_deny.so",     "pam_debug.so"};

template <class List>
bool one_of(const List& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

struct Answer {
  int code = kSuccess;
  bool sure = true;
  std::string why;  // of a failure
};

// pam_succeed_if, modules/pam_succeed_if/pam_succeed_if.c.

std::optional<long long> to_number(const std::string& text) {
  errno = 0;
  char* end = nullptr;
  const long long number = std::strtoll(text.c_str(), &end, 0);
  // 1.5.2 takes the empty word for 0; it cannot be written in a PAM file but as "[]".
  if (*end != '\0' || errno != 0) return std::nullopt;
  return number;
}

int truth(bool holds) {
  return holds ? kSuccess : kAuthErr;
}

std::optional<int> compare_numbers(std::string_view op, const std::string& left, const std::string& right) {
  constexpr std::array<std::string_view, 10> kOps = {"<", "lt", "<=", "le", ">", "gt", ">=", "ge", "eq", "ne"};
  const std::string name = lower(op);
  const auto it = std::find(kOps.begin(), kOps.end(), name);
  if (it == kOps.end()) return std::nullopt;
  const auto l = to_number(left);
  const auto r = to_number(right);
  if (!l || !r) return kServiceErr;
  if (name == "<" || name == "lt") return truth(*l < *r);
  if (name == "<=" || name == "le") return truth(*l <= *r);
  if (name == ">" || name == "gt") return truth(*l > *r);
  if (name == ">=" || name == "ge") return truth(*l >= *r);
  return truth((*l == *r) == (name == "eq"));
}

bool in_list(std::string_view left, std::string_view list) {
  const auto items = split(list, ':');
  return one_of(items, left);
}

/// strtok_r passes over empty names; a group matches by its name, or another name of the same gid (see Account).
bool in_groups(const Account& user, std::string_view list) {
  for (const std::string_view name : split(list, ':')) {
    for (const auto& group : user.groups) {
      if (!name.empty() && group.first == name) return true;
    }
  }
  return false;
}

std::optional<int> compare_words(std::string_view op, const std::string& left, const std::string& right) {
  const std::string name = lower(op);
  if (name == "=") return truth(left == right);
  if (name == "!=") return truth(left != right);
  if (name == "=~" || name == "glob") return truth(::fnmatch(right.c_str(), left.c_str(), 0) == 0);
  if (name == "!~" || name == "noglob") return truth(::fnmatch(right.c_str(), left.c_str(), 0) != 0);
  if (name == "in") return truth(in_list(left, right));
  if (name == "notin") return truth(!in_list(left, right));
  return std::nullopt;
}

struct Subject {
  const Account& user;
  std::string_view service;
  PamType phase = PamType::kSession;
  bool use_uid = false;
};

/// The attribute's value; unsure if this program does not know it, a failure if there is no such attribute.
struct Attribute {
  std::string value;
  bool exists = true;
  bool known = true;
  bool of_user = true;  // changes with use_uid
};

Attribute attribute_of(std::string_view name, const Subject& subject) {
  const std::string attribute = lower(name);
  constexpr std::array<std::string_view, 3> kNames = {"login", "name", "user"};
  constexpr std::array<std::string_view, 7> kElsewhere = {"shell", "home", "dir", "homedir", "ruser", "rhost", "tty"};
  if (one_of(kNames, attribute)) return {subject.user.name};
  if (attribute == "uid") return {std::to_string(subject.user.uid)};
  if (attribute == "gid") return {std::to_string(subject.user.gid)};
  if (attribute == "service") return {std::string(subject.service), true, true, false};
  if (one_of(kElsewhere, attribute)) return {{}, true, false};
  return {{}, false};
}

/// Nothing: not known here.
std::optional<int> evaluate(const std::string& left, const std::string& op, const std::string& right,
                            const Subject& subject) {
  const Attribute attribute = attribute_of(left, subject);
  if (!attribute.exists) return kServiceErr;
  const std::string name = lower(op);
  if (name == "innetgr" || name == "notinnetgr") return std::nullopt;
  if (name == "ingroup" || name == "notingroup") {
    if (subject.use_uid || lower(left) == "ruser") return std::nullopt;
    return truth(in_groups(subject.user, right) == (name == "ingroup"));
  }
  if (!attribute.known || (attribute.of_user && subject.use_uid)) return std::nullopt;
  if (const auto number = compare_numbers(op, attribute.value, right)) return number;
  if (const auto word = compare_words(op, attribute.value, right)) return word;
  return kServiceErr;
}

Answer succeed_if(const std::vector<std::string>& arguments, Subject subject) {
  constexpr std::array<std::string_view, 6> kOptions = {"debug",      "use_uid",       "quiet",
                                                        "quiet_fail", "quiet_success", "audit"};
  std::vector<std::string> words;
  for (const std::string& argument : arguments) {
    if (one_of(kOptions, argument)) {
      subject.use_uid = subject.use_uid || argument == "use_uid";
    } else {
      words.push_back(argument);
    }
  }
  bool sure = true;
  std::size_t i = 0;
  for (; i + 3 <= words.size(); i += 3) {
    const auto code = evaluate(words[i], words[i + 1], words[i + 2], subject);
    sure = sure && code.has_value();
    if (!code || *code == kSuccess) continue;
    const std::string why = fmt::format("{} {} {} does not hold", words[i], words[i + 1], words[i + 2]);
    // After a condition that may have failed already the code is not sure, but it is a failure.
    return {*code, sure, why};
  }
  if (i < words.size()) return {kServiceErr, sure, "pam_succeed_if has an incomplete condition"};
  return {kSuccess, sure, {}};
}

/// modules/pam_debug/pam_debug.c: open_session=NAME, acct=NAME, the first that is there.
Answer debug_answer(const std::vector<std::string>& arguments, std::string_view lead) {
  for (const std::string& argument : arguments) {
    std::string_view name = argument;
    if (!consume(name, lead)) continue;
    for (std::size_t i = 0; i < kReturns; ++i) {
      if (kReturnNames[i] == name) return {static_cast<int>(i), true, fmt::format("pam_debug answers {}", name)};
    }
    break;
  }
  return {};
}

bool missing_module(const PamConf& conf, std::string_view module) {
  if (!conf.modules_known) return false;
  const std::string path(module);
  const bool full = path.starts_with('/') && !contains(path, "$ISA");
  return full ? conf.missing_paths.contains(path) : !conf.modules.contains(std::string(file_name(module)));
}

/// pam_sm_acct_mgmt of 1.5.2 and 1.7.0. pam_env has one that only fails.
Answer account_answer_of(const PamLine& line, const Subject& subject) {
  const std::string_view name = file_name(line.module);
  if (one_of(kNoAccount, name)) return {kModuleUnknown, true, fmt::format("{} has no part for accounts", name)};
  if (name == "pam_deny.so") return {kAuthErr, true, "pam_deny refuses always"};
  if (name == "pam_nologin.so") return {kIgnored, false, {}};  // without /etc/nologin
  if (name == "pam_env.so") return {kServiceErr, true, "pam_env has no answer about accounts"};
  if (name == "pam_debug.so") return debug_answer(line.arguments, "acct=");
  if (name == "pam_succeed_if.so") return succeed_if(line.arguments, subject);
  return {kSuccess, one_of(kSteadyAccount, name), {}};
}

Answer answer_of(const PamConf& conf, const PamLine& line, const Subject& subject) {
  const std::string_view name = file_name(line.module);
  if (missing_module(conf, line.module)) return {kModuleUnknown, true, fmt::format("{} is missing", line.module)};
  if (subject.phase == PamType::kAccount) return account_answer_of(line, subject);
  if (one_of(kNoSession, name)) return {kModuleUnknown, true, fmt::format("{} has no part for sessions", name)};
  if (name == "pam_deny.so") return {kSessionErr, true, "pam_deny refuses always"};
  if (name == "pam_debug.so") return debug_answer(line.arguments, "open_session=");
  if (name == "pam_succeed_if.so") return succeed_if(line.arguments, subject);
  return {kSuccess, one_of(kSteady, name), {}};
}

// ---- running it ----

enum Impression { kNoImpression, kPositive, kNegative };

struct Standing {
  Impression impression = kNoImpression;
  int status = kMustFail;
};

struct Run {
  std::vector<std::size_t> reached;  // handlers that are pam_limits, in order
  int status = kMustFail;
  std::optional<std::size_t> blamed;  // the handler that made the impression negative
  std::string why;
};

using Ask = std::function<Answer(std::size_t)>;

void leave_impression(int action, int code, std::size_t at, const std::string& why, Standing& now, Run& run) {
  if (action == kOk || action == kDone) {
    if (now.impression == kNoImpression || (now.impression == kPositive && now.status == kSuccess)) {
      now = {kPositive, code};
      run.blamed = at;  // of a code that is taken for good and is none
      run.why = why;
    }
    return;
  }
  if (now.impression == kNegative) return;
  now = {kNegative, code == kIgnored ? kMustFail : code};
  run.blamed = at;
  run.why = why;
}

/// Jumps over `count` handlers of the same level, a substack counting as one. False: there are not so many.
bool jump(const std::vector<Handler>& handlers, std::size_t& at, int count) {
  const int level = handlers[at].level;
  auto next_level = [&] { return at + 1 < handlers.size() ? handlers[at + 1].level : -1; };
  while (next_level() >= level && count > 0) {
    do {
      ++at;
    } while (next_level() > level);
    --count;
  }
  return count == 0;
}

void skip_rest(const std::vector<Handler>& handlers, std::size_t& at) {
  const int level = handlers[at].level;
  while (at + 1 < handlers.size() && handlers[at + 1].level >= level) ++at;
}

/// _pam_dispatch_aux for pam_open_session.
Run dispatch(const std::vector<Handler>& handlers, const Ask& ask) {
  Run run;
  Standing now;
  std::array<Standing, kMaxLevel> entered{};
  int before = 0;
  for (std::size_t at = 0; at < handlers.size(); ++at) {
    const Handler& handler = handlers[at];
    const int level = handler.level;
    if (before < level) entered[static_cast<std::size_t>(level)] = now;
    before = level;
    if (handler.marks_substack) continue;
    const Answer answer = handler.must_fail ? Answer{kMustFail, true, handler.why} : ask(at);
    if (answer.code == kIncomplete) {
      run.blamed = at;
      run.why = answer.why;
      run.status = kIncomplete;
      return run;
    }
    const int action = handler.control.actions[static_cast<std::size_t>(answer.code)];
    std::string why = answer.why;
    if (why.empty()) {
      why = handler.control.wrong
                ? fmt::format("\"{}\" is no control word, so any answer is a refusal", handler.line->control)
                : fmt::format("the control word takes {}'s success for a refusal", file_name(handler.line->module));
    }
    if (action == kReset) {
      now = entered[static_cast<std::size_t>(level)];
    } else if (action == kOk || action == kDone || action == kBad || action == kDie) {
      leave_impression(action, answer.code, at, why, now, run);
      if (action == kDie || (action == kDone && now.impression == kPositive)) skip_rest(handlers, at);
    } else if (action > 0 && !jump(handlers, at, action)) {
      run.blamed = at;
      run.why = "it jumps over more lines than there are";
      now = {kNegative, kMustFail};
    }
    if (now.impression == kNoImpression || now.status == kSuccess) run.blamed.reset();
  }
  run.status = now.status == kSuccess && now.impression != kPositive ? kMustFail : now.status;
  return run;
}

/// A pam_limits line whose answer is the limits': it has no part for accounts.
bool is_limits(const Handler& handler, const PamConf& conf, PamType phase) {
  return phase == PamType::kSession && handler.line && !handler.must_fail && !handler.marks_substack &&
         file_name(handler.line->module) == "pam_limits.so" && !missing_module(conf, handler.line->module);
}

/// Runs the stack once; `flipped` answers `code` instead of its own. Answers of pam_limits that are known already are
/// taken from `known`, so that its side effects happen once.
struct Runner {
  const PamConf& conf;
  const std::vector<Handler>& handlers;
  Subject subject;
  const PamLimitsAnswer& limits;
  std::map<std::size_t, int> known;

  Run first(std::vector<PamLimitsCall>& calls) {
    Run run;
    auto ask = [&](std::size_t at) {
      if (!is_limits(handlers[at], conf, subject.phase)) return answer_of(conf, *handlers[at].line, subject);
      calls.push_back({handlers[at].line->arguments, handlers[at].line->source});
      const int code = limits(calls.back());
      known[at] = code;
      run.reached.push_back(at);
      return Answer{code, true, "pam_limits fails"};
    };
    Run done = dispatch(handlers, ask);
    done.reached = std::move(run.reached);
    return done;
  }

  Run other(std::size_t flipped, int code) const {
    Run run;
    auto ask = [&](std::size_t at) {
      if (at == flipped) return Answer{code, true, {}};
      if (!is_limits(handlers[at], conf, subject.phase)) return answer_of(conf, *handlers[at].line, subject);
      run.reached.push_back(at);
      const auto it = known.find(at);
      return Answer{it == known.end() ? kSuccess : it->second, true, {}};
    };
    Run done = dispatch(handlers, ask);
    done.reached = std::move(run.reached);
    return done;
  }
};

/// Modules whose answer is not sure and decides which pam_limits lines are reached in a session that opens.
void note_unsure(const Runner& runner, const Run& base, PamSession& session) {
  for (std::size_t at = 0; at < runner.handlers.size(); ++at) {
    const Handler& handler = runner.handlers[at];
    if (handler.must_fail || handler.marks_substack || is_limits(handler, runner.conf, runner.subject.phase)) continue;
    if (answer_of(runner.conf, *handler.line, runner.subject).sure) continue;
    for (const int code : {kSuccess, kAuthErr, kIgnored}) {
      const Run run = runner.other(at, code);
      if (run.status != kSuccess || (base.status == kSuccess && run.reached == base.reached)) continue;
      session.unknown.push_back(fmt::format("{}: {} decides whether {}, and its answer is not known",
                                            handler.line->source.path, file_name(handler.line->module),
                                            runner.subject.phase == PamType::kSession
                                                ? "pam_limits runs or the session opens"
                                                : "the account may open a session"));
      break;
    }
  }
}

std::string_view phase_word(PamType phase) {
  return phase == PamType::kAccount ? "account" : "session";
}

constexpr std::size_t kMaxFlipped = 500;  // handlers; each unsure one is a run of its own

void run_stack(const PamConf& conf, const std::vector<Handler>& handlers, const Subject& subject,
               const PamLimitsAnswer& limits, PamSession& session) {
  Runner runner{conf, handlers, subject, limits, {}};
  const Run run = runner.first(session.calls);
  session.code = run.status;
  session.refused = run.status != kSuccess;
  if (session.refused && run.blamed) {
    session.refused_by = handlers[*run.blamed].line->source;
    session.why = run.why;
  } else if (session.refused) {
    session.why = fmt::format("no line of the {} stack succeeds", phase_word(subject.phase));
  }
  if (handlers.size() <= kMaxFlipped) note_unsure(runner, run, session);
}

void give_up(PamSession& session, const Source& by, std::string why) {
  session.refused = true;
  session.code = kAbort;
  session.refused_by = by;
  session.why = std::move(why);
}

/// pam_start: what follows the last slash, in lower case.
std::string service_name(std::string_view service) {
  return lower(file_name(service));
}

/// The handlers of a service's own file. False: libpam cannot read it.
bool build(Builder& builder, const std::string& name) {
  const auto it = builder.conf.services.find(name);
  if (it == builder.conf.services.end()) return true;
  if (!it->second) {
    if (it->second.missing != Missing::kAbsent) {
      builder.unknown.push_back(fmt::format("{} could not be read", it->second.source.path));
    }
    return true;
  }
  builder.open.push_back(&it->second);
  const Load load = load_lines(builder, *it->second, false, 0);
  builder.open.pop_back();
  return load == Load::kFine;
}

/// libpam runs as root: what pindown may not read, it can, and nobody here knows what it says.
bool readable(const PamConf& conf, const std::string& name, PamSession& session) {
  const auto it = conf.services.find(name);
  if (it == conf.services.end() || it->second || it->second.missing == Missing::kAbsent) return true;
  session.unknown.push_back(fmt::format("{} could not be read", it->second.source.path));
  return false;
}

bool has_file(const PamConf& conf, const std::string& name) {
  const auto it = conf.services.find(name);
  return it != conf.services.end() && (it->second || it->second.missing != Missing::kAbsent);
}

}  // namespace

namespace {

PamSession derive_phase(const PamConf& conf, PamType phase, std::string_view service, const Account& user,
                        const PamLimitsAnswer& limits) {
  const std::string name = service_name(service);
  PamSession session;
  session.service = name;
  if (!readable(conf, name, session)) return session;
  Builder own{conf, phase, {}, {}, {}, {}, 0};
  Builder other{conf, phase, {}, {}, {}, {}, 0};
  // "other" is read after the service's own file, whatever that says; as a service of its own it is read twice.
  const bool fine = build(name == "other" ? other : own, name);
  const bool other_fine = !fine || build(other, "other");
  for (const Builder* builder : {&own, &other}) {
    session.unknown.insert(session.unknown.end(), builder->unknown.begin(), builder->unknown.end());
  }
  if (own.loads > kMaxLoads || other.loads > kMaxLoads) return session;  // not read to its end: nothing is known
  if (!fine || !other_fine) {
    give_up(session, {fmt::format("/etc/pam.d/{}", fine ? "other" : name), {}}, own.why.empty() ? other.why : own.why);
    return session;
  }
  if (!has_file(conf, name) && !has_file(conf, "other")) {
    give_up(session, {fmt::format("/etc/pam.d/{}", name), {}}, "neither the service nor \"other\" has a file");
    return session;
  }
  const bool use_other = own.handlers.empty();
  if (use_other) session.service = "other";
  const std::vector<Handler>& handlers = use_other ? other.handlers : own.handlers;
  run_stack(conf, handlers, {user, name, phase}, limits, session);
  if (!handlers.empty() || !session.unknown.empty()) return session;
  session.refused_by = {fmt::format("/etc/pam.d/{}", session.service), {}};
  session.why = fmt::format("there is no {} line", phase_word(phase));
  return session;
}

}  // namespace

PamSession derive_pam_session(const PamConf& conf, std::string_view service, const Account& user,
                              const PamLimitsAnswer& limits) {
  return derive_phase(conf, PamType::kSession, service, user, limits);
}

PamSession derive_pam_account(const PamConf& conf, std::string_view service, const Account& user) {
  return derive_phase(conf, PamType::kAccount, service, user, [](const PamLimitsCall&) { return kSuccess; });
}

PamSession derive_pam_session(const PamConf& conf, std::string_view service, const Account& user) {
  return derive_pam_session(conf, service, user, [](const PamLimitsCall&) { return kSuccess; });
}

PamOutcome derive_pam_outcome(const PamOpening& opening, std::string_view service, const Account& user) {
  PamOutcome outcome;
  SessionLimits& now = outcome.limits;
  now.soft = opening.start.soft;
  now.hard = opening.start.hard;
  auto answer = [&](const PamLimitsCall& call) {
    const ConfigFile* named = nullptr;
    for (const std::string& argument : call.arguments) {
      if (!argument.starts_with("conf=")) continue;
      const auto it = opening.named.find(argument.substr(5));
      named = it == opening.named.end() ? nullptr : &it->second;
    }
    SessionLimits next = derive_pam_limits(call, opening.limits, named, user, opening.version, {now.soft, now.hard},
                                           opening.pid1, opening.may_raise);
    if (next.decided_by.path.empty() && next.soft == now.soft) next.decided_by = now.decided_by;
    if (next.why.empty()) next.why = now.why;
    next.unknown.insert(next.unknown.begin(), now.unknown.begin(), now.unknown.end());
    now = std::move(next);
    return now.code;
  };
  std::vector<std::string> unknown;
  if (opening.asks_account) {
    outcome.session = derive_pam_account(opening.pam, service, user);
    unknown = std::move(outcome.session.unknown);
  }
  // Where it may let the user in, the limits are still worth knowing.
  outcome.account_refused = outcome.session.refused && unknown.empty();
  if (!outcome.account_refused) {
    outcome.session = derive_pam_session(opening.pam, service, user, answer);
  }
  auto& all = outcome.session.unknown;
  for (std::string& each : unknown) {
    if (std::ranges::find(all, each) == all.end()) all.push_back(std::move(each));
  }
  const SessionLimits last = now;
  now.refused = outcome.session.refused;
  now.code = outcome.session.code;
  now.refused_by = {};
  if (!now.refused) return outcome;
  const bool by_limits = last.refused && last.code == outcome.session.code;
  now.refused_by = by_limits ? last.refused_by : outcome.session.refused_by;
  if (!by_limits) now.why = outcome.session.why;
  return outcome;
}

}  // namespace pindown
