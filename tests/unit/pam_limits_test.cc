// SPDX-License-Identifier: Apache-2.0
// pam_limits line by line: how each version splits and reads a line, whom it is for, which one wins, and what the
// kernel lets it set. The numbers were seen on Debian 12 and 13; tests/agree compares thousands more.
#include "model/pam_limits.h"

#include <gtest/gtest.h>

#include <span>

#include "login_fixture.h"

namespace pindown {
namespace {

using D = PamDialect;

TEST(PamVersion, ByPackageAndDistribution) {
  struct Row {
    const char *package, *ids;
    D dialect;
    bool debian, resets, main_required;
  };
  const Row rows[] = {{"1.5.2-6+deb12u1", "debian", D::kUpTo153, true, true, true},
                      {"1.7.0-5", "debian", D::kSince161, true, false, false},
                      {"1.5.3-5ubuntu5.4", "ubuntu debian", D::kUpTo153, true, true, false},
                      {"1.4.0-11ubuntu2", "ubuntu debian", D::kUpTo153, true, true, true},
                      {"1.3.1-25.el8", "rhel fedora", D::kUpTo153, false, false, true},
                      {"1.5.1-19.el9", "rhel fedora", D::kUpTo153, false, false, true},
                      {"1.6.0-1", "arch", D::k160, false, false, false},
                      {"1.6.1-3.fc41", "fedora", D::kSince161, false, false, false},
                      {"0:1.7.1-2", "fedora", D::kSince161, false, false, false},
                      {"1.10.0", "arch", D::kSince161, false, false, false}};
  for (const Row& row : rows) {
    const auto version = pam_version(row.package, row.ids);
    ASSERT_TRUE(version) << row.package;
    EXPECT_EQ(version->dialect, row.dialect) << row.package;
    EXPECT_EQ(version->debian_root, row.debian) << row.package;
    EXPECT_EQ(version->eperm_ignored, row.debian) << row.package;
    EXPECT_EQ(version->resets, row.resets) << row.package;
    EXPECT_EQ(version->main_required, row.main_required) << row.package;
  }
  EXPECT_FALSE(pam_version("", "debian"));
  EXPECT_FALSE(pam_version("unknown", "debian"));
  EXPECT_FALSE(pam_version("1.5.2", "")) << "nobody knows whose patches it has";
}

TEST(PamLimitsLine, SplitsAsTheVersionDoes) {
  struct Row {
    const char* line;
    const char *up_to_153, *v160, *since_161;  // the value in bytes, "unlimited", or "" if the line does nothing
  };
  const Row rows[] = {
      {"* soft memlock unlimited", "unlimited", "unlimited", "unlimited"},
      {"* soft memlock unlimited  ", "unlimited", "", "unlimited"},
      {"* soft memlock unlimited # why", "unlimited", "", "unlimited"},
      {"* soft memlock unlimited#why", "unlimited", "unlimited", "unlimited"},
      {"* soft memlock unlimited\r", "unlimited", "", ""},
      {"* soft memlock 65536\r", "67108864", "67108864", "67108864"},
      {"* soft memlock unlimited ok", "unlimited", "", ""},
      {"* soft memlock 2048 KB", "2097152", "2097152", "2097152"},
      {"* soft memlock 128 256", "131072", "131072", "131072"},
      {"* soft memlock  unlimited", "unlimited", "", "unlimited"},
      {"* soft memlock  64", "65536", "65536", "65536"},
      {"* soft memlock  -1", "unlimited", "unlimited", "unlimited"},
      {"* soft memlock ", "", "", ""},
      {"*\vsoft\vmemlock\v64", "65536", "", ""},
      {" \t\r* soft memlock 64", "65536", "65536", "65536"},
      {"*\tsoft\t \tmemlock\t64", "65536", "65536", "65536"},
      {"*\xc2\xa0soft memlock 64", "", "", ""},
      {"# * soft memlock 64", "", "", ""},
      {"", "", "", ""},
      {"* soft memlock", "", "", ""},
      {"* SOFT MemLock UNLIMITED", "unlimited", "unlimited", "unlimited"},
      {"* both memlock 64", "", "", ""},
      {"* soft memlok 64", "", "", ""},
  };
  for (const Row& row : rows) {
    const std::pair<D, const char*> ways[] = {
        {D::kUpTo153, row.up_to_153}, {D::k160, row.v160}, {D::kSince161, row.since_161}};
    for (const auto& [dialect, expected] : ways) {
      const LimitsLine line = parse_limits_line(row.line, dialect);
      const std::string got = !line.limit                  ? ""
                              : line.limit->is_unlimited() ? "unlimited"
                                                           : std::to_string(line.limit->bytes);
      EXPECT_EQ(got, expected) << '"' << row.line << "\" in dialect " << static_cast<int>(dialect);
      EXPECT_EQ(line.kind == LimitsLine::Kind::kLimit, *expected != '\0') << row.line;
    }
  }
}

TEST(PamLimitsLine, ValuesAreStrtoullsTimes1024) {
  struct Row {
    const char* value;
    std::optional<std::uint64_t> bytes;
  };
  const std::uint64_t infinite = Limit::kInfinity;
  const Row rows[] = {{"0", 0},
                      {"64", 65536},
                      {"unlimited", infinite},
                      {"infinity", infinite},
                      {"INFINITY", infinite},
                      {"-1", infinite},
                      {"-", infinite},
                      {"-5", infinite},
                      {"18014398509481983", infinite},
                      {"18014398509481982", 18014398509481982U * 1024U},
                      {"18014398509481984", infinite},
                      {"18446744073709551616", infinite},
                      {"99999999999999999999999", infinite},
                      {"-18446744073709551615", 1024},
                      {"+64", 65536},
                      {"064", 65536},
                      {"1e6", 1024},
                      {"1,000", 1024},
                      {"0x100", 0},
                      {"0x800", 0},
                      {"64G", 65536},
                      {"2g", 2048},
                      {"2048.9", 2048 * 1024},
                      {"abc", std::nullopt},
                      {"unlimit", std::nullopt},
                      {"\"unlimited\"", std::nullopt},
                      {"--1", std::nullopt},
                      {".", std::nullopt},
                      {"+", std::nullopt}};
  for (const Row& row : rows) {
    for (const D dialect : {D::kUpTo153, D::k160, D::kSince161}) {
      const LimitsLine line = parse_limits_line(std::string("* - memlock ") + row.value, dialect);
      ASSERT_EQ(line.limit.has_value(), row.bytes.has_value()) << row.value;
      EXPECT_EQ(line.limit.value_or(Limit{}).bytes, row.bytes.value_or(0)) << row.value;
      EXPECT_EQ(line.ignored, row.bytes ? "" : "the value is not a number") << row.value;
    }
  }
}

TEST(PamLimitsLine, ExemptionsAndWhatLooksLikeThem) {
  using K = LimitsLine::Kind;
  const std::pair<const char*, K> rows[] = {{"alice -", K::kExempt},        {"alice\t-  ", K::kExempt},
                                            {"alice -memlock", K::kExempt}, {"@rdma -", K::kExempt},
                                            {"alice soft", K::kNothing},    {"alice - memlock", K::kNothing},
                                            {"alice", K::kNothing},         {"5:x -", K::kNothing},
                                            {"alice - # why", K::kExempt},  {"alice - nofile 5", K::kLimit}};
  for (const auto& [line, kind] : rows) {
    EXPECT_EQ(parse_limits_line(line, D::kUpTo153).kind, kind) << line;
    EXPECT_EQ(parse_limits_line(line, D::kSince161).kind, kind) << line;
  }
}

TEST(PamLimits, ALineOver1023BytesIsSeveralUpTo153) {
  const std::string front(1015, ' ');
  const std::string line = front + "* - memlock 64";  // cut after "* - meml"
  EXPECT_EQ(limits_pieces(line, D::kUpTo153).size(), 2U);
  EXPECT_EQ(limits_pieces(line, D::k160).size(), 1U);
  const std::string two = "* - memlock 64" + std::string(1009, ' ') + "* - memlock 128";
  EXPECT_EQ(with_conf(two, "alice", debian12()), "131072") << "the second half is a line of its own";
  EXPECT_EQ(with_conf(two, "alice", debian13()), "65536");
  const std::string zeros = "* - memlock " + std::string(1003, '0') + "12345678 \n";
  EXPECT_EQ(with_conf(zeros, "alice", debian13()), "12641974272");
  EXPECT_EQ(with_conf(zeros, "alice", debian12()), "12641974272") << "exactly 1,023 bytes, the blank is the rest";
  EXPECT_EQ(with_conf("* - memlock " + std::string(1004, '0') + "12345678\n", "alice", debian12()), "1264196608")
      << "the last digit is a line of one word";
  EXPECT_EQ(with_conf(std::string("* - memlock 64\0 128", 19), "alice", debian13()), "65536") << "a NUL ends a line";
}

struct Row {
  const char* conf;
  const char* user;
  const char *on_12, *on_13;
};
constexpr char kReset[] = "257949696", kDaemon[] = "8388608";  // PID 1's 246 MiB; the daemon's 8 MiB

void expect_rows(std::span<const Row> rows) {
  for (const Row& row : rows) {
    EXPECT_EQ(with_conf(row.conf, row.user, debian12()), row.on_12) << "12: " << row.conf << " for " << row.user;
    EXPECT_EQ(with_conf(row.conf, row.user, debian13()), row.on_13) << "13: " << row.conf << " for " << row.user;
  }
}

TEST(PamLimits, WhomALineIsFor) {
  const Row rows[] = {
      {"* - memlock 64", "alice", "65536", "65536"},
      {"* - memlock 64", "root", kReset, kDaemon},  // root has to be named on Debian
      {"root - memlock 64", "root", "65536", "65536"},
      {"0:0 - memlock 64", "root", "65536", "65536"},
      {"0:100 - memlock 64", "root", "65536", "65536"},
      {":0 - memlock 64", "root", "65536", "65536"},
      {"0: - memlock 64", "root", "65536", "65536"},
      {"@root - memlock 64", "root", kReset, kDaemon},
      {"@rdma - memlock 64", "root", kReset, kDaemon},
      {"@:0 - memlock 64", "root", "65536", "65536"},  // for root a range in "@…" is one of uids
      {"@0:10 - memlock 64", "root", "65536", "65536"},
      {"@rdma - memlock 64", "alice", "65536", "65536"},
      {"@rdma - memlock 64", "bob", kReset, kDaemon},
      {"@alice - memlock 64", "alice", "65536", "65536"},     // primary
      {"@verbs - memlock 64", "alice", "65536", "65536"},     // another name of her group's gid
      {"@:2000 - memlock 64", "alice", "65536", "65536"},     // membership
      {"@2000:2001 - memlock 64", "alice", kReset, kDaemon},  // a range looks at the primary group alone
      {"@1000:1001 - memlock 64", "alice", "65536", "65536"},
      {"@1000: - memlock 64", "alice", "65536", "65536"},
      {"@1000 - memlock 64", "alice", kReset, kDaemon},  // a group of that name
      {"1000:1000 - memlock 64", "alice", "65536", "65536"},
      {":1000 - memlock 64", "alice", "65536", "65536"},
      {"1001: - memlock 64", "alice", kReset, kDaemon},
      {"1000:x - memlock 64", "alice", kReset, kDaemon},
      {": - memlock 64", "alice", kReset, kDaemon},
      {"x:1000 - memlock 64", "alice", kReset, kDaemon},
      {"-4294966296: - memlock 64", "alice", "65536", "65536"},  // cut to 32 bits: 1000
      {"99999999999999999999: - memlock 64", "alice", kReset, kDaemon},
      {"% - memlock 64", "alice", kReset, kDaemon},  // maxlogins only
      {"%rdma - memlock 64", "alice", kReset, kDaemon},
      {"Alice - memlock 64", "alice", kReset, kDaemon},
      {"ali* - memlock 64", "alice", kReset, kDaemon},
      {"alice,bob - memlock 64", "alice", kReset, kDaemon},
      {"\"alice\" - memlock 64", "alice", kReset, kDaemon},
      {"\xef\xbb\xbf* - memlock 64", "alice", kReset, kDaemon},  // a BOM is part of the domain
      {"\xef\xbb\xbf# c\n* - memlock 64", "alice", "65536", "65536"},
      {"*\xc2\xa0- memlock 64", "alice", kReset, kDaemon},
      {"* -\xc2\xa0memlock 64", "alice", kReset, kDaemon},
  };
  expect_rows(rows);
}

TEST(PamLimits, WhichLineWins) {
  const Row rows[] = {
      {"alice - memlock 64\n* - memlock 128\n@rdma - memlock 256", "alice", "65536", "65536"},
      {"* - memlock 128\n@rdma - memlock 256", "alice", "262144", "262144"},
      {"@rdma - memlock 256\n* - memlock 128", "alice", "262144", "262144"},
      {"alice - memlock 64\n1000: - memlock 128", "alice", "131072", "131072"},  // same class: the last
      {"@rdma - memlock 64\n@alice - memlock 128", "alice", "131072", "131072"},
      {"* - memlock 64\n* - memlock 128", "alice", "131072", "131072"},
      // "-" stops at a soft value that has more say, and hard stays what it was.
      {"alice soft memlock 64\n* - memlock 128", "alice", "65536 257949696", "65536 8388608"},
      {"alice hard memlock 64\n* - memlock 32", "alice", "32768 65536", "32768 65536"},
      {"* soft memlock 64", "alice", "65536 257949696", "65536 8388608"},
      {"* hard memlock unlimited", "alice", "257949696 unlimited", "8388608 unlimited"},  // soft is what counts
      {"* soft memlock unlimited", "alice", kReset, kDaemon},                             // cut to hard
      {"* hard memlock 64", "alice", "65536", "65536"},
      {"* soft memlock 128\n* hard memlock 64", "alice", "65536", "65536"},
      {"* - memlock 0", "alice", "0", "0"},
      {"* - memlock 0x800", "alice", "0", "0"},
      {"* - memlock unlimit", "alice", kReset, kDaemon},
      {"* both memlock 64", "alice", kReset, kDaemon},
      {"* - memlock", "alice", kReset, kDaemon},
      {"* - memlock unlimited\r\nroot - memlock 65536\r\n", "alice", "unlimited", kDaemon},   // CRLF on 13:
      {"* - memlock unlimited\r\nroot - memlock 65536\r\n", "root", "67108864", "67108864"},  // root's, nobody else's
      {"* - memlock unlimited ok", "alice", "unlimited", kDaemon},
      {"* - memlock 64", "alice", "65536", "65536"},
      {"alice - nofile 2000000000", "alice", kReset, kDaemon},  // EPERM above fs.nr_open is no error on Debian
  };
  expect_rows(rows);
}

TEST(PamLimits, ExemptUsersKeepWhatTheDaemonHas) {
  const Row rows[] = {
      {"alice -\n", "alice", kDaemon, kDaemon},  // not even the reset: far less than without any line on 12
      {"* - memlock 64\nalice -", "alice", kDaemon, kDaemon},
      {"@rdma -", "alice", kDaemon, kDaemon},
      {"@rdma -", "bob", kReset, kDaemon},
      {"@root -\nroot - memlock 64", "root", kDaemon, kDaemon},  // exempts root, though "@root - memlock" is not for it
      {"@root - memlock 64", "root", kReset, kDaemon},
      {"* -\n* - memlock 64", "alice", "65536", "65536"},  // "*" exempts nobody
      {"1000:1000 -\n* - memlock 64", "alice", kDaemon, kDaemon},
      {"@:2000 -\n* - memlock 64", "alice", kDaemon, kDaemon},
      {"@2000:2000 -\n* - memlock 64", "alice", "65536", "65536"},
      {"%rdma -\n* - memlock 64", "alice", "65536", "65536"},
  };
  expect_rows(rows);
  const SessionLimits limits = limits_of({{"/etc/security/limits.conf", "alice -\n"}}, "alice", debian12());
  EXPECT_NE(limits.why.find("/etc/security/limits.conf:1"), std::string::npos) << limits.why;
}

TEST(PamLimits, MaxloginsZeroRefuses) {
  const Row rows[] = {
      {"alice - maxlogins 0\n* - memlock unlimited", "alice", "refused", "refused"},
      {"alice - maxlogins 0", "bob", kReset, kDaemon},
      {"* hard maxsyslogins 0", "alice", "refused", "refused"},
      {"root - maxlogins 0", "root", kReset, kDaemon},  // uid 0 is not counted
      {"alice - maxlogins -1", "alice", kReset, kDaemon},
      {"alice - maxlogins x", "alice", kReset, kDaemon},
      {"alice - maxlogins 0x5", "alice", "refused", "refused"},
      {"% - maxlogins 0", "alice", "refused", "refused"},
      {"%rdma - maxlogins 0", "alice", "refused", "refused"},
      {"%rdma - maxlogins 0", "bob", kReset, kDaemon},
      {"% - maxsyslogins 0", "alice", kReset, kDaemon},
      {"@rdma - maxlogins 0\nalice - maxlogins -1", "alice", kReset, kDaemon},
      {"alice - maxlogins -1\n@rdma - maxlogins 0", "alice", kReset, kDaemon},
  };
  expect_rows(rows);
  const SessionLimits limits = limits_of({{"/etc/security/limits.conf", "alice - maxlogins 0"}}, "alice", debian13());
  EXPECT_EQ(limits.code, 6);
  EXPECT_EQ(limits.refused_by.path, "/etc/security/limits.conf:1");
  const SessionLimits four = limits_of({{"/etc/security/limits.conf", "alice - maxlogins 4"}}, "alice", debian13());
  EXPECT_FALSE(four.refused);
  EXPECT_EQ(four.unknown.size(), 1U) << "sessions are not counted";
}

TEST(PamLimits, MissingFiles) {
  const TestFiles drop_in = {{"/etc/security/limits.d/50.conf", "* - memlock 64\n"}};
  const SessionLimits on_12 = limits_of(drop_in, "alice", debian12());
  EXPECT_TRUE(on_12.refused) << "limits.conf missing: every session";
  EXPECT_EQ(on_12.code, 3);
  EXPECT_EQ(on_12.refused_by.path, "/etc/security/limits.conf");
  EXPECT_EQ(say(limits_of(drop_in, "alice", debian13())), "65536");
  EXPECT_EQ(say(limits_of(drop_in, "alice", upstream("1.5.1-19.el9"))), "refused");
  EXPECT_EQ(say(limits_of(drop_in, "alice", upstream("1.5.3-1"))), "65536");
}

TEST(PamLimits, VendorFilesWhereTheDistributionHasThem) {
  const TestFiles files = {{"/usr/etc/security/limits.conf", "* - memlock 64\n"},
                           {"/usr/etc/security/limits.d/10.conf", "* - memlock 128\n"},
                           {"/etc/security/limits.d/05.conf", "* - memlock 32\n"}};
  LoginSetting suse = upstream("1.6.1-2");
  suse.ids = "opensuse-tumbleweed opensuse suse";
  EXPECT_EQ(say(limits_of(files, "alice", suse)), "131072");
  EXPECT_EQ(say(limits_of(files, "alice", upstream("1.6.1-2"))), "32768") << "nobody else reads /usr/etc";
  TestFiles own = files;
  own["/etc/security/limits.conf"] = "";
  own["/etc/security/limits.d/10.conf"] = "";
  EXPECT_EQ(say(limits_of(own, "alice", suse)), "32768") << "a file in /etc hides the vendor's of its name";
}

TEST(PamLimits, OrderOfFiles) {
  const TestFiles files = {{"/etc/security/limits.conf", "* - memlock 1\nalice - memlock 2\n"},
                           {"/etc/security/limits.d/10.conf", "* - memlock 3\nbob - memlock 4\n"},
                           {"/etc/security/limits.d/20.conf", "* - memlock 5\n@users - memlock 6\n"}};
  EXPECT_EQ(say(limits_of(files, "alice", debian13())), "2048") << "the most specific, wherever it stands";
  EXPECT_EQ(say(limits_of(files, "bob", debian13())), "4096");
  TestFiles exempt = files;
  exempt["/etc/security/limits.d/15.conf"] = "bob -\n";
  EXPECT_EQ(say(limits_of(exempt, "bob", debian13())), kDaemon) << "an exemption takes back what came before";
}

TEST(PamLimits, OfAFilePindownMayNotReadNobodyKnows) {
  MemoryTree tree;
  tree.files = accounts();
  tree.files["/etc/security/limits.conf"] = "alice - memlock 64\n";
  tree.denied = {"/etc/security/limits.conf"};
  const auto host = make_memory_host(tree);
  const SessionLimits limits = derive_pam_limits({}, collect_limits(*host), nullptr, *collect_account(*host, "alice"),
                                                 *pam_version("1.5.2", "debian"), both(1), both(2), true);
  EXPECT_FALSE(limits.refused) << "pam_limits runs as root and can read it";
  EXPECT_FALSE(limits.soft);
  EXPECT_NE(limits.why.find("/etc/security/limits.conf"), std::string::npos);
}

TEST(PamLimits, ConfAndSetAll) {
  const TestFiles files = {{"/etc/security/limits.conf", "* - memlock 1\n"},
                           {"/etc/security/limits.d/10.conf", "* - memlock 2\n"},
                           {"/opt/own.conf", "* - memlock 64\n"}};
  EXPECT_EQ(say(limits_of(files, "alice", debian12(), {"conf=/opt/own.conf"})), "65536") << "limits.d is not read";
  for (const LoginSetting& setting : {debian12(), debian13(), upstream("1.7.2")}) {
    EXPECT_EQ(say(limits_of(files, "alice", setting, {"conf=/opt/none.conf"})), "refused");
    EXPECT_EQ(say(limits_of(files, "alice", setting, {"conf="})), "refused");
  }
  EXPECT_EQ(say(limits_of(files, "alice", debian13(), {"conf=/opt/none.conf", "conf=/opt/own.conf"})), "65536");
  const TestFiles none = {{"/etc/security/limits.conf", ""}};
  EXPECT_EQ(say(limits_of(none, "alice", debian12(), {"set_all"})), kReset) << "12 resets anyway";
  EXPECT_EQ(say(limits_of(none, "alice", debian13(), {"set_all"})), kReset);
  EXPECT_EQ(say(limits_of(none, "alice", debian13())), kDaemon);
  LoginSetting infinite = debian13();
  infinite.start = both(Limit::kInfinity);
  EXPECT_EQ(say(limits_of(none, "alice", infinite, {"set_all"})), kReset) << "less than LimitMEMLOCK=infinity";
  EXPECT_EQ(say(limits_of(none, "alice", infinite)), "unlimited");
}

TEST(PamLimits, TheResetIsToPidOnesLimits) {
  LoginSetting setting = debian12();
  setting.start = {Limit{2 * kTestMib}, Limit{4 * kTestMib}};
  setting.pid1 = MemlockLimit{Limit{512 * 1024}, Limit{768 * 1024}};
  EXPECT_EQ(with_conf("", "alice", setting), "524288 786432");
  EXPECT_EQ(with_conf("* soft memlock unlimited", "alice", setting), "786432") << "PID 1's hard limit is the ceiling";
  setting.pid1.reset();
  EXPECT_EQ(with_conf("", "alice", setting), "unknown");
  EXPECT_EQ(with_conf("* - memlock 64", "alice", setting), "65536");
  const SessionLimits reset = limits_of({{"/etc/security/limits.conf", ""}}, "alice", debian12());
  EXPECT_EQ(reset.decided_by.path, "/proc/1/limits");
}

TEST(PamLimits, RaisingWithoutTheCapability) {
  LoginSetting debian = debian13(), fedora = upstream("1.6.1-1");
  debian.may_raise = fedora.may_raise = false;
  EXPECT_EQ(with_conf("* - memlock 16384", "alice", debian), kDaemon) << "EPERM is no error, nothing is set";
  EXPECT_EQ(with_conf("* soft memlock 1\n* hard memlock 16384", "alice", debian), kDaemon) << "not even soft";
  EXPECT_EQ(with_conf("* - memlock 16384", "alice", fedora), "refused");
  EXPECT_EQ(with_conf("* - memlock 64", "alice", fedora), "65536");
  EXPECT_EQ(with_conf("* - memlock 8192", "alice", fedora), kDaemon) << "as much as it has is no raise";
  LoginSetting reset = debian12();
  reset.may_raise = false;
  EXPECT_EQ(with_conf("", "alice", reset), kDaemon) << "a container's init has more, and the reset fails quietly";
  const SessionLimits refused = limits_of({{"/etc/security/limits.conf", "* - memlock 16384"}}, "alice", fedora);
  EXPECT_EQ(refused.code, 6);
  EXPECT_EQ(refused.refused_by.path, "/etc/security/limits.conf:1");
}

TEST(PamLimits, UpstreamAppliesStarAndGroupsToRoot) {
  EXPECT_EQ(with_conf("* - memlock 64", "root", upstream("1.5.1-19.el9")), "65536");
  EXPECT_EQ(with_conf("@rdma - memlock 64", "root", upstream("1.7.2")), "65536");
  EXPECT_EQ(with_conf("", "root", upstream("1.7.2")), kDaemon);
  EXPECT_EQ(with_conf("* - nofile 3000000000", "root", upstream("1.7.2")), "refused") << "above any fs.nr_open";
  EXPECT_EQ(with_conf("* - nofile 3000000000\nroot - nofile 1024", "root", upstream("1.7.2")), kDaemon);
}

TEST(PamLimits, TheCallersLimitStaysWhereNothingIsSet) {
  // sudo to root from alice's session on 13: alice's limit; su - alice from root: root's lower one where only hard is
  // set.
  LoginSetting from_alice = debian13();
  from_alice.start = both(Limit::kInfinity);
  EXPECT_EQ(with_conf("alice - memlock unlimited", "root", from_alice), "unlimited");
  LoginSetting from_root = debian13();
  from_root.start = both(65536);
  EXPECT_EQ(with_conf("alice hard memlock unlimited", "alice", from_root), "65536 unlimited");
  LoginSetting on_12 = debian12();
  on_12.start = both(Limit::kInfinity);
  EXPECT_EQ(with_conf("alice - memlock unlimited", "root", on_12), kReset);
}

TEST(PamLimits, TheDecidingLineIsNamed) {
  const std::string conf = "* - memlock 64\nalice soft memlock 32\n@rdma hard memlock 16\n";
  const SessionLimits limits = limits_of({{"/etc/security/limits.conf", conf}}, "alice", debian13());
  EXPECT_EQ(say(limits), "16384");
  EXPECT_EQ(limits.decided_by.path, "/etc/security/limits.conf:3") << "hard cuts soft";
  const SessionLimits soft =
      limits_of({{"/etc/security/limits.conf", "* - memlock 64\nalice soft memlock 32\n"}}, "alice", debian13());
  EXPECT_EQ(soft.decided_by.path, "/etc/security/limits.conf:2");
  EXPECT_EQ(soft.decided_by.text, "alice soft memlock 32");
  EXPECT_TRUE(limits_of({{"/etc/security/limits.conf", ""}}, "alice", debian13()).decided_by.path.empty());
}

}  // namespace
}  // namespace pindown
