// SPDX-License-Identifier: Apache-2.0
// Which files pam_limits reads, in which order, and what of them cannot be read.
#include "facts/limits_conf.h"

#include <gtest/gtest.h>

namespace pindown {
namespace {

std::vector<std::string> paths(const LimitsConf& conf) {
  std::vector<std::string> out;
  for (const ConfigFile& file : conf.drop_ins) out.push_back(file.source.path);
  return out;
}

LimitsConf collect(MemoryTree tree) {
  return collect_limits(*make_memory_host(std::move(tree)));
}

TEST(LimitsConf, DropInsComeByNameAndEtcHidesTheVendors) {
  MemoryTree tree;
  for (const char* path :
       {"/etc/security/limits.d/20-b.conf", "/etc/security/limits.d/10-a.conf", "/etc/security/limits.d/9-z.conf",
        "/etc/security/limits.d/A.conf", "/usr/etc/security/limits.d/15-v.conf", "/usr/etc/security/limits.d/20-b.conf",
        "/etc/security/limits.d/.hidden.conf", "/etc/security/limits.d/c.conf~", "/etc/security/limits.d/d.CONF",
        "/etc/security/limits.d/readme"}) {
    tree.files[path] = "";
  }
  EXPECT_EQ(paths(collect(tree)),
            (std::vector<std::string>{"/etc/security/limits.d/10-a.conf", "/usr/etc/security/limits.d/15-v.conf",
                                      "/etc/security/limits.d/20-b.conf", "/etc/security/limits.d/9-z.conf",
                                      "/etc/security/limits.d/A.conf"}))
      << "strcmp order: digits before letters, 10 before 9; glob(3) matches no leading dot and no other ending";
}

TEST(LimitsConf, LinesKeepTheirPlaceAndBytes) {
  MemoryTree tree;
  tree.files["/etc/security/limits.conf"] = "# c\n\n* - memlock 64\r\nlast";
  const LimitsConf conf = collect(tree);
  ASSERT_TRUE(conf.main);
  ASSERT_EQ(conf.main->size(), 2U) << "without the comment and the empty line";
  EXPECT_EQ((*conf.main)[0].text, "* - memlock 64\r");
  EXPECT_EQ((*conf.main)[0].source.path, "/etc/security/limits.conf:3");
  EXPECT_EQ((*conf.main)[0].source.text, (*conf.main)[0].text);
  EXPECT_EQ((*conf.main)[1].text, "last") << "no newline at the end";
}

TEST(LimitsConf, WhatIsMissingDeniedADirectoryOrHuge) {
  MemoryTree tree;
  tree.files["/etc/security/limits.d/dir.conf/x"] = "";
  tree.files["/etc/security/limits.d/huge.conf"] = std::string((4U << 20) + 1, 'x');
  tree.files["/etc/security/limits.d/long.conf"] = std::string(1U << 20, 'x') + " - memlock 1";
  tree.files["/etc/security/limits.d/secret.conf"] = "";
  tree.denied = {"/etc/security/limits.d/secret.conf"};
  tree.links["/etc/security/limits.d/null.conf"] = "/dev/null";
  const LimitsConf conf = collect(tree);
  EXPECT_EQ(conf.main.missing, Missing::kAbsent);
  ASSERT_EQ(conf.drop_ins.size(), 5U);
  EXPECT_TRUE(conf.drop_ins[0]) << "fopen(3) opens a directory and fgets(3) reads nothing";
  EXPECT_EQ(conf.drop_ins[1].missing, Missing::kError);
  ASSERT_TRUE(conf.drop_ins[2]);
  EXPECT_EQ(conf.drop_ins[2]->size(), 1U) << "a line of 1 MB";
  EXPECT_TRUE(conf.drop_ins[3]) << "/dev/null";
  EXPECT_EQ(conf.drop_ins[4].missing, Missing::kDenied);
  EXPECT_EQ(conf.problems.size(), 2U) << "too large, denied";
}

TEST(LimitsConf, TenThousandDropInsAreReadAndTheRestIsNamed) {
  MemoryTree tree;
  for (int i = 0; i < 10'050; ++i) tree.files["/etc/security/limits.d/" + std::to_string(i) + ".conf"] = "";
  const LimitsConf conf = collect(tree);
  ASSERT_EQ(conf.drop_ins.size(), 10'001U);
  EXPECT_EQ(conf.drop_ins.back().missing, Missing::kError) << "stands for those that were not read";
  ASSERT_EQ(conf.problems.size(), 1U);
  EXPECT_NE(conf.problems[0].find("10050"), std::string::npos);
}

TEST(LimitsConf, TheFileOfConf) {
  MemoryTree tree;
  tree.files["/opt/own.conf"] = "a\nb\n";
  const auto host = make_memory_host(tree);
  ASSERT_TRUE(collect_limits_file(*host, "/opt/own.conf"));
  EXPECT_EQ(collect_limits_file(*host, "/opt/own.conf")->size(), 2U);
  EXPECT_EQ(collect_limits_file(*host, "/opt/none.conf").missing, Missing::kAbsent);
}

}  // namespace
}  // namespace pindown
