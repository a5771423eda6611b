// SPDX-License-Identifier: Apache-2.0
// Which way a live process's session was opened, from the chain of its ancestors.
#include "model/session_start.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace pindown {
namespace {

/// The process first; PID 1 is added.
std::vector<Process> chain(std::vector<std::pair<const char*, const char*>> names) {
  names.emplace_back("systemd", "/sbin/init");
  std::vector<Process> processes;
  for (const auto& [comm, cmdline] : names) {
    Process process;
    process.comm = comm;
    process.cmdline = cmdline;
    process.where.pid = static_cast<std::int64_t>(names.size() - processes.size());
    processes.push_back(process);
  }
  return processes;
}

std::string start(const std::vector<std::pair<const char*, const char*>>& names) {
  const auto processes = chain(names);
  const auto found = derive_session_start(processes);
  if (!found) return "none";
  return found->entry.name + (found->caller ? " from " + found->caller->comm : "");
}

TEST(SessionStart, TheNearestOpenerCounts) {
  EXPECT_EQ(start({{"mr", "mr"}, {"bash", "bash"}}), "none");
  EXPECT_EQ(start({{"mr", "mr"}, {"sshd", "sshd: alice@pts/0"}, {"sshd", "sshd: alice [priv]"}, {"sshd", "sshd -D"}}),
            "ssh");
  EXPECT_EQ(start({{"mr", "mr"}, {"sshd-session", "sshd-session: alice"}, {"sshd", "sshd -D"}}), "ssh");
  EXPECT_EQ(start({{"mr", "mr"}, {"su", "su alice -c mr"}, {"bash", "bash"}, {"sshd", "sshd"}}), "su from bash");
  EXPECT_EQ(start({{"mr", "mr"}, {"sudo", "sudo -u alice mr"}, {"sudo", "sudo -u alice mr"}, {"bash", "bash"}}),
            "sudo from bash");
  EXPECT_EQ(start({{"mr", "mr"}, {"cron", "/usr/sbin/CRON -f"}, {"cron", "/usr/sbin/cron -f"}}), "cron");
  EXPECT_EQ(start({{"mr", "mr"}, {"crond", "crond -n"}}), "cron");
  EXPECT_EQ(start({{"mr", "mr"}, {"login", "login -- alice"}}), "login");
  EXPECT_EQ(start({{"su", "su"}, {"bash", "bash"}}), "none") << "the process itself opens another's session";
}

TEST(SessionStart, AServicesOwnProcessHasNoCallerToTellFrom) {
  EXPECT_EQ(start({{"mr", "mr"}, {"su", "su alice -c mr"}}), "su");
  EXPECT_EQ(start({{"mr", "mr"}, {"runuser", "runuser -u alice mr"}}), "runuser");
}

TEST(SessionStart, LoginShells) {
  EXPECT_EQ(start({{"mr", "mr"}, {"su", "su - alice"}, {"bash", ""}}), "su-l from bash");
  EXPECT_EQ(start({{"mr", "mr"}, {"su", "su -lc mr alice"}, {"bash", ""}}), "su-l from bash");
  EXPECT_EQ(start({{"mr", "mr"}, {"su", "su alice -c ls -l"}, {"bash", ""}}), "su from bash") << "of the command";
  EXPECT_EQ(start({{"mr", "mr"}, {"runuser", "runuser --login alice"}, {"bash", ""}}), "runuser-l from bash");
  EXPECT_EQ(start({{"mr", "mr"}, {"sudo", "sudo -u alice -i"}, {"bash", ""}}), "sudo-i from bash");
  EXPECT_EQ(start({{"mr", "mr"}, {"sudo", "sudo -u alice grep -i x"}, {"bash", ""}}), "sudo from bash");
}

TEST(SessionStart, AnEmptyChain) {
  EXPECT_FALSE(derive_session_start({}));
}

}  // namespace
}  // namespace pindown
