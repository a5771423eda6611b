// SPDX-License-Identifier: Apache-2.0
// The whole way of a session, on a machine in memory.
#include "model/predict.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>

namespace pindown {
namespace {

using Files = std::map<std::string, std::string>;

constexpr std::uint64_t kMib = std::uint64_t{1} << 20;
constexpr const char* kStack = "account required pam_permit.so\nsession required pam_limits.so\n";

/// A Debian 12 where everybody but root gets 64 MiB from limits.conf, and a service 8 MiB.
Files machine() {
  Files files = {
      {"/etc/os-release", "ID=debian\nVERSION_ID=12\n"},
      {"/var/lib/dpkg/status",
       "Package: libpam-modules\nStatus: install ok installed\nVersion: 1.5.2-6+deb12u1\n\n"
       "Package: systemd\nStatus: install ok installed\nVersion: 252.39-1~deb12u1\n\n"},
      {"/proc/1/limits",
       "Limit                     Soft Limit           Hard Limit           Units\n"
       "Max locked memory         8388608              8388608              bytes\n"},
      {"/proc/sys/kernel/osrelease", "6.1.0-32-amd64\n"},
      {"/etc/passwd",
       "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/sh\nbob:x:1001:1001::/home/bob:/bin/sh\n"},
      {"/etc/group", "root:x:0:\nalice:x:1000:\nbob:x:1001:\nrdma:x:2000:alice\n"},
      {"/etc/hostname", "node1\n"},
      {"/etc/ssh/sshd_config", "UsePAM yes\n"},
      {"/usr/lib/systemd/system/ssh.service", "[Service]\nExecStart=/usr/sbin/sshd -D $SSHD_OPTS\n"},
      {"/usr/lib/systemd/system/user@.service", "[Service]\nUser=%i\nPAMName=systemd-user\n"},
      {"/etc/security/limits.conf", "* - memlock 65536\n"},
  };
  for (const char* service : {"sshd", "sudo", "su", "systemd-user", "job"})
    files[std::string("/etc/pam.d/") + service] = kStack;
  for (const char* module : {"limits", "permit", "deny", "debug"})
    files[std::string("/usr/lib/x86_64-linux-gnu/security/pam_") + module + ".so"] = {};
  return files;
}

struct Ask {
  std::string via = "ssh";
  std::string user = "alice";
  std::string from = {};  // "ssh:bob"
};

Prediction ask(const Files& changes, const Ask& question) {
  MemoryTree tree;
  tree.files = machine();
  for (const auto& [path, text] : changes) tree.files[path] = text;
  const auto host = make_memory_host(tree);
  const auto entry = parse_entry(question.via);
  const LoginFacts facts = collect_login(*host, question_of(*entry, question.user));
  if (question.from.empty()) return derive_prediction(*entry, facts, std::nullopt, nullptr);
  const auto caller = parse_caller(question.from);
  const LoginFacts of_caller = collect_login(*host, question_of(*caller, caller->user.empty() ? "0" : caller->user));
  return derive_prediction(*entry, facts, *caller, &of_caller);
}

std::string size(const std::optional<Limit>& limit) {
  if (!limit) return "unknown";
  if (limit->is_unlimited()) return "unlimited";
  return limit->bytes % kMib == 0 ? std::to_string(limit->bytes / kMib) + "M" : std::to_string(limit->bytes);
}

std::string say(const Prediction& p) {
  if (p.refused) return "refused";
  return p.soft == p.hard ? size(p.soft) : size(p.soft) + " " + size(p.hard);
}

std::string limit(const Files& changes, const Ask& question) {
  return say(ask(changes, question));
}

TEST(Predict, TheMachineOfTheseTests) {
  EXPECT_EQ(limit({}, {}), "64M");
  EXPECT_EQ(limit({}, {.user = "root"}), "8M");
  EXPECT_EQ(limit({}, {.via = "sudo", .from = "ssh:bob"}), "64M");
}

// ---- sudo ----

/// sudo of bob's ssh session to alice.
std::string sudo(const std::string& sudoers, const Ask& question = {.via = "sudo", .from = "ssh:bob"}) {
  const Prediction p = ask({{"/etc/sudoers", sudoers}}, question);
  EXPECT_EQ(p.soft.has_value() || p.refused, p.unknown.empty()) << sudoers;
  return say(p);
}

TEST(PredictSudo, ScopesOfDefaults) {
  const std::pair<const char*, const char*> rows[] = {
      {"Defaults rlimit_memlock=1048576\n", "1M"},
      {"Defaults:bob rlimit_memlock=1048576\n", "1M"},
      {"Defaults:alice rlimit_memlock=1048576\n", "64M"},  // she does not call it
      {"Defaults: alice , bob rlimit_memlock=1048576\n", "1M"},
      {"Defaults:ALL,!bob rlimit_memlock=1048576\n", "64M"},
      {"Defaults:!ALL rlimit_memlock=1048576\n", "64M"},
      {"Defaults:#1001 rlimit_memlock=1048576\n", "1M"},
      {"Defaults:%bob rlimit_memlock=1048576\n", "1M"},
      {"Defaults:%rdma rlimit_memlock=1048576\n", "64M"},
      {"Defaults:OPERATORS rlimit_memlock=1048576\n", "unknown"},
      {"Defaults:BOB rlimit_memlock=1048576\n", "unknown"},
      {"Defaults:+netgroup rlimit_memlock=1048576\n", "unknown"},
      {"Defaults:\"a b\" rlimit_memlock=1048576\n", "unknown"},
      {"Defaults:OPERATORS rlimit_memlock=1048576\nDefaults rlimit_memlock=2097152\n", "2M"},  // the last wins
      {"Defaults rlimit_memlock=2097152\nDefaults:OPERATORS rlimit_memlock=2097152\n", "2M"},  // either way
      {"Defaults>alice rlimit_memlock=1048576\n", "1M"},
      {"Defaults>root rlimit_memlock=1048576\n", "64M"},
      {"Defaults>%rdma rlimit_memlock=1048576\n", "1M"},
      {"Defaults>ALL rlimit_memlock=1048576\nDefaults rlimit_memlock=2097152\n", "1M"},  // targets come later
      {"Defaults@node1 rlimit_memlock=1048576\n", "1M"},
      {"Defaults@node2 rlimit_memlock=1048576\n", "64M"},
      {"Defaults@192.0.2.7 rlimit_memlock=1048576\n", "unknown"},
      {"Defaults!/bin/true rlimit_memlock=1048576\n", "unknown"},
      {"Defaults!/bin/true rlimit_memlock=1048576\nDefaults rlimit_memlock=2097152\n", "unknown"},
      {"Defaults!ALL rlimit_memlock=1048576\n", "1M"},
      {"Defaults:OPERATORS env_reset\n", "64M"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(sudo(text), expected) << text;
}

TEST(PredictSudo, WhetherAndUnderWhichNamePamOpensASession) {
  const Prediction none = ask({{"/etc/sudoers", "Defaults !pam_session\n"},
                               {"/etc/pam.d/sshd", "session required pam_permit.so\naccount required pam_permit.so\n"}},
                              {.via = "sudo", .from = "ssh:bob"});
  EXPECT_EQ(say(none), "8M") << "limits.conf is not read";
  EXPECT_EQ(none.decided_by.source, "/etc/sudoers:1");
  EXPECT_EQ(sudo("Defaults !pam_session\nDefaults pam_session\n"), "64M");
  EXPECT_EQ(sudo("Defaults:OPERATORS !pam_session\n"), "unknown");
  const std::string other = "account required pam_permit.so\nsession required pam_limits.so conf=/etc/job.conf\n";
  const Files files = {{"/etc/pam.d/job", other},
                       {"/etc/job.conf", "* - memlock 1024\n"},
                       {"/etc/pam.d/sudo-i", kStack},
                       {"/etc/sudoers", "Defaults pam_service=job\n"}};
  EXPECT_EQ(limit(files, {.via = "sudo", .from = "ssh:bob"}), "1M");
  EXPECT_EQ(limit(files, {.via = "sudo-i", .from = "ssh:bob"}), "64M") << "it has a service of its own";
  Files login = files;
  login["/etc/sudoers"] = "Defaults pam_login_service=job\n";
  EXPECT_EQ(limit(login, {.via = "sudo-i", .from = "ssh:bob"}), "1M");
  EXPECT_EQ(limit(login, {.via = "sudo", .from = "ssh:bob"}), "64M");
}

TEST(PredictSudo, TheCallersLimitIsPreserved) {
  const Files files = {{"/etc/sudoers", "Defaults rlimit_memlock=user\n"},
                       {"/etc/security/limits.conf", "alice - memlock 1024\n"}};
  EXPECT_EQ(limit(files, {.via = "sudo", .from = "ssh:bob"}), "8M");
  EXPECT_EQ(limit({{"/etc/security/limits.conf", "alice - memlock 1024\n"}}, {.via = "sudo", .from = "ssh:bob"}), "1M");
}

TEST(PredictSudo, ASessionErrorIsPassedOver) {
  Files files = {{"/etc/pam.d/sudo", std::string(kStack) + "session required pam_deny.so\n"}};
  EXPECT_EQ(limit(files, {.via = "sudo", .from = "ssh:bob"}), "64M") << "PAM_SESSION_ERR";
  files["/etc/pam.d/su"] = files["/etc/pam.d/sudo"];
  EXPECT_EQ(limit(files, {.via = "su", .from = "ssh:bob"}), "refused");
  files["/etc/pam.d/sudo"] = "account required pam_permit.so\nsession required pam_debug.so open_session=perm_denied\n";
  EXPECT_EQ(limit(files, {.via = "sudo", .from = "ssh:bob"}), "refused") << "another error";
  files["/etc/pam.d/sudo"] = "account required pam_debug.so acct=session_err\nsession required pam_limits.so\n";
  EXPECT_EQ(limit(files, {.via = "sudo", .from = "ssh:bob"}), "refused") << "of the account";
}

// ---- PAM ----

TEST(PredictPam, IncludesThatDouble) {
  Files files = {{"/etc/pam.d/sshd", "account required pam_permit.so\nsession include d0\n"}, {"/etc/pam.d/d60", ""}};
  for (int i = 0; i < 60; ++i) {
    const std::string next = "session include d" + std::to_string(i + 1) + "\n";
    files["/etc/pam.d/d" + std::to_string(i)] = next + next;
  }
  const Prediction p = ask(files, {});
  EXPECT_FALSE(p.soft) << "bounded, so not known";
  EXPECT_FALSE(p.unknown.empty());
  EXPECT_FALSE(p.refused) << "what was not read may let the session open";
}

TEST(PredictBounds, ManyLinesOfLimitsConfAreNotKept) {
  Files files;
  std::string lines;
  for (int i = 0; i < 100'000; ++i) lines += "x - memlock 1\n";
  for (int i = 0; i < 3; ++i) files["/etc/security/limits.d/" + std::to_string(i) + ".conf"] = lines;
  EXPECT_EQ(limit(files, {}), "unknown") << "a file that was not read may say anything";
  files = {{"/etc/security/limits.d/a.conf", std::string(1U << 20, '\n') + "alice - memlock 1024\n"}};
  const Prediction p = ask(files, {});
  EXPECT_EQ(say(p), "1M");
  EXPECT_EQ(p.decided_by.source, "/etc/security/limits.d/a.conf:1048577");
}

// ---- services ----

Prediction service(const std::string& settings, const std::string& user = "bob", Files files = {}) {
  files["/etc/systemd/system/job.service"] = "[Service]\nExecStart=/bin/job\n" + settings;
  return ask(files, {.via = "service:job", .user = user});
}

TEST(PredictService, PamIsAskedForTheUnitsUser) {
  const Files files = {{"/etc/security/limits.conf", "alice - memlock 1024\nbob - memlock 2048\n"}};
  const Prediction p = service("User=alice\nPAMName=sshd\n", "bob", files);
  EXPECT_EQ(say(p), "1M") << "whoever asks";
  EXPECT_EQ(p.user, "alice");
  EXPECT_NE(p.links.back().note.find("for alice, by User= of job.service"), std::string::npos);
  const Prediction nobody = service("User=carol\nPAMName=sshd\n", "bob", files);
  EXPECT_EQ(say(nobody), "unknown");
  EXPECT_EQ(nobody.unknown.size(), 1U);
  EXPECT_EQ(say(service("DynamicUser=yes\nPAMName=sshd\n", "bob", files)), "unknown");
  EXPECT_EQ(say(service("PAMName=sshd\n", "bob", files)), "8M") << "root's would be the same";
  EXPECT_EQ(say(service("PAMName=sshd\n", "bob", {{"/etc/security/limits.conf", "root - memlock 1024\n"}})), "unknown");
  EXPECT_EQ(say(service("", "bob", files)), "8M") << "no PAM";
}

TEST(PredictService, CapIpcLock) {
  const std::pair<const char*, bool> rows[] = {
      {"", true},
      {"User=alice\n", false},
      {"User=0\n", true},
      {"DynamicUser=true\n", false},
      {"DynamicUser=yes\nDynamicUser=off\n", true},
      {"DynamicUser=yes\nUser=root\n", true},
      {"User=alice\nAmbientCapabilities=CAP_IPC_LOCK\n", true},
      {"User=alice\nAmbientCapabilities=cap_ipc_lock\nAmbientCapabilities=CAP_NET_RAW\n", true},
      {"User=alice\nAmbientCapabilities=14\n", true},
      {"User=alice\nAmbientCapabilities=CAP_IPC_LOCK\nAmbientCapabilities=\n", false},
      {"User=alice\nAmbientCapabilities=CAP_IPC_LOCK\nAmbientCapabilities=~CAP_IPC_LOCK\n", false},
      {"User=alice\nAmbientCapabilities=~CAP_NET_RAW\n", true},
      {"User=alice\nAmbientCapabilities=~CAP_IPC_LOCK\n", false},
      {"User=alice\nAmbientCapabilities=CAP_IPC_LOCK\nCapabilityBoundingSet=CAP_NET_RAW\n", false},
      {"CapabilityBoundingSet=CAP_NET_RAW\n", false},
      {"CapabilityBoundingSet=CAP_NET_RAW\nCapabilityBoundingSet=CAP_IPC_LOCK\n", true},
      {"CapabilityBoundingSet=CAP_IPC_LOCK\nCapabilityBoundingSet=CAP_NET_RAW\n", true},
      {"CapabilityBoundingSet=~CAP_NET_RAW\n", true},
      {"CapabilityBoundingSet=~CAP_NET_RAW CAP_IPC_LOCK\n", false},
      {"CapabilityBoundingSet=~CAP_IPC_LOCK\nCapabilityBoundingSet=~CAP_NET_RAW\n", false},
      {"CapabilityBoundingSet=CAP_IPC_LOCK CAP_NET_RAW\nCapabilityBoundingSet=~CAP_IPC_LOCK\n", false},
      {"CapabilityBoundingSet=\n", false},
      {"CapabilityBoundingSet=\nCapabilityBoundingSet=CAP_IPC_LOCK\n", true},
      {"CapabilityBoundingSet=\nCapabilityBoundingSet=CAP_NET_RAW\n", false},
      {"CapabilityBoundingSet=CAP_NET_RAW\nCapabilityBoundingSet=~\n", true},
      {"PrivateUsers=yes\n", false},
      {"PrivateUsers=self\n", false},
      {"PrivateUsers=off\n", true},
      {"PrivateUsers=1\nPrivateUsers=f\n", true},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(service(text).cap_ipc_lock, expected) << text;
}

}  // namespace
}  // namespace pindown
