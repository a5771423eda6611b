// SPDX-License-Identifier: Apache-2.0
#include "facts/name_service.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace pindown {
namespace {

std::string say(std::string_view line) {
  const auto account = parse_id_line(line);
  if (!account) return "nothing";
  std::string out = fmt::format("{} {} {}", account->name, account->uid, account->gid);
  for (const auto& [name, gid] : account->groups) out += fmt::format(" [{} {}]", name, gid);
  return out;
}

TEST(NameService, ReadsId) {
  EXPECT_EQ(say("uid=1000(alice) gid=100(users) groups=100(users),1200(hpc)\n"),
            "alice 1000 100 [users 100] [hpc 1200]");
  EXPECT_EQ(say("uid=7(bob) gid=513(domain users) groups=513(domain users),4999,5000(a,b (c))"),
            "bob 7 513 [domain users 513] [ 4999] [a,b (c) 5000]");
  EXPECT_EQ(say("uid=7(bob) gid=5"), "bob 7 5 [ 5]");
  for (const char* bad : {"", "id: 'x': no such user", "uid=7", "uid=7(bob",
                          "uid=7(bob) gid=", "uid=7(bob) gid=1(x) groups=", "uid=99999999999(bob) gid=1(x)"}) {
    EXPECT_EQ(say(bad), "nothing") << bad;
  }
}

std::string others(const std::string& conf, std::string_view database) {
  MemoryTree tree;
  tree.files["/etc/nsswitch.conf"] = conf;
  return other_name_services(*make_memory_host(tree), database);
}

TEST(NameService, OtherServicesOfNsswitch) {
  EXPECT_EQ(others("passwd: files systemd\ngroup: files [SUCCESS=merge] systemd\n", "group"), "");
  EXPECT_EQ(others("passwd:\tfiles sss  # AD\n", "passwd"), "sss");
  EXPECT_EQ(others("passwd: files [NOTFOUND = return] ldap winbind\n", "passwd"), "ldap winbind");
  EXPECT_EQ(others("# passwd: sss\npasswd_compat: nis\n", "passwd"), "");
  EXPECT_EQ(others("passwd: sss\npasswd: files\n", "passwd"), "");
}

TEST(NameService, GroupsThatCouldNotBeAsked) {
  MemoryTree tree;
  tree.files["/etc/nsswitch.conf"] = "passwd: files sss\ngroup: files sss\n";
  tree.files["/etc/passwd"] = "alice:x:1000:1000::/:/bin/sh\n";
  tree.files["/etc/group"] = "alice:x:1000:\n";
  const auto host = make_memory_host(tree);
  EXPECT_EQ(collect_account(*host, "alice")->groups_elsewhere, "sss");
  EXPECT_EQ(collect_account(*host, "carol").missing, Missing::kAbsent);
}

}  // namespace
}  // namespace pindown
