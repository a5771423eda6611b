// SPDX-License-Identifier: Apache-2.0
// Users and groups without NSS, and rlimit_memlock of sudoers.
#include "facts/accounts.h"

#include <gtest/gtest.h>

namespace pindown {
namespace {

using Groups = std::vector<std::pair<std::string, std::uint32_t>>;

Fact<Account> account(const std::string& user, const std::string& passwd, const std::string& group) {
  MemoryTree tree;
  tree.files = {{"/etc/passwd", passwd}, {"/etc/group", group}};
  return collect_account(*make_memory_host(tree), user);
}

TEST(Accounts, NameNumberAndGroups) {
  const std::string passwd =
      "# c\n\nroot:x:0:0:root:/root:/bin/sh\nbad:x:y:0\nalice:x:1000:100::/:/bin/sh\n  "
      "alice:x:7:7::/:/x\n1000:x:55:55::/:/x\n";
  const std::string group =
      "root:x:0:\nrdma:x:20:bob,alice\nusers:x:100:\nverbs:x:20:\nrdma:x:30:\nshort:x:40\nhpc:x:50:alice,";
  const auto alice = account("alice", passwd, group);
  ASSERT_TRUE(alice);
  EXPECT_EQ(alice->uid, 1000U);
  EXPECT_EQ(alice->gid, 100U);
  EXPECT_EQ(alice->groups, (Groups{{"users", 100}, {"rdma", 20}, {"verbs", 20}, {"hpc", 50}}))
      << "primary first; another name of a gid; the first of two groups of a name";
  EXPECT_EQ(alice.source.path, "/etc/passwd:5");
  EXPECT_EQ(account("1000", passwd, group)->name, "1000") << "a name first";
  EXPECT_EQ(account("0", passwd, group)->name, "root");
  EXPECT_EQ(account("bad", passwd, group).missing, Missing::kAbsent);
  EXPECT_EQ(account("carol", passwd, group).missing, Missing::kAbsent) << "LDAP, SSSD";
  EXPECT_EQ(account("0", passwd, "")->groups, (Groups{{"", 0}})) << "no entry: no name";
  EXPECT_EQ(account("4294967296", passwd, group).missing, Missing::kAbsent);
}

TEST(Accounts, FilesThatCannotBeRead) {
  MemoryTree tree;
  EXPECT_EQ(collect_account(*make_memory_host(tree), "root").missing, Missing::kAbsent);
  tree.files = {{"/etc/passwd", "root:x:0:0::/:/x\n"}, {"/etc/group", "root:x:0:\n"}};
  tree.denied = {"/etc/group"};
  EXPECT_EQ(collect_account(*make_memory_host(tree), "root").missing, Missing::kDenied) << "the groups decide";
}

std::string show(const Fact<SudoersLimit>& fact) {
  if (!fact) return fact.missing == Missing::kAbsent ? "none" : "unknown";
  if (fact->from_user) return "user";
  if (!fact->soft) return "default";
  auto one = [](Limit limit) { return limit.is_unlimited() ? std::string("infinity") : std::to_string(limit.bytes); };
  return one(*fact->soft) + " " + one(*fact->hard);
}

std::string sudoers(const std::string& text) {
  MemoryTree tree;
  tree.files["/etc/sudoers"] = text;
  return show(collect_sudoers(*make_memory_host(tree)));
}

TEST(Sudoers, WhatADefaultsLineSets) {
  const std::pair<const char*, const char*> rows[] = {
      {"Defaults rlimit_memlock=infinity\n", "infinity infinity"},
      {"Defaults rlimit_memlock=infinity", "infinity infinity"},
      {"Defaults\trlimit_memlock = 1048576 # why\n", "1048576 1048576"},
      {"  Defaults env_reset, rlimit_memlock=64 , !lecture\n", "64 64"},
      {"Defaults rlimit_memlock=\"524288,1048576\"\n", "524288 1048576"},
      {"Defaults rlimit_memlock=524288\\,1048576\n", "524288 1048576"},
      {"Defaults rlimit_memlock=524288,1048576\n", "none"},  // the bare comma ends the value: a syntax error
      {"Defaults rlimit_memlock=1048576,524288\n", "none"},
      {"Defaults rlimit_memlock=\"1048576,524288\"\n", "default"},  // soft above hard has no effect
      {"Defaults rlimit_memlock=user\n", "user"},
      {"Defaults rlimit_memlock=default\n", "default"},
      {"Defaults rlimit_memlock=64\nDefaults rlimit_memlock=128\n", "128 128"},
      {"Defaults rlimit_memlock=64\nDefaults rlimit_memlock=oops\n", "64 64"},  // an invalid value changes nothing
      {"Defaults rlimit_memlock=64\nDefaults !rlimit_memlock\n", "default"},
      {"Defaults rlimit_memlock=64K\n", "none"},
      {"Defaults rlimit_memlock=unlimited\n", "none"},
      {"Defaults rlimit_memlock=-1\n", "none"},
      {"Defaults rlimit_memlock\n", "none"},
      {"Defaults RLIMIT_MEMLOCK=64\n", "none"},
      {"Defaultsrlimit_memlock=64\n", "none"},
      {"# Defaults rlimit_memlock=64\n", "none"},
      {"#Defaults rlimit_memlock=64 \\\nDefaults rlimit_memlock=128\n", "128 128"},  // a comment is not continued
      {"Defaults env_reset, \\\n   rlimit_memlock=64\n", "64 64"},
      {"Defaults env_reset, \\ \t\n rlimit_memlock=64\n", "64 64"},
      {"Defaults badpass_message=\"rlimit_memlock=5, no\", rlimit_memlock=64\n", "64 64"},
      {"Defaults badpass_message=\"a \\\"b\\\" # c\", rlimit_memlock=64\n", "64 64"},
      {"Defaults rlimit_memlock=64 rlimit_nofile=5\n", "none"},  // a missing comma: a syntax error
      {"Defaults rlimit_memlock=\"64\n", "none"},
      {"Defaults rlimit_memlock=64\r\n", "64 64"},
      {"alice ALL=(ALL) ALL\n", "none"},
      {"", "none"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(sudoers(text), expected) << text;
}

TEST(Sudoers, ScopesThatAreNotForEverybody) {
  const std::pair<const char*, const char*> rows[] = {
      {"Defaults:alice rlimit_memlock=64\n", "unknown"},
      {"Defaults:%rdma,bob rlimit_memlock=64\n", "unknown"},
      {"Defaults: alice , bob rlimit_memlock=64\n", "unknown"},
      {"Defaults:\"a b\" rlimit_memlock=64\n", "unknown"},
      {"Defaults@node1 rlimit_memlock=64\n", "unknown"},
      {"Defaults!/bin/true rlimit_memlock=64\n", "unknown"},
      {"Defaults>root rlimit_memlock=64\n", "unknown"},
      {"Defaults:alice env_reset\nDefaults rlimit_memlock=64\n", "64 64"},
      {"Defaults:ALL rlimit_memlock=64\n", "64 64"},
      {"Defaults@ALL rlimit_memlock=64\n", "64 64"},
      {"Defaults:!ALL rlimit_memlock=64\n", "unknown"},
      {"Defaults:alice rlimit_memlock=64\nDefaults rlimit_memlock=128\n", "128 128"},  // one pass, the last wins
      {"Defaults rlimit_memlock=128\nDefaults:alice rlimit_memlock=64\n", "unknown"},
      {"Defaults!/bin/true rlimit_memlock=64\nDefaults rlimit_memlock=128\n", "unknown"},  // commands come last
      {"Defaults>ALL rlimit_memlock=64\nDefaults rlimit_memlock=128\n", "64 64"},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(sudoers(text), expected) << text;
}

TEST(Sudoers, IncludesInTheirPlace) {
  MemoryTree tree;
  tree.files = {{"/etc/sudoers", "Defaults rlimit_memlock=1\n@includedir /etc/sudoers.d\n"},
                {"/etc/sudoers.d/20-b", "Defaults rlimit_memlock=20\n"},
                {"/etc/sudoers.d/10-a", "Defaults rlimit_memlock=10\n"},
                {"/etc/sudoers.d/30.conf", "Defaults rlimit_memlock=30\n"},
                {"/etc/sudoers.d/40~", "Defaults rlimit_memlock=40\n"},
                {"/etc/more", "Defaults rlimit_memlock=99\n"},
                {"/etc/more-node7", "Defaults rlimit_memlock=77\n"},
                {"/etc/my file", "Defaults rlimit_memlock=88\n"},
                {"/etc/hostname", "node7.example.org\n"}};
  const auto with = [&](const std::string& text) {
    tree.files["/etc/sudoers"] = text;
    return show(collect_sudoers(*make_memory_host(tree)));
  };
  const std::string first = "Defaults rlimit_memlock=1\n";
  EXPECT_EQ(with(first + "@includedir /etc/sudoers.d\n"), "20 20") << "by name; no dot and no tilde";
  EXPECT_EQ(with(first + "#includedir /etc/sudoers.d\n"), "20 20");
  EXPECT_EQ(with(first + " #includedir /etc/sudoers.d\n"), "1 1") << "a comment, but for the first column";
  EXPECT_EQ(with("@includedir /etc/sudoers.d\n" + first), "1 1");
  EXPECT_EQ(with(first + "@include /etc/more\n"), "99 99");
  EXPECT_EQ(with(first + "#include more\n"), "99 99") << "beside the including file";
  EXPECT_EQ(with(first + "@include more-%h\n"), "77 77");
  EXPECT_EQ(with(first + "@include \"/etc/my file\"\n"), "88 88");
  EXPECT_EQ(with(first + "@include /etc/gone\n@includedir /etc/gone.d\n"), "1 1");
  EXPECT_EQ(with(first + "@include /etc/sudoers\n"), "1 1") << "itself: bounded";
  EXPECT_EQ(with(first + "#1000 ALL=(ALL) ALL\n"), "1 1");
  tree.denied = {"/etc/sudoers.d/10-a"};
  EXPECT_EQ(with(first + "@includedir /etc/sudoers.d\n"), "unknown");
}

TEST(Sudoers, WhoMayNotReadItDoesNotKnow) {
  MemoryTree tree;
  EXPECT_EQ(collect_sudoers(*make_memory_host(tree)).missing, Missing::kAbsent);
  tree.files["/etc/sudoers"] = "Defaults rlimit_memlock=64\n";
  EXPECT_EQ(collect_sudoers(*make_memory_host(tree)).source.path, "/etc/sudoers:1");
  tree.denied = {"/etc/sudoers"};
  EXPECT_EQ(collect_sudoers(*make_memory_host(tree)).missing, Missing::kDenied);
}

}  // namespace
}  // namespace pindown
