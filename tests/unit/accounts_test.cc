// SPDX-License-Identifier: Apache-2.0
// Users and groups without NSS.
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

}  // namespace
}  // namespace pindown
