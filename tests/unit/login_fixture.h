// SPDX-License-Identifier: Apache-2.0
// A machine in memory for the tests of the login model: files in, what the collectors and the model make of them out.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "facts/accounts.h"
#include "facts/limits_conf.h"
#include "facts/pam_stack.h"
#include "host/host.h"
#include "model/pam_session.h"

namespace pindown {

constexpr std::uint64_t kTestMib = std::uint64_t{1} << 20;

using TestFiles = std::map<std::string, std::string>;

inline TestFiles accounts() {
  return {{"/etc/passwd",
           "root:x:0:0:root:/root:/bin/bash\n"
           "alice:x:1000:1000::/home/alice:/bin/bash\n"
           "bob:x:1001:100::/home/bob:/bin/bash\n"},
          {"/etc/group", "root:x:0:\nusers:x:100:\nalice:x:1000:\nrdma:x:2000:alice,root\nverbs:x:2000:\n"}};
}

inline MemlockLimit both(std::uint64_t bytes) {
  return {Limit{bytes}, Limit{bytes}};
}

/// What a session starts from: a daemon with the 8 MiB of a systemd service, and PID 1 with an eighth of 2 GB.
struct LoginSetting {
  std::string package = "1.5.2-6+deb12u1";
  std::string ids = "debian";
  MemlockLimit start = both(8 * kTestMib);
  std::optional<MemlockLimit> pid1 = both(246 * kTestMib);
  bool may_raise = true;
  bool asks_account = false;
};

inline LoginSetting debian12() {
  return {};
}
inline LoginSetting debian13() {
  LoginSetting setting;
  setting.package = "1.7.0-5";
  return setting;
}
inline LoginSetting upstream(std::string package) {
  LoginSetting setting;
  setting.package = std::move(package);
  setting.ids = "fedora";
  return setting;
}

inline std::string say(const SessionLimits& limits) {
  if (limits.refused) return "refused";
  if (!limits.soft || !limits.hard) return "unknown";
  auto one = [](Limit limit) { return limit.is_unlimited() ? std::string("unlimited") : std::to_string(limit.bytes); };
  return *limits.soft == *limits.hard ? one(*limits.soft) : one(*limits.soft) + " " + one(*limits.hard);
}

/// The limits of a session of `user` by the only line "session required pam_limits.so ARGUMENTS".
inline SessionLimits limits_of(const TestFiles& files, const std::string& user, const LoginSetting& setting,
                               std::vector<std::string> arguments = {}) {
  MemoryTree tree;
  tree.files = accounts();
  for (const auto& [path, text] : files) tree.files[path] = text;
  const auto host = make_memory_host(tree);
  const auto account = collect_account(*host, user);
  const auto version = pam_version(setting.package, setting.ids);
  if (!account || !version) return {};
  std::optional<ConfigFile> named;
  for (const std::string& argument : arguments) {
    if (argument.starts_with("conf=")) named = collect_limits_file(*host, argument.substr(5));
  }
  return derive_pam_limits({std::move(arguments), {}}, collect_limits(*host), named ? &*named : nullptr, *account,
                           *version, setting.start, setting.pid1, setting.may_raise);
}

/// One limits.conf and nothing else.
inline std::string with_conf(const std::string& conf, const std::string& user, const LoginSetting& setting) {
  return say(limits_of({{"/etc/security/limits.conf", conf}}, user, setting));
}

/// The whole way: `files` with PAM's and pam_limits' configuration; the usual modules are there.
inline PamOutcome open_session(TestFiles files, const std::string& service, const std::string& user,
                               const LoginSetting& setting) {
  MemoryTree tree;
  tree.files = accounts();
  for (const char* module : {"pam_limits.so", "pam_permit.so", "pam_deny.so", "pam_succeed_if.so", "pam_unix.so",
                             "pam_nologin.so", "pam_listfile.so", "pam_systemd.so", "pam_debug.so", "pam_env.so"}) {
    tree.files[std::string("/usr/lib/x86_64-linux-gnu/security/") + module] = {};
  }
  tree.files["/etc/os-release"] = "ID=" + setting.ids + "\n";
  for (const auto& [path, text] : files) tree.files[path] = text;
  const auto host = make_memory_host(tree);
  const auto account = collect_account(*host, user);
  const PamConf pam = collect_pam(*host);
  const LimitsConf limits = collect_limits(*host);
  std::map<std::string, ConfigFile> named;
  for (const auto& [path, _] : tree.files) named[path] = collect_limits_file(*host, path);
  named["/none"] = collect_limits_file(*host, "/none");
  const PamOpening opening{pam,
                           limits,
                           named,
                           *pam_version(setting.package, setting.ids),
                           setting.start,
                           setting.pid1,
                           setting.may_raise,
                           setting.asks_account};
  return derive_pam_outcome(opening, service, *account);
}

}  // namespace pindown
