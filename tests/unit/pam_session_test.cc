// SPDX-License-Identifier: Apache-2.0
// Session stacks as libpam runs them: which pam_limits lines are reached and when a session is refused. What is said of
// Debian 12 and 13 was seen there; tests/agree compares thousands of stacks with libpam itself.
#include "model/pam_session.h"

#include <gtest/gtest.h>

#include "login_fixture.h"

namespace pindown {
namespace {

constexpr char kLimits[] = "/etc/security/limits.conf";
constexpr char kStar[] = "* - memlock 64\nroot - memlock 64\n";

/// The limits of a session by the service file `stack`, with `more` beside it. "8388608": pam_limits was not reached.
std::string by(const std::string& stack, TestFiles more = {}, const std::string& user = "alice",
               const LoginSetting& setting = debian13()) {
  more.emplace(kLimits, kStar);
  more["/etc/pam.d/lab"] = stack;
  more.emplace("/etc/pam.d/other", "session required pam_deny.so\n");
  const PamOutcome outcome = open_session(more, "lab", user, setting);
  if (!outcome.session.unknown.empty()) return "unknown";
  return outcome.limits.refused ? "refused " + std::to_string(outcome.limits.code) : say(outcome.limits);
}

constexpr char kSet[] = "65536", kNotSet[] = "8388608";

struct Row {
  const char *stack, *expected;
};

TEST(PamSession, ControlsAndJumps) {
  const Row rows[] = {
      {"session required pam_limits.so\n", kSet},
      {"session requisite pam_limits.so\n", kSet},
      {"session optional pam_limits.so\n", kSet},
      {"session required /usr/lib/x86_64-linux-gnu/security/pam_limits.so\n", kSet},
      {"SESSION REQUIRED pam_limits.so\n", kSet},
      {"-session optional pam_limits.so\n", kSet},
      {"session required \\\n pam_limits.so\n", kSet},
      {"account required pam_limits.so\nsession required pam_permit.so\n", kNotSet},
      {"auth optional pam_limits.so\nsession required pam_permit.so\n", kNotSet},
      {"session sufficient pam_permit.so\nsession required pam_limits.so\n", kNotSet},
      {"session required pam_limits.so\nsession sufficient pam_permit.so\n", kSet},
      {"session sufficient pam_deny.so\nsession required pam_limits.so\n", kSet},
      {"session required pam_deny.so\nsession required pam_limits.so\n", "refused 14"},
      {"session required pam_deny.so\nsession sufficient pam_permit.so\nsession required pam_limits.so\n",
       "refused 14"},
      {"session optional pam_deny.so\nsession required pam_limits.so\n", kSet},
      {"session optional pam_deny.so\n", "refused 6"},  // nothing succeeded
      {"session required pam_permit.so\nsession [success=1 default=ignore] pam_permit.so\nsession required "
       "pam_limits.so\n",
       kNotSet},
      {"session [success=1 default=ignore] pam_permit.so\nsession required pam_limits.so\n", "refused 6"},
      {"session [success=2 default=ignore] pam_permit.so\nsession required pam_limits.so\n", "refused 6"},  // too far
      {"session required pam_permit.so\nsession [success=done] pam_permit.so\nsession required pam_limits.so\n",
       kNotSet},
      {"session [default=die] pam_limits.so\nsession required pam_permit.so\n", "refused 6"},
      {"session requird pam_limits.so\n", "refused 6"},  // no control word: success is bad, too
      {"session [success=okay] pam_limits.so\n", "refused 6"},
      {"session [success=0 default=ok] pam_limits.so\n", "refused 6"},
      {"session [ success = ok ] pam_limits.so\n", kSet},
      {"session success=ok pam_limits.so\n", kSet},
      {"session [default=bad success=ok] pam_limits.so\n", kSet},
      {"session [required] pam_limits.so\n", kSet},
      {"session required pam_deny.so\nsession [default=reset] pam_permit.so\nsession required pam_limits.so\n", kSet},
      {"session [success=bad default=ok] pam_deny.so\nsession required pam_limits.so\n", "refused 14"},
      {"session required pam_debug.so open_session=perm_denied\n", "refused 6"},
      {"session required pam_debug.so open_session=ignore\nsession required pam_limits.so\n", kSet},
      {"session required pam_debug.so open_session=incomplete\nsession required pam_limits.so\n", "refused 31"},
  };
  for (const Row& row : rows) EXPECT_EQ(by(row.stack), row.expected) << row.stack;
}

// The same stacks as pam_acct_mgmt sees them, which sshd, su, cron and systemd ask first.
TEST(PamSession, AccountsAreAskedFirst) {
  constexpr char kSession[] = "session required pam_limits.so\n";
  const Row rows[] = {
      {"account required pam_permit.so\n", kSet},
      {"account required pam_limits.so\n", "refused 28"},  // it has no account function: seen in Debian 12 and 13
      {"account required pam_permit.so\naccount optional pam_limits.so\n", kSet},
      {"account optional pam_limits.so\n", "refused 6"},  // nothing succeeded
      {"account required pam_deny.so\n", "refused 7"},
      {"account required pam_env.so\n", "refused 3"},
      {"account required pam_gone.so\naccount required pam_permit.so\n", "refused 28"},
      {"account required pam_debug.so acct=perm_denied\n", "refused 6"},
      {"account required pam_nologin.so\naccount required pam_permit.so\n", kSet},
      {"account [success=1 new_authtok_reqd=done default=ignore] pam_unix.so\naccount requisite pam_deny.so\n"
       "account required pam_permit.so\n",
       kSet},
      {"account required pam_succeed_if.so user = bob\naccount required pam_permit.so\n", "refused 7"},
      {"account sufficient pam_slurm_adopt.so\naccount required pam_deny.so\n", kSet},  // taken to succeed
      {"account [success=ignore default=1] pam_slurm_adopt.so\naccount required pam_deny.so\naccount required "
       "pam_permit.so\n",
       "unknown"},
      {"", "refused 7"},  // that of "other"
  };
  LoginSetting asked = debian13();
  asked.asks_account = true;
  for (const Row& row : rows) {
    TestFiles more = {{"/etc/pam.d/other", "account required pam_deny.so\n"},
                      {"/usr/lib/x86_64-linux-gnu/security/pam_slurm_adopt.so", ""}};
    EXPECT_EQ(by(row.stack + std::string(kSession), more, "alice", asked), row.expected) << row.stack;
    EXPECT_EQ(by(row.stack + std::string(kSession), more), kSet) << row.stack;  // runuser does not ask
  }
}

TEST(PamSession, MissingAndMalformed) {
  const Row rows[] = {
      {"session required pam_limit.so\n", "refused 28"},
      {"session required pam_limits\n", "refused 28"},
      {"session required pam_limits.so\r\n", "refused 28"},
      {"-session required pam_gone.so\nsession required pam_limits.so\n", "refused 28"},  // unlogged, not forgiven
      {"-session optional pam_gone.so\nsession required pam_limits.so\n", kSet},
      {"session optional pam_limit.so\nsession required pam_permit.so\n", kNotSet},
      {"session required /opt/pam_limits.so\n", "refused 28"},
      {"session required pam_nologin.so\nsession required pam_limits.so\n", "refused 28"},  // has no session part
      {"session optional pam_nologin.so\nsession required pam_limits.so\n", kSet},
      {"session [default=ignore module_unknown=2] pam_gone.so\nsession required pam_limits.so\nsession required "
       "pam_permit.so\n",
       "refused 6"},
      {"sesion required pam_deny.so\nsession required pam_limits.so\n", kSet},  // an auth line that fails
      {"session required\nsession required pam_limits.so\n", "refused 6"},
      {"session optional\nsession required pam_limits.so\n", kSet},
      {"session\nsession required pam_limits.so\n", "refused 6"},
      {"session required pam_limits.so\nsession required \\\n", "refused 26"},  // the file cannot be read to its end
      {"@include gone\nsession required pam_limits.so\n", "refused 26"},
      {"session include gone\nsession required pam_limits.so\n", "refused 6"},
      {"session substack gone\nsession required pam_limits.so\n", "refused 6"},
      {"auth include gone\nsession required pam_limits.so\n", kSet},
      {"session include lab\nsession required pam_limits.so\n", "refused 6"},  // itself, for ever
      {"", "refused 14"},                                                      // "other"
  };
  for (const Row& row : rows) EXPECT_EQ(by(row.stack), row.expected) << row.stack;
}

TEST(PamSession, IncludesAndSubstacks) {
  const TestFiles more = {{"/etc/pam.d/limits", "session required pam_limits.so\n"},
                          {"/etc/pam.d/stop", "session sufficient pam_permit.so\nsession required pam_deny.so\n"},
                          {"/etc/pam.d/deep", "session include limits\n"},
                          {"/etc/pam.d/wrong", "sesion required pam_limits.so\n"},
                          {"/etc/pam.d/two", "session required pam_permit.so\nsession required pam_deny.so\n"},
                          {"/opt/limits", "session required pam_limits.so\n"}};
  const Row rows[] = {
      {"@include limits\n", kSet},
      {"session include limits\n", kSet},
      {"session substack limits\n", kSet},
      {"session include deep\n", kSet},
      {"session include /opt/limits\n", kSet},
      {"auth include limits\nsession required pam_permit.so\n", kNotSet},
      {"session include stop\nsession required pam_limits.so\n", kNotSet},  // "sufficient" ends everything
      {"session substack stop\nsession required pam_limits.so\n", kSet},    // ends the substack alone
      {"session include wrong\nsession required pam_permit.so\n", "refused 6"},
      {"@include wrong\nsession required pam_permit.so\n", kNotSet},
      {"session required pam_permit.so\nsession [success=1] pam_permit.so\nsession substack two\nsession required "
       "pam_limits.so\n",
       kSet},  // a substack is one step
      {"session required pam_permit.so\nsession [success=1] pam_permit.so\nsession include two\nsession required "
       "pam_limits.so\n",
       "refused 14"},  // an include's lines are steps each
      {"session [success=1] pam_permit.so\nsession substack limits\nsession required pam_permit.so\n", kNotSet},
  };
  for (const Row& row : rows) EXPECT_EQ(by(row.stack, more), row.expected) << row.stack;
}

TEST(PamSession, CommonSessionAndItsNoninteractiveSister) {
  const TestFiles files = {
      {kLimits, kStar},
      {"/etc/pam.d/common-session", "session required pam_permit.so\nsession required pam_limits.so\n"},
      {"/etc/pam.d/common-session-noninteractive", "session required pam_permit.so\n"},
      {"/etc/pam.d/sshd", "@include common-session\n"},
      {"/etc/pam.d/sudo", "@include common-session-noninteractive\n"},
      {"/etc/pam.d/cron", "@include common-session-noninteractive\n"},
      {"/etc/pam.d/runuser-l", "session include runuser\n-session optional pam_systemd.so\n"},
      {"/etc/pam.d/runuser", "session required pam_unix.so\n"}};
  const std::pair<const char*, const char*> rows[] = {
      {"sshd", kSet}, {"sudo", kNotSet}, {"cron", kNotSet}, {"runuser-l", kNotSet}};
  for (const auto& [service, expected] : rows) {
    EXPECT_EQ(say(open_session(files, service, "alice", debian13()).limits), expected) << service;
  }
  EXPECT_EQ(say(open_session(files, "sudo", "alice", debian12()).limits), kNotSet)
      << "no pam_limits, no reset: less than an unconfigured session of 246 MiB";
}

TEST(PamSession, TheUserManagersOwnFileBeatsTheVendors) {
  TestFiles files = {{kLimits, kStar}, {"/usr/lib/pam.d/systemd-user", "session required pam_permit.so\n"}};
  EXPECT_EQ(say(open_session(files, "systemd-user", "alice", debian13()).limits), kNotSet);
  files["/etc/pam.d/systemd-user"] = "session required pam_limits.so\n";
  EXPECT_EQ(say(open_session(files, "systemd-user", "alice", debian13()).limits), kSet);
}

TEST(PamSession, SucceedIf) {
  const auto with = [](const std::string& condition, const std::string& user) {
    return by("session required pam_permit.so\nsession [success=1 default=ignore] pam_succeed_if.so quiet " +
                  condition + "\nsession required pam_limits.so\n",
              {}, user);
  };
  struct Case {
    const char *condition, *user, *expected;
  };
  const Case rows[] = {{"user = alice", "alice", kNotSet},
                       {"user = alice", "root", kSet},
                       {"user = alice", "bob", kSet},
                       {"user != alice", "root", kNotSet},
                       {"uid >= 1000", "alice", kNotSet},
                       {"uid >= 0x3e9", "alice", kSet},
                       {"uid < 01750", "root", kNotSet},
                       {"gid eq 100", "bob", kNotSet},
                       {"uid >= x", "alice", kSet},
                       {"user ingroup rdma", "alice", kNotSet},
                       {"user ingroup none:verbs", "alice", kNotSet},
                       {"user ingroup rdma", "bob", kSet},
                       {"user notingroup rdma", "bob", kNotSet},
                       {"user in bob:alice", "alice", kNotSet},
                       {"user notin bob:alice", "alice", kSet},
                       {"user =~ al*", "alice", kNotSet},
                       {"user !~ al*", "bob", kNotSet},
                       {"service in crond:lab use_uid", "alice", kNotSet},
                       {"uid >= 1000 user = bob", "alice", kSet},
                       {"uid >= 1000 user", "alice", kSet},
                       {"nonsense = 1", "alice", kSet},
                       {"", "alice", kNotSet},
                       {"user = alice use_uid", "alice", "unknown"},
                       {"shell = /bin/sh", "alice", "unknown"},
                       {"tty = tty1", "alice", "unknown"},
                       {"user = bob tty = tty1", "alice", kSet}};
  for (const Case& row : rows)
    EXPECT_EQ(with(row.condition, row.user), row.expected) << row.condition << ' ' << row.user;
}

TEST(PamSession, WhatDependsOnStateIsUnknownOnlyWhereItDecides) {
  const std::string file = "pam_listfile.so item=user sense=allow file=/etc/users";
  EXPECT_EQ(by("session [success=1 default=ignore] " + file +
               "\nsession required pam_limits.so\nsession required pam_permit.so\n"),
            "unknown");
  EXPECT_EQ(by("session sufficient " + file + "\nsession required pam_limits.so\n"), "unknown");
  EXPECT_EQ(by("session required " + file + "\nsession required pam_limits.so\n"), kSet);
  EXPECT_EQ(by("session required pam_limits.so\nsession sufficient " + file + "\n"), kSet);
  const TestFiles files = {
      {"/etc/pam.d/lab", "session [success=1 default=ignore] " + file +
                             "\nsession required pam_limits.so\nsession required pam_permit.so\n"}};
  const PamOutcome outcome = open_session(files, "lab", "alice", debian13());
  ASSERT_EQ(outcome.session.unknown.size(), 1U);
  EXPECT_EQ(outcome.session.unknown[0].rfind("/etc/pam.d/lab:1: pam_listfile.so", 0), 0U) << outcome.session.unknown[0];
}

TEST(PamSession, TheOtherServiceAndItsPart) {
  const TestFiles files = {{kLimits, kStar},
                           {"/etc/pam.d/other", "session required pam_permit.so\n"},
                           {"/etc/pam.d/authonly", "auth required pam_unix.so\n"},
                           {"/etc/pam.conf", "gone session required pam_limits.so\n"}};
  for (const char* service : {"gone", "authonly", "other", "GONE", "/usr/bin/gone"}) {
    const PamOutcome outcome = open_session(files, service, "alice", debian13());
    EXPECT_EQ(say(outcome.limits), kNotSet) << service;
    EXPECT_EQ(outcome.session.service, "other") << service;
  }
  TestFiles broken = files;
  broken["/etc/pam.d/lab"] = "session required pam_limits.so\n";
  EXPECT_EQ(say(open_session(broken, "lab", "alice", debian13()).limits), kSet);
  broken["/etc/pam.d/other"] = "@include gone\n";
  EXPECT_EQ(open_session(broken, "lab", "alice", debian13()).limits.code, 26) << "\"other\" is read for every service";
  EXPECT_EQ(open_session({{"/etc/pam.d/x", ""}}, "gone", "alice", debian13()).limits.code, 26) << "no file at all";
}

TEST(PamSession, ConfThatIsMissing) {
  const TestFiles own = {{"/opt/own.conf", "* - memlock 128\n"}};
  EXPECT_EQ(by("session required pam_limits.so conf=/none\n"), "refused 3");
  const std::string optional = "session required pam_permit.so\nsession optional pam_limits.so conf=/none\n";
  EXPECT_EQ(by(optional, {}, "alice", debian12()), kNotSet) << "without the reset, too: not 246 MiB";
  EXPECT_EQ(by(optional + "session required pam_limits.so\n"), kSet) << "a later line still applies";
  EXPECT_EQ(by("session required pam_limits.so\nsession required pam_limits.so conf=/opt/own.conf\n", own), "131072");
  EXPECT_EQ(by("session [success=ok service_err=ignore default=bad] pam_limits.so conf=/none\nsession required "
               "pam_permit.so\n"),
            kNotSet);
}

TEST(PamSession, ASecondPamLimitsStartsFromTheFirst) {
  LoginSetting contained = debian13();
  contained.may_raise = false;
  const TestFiles own = {{"/opt/own.conf", "* - memlock 128\n"}};
  EXPECT_EQ(by("session required pam_limits.so\nsession required pam_limits.so conf=/opt/own.conf\n", own, "alice",
               contained),
            kSet)
      << "lowered once, it cannot be raised again";
}

TEST(PamSession, ARefusalNamesItsLine) {
  const PamOutcome missing = open_session({{kLimits, ""}, {"/etc/pam.d/lab", "# c\nsession required pam_limit.so\n"}},
                                          "lab", "alice", debian12());
  EXPECT_TRUE(missing.limits.refused);
  EXPECT_EQ(missing.limits.refused_by.path, "/etc/pam.d/lab:2");
  EXPECT_EQ(missing.limits.why, "pam_limit.so is missing");
  const PamOutcome logins =
      open_session({{kLimits, "alice - maxlogins 0\n"}, {"/etc/pam.d/lab", "session required pam_limits.so\n"}}, "lab",
                   "alice", debian12());
  EXPECT_EQ(logins.limits.refused_by.path, "/etc/security/limits.conf:1");
  EXPECT_EQ(logins.session.refused_by.path, "/etc/pam.d/lab:1");
  const PamOutcome none =
      open_session({{"/etc/pam.d/lab", "session required pam_limits.so\n"}}, "lab", "root", debian12());
  EXPECT_EQ(none.limits.code, 3);
  EXPECT_EQ(none.limits.refused_by.path, "/etc/security/limits.conf");
}

TEST(PamSession, DebianIncludesFromEtcOnly) {
  const TestFiles files = {{kLimits, kStar},
                           {"/etc/pam.d/lab", "session include vendor\n"},
                           {"/usr/lib/pam.d/vendor", "session required pam_limits.so\n"}};
  EXPECT_EQ(open_session(files, "lab", "alice", debian13()).limits.code, 6);
  EXPECT_EQ(say(open_session(files, "lab", "alice", upstream("1.7.2")).limits), kSet);
}

TEST(PamSession, ManyIncludesAreBounded) {
  TestFiles files = {{kLimits, kStar}};
  for (int i = 0; i < 40; ++i) {
    std::string lines;
    for (int copy = 0; copy < 10; ++copy) lines += "session include s" + std::to_string(i + 1) + "\n";
    files["/etc/pam.d/s" + std::to_string(i)] = lines;
  }
  files["/etc/pam.d/s40"] = "session required pam_limits.so\n";
  const PamOutcome outcome = open_session(files, "s0", "alice", debian13());
  EXPECT_FALSE(outcome.session.unknown.empty());
}

}  // namespace
}  // namespace pindown
