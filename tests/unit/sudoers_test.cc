// SPDX-License-Identifier: Apache-2.0
// The Defaults of sudoers that decide a session's limits.
#include "facts/sudoers.h"

#include <gtest/gtest.h>

namespace pindown {
namespace {

/// Of the last rlimit_memlock.
std::string show(const Fact<Sudoers>& fact) {
  if (!fact) return fact.missing == Missing::kAbsent ? "none" : "unreadable";
  const SudoersSetting* last = nullptr;
  for (const SudoersSetting& each : fact->settings) {
    if (each.variable == "rlimit_memlock") last = &each;
  }
  if (last == nullptr) return "none";
  if (!last->value) return "default";
  const auto limit = parse_sudoers_rlimit(*last->value);
  if (limit->from_user) return "user";
  if (!limit->soft) return "default";
  auto one = [](Limit each) { return each.is_unlimited() ? std::string("infinity") : std::to_string(each.bytes); };
  return one(*limit->soft) + " " + one(*limit->hard);
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

TEST(Sudoers, WhatElseIsKept) {
  const auto all = [](const std::string& text) {
    MemoryTree tree;
    tree.files["/etc/sudoers"] = text;
    std::string out;
    const auto sudoers = collect_sudoers(*make_memory_host(tree));
    for (const SudoersSetting& each : sudoers->settings) {
      for (const std::string& member : each.members) out += member + " ";
      out += (each.negated ? "!" : "") + each.variable + "=" + each.value.value_or("") + ";";
    }
    return out;
  };
  EXPECT_EQ(all("Defaults !pam_session, pam_service=job, pam_login_service = login\n"),
            "!pam_session=;pam_service=job;pam_login_service=login;");
  EXPECT_EQ(all("Defaults pam_session=yes, !pam_service, env_reset\n"), "") << "sudo warns and goes on";
  EXPECT_EQ(all("Defaults: alice , ! %rdma,\"a b\" pam_session\n"), "alice !%rdma \"a b\" pam_session=;");
}

TEST(Sudoers, Bounds) {
  MemoryTree tree;
  tree.files["/etc/sudoers"] = "@includedir /etc/sudoers.d\n";
  for (int i = 0; i < 40; ++i) tree.files["/etc/sudoers.d/" + std::to_string(i)] = std::string(2U << 20, 'x');
  EXPECT_EQ(collect_sudoers(*make_memory_host(tree)).missing, Missing::kError) << "64 MiB in all";
  tree.files = {{"/etc/sudoers", "Defaults "}};
  for (int i = 0; i < 200'000; ++i) tree.files["/etc/sudoers"] += "env_reset, \\\n";
  tree.files["/etc/sudoers"] += "rlimit_memlock=64\n";
  EXPECT_EQ(show(collect_sudoers(*make_memory_host(tree))), "64 64") << "one line of 200,000";
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
  EXPECT_EQ(with(first + "@includedir /etc/sudoers.d\n"), "unreadable");
}

TEST(Sudoers, WhoMayNotReadItDoesNotKnow) {
  MemoryTree tree;
  EXPECT_EQ(collect_sudoers(*make_memory_host(tree)).missing, Missing::kAbsent);
  tree.files["/etc/sudoers"] = "Defaults rlimit_memlock=64\n";
  EXPECT_EQ(collect_sudoers(*make_memory_host(tree))->settings.at(0).source.path, "/etc/sudoers:1");
  tree.denied = {"/etc/sudoers"};
  EXPECT_EQ(collect_sudoers(*make_memory_host(tree)).missing, Missing::kDenied);
}

}  // namespace
}  // namespace pindown
