// SPDX-License-Identifier: Apache-2.0
// Units, drop-ins and manager configuration as systemd reads them. Random trees are compared with systemd itself in
// tests/agree/units.py.
#include "facts/unit_file.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>

#include "facts/unit_names.h"

namespace pindown {
namespace {

const std::string kEtc = "/etc/systemd/system/";
const std::string kRun = "/run/systemd/system/";
const std::string kLocal = "/usr/local/lib/systemd/system/";
const std::string kUsr = "/usr/lib/systemd/system/";

std::string show(const Limit& limit) {
  return limit.is_unlimited() ? "infinity" : fmt::format("{}", limit.bytes);
}

/// "soft:hard", "none" (nothing sets it), or why it is not known.
std::string show(const Fact<MemlockLimit>& fact) {
  if (fact.known()) return show(*fact->soft) + ":" + show(*fact->hard);
  return fact.missing == Missing::kAbsent ? "none" : std::string(missing_name(fact.missing));
}

/// A unit or drop-in with LimitMEMLOCK.
std::string limit(std::string_view value) {
  return fmt::format("[Service]\nExecStart=/bin/true\nLimitMEMLOCK={}\n", value);
}

UnitFile collect(MemoryTree tree, std::string_view name, bool user = false) {
  return collect_unit(*make_memory_host(std::move(tree)), name, user);
}

TEST(UnitLimit, Values) {
  struct Case {
    std::string_view value, expected;
  };
  for (const Case& c :
       std::initializer_list<Case>{{"8M", "8388608:8388608"},
                                   {"1M:2M", "1048576:2097152"},
                                   {"infinity", "infinity:infinity"},
                                   {"8M:infinity", "8388608:infinity"},
                                   {"1.5G", "1610612736:1610612736"},
                                   {"0", "0:0"},
                                   {"65536", "65536:65536"},
                                   {"2T", "2199023255552:2199023255552"},
                                   {"1P", "1125899906842624:1125899906842624"},
                                   {"15E", "17293822569102704640:17293822569102704640"},
                                   {"1G 512M", "1610612736:1610612736"},
                                   {"8 M", "8388608:8388608"},
                                   {"8B", "8:8"},
                                   {"+4K", "4096:4096"},
                                   {"1.M", "1048576:1048576"},
                                   {"8M:9M:", "8388608:9437184"},
                                   {"8\\M", "8388608:8388608"},
                                   {"3M:3M", "3145728:3145728"},
                                   {"8M: 9M", "8388608:9437184"},
                                   {"18446744073709551614", "18446744073709551614:18446744073709551614"},
                                   {"", "bad"},
                                   {"unlimited", "bad"},
                                   {"64m", "bad"},
                                   {"64MB", "bad"},
                                   {"8MiB", "bad"},
                                   {"2M:1M", "bad"},
                                   {"infinity:8M", "bad"},
                                   {":8M", "bad"},
                                   {"8M:", "bad"},
                                   {"8M:9M:10M", "bad"},
                                   {"-1", "bad"},
                                   {"1M 2M", "bad"},
                                   {"16E", "bad"},
                                   {"18446744073709551615", "bad"},
                                   {"0x10", "bad"},
                                   {"\"8M\"", "bad"},
                                   {"Infinity", "bad"},
                                   {".5G", "bad"},
                                   {"8M\\", "bad"},
                                   {"1,5G", "bad"},
                                   {"99999999999999999999", "bad"},
                                   {"8M\xc2\xa0", "bad"},
                                   {std::string_view("8M\0", 3), "bad"}}) {
    const auto value = parse_unit_limit(c.value);
    EXPECT_EQ(value ? show(*value->soft) + ":" + show(*value->hard) : "bad", c.expected) << c.value;
  }
  EXPECT_FALSE(parse_unit_limit(std::string(1'000'000, '1')));
  EXPECT_FALSE(parse_unit_limit(std::string(1'000'000, ':')));
}

struct TextCase {
  std::string text, expected;
  bool refuses = false;
};

TEST(UnitText, Lines) {
  const std::string s = "[Service]\n";
  const std::vector<TextCase> cases = {
      {s, "none"},
      {"LimitMEMLOCK=1M\n", "none"},
      {"[service]\nLimitMEMLOCK=1M\n", "none"},
      {"[Unit]\nLimitMEMLOCK=1M\n", "none"},
      {s + "limitmemlock=1M\n", "none"},
      {s + " LimitMEMLOCK = 1K \n", "1024:1024"},
      {"  [Service]\r\nLimitMEMLOCK=1K\r\n", "1024:1024"},
      {"\xef\xbb\xbf[Service]\nLimitMEMLOCK=1K", "1024:1024"},
      {s + "#LimitMEMLOCK=1K\n;LimitMEMLOCK=1K\n", "none"},
      {s + "LimitMEMLOCK=\\\n1K\n", "1024:1024"},
      {s + "LimitMEMLOCK=\\\n# no\n ; no\n1K\n", "1024:1024"},
      {s + "LimitMEMLOCK=1K\\\n\n", "1024:1024"},
      {s + "LimitMEMLOCK=1K\\", "1024:1024"},
      {s + "LimitMEMLOCK=1K\\\\\n", "none"},
      {s + "X=\\\nLimitMEMLOCK=1K\n", "none"},
      {s + "LimitMEMLOCK=1K # no\n", "none"},
      {s + "LimitMEMLOCK=1K\n[X-A]\nLimitMEMLOCK=2K\n", "1024:1024"},
      {s + "LimitMEMLOCK=1K\nLimitMEMLOCK=\n", "1024:1024"},           // an empty value does not reset
      {s + "LimitMEMLOCK=1K\nLimitMEMLOCK=unlimited\n", "1024:1024"},  // an invalid one is ignored
      {s + "LimitMEMLOCK=1K\nLimitMEMLOCK=2K\n", "2048:2048"},
      {s + "LimitMEMLOCK=1K\rLimitMEMLOCK=2K\r", "2048:2048"},
      {std::string("[Service]\0LimitMEMLOCK=1K\0", 26), "1024:1024"},
      {s + "LimitMEMLOCK=1K\n[Service\nLimitMEMLOCK=2K\n", "1024:1024", true},
      {"[a\"]\n" + s + "LimitMEMLOCK=2K\n", "none", true},
      {s + "\xff=1\nLimitMEMLOCK=2K\n", "none", true},
      {s + "LimitMEMLOCK=" + std::string(900'000, ' ') + "1K\n", "1024:1024"},
      {s + std::string((1U << 20), 'x') + "\nLimitMEMLOCK=2K\n", "none", true}};
  for (const TextCase& c : cases) {
    const UnitFile unit = collect({.files = {{kUsr + "a.service", c.text}}}, "a.service");
    EXPECT_EQ(show(unit.memlock), c.expected) << c.text.substr(0, 200);
    EXPECT_EQ(unit.refuses.has_value(), c.refuses) << c.text.substr(0, 200);
  }
}

struct TreeCase {
  std::string what;
  MemoryTree tree;
  std::string unit, expected;
};

TEST(UnitTree, Limits) {
  const std::vector<TreeCase> cases = {
      {"main file", {.files = {{kUsr + "a.service", limit("1K")}}}, "a.service", "1024:1024"},
      {"/etc hides /usr/lib",
       {.files = {{kUsr + "a.service", limit("1K")}, {kEtc + "a.service", limit("2K")}}},
       "a.service",
       "2048:2048"},
      {"/run hides /usr/local/lib",
       {.files = {{kLocal + "a.service", limit("1K")}, {kRun + "a.service", limit("2K")}}},
       "a.service",
       "2048:2048"},
      {"a drop-in wins",
       {.files = {{kUsr + "a.service", limit("1K")}, {kUsr + "a.service.d/1.conf", limit("2K")}}},
       "a.service",
       "2048:2048"},
      {"by file name over all directories",
       {.files = {{kUsr + "a.service", ""},
                  {kUsr + "a.service.d/20.conf", limit("2K")},
                  {kEtc + "a.service.d/10.conf", limit("1K")}}},
       "a.service",
       "2048:2048"},
      {"service.d by name, too (25)",
       {.files = {{kUsr + "ssh.service", limit("")},
                  {kEtc + "service.d/99-all.conf", limit("99M")},
                  {kEtc + "ssh.service.d/10.conf", limit("10M")}}},
       "ssh.service",
       "103809024:103809024"},
      {"the unit's own file of the same name replaces it (25)",
       {.files = {{kUsr + "cron.service", limit("")},
                  {kEtc + "service.d/99-all.conf", limit("99M")},
                  {kEtc + "cron.service.d/99-all.conf", limit("1M")}}},
       "cron.service",
       "1048576:1048576"},
      {"equal names: /etc before /usr/lib",
       {.files = {{kUsr + "a.service", limit("")},
                  {kUsr + "a.service.d/1.conf", limit("1K")},
                  {kEtc + "a.service.d/1.conf", limit("2K")}}},
       "a.service",
       "2048:2048"},
      {"an empty drop-in masks the vendor's",
       {.files = {{kUsr + "a.service", limit("5K")},
                  {kUsr + "a.service.d/1.conf", limit("1K")},
                  {kEtc + "a.service.d/1.conf", ""}}},
       "a.service",
       "5120:5120"},
      {"a link to /dev/null, too",
       {.files = {{kUsr + "a.service", limit("5K")}, {kUsr + "a.service.d/1.conf", limit("1K")}},
        .links = {{kEtc + "a.service.d/1.conf", "/dev/null"}}},
       "a.service",
       "5120:5120"},
      {"hidden, backup and other names",
       {.files = {{kUsr + "a.service", limit("5K")},
                  {kEtc + "a.service.d/.x.conf", limit("1K")},
                  {kEtc + "a.service.d/x.conf~", limit("1K")},
                  {kEtc + "a.service.d/x.txt", limit("1K")}}},
       "a.service",
       "5120:5120"},
      {"an alias's drop-ins (24)",
       {.files = {{kUsr + "ssh.service", limit("1K")},
                  {kEtc + "sshd.service.d/20.conf", limit("2K")},
                  {kEtc + "ssh.service.d/10.conf", limit("3K")}},
        .links = {{kEtc + "sshd.service", kUsr + "ssh.service"}}},
       "ssh.service",
       "2048:2048"},
      {"asked by the alias",
       {.files = {{kUsr + "ssh.service", limit("1K")}, {kEtc + "ssh.service.d/10.conf", limit("3K")}},
        .links = {{kEtc + "sshd.service", "../../../usr/lib/systemd/system/ssh.service"}}},
       "sshd.service",
       "3072:3072"},
      {"prefix directories (24)",
       {.files = {{kUsr + "lab-x-y.service", limit("1K")}, {kEtc + "lab-.service.d/5.conf", limit("2K")}}},
       "lab-x-y.service",
       "2048:2048"},
      {"a prefix needs its dash",
       {.files = {{kUsr + "lab-x.service", limit("1K")}, {kEtc + "lab.service.d/5.conf", limit("2K")}}},
       "lab-x.service",
       "1024:1024"},
      {"the template's drop-in by name (24)",
       {.files = {{kUsr + "t@.service", limit("1K")},
                  {kEtc + "t@x.service.d/10.conf", limit("2K")},
                  {kEtc + "t@.service.d/50.conf", limit("3K")}}},
       "t@x.service",
       "3072:3072"},
      {"it beats an instance's own file (24)",
       {.files = {{kUsr + "t@.service", limit("1K")},
                  {kEtc + "t@x.service", limit("2K")},
                  {kEtc + "t@.service.d/50.conf", limit("3K")}}},
       "t@x.service",
       "3072:3072"},
      {"an instance's own file",
       {.files = {{kUsr + "t@.service", limit("1K")}, {kEtc + "t@x.service", limit("2K")}}},
       "t@x.service",
       "2048:2048"},
      {"the template of ssh.socket (25c)",
       {.files = {{kUsr + "ssh@.service", limit("")},
                  {kEtc + "ssh@.service.d/1.conf", limit("20M")},
                  {kEtc + "ssh.service.d/1.conf", limit("1M")}}},
       "ssh@.service",
       "20971520:20971520"},
      {"a linked unit",
       {.files = {{"/opt/a.service", limit("4K")}}, .links = {{kEtc + "a.service", "/opt/a.service"}}},
       "a.service",
       "4096:4096"},
      {"a link to itself elsewhere hides nothing",
       {.files = {{kUsr + "a.service", limit("4K")}}, .links = {{kEtc + "a.service", kUsr + "a.service"}}},
       "a.service",
       "4096:4096"},
      {"a link to another type is none",
       {.files = {{kUsr + "a.service", limit("4K")}, {kUsr + "a.socket", ""}},
        .links = {{kEtc + "a.service", kUsr + "a.socket"}}},
       "a.service",
       "4096:4096"},
      {"aliases in a loop",
       {.links = {{kEtc + "a.service", kEtc + "b.service"}, {kEtc + "b.service", kEtc + "a.service"}}},
       "a.service",
       "none"},
      {"a directory like a unit",
       {.files = {{kEtc + "a.service/x", ""}, {kUsr + "a.service", limit("1K")}}},
       "a.service",
       "1024:1024"},
      {"systemctl set-property",
       {.files = {{kUsr + "a.service", limit("1K")}, {"/etc/systemd/system.control/a.service.d/50.conf", limit("2K")}}},
       "a.service",
       "2048:2048"},
      {"another section's key in a socket",
       {.files = {{kUsr + "a.socket", "[Socket]\nLimitMEMLOCK=1K\n[Service]\nLimitMEMLOCK=2K\n"}}},
       "a.socket",
       "1024:1024"},
      {"a broken drop-in up to its break",
       {.files = {{kUsr + "a.service", limit("1K")},
                  {kEtc + "a.service.d/1.conf", limit("2K") + "[x\n" + limit("3K")},
                  {kEtc + "a.service.d/2.conf", limit("bad")}}},
       "a.service",
       "2048:2048"},
      {"an unreadable drop-in may set it",
       {.files = {{kUsr + "a.service", limit("1K")}, {kEtc + "a.service.d/README", ""}},
        .denied = {kEtc + "a.service.d/1.conf"}},
       "a.service",
       "permission denied"},
      {"a later one sets it again",
       {.files = {{kUsr + "a.service", limit("1K")}, {kEtc + "a.service.d/2.conf", limit("3K")}},
        .denied = {kEtc + "a.service.d/1.conf"}},
       "a.service",
       "3072:3072"},
      {"a drop-in that is a dangling link",
       {.files = {{kUsr + "a.service", limit("1K")}},
        .links = {{kEtc + "a.service.d/1.conf", "/gone"}, {kEtc + "a.service.d/2.conf", kEtc + "a.service.d/2.conf"}}},
       "a.service",
       "1024:1024"},
      {"not a unit's name", {}, "../../etc/passwd", "none"},
  };
  for (const TreeCase& c : cases) EXPECT_EQ(show(collect(c.tree, c.unit).memlock), c.expected) << c.what;
}

TEST(UnitTree, Names) {
  const MemoryTree tree = {
      .files = {{kUsr + "ssh.service", limit("1K")},
                {kUsr + "t@.service",
                 "[Service]\nUser=%i\nPAMName=systemd-user\nUser=\nUser=u-%i\nAmbientCapabilities=CAP_IPC_LOCK\n"},
                {kUsr + "e.service", ""}},
      .links = {{kEtc + "sshd.service", kUsr + "ssh.service"}, {kEtc + "m.service", "/dev/null"}}};
  EXPECT_EQ(collect(tree, "sshd.service").name, "ssh.service");
  EXPECT_TRUE(collect(tree, "m.service").masked);
  EXPECT_TRUE(collect(tree, "e.service").masked);
  EXPECT_FALSE(collect(tree, "ssh.service").masked);
  EXPECT_EQ(collect(tree, "no.service").fragment.missing, Missing::kAbsent);
  const UnitFile instance = collect(tree, "t@x.service");
  EXPECT_EQ(instance.name, "t@x.service");
  EXPECT_EQ(instance.user.value.value_or(""), "u-x");
  EXPECT_EQ(instance.pam_name.value.value_or(""), "systemd-user");
  ASSERT_EQ(instance.capabilities.size(), 1U);
  EXPECT_EQ(instance.capabilities[0].key, "AmbientCapabilities");
}

TEST(UnitTree, SourcesAndIgnored) {
  const UnitFile unit =
      collect({.files = {{kUsr + "a.service", limit("1K")},
                         {kEtc + "a.service.d/1.conf", "[Service]\nLimitMEMLOCK=64m\nLimitMEMLOCK=2K\n"}}},
              "a.service");
  EXPECT_EQ(unit.memlock.source.path, kEtc + "a.service.d/1.conf:3");
  EXPECT_EQ(unit.memlock.source.text, "LimitMEMLOCK=2K");
  ASSERT_EQ(unit.ignored.size(), 2U);
  EXPECT_EQ(unit.ignored[0].path, kEtc + "a.service.d/1.conf:2");
  EXPECT_EQ(unit.ignored[1].path, kUsr + "a.service:3");
}

TEST(UnitTree, UserManager) {
  const MemoryTree tree = {.files = {{"/usr/lib/systemd/user/a.service", limit("1K")},
                                     {kUsr + "a.service", limit("2K")},
                                     {"/etc/systemd/user/a.service.d/x.conf", limit("3K")}}};
  const UnitFile unit = collect(tree, "a.service", true);
  EXPECT_EQ(show(unit.memlock), "3072:3072");
  EXPECT_TRUE(unit.user_manager);
}

TEST(UnitNames, DropInNames) {
  const auto names = [](std::string_view name) { return drop_in_names(*parse_unit_name(name)); };
  using Names = std::vector<std::string>;
  EXPECT_EQ(names("a-b-c.service"), (Names{"a-b-c.service", "a-b-.service", "a-.service"}));
  EXPECT_EQ(names("a-b@x.service"),
            (Names{"a-b@x.service", "a-b@.service", "a-.service", "a-@x.service", "a-@.service"}));
  EXPECT_EQ(names("-a.service"), (Names{"-a.service"}));
  for (const std::string_view bad : {"", "a", ".service", "a.conf", "@x.service", "a/b.service", "a b.service"})
    EXPECT_FALSE(parse_unit_name(bad)) << bad;
}

std::string manager(std::string_view value) {
  return fmt::format("[Manager]\nDefaultLimitMEMLOCK={}\n", value);
}

TEST(ManagerConf, Limits) {
  const std::string main = "/etc/systemd/system.conf";
  const std::string d = main + ".d/";
  const std::vector<TreeCase> cases = {
      {"none", {}, "", "none"},
      {"below 8M as it is (25)", {.files = {{main, manager("1M:2M")}}}, "", "1048576:2097152"},
      {"drop-ins by name (25)",
       {.files = {{main, manager("1K")},
                  {d + "10.conf", manager("2K")},
                  {"/usr/lib/systemd/system.conf.d/20.conf", manager("3K")}}},
       "",
       "3072:3072"},
      {"equal names",
       {.files = {{"/run/systemd/system.conf.d/1.conf", manager("2K")},
                  {"/usr/lib/systemd/system.conf.d/1.conf", manager("3K")}}},
       "",
       "2048:2048"},
      {"the vendor's main file", {.files = {{"/usr/lib/systemd/system.conf", manager("2K")}}}, "", "2048:2048"},
      {"/etc hides it", {.files = {{main, ""}, {"/usr/lib/systemd/system.conf", manager("2K")}}}, "", "none"},
      {"invalid", {.files = {{main, manager("1K")}, {d + "1.conf", manager("unlimited")}}}, "", "1024:1024"},
      {"[Service] is no section here", {.files = {{main, "[Service]\nDefaultLimitMEMLOCK=1K\n"}}}, "", "none"},
      {"nothing is read after a broken file",
       {.files = {{main, manager("1K")}, {d + "1.conf", "[x\n"}, {d + "2.conf", manager("2K")}}},
       "",
       "1024:1024"},
      {"denied",
       {.files = {{main, manager("1K")}, {d + "README", ""}}, .denied = {d + "1.conf"}},
       "",
       "permission denied"},
  };
  for (const TreeCase& c : cases)
    EXPECT_EQ(show(collect_manager(*make_memory_host(c.tree)).default_memlock), c.expected) << c.what;
  const MemoryTree user = {.files = {{"/etc/systemd/user.conf", manager("16M")}, {main, manager("1K")}}};
  EXPECT_EQ(show(collect_manager(*make_memory_host(user), true).default_memlock), "16777216:16777216");
}

TEST(UnitHostile, ManyDropIns) {
  const auto start = std::chrono::steady_clock::now();
  MemoryTree tree = {.files = {{kUsr + "a.service", limit("1K")}}};
  for (int i = 0; i < 10'001; ++i)
    tree.files[kEtc + "a.service.d/" + std::to_string(100'000 + i) + ".conf"] = "[Service]\n";
  const UnitFile unknown = collect(tree, "a.service");
  EXPECT_EQ(unknown.drop_ins.size(), 10'000U);
  EXPECT_FALSE(unknown.memlock.known());
  EXPECT_EQ(unknown.problems.size(), 1U);
  tree.files[kEtc + "a.service.d/900000.conf"] = limit("2K");
  EXPECT_EQ(show(collect(tree, "a.service").memlock), "2048:2048");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace pindown
