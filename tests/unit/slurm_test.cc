// SPDX-License-Identifier: Apache-2.0
// slurm.conf as Slurm reads it, and what becomes of a job's limit. Real jobs are compared in tests/agree/slurm_jobs.py.
#include <gtest/gtest.h>

#include "facts/slurm_conf.h"
#include "host/host.h"
#include "model/predict.h"

namespace pindown {
namespace {

constexpr const char* kMain = "/etc/slurm/slurm.conf";

/// "MEMLOCK -" of the two lists, or "refuses 2".
std::string lists(const SlurmConf& conf) {
  if (conf.refuses) return "refuses " + conf.refuses->path.substr(conf.refuses->path.rfind(':') + 1);
  const auto say = [](const Fact<std::string>& list) {
    return list.known() ? *list : std::string(list.missing == Missing::kAbsent ? "-" : "?");
  };
  return say(conf.propagate) + " " + say(conf.propagate_except);
}

SlurmConf collect(MemoryTree tree, SlurmQuestion question = {}) {
  return collect_slurm(*make_memory_host(std::move(tree)), question);
}

struct TextCase {
  std::string_view text;
  std::string_view expected;
};

class SlurmText : public testing::TestWithParam<TextCase> {};

TEST_P(SlurmText, Reads) {
  const SlurmConf conf = collect({.files = {{kMain, std::string(GetParam().text)}}});
  EXPECT_EQ(lists(conf), GetParam().expected) << GetParam().text << "\n" << conf.why;
}

INSTANTIATE_TEST_SUITE_P(
    Lines, SlurmText,
    testing::Values(TextCase{"", "- -"}, TextCase{"PropagateResourceLimits=NONE\n", "NONE -"},
                    TextCase{"propagateresourcelimits = NONE", "NONE -"},
                    TextCase{"  PropagateResourceLimits=NONE # x\n", "NONE -"},
                    TextCase{"PropagateResourceLimits=\"CORE MEMLOCK\"\n", "CORE MEMLOCK -"},
                    TextCase{"#PropagateResourceLimits=NONE\n", "- -"},
                    TextCase{"PropagateResourceLimits=NONE\nPropagateResourceLimits=ALL\n", "ALL -"},
                    TextCase{"PropagateResourceLimits= \\\nNONE\n", "NONE -"},
                    TextCase{"Prop\\\nagateResourceLimits=NONE\n", "NONE -"},
                    TextCase{"NodeName=n1 \\\\\nPropagateResourceLimits=NONE\n", "NONE -"},
                    TextCase{"PropagateResourceLimitsExcept=MEMLOCK\nPropagateResourceLimits=ALL\n", "ALL MEMLOCK"},
                    TextCase{"PropagateResourceLimits=none\n", "refuses 1"},
                    TextCase{"PropagateResourceLimits=NONE,CPU\n", "refuses 1"},
                    TextCase{"PropagateResourceLimits=CPU UsePAM=1\n", "refuses 1"},
                    TextCase{"UsePAM=on\n", "refuses 1"}, TextCase{"\nPropagateResourceLimits\n", "refuses 2"},
                    TextCase{"PropagateResourceLimits=\n", "refuses 1"}, TextCase{"include limits.conf\n", "refuses 1"},
                    TextCase{"include /etc/slurm/*.conf\n", "refuses 1"}, TextCase{"include slurm.conf\n", "refuses 1"},
                    TextCase{" include x\n", "refuses 1"}, TextCase{"include %c.conf\n", "refuses 1"}));

TEST(SlurmConf, IncludesStandWhereTheyStand) {
  const SlurmConf conf = collect({.files = {{kMain, "ClusterName=Big\nInclude %c.conf\nPropagateResourceLimits=CPU\n"},
                                            {"/etc/slurm/big.conf", "PropagateResourceLimits=NONE\nUsePAM=YES\n"}}});
  EXPECT_EQ(lists(conf), "CPU -");
  ASSERT_TRUE(conf.use_pam.known());
  EXPECT_TRUE(*conf.use_pam);
  EXPECT_EQ(conf.use_pam.source.path, "/etc/slurm/big.conf:2");
}

TEST(SlurmConf, ARelativeIncludeIsBesideTheIncluderBefore2302) {
  const MemoryTree tree{.files = {{kMain, "include sub/a.conf\n"},
                                  {"/etc/slurm/sub/a.conf", "include b.conf\n"},
                                  {"/etc/slurm/sub/b.conf", "PropagateResourceLimits=NONE\n"},
                                  {"/etc/slurm/b.conf", "PropagateResourceLimits=CPU\n"}}};
  EXPECT_EQ(lists(collect(tree, {.version = "22.05.8-4+deb12u3", .slurmd_cmdline = {}, .file = {}})), "NONE -");
  EXPECT_EQ(lists(collect(tree, {.version = "24.11.5-4", .slurmd_cmdline = {}, .file = {}})), "CPU -");
  EXPECT_EQ(lists(collect(tree)), "? ?");
}

TEST(SlurmConf, WhatCannotBeReadMaySetEverything) {
  const SlurmConf conf =
      collect({.files = {{kMain, "PropagateResourceLimits=NONE\ninclude /secret\nUsePAM=0\n"}}, .denied = {"/secret"}});
  EXPECT_EQ(lists(conf), "? ?");
  EXPECT_TRUE(conf.use_pam.known());
  EXPECT_EQ(conf.problems.size(), 1U);
}

TEST(SlurmConf, TheFileIsTheOneThatSlurmdIsGiven) {
  const MemoryTree tree{.files = {{kMain, "PropagateResourceLimits=NONE\n"},
                                  {"/opt/s.conf", "PropagateResourceLimits=CPU\n"},
                                  {"/etc/default/slurmd", "# ours\nSLURMD_OPTIONS=\"-M -f /opt/s.conf\"\n"}}};
  EXPECT_EQ(lists(collect(tree)), "CPU -");
  const SlurmConf running =
      collect(tree, {.version = {}, .slurmd_cmdline = "/usr/sbin/slurmd -D -f/etc/slurm/slurm.conf", .file = {}});
  EXPECT_EQ(lists(running), "NONE -");
  EXPECT_EQ(running.named_by.path, "slurmd");
}

TEST(SlurmConf, ListsOfLimits) {
  for (const char* list : {"ALL", "MEMLOCK", "RLIMIT_MEMLOCK", "CORE, MEMLOCK", "CORE,,MEMLOCK,"})
    EXPECT_EQ(lists_memlock(list), true) << list;
  for (const char* list : {"NONE", "CORE", "", "RLIMIT_AS,STACK"}) EXPECT_EQ(lists_memlock(list), false) << list;
  for (const char* list : {"memlock", "all", "ALL,CPU", "LOCKS", "RLIMIT_"}) EXPECT_FALSE(lists_memlock(list)) << list;
}

// ---- jobs ----

struct JobCase {
  const char* unit;       // LimitMEMLOCK of slurmd.service
  const char* conf;       // lines of slurm.conf
  const char* propagate;  // of --propagate; null: not given
  const char* submit;     // null: not known
  const char* expected;   // "SOFT HARD" in KiB, "refused", "unknown HARD"
  const char* version = "22.05.8-4+deb12u3";
};

std::string kib(const std::optional<Limit>& limit) {
  if (!limit) return "unknown";
  return limit->is_unlimited() ? "unlimited" : std::to_string(limit->bytes / 1024);
}

MemoryTree machine(const JobCase& job) {
  return {
      .files = {{kMain, job.conf},
                {"/usr/lib/systemd/system/slurmd.service", std::string("[Service]\nLimitMEMLOCK=") + job.unit + "\n"},
                {"/etc/passwd", "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/sh\n"},
                {"/etc/group", "root:x:0:\nalice:x:1000:\n"},
                {"/etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n"},
                {"/etc/security/limits.conf", "alice hard memlock 2048\n"},
                {"/etc/pam.d/slurm", "auth required pam_localuser.so\nsession required pam_limits.so\n"},
                {"/usr/lib/x86_64-linux-gnu/security/pam_limits.so", ""},
                {"/proc/1/limits", "Max locked memory         4194304              4194304              bytes\n"},
                {"/var/lib/dpkg/status",
                 std::string("Package: slurmd\nStatus: install ok installed\nVersion: ") + job.version +
                     "\n\nPackage: libpam-modules\nStatus: install ok installed\nVersion: 1.5.2-6+deb12u1\n\n"}}};
}

Prediction predict(const JobCase& job) {
  const auto host = make_memory_host(machine(job));
  const auto entry = parse_entry("slurm");
  SlurmSubmission submission;
  if (job.propagate) submission.propagate = job.propagate;
  if (job.submit) submission.soft = *parse_size(job.submit);
  submission.source = {"--submit-limit", "", {}};
  return derive_prediction(*entry, collect_login(*host, question_of(*entry, "alice")), std::nullopt, nullptr,
                           submission);
}

class SlurmJob : public testing::TestWithParam<JobCase> {};

TEST_P(SlurmJob, Gets) {
  const Prediction out = predict(GetParam());
  const std::string said = out.refused ? "refused" : kib(out.soft) + " " + kib(out.hard);
  EXPECT_EQ(said, GetParam().expected) << GetParam().unit << " / " << GetParam().conf;
  EXPECT_EQ(out.unknown.empty(), !said.starts_with("unknown"));
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, SlurmJob,
    testing::Values(
        JobCase{"infinity", "", nullptr, "64K", "64 unlimited"},
        JobCase{"infinity", "", nullptr, "unlimited", "unlimited unlimited"},
        JobCase{"infinity", "", nullptr, nullptr, "unknown unlimited"},
        JobCase{"infinity", "PropagateResourceLimitsExcept=MEMLOCK\n", nullptr, "64K", "unlimited unlimited"},
        JobCase{"infinity", "PropagateResourceLimitsExcept=MEMLOCK\n", nullptr, nullptr, "unlimited unlimited"},
        JobCase{"infinity", "PropagateResourceLimitsExcept=NONE\n", nullptr, "64K", "64 unlimited"},
        JobCase{"infinity", "PropagateResourceLimitsExcept=CORE\nPropagateResourceLimits=NONE\n", nullptr, "64K",
                "64 unlimited"},
        JobCase{"infinity", "PropagateResourceLimits=NONE\n", "MEMLOCK", "64K", "64 unlimited"},
        JobCase{"infinity", "", "NONE", "64K", "unlimited unlimited"},
        JobCase{"infinity", "", "CORE", "64K", "unlimited unlimited"},
        JobCase{"infinity", "", "memlock", "64K", "refused"}, JobCase{"1M:4M", "", nullptr, "64M", "4096 4096"},
        JobCase{"1M:4M", "", nullptr, "64M", "1024 4096", "21.08.6-1"},
        JobCase{"1M:4M", "", nullptr, "64M", "4096 4096", "21.08.7-1"}, JobCase{"1M:4M", "", "ALL", "64M", "1024 4096"},
        JobCase{"1M:4M", "", "ALL", "2M", "2048 4096"},
        JobCase{"1M:4M", "PropagateResourceLimits=none\n", nullptr, "64M", "refused"},
        // Debian 12's pam_limits starts from PID 1's limits, then the line of limits.conf.
        JobCase{"infinity", "UsePAM=1\nPropagateResourceLimits=NONE\n", nullptr, nullptr, "2048 2048"},
        JobCase{"infinity", "UsePAM=1\n", nullptr, "64K", "64 2048"}));

TEST(SlurmPrediction, NamesTheLineAndTheShell) {
  const Prediction kept = predict({"8M", "PropagateResourceLimitsExcept=MEMLOCK\n", nullptr, "64M", ""});
  ASSERT_EQ(kept.links.size(), 2U);
  EXPECT_EQ(kept.links[1].source, std::string(kMain) + ":1");
  EXPECT_EQ(kept.decided_by.source, "/usr/lib/systemd/system/slurmd.service:2");
  const Prediction travelled = predict({"8M", "", nullptr, "64K", ""});
  ASSERT_EQ(travelled.links.size(), 2U);
  EXPECT_EQ(travelled.decided_by.source, "--submit-limit");
  EXPECT_NE(travelled.links[1].note.find("PropagateResourceLimits is ALL"), std::string::npos);
}

TEST(SlurmPrediction, WithoutASlurmConfIsUnknown) {
  const auto host =
      make_memory_host({.files = {{"/usr/lib/systemd/system/slurmd.service", "[Service]\nLimitMEMLOCK=1M\n"},
                                  {"/etc/passwd", "root:x:0:0::/root:/bin/sh\n"}}});
  const auto entry = parse_entry("slurm");
  const Prediction out =
      derive_prediction(*entry, collect_login(*host, question_of(*entry, "root")), std::nullopt, nullptr);
  EXPECT_FALSE(out.soft);
  ASSERT_FALSE(out.unknown.empty());
  EXPECT_NE(out.unknown.front().find("SLURM_CONF"), std::string::npos);
}

}  // namespace
}  // namespace pindown
