// SPDX-License-Identifier: Apache-2.0
// sshd_config as sshd reads it: what decides UsePAM, what has no effect, what sshd refuses to start over. Random trees
// are compared with sshd itself in tests/agree/sshd_config.py.
#include "facts/sshd_config.h"

#include <gtest/gtest.h>

#include <chrono>

#include "facts/environment_file.h"
#include "facts/sshd_glob.h"
#include "facts/sshd_options.h"

namespace pindown {
namespace {

constexpr const char* kMain = "/etc/ssh/sshd_config";

/// "yes 3", "no" (no line says so), "unknown", "refuses 2": the answer and the line that decides.
std::string answer(const SshdConf& conf) {
  const auto place = [](const Source& source) {
    const auto slash = source.path.rfind('/');
    const std::string name = source.path.substr(slash + 1);
    return name.find(':') == std::string::npos ? std::string() : " " + name;
  };
  if (conf.refuses) return "refuses" + place(*conf.refuses);
  if (!conf.use_pam.known()) return "unknown";
  return (*conf.use_pam ? "yes" : "no") + place(conf.use_pam.source);
}

SshdConf collect(MemoryTree tree) {
  return collect_sshd(*make_memory_host(std::move(tree)));
}

struct TextCase {
  std::string_view text;
  std::string_view expected;
};

class SshdText : public testing::TestWithParam<TextCase> {};

TEST_P(SshdText, Reads) {
  const SshdConf conf = collect({.files = {{kMain, std::string(GetParam().text)}}});
  EXPECT_EQ(answer(conf), GetParam().expected) << GetParam().text << "\n" << conf.why;
}

using std::string_view_literals::operator""sv;

INSTANTIATE_TEST_SUITE_P(
    Lines, SshdText,
    testing::Values(
        TextCase{"", "no"}, TextCase{"# UsePAM yes\n", "no"}, TextCase{"UsePAM yes\n", "yes sshd_config:1"},
        TextCase{"\nusepam NO\n", "no sshd_config:2"}, TextCase{"usepam=yes", "yes sshd_config:1"},
        TextCase{"UsePAM = yes\n", "yes sshd_config:1"}, TextCase{"=UsePAM yes\n", "yes sshd_config:1"},
        TextCase{"UsePAM==yes\n", "refuses sshd_config:1"}, TextCase{"UsePAM \"yes\" # no\n", "yes sshd_config:1"},
        TextCase{"UsePAM 'no'\n", "no sshd_config:1"}, TextCase{"\"UsePAM\" yes\n", "yes sshd_config:1"},
        TextCase{"Use\"PAM\" yes\n", "yes sshd_config:1"}, TextCase{"'UsePAM' yes\n", "refuses sshd_config:1"},
        TextCase{"UsePAM no\r\nUsePAM yes\r\n", "no sshd_config:1"},
        TextCase{"\t UsePAM\tyes \f\n", "yes sshd_config:1"}, TextCase{"UsePAM yes#\n", "refuses sshd_config:1"},
        TextCase{"UsePAM #yes\n", "refuses sshd_config:1"}, TextCase{"UsePAM true\n", "refuses sshd_config:1"},
        TextCase{"UsePAM\n", "refuses sshd_config:1"}, TextCase{"UsePAM \"\"\n", "refuses sshd_config:1"},
        TextCase{"UsePAM yes no\n", "refuses sshd_config:1"}, TextCase{"UsePAM \"yes\n", "refuses sshd_config:1"},
        TextCase{"\"UsePAM yes\n", "no"}, TextCase{"UsePAN yes\n", "refuses sshd_config:1"},
        TextCase{"UsePAM \\\nyes\n", "refuses sshd_config:1"},
        TextCase{"\xef\xbb\xbfUsePAM yes\n", "refuses sshd_config:1"},
        TextCase{"Port 22\nUsePAM yes", "yes sshd_config:2"},
        TextCase{"UsePAM\xc2\xa0yes\n", "refuses sshd_config:1"}));

INSTANTIATE_TEST_SUITE_P(
    OtherOptions, SshdText,
    testing::Values(TextCase{"X11Forwarding maybe\n", "refuses sshd_config:1"}, TextCase{"UseLogin whatever\n", "no"},
                    TextCase{"MaxAuthTries six\n", "refuses sshd_config:1"}, TextCase{"LoginGraceTime 1h30m\n", "no"},
                    TextCase{"LoginGraceTime 5y\n", "refuses sshd_config:1"},
                    TextCase{"PrintMotd no no\n", "refuses sshd_config:1"},
                    TextCase{"ForceCommand echo UsePAM yes\n", "no"},
                    TextCase{"PermitRootLogin Prohibit-Password\n", "no"}, TextCase{"GSSAPIEnablek5users no\n", "no"},
                    TextCase{"PerSourcePenalties no\n", "no"}));

INSTANTIATE_TEST_SUITE_P(
    Match, SshdText,
    testing::Values(TextCase{"Match user alice\nUsePAM yes\n", "refuses sshd_config:2"},
                    TextCase{"Match user alice\nX11Forwarding no\nMatch all\nUsePAM yes\n", "yes sshd_config:4"},
                    TextCase{"Match all\nUsePAM no\n", "no sshd_config:2"},
                    TextCase{"Match\n", "refuses sshd_config:1"}, TextCase{"Match user\n", "refuses sshd_config:1"},
                    TextCase{"Match nobody x\n", "refuses sshd_config:1"},
                    TextCase{"Match user x all\n", "refuses sshd_config:1"}, TextCase{"Match user=bob # x\n", "no"},
                    TextCase{"Match user bob\nPort 22\n", "refuses sshd_config:2"},
                    TextCase{"Match version OpenSSH_10*\nUsePAM no\n", "unknown"},
                    TextCase{"Match localport 99999\n", "refuses sshd_config:1"}));

INSTANTIATE_TEST_SUITE_P(Hostile, SshdText,
                         testing::Values(TextCase{"UsePAM yes\0 no\n"sv, "yes sshd_config:1"},
                                         TextCase{"# x\0\nUsePAM yes\n"sv, "no"},
                                         TextCase{"Use\0x\nPAM yes\n"sv, "yes sshd_config:1"}, TextCase{"\0"sv, "no"},
                                         TextCase{"\0\0\n\0"sv, "no"},
                                         TextCase{"\0UsePAM yes\nUsePAM no\n"sv, "no sshd_config:1"}));

struct TreeCase {
  std::string_view name;
  MemoryTree tree;
  std::string_view expected;
  std::size_t shadowed = 0;
};

std::vector<TreeCase> tree_cases() {
  const std::string debian = "Include /etc/ssh/sshd_config.d/*.conf\nUsePAM yes\n";
  const std::string d = "/etc/ssh/sshd_config.d/";
  return {
      {"drop-ins come first", {.files = {{kMain, debian}, {d + "10.conf", "UsePAM no\n"}}}, "no 10.conf:1", 1},
      {"in the order of bytes",
       {.files = {{kMain, debian}, {d + "a.conf", "UsePAM yes\n"}, {d + "B.conf", "UsePAM no\n"}}},
       "no B.conf:1",
       2},
      {"a Match block ends with its file",
       {.files = {{kMain, debian}, {d + "10.conf", "Match user bob\n"}}},
       "yes sshd_config:2"},
      {"UsePAM in a file included from a Match block",
       {.files = {{kMain, "Match user a\nInclude x.conf\n"}, {"/etc/ssh/x.conf", "UsePAM no\n"}}},
       "refuses x.conf:1"},
      {"Match all in such a file does not count",
       {.files = {{kMain, "Match user a\nInclude x.conf\n"}, {"/etc/ssh/x.conf", "Match all\nUsePAM no\n"}}},
       "refuses x.conf:2"},
      {"hidden files do not match", {.files = {{kMain, debian}, {d + ".conf", "UsePAM no\n"}}}, "yes sshd_config:2"},
      {"relative, several, quoted",
       {.files = {{kMain, "Include none.conf \"a b.conf\"\n"}, {"/etc/ssh/a b.conf", "UsePAM no\n"}}},
       "no a b.conf:1"},
      {"folders as patterns",
       {.files = {{kMain, "Include /etc/ss?/*.d/[!z]*.conf\n"},
                  {d + "z.conf", "UsePAM no\n"},
                  {d + "y.conf", "UsePAM yes\n"}}},
       "yes y.conf:1"},
      {"nested",
       {.files = {{kMain, "Include a.conf\n"},
                  {"/etc/ssh/a.conf", "Include b.conf\nUsePAM no\n"},
                  {"/etc/ssh/b.conf", "UsePAM yes\n"}}},
       "yes b.conf:1",
       1},
      {"braces and tilde are plain",
       {.files = {{kMain, "Include {a,b}.conf ~/x\n"}, {"/etc/ssh/a.conf", "UsePAM yes\n"}}},
       "no"},
      {"a loop", {.files = {{kMain, "Include sshd_config\n"}}}, "refuses sshd_config:1"},
      {"a loop of two",
       {.files = {{kMain, "Include a.conf a.conf\n"}, {"/etc/ssh/a.conf", "Include a.conf a.conf\n"}}},
       "refuses a.conf:1"},
      {"a link to nothing",
       {.files = {{kMain, debian}}, .links = {{d + "x.conf", "/etc/ssh/gone"}}},
       "refuses sshd_config:1"},
      {"a link out of the copied part",
       {.files = {{kMain, debian}}, .links = {{d + "x.conf", "/srv/site/x.conf"}}},
       "unknown"},
      {"links in a loop",
       {.files = {{kMain, debian}}, .links = {{d + "x.conf", d + "y.conf"}, {d + "y.conf", d + "x.conf"}}},
       "refuses sshd_config:1"},
      {"a link to a file",
       {.files = {{kMain, debian}, {"/srv/x", "UsePAM no\n"}}, .links = {{d + "x.conf", "/srv/x"}}},
       "no x.conf:1",
       1},
      {"a directory is an empty file",
       {.files = {{kMain, debian}, {d + "x.conf/y", "UsePAM no\n"}}},
       "yes sshd_config:2"},
      {"an unreadable drop-in may decide",
       {.files = {{kMain, debian}, {d + "README", ""}}, .denied = {d + "x.conf"}},
       "unknown"},
      {"an unreadable drop-in after the first",
       {.files = {{kMain, debian}, {d + "a.conf", "UsePAM no\n"}}, .denied = {d + "x.conf"}},
       "no a.conf:1",
       1},
      {"the rest of it is judged still",
       {.files = {{kMain, debian + "Foo bar\n"}, {d + "README", ""}}, .denied = {d + "x.conf"}},
       "refuses sshd_config:3"},
      {"an unreadable directory", {.files = {{kMain, debian}}, .denied = {"/etc/ssh/sshd_config.d"}}, "unknown"},
      {"no file at all", {}, "unknown"},
      {"the main file is denied", {.denied = {kMain}}, "unknown"},
      {"SUSE's vendor file", {.files = {{"/usr/etc/ssh/sshd_config", "UsePAM yes\n"}}}, "yes sshd_config:1"},
      {"SSHD_OPTS names another file",
       {.files = {{kMain, "UsePAM yes\n"},
                  {"/etc/ssh/other", "UsePAM no\n"},
                  {"/etc/default/ssh", "SSHD_OPTS=\"-f /etc/ssh/other\"\n"}}},
       "no other:1"},
      {"SSHD_OPTS names a missing file",
       {.files = {{kMain, "UsePAM yes\n"}, {"/etc/default/ssh", "SSHD_OPTS=-f/etc/ssh/other\n"}}},
       "refuses ssh:1"},
      {"-o comes before the file",
       {.files = {{kMain, "UsePAM yes\n"}, {"/etc/default/ssh", "\nSSHD_OPTS=-4 -o UsePAM=no\n"}}},
       "no ssh:2",
       1},
      {"OPTIONS of Red Hat",
       {.files = {{kMain, ""}, {"/etc/sysconfig/sshd", "OPTIONS='-u0 -oUsePAM=yes'\n"}}},
       "yes sshd:1"},
      {"no Include in -o", {.files = {{kMain, ""}, {"/etc/default/ssh", "SSHD_OPTS=-oInclude=/x\n"}}}, "refuses ssh:1"},
      {"a stray word", {.files = {{kMain, ""}, {"/etc/default/ssh", "SSHD_OPTS=\"-D now\"\n"}}}, "refuses ssh:1"},
  };
}

TEST(SshdTree, Reads) {
  for (const TreeCase& c : tree_cases()) {
    const SshdConf conf = collect(c.tree);
    EXPECT_EQ(answer(conf), c.expected) << c.name << ": " << conf.why;
    EXPECT_EQ(conf.shadowed.size(), c.shadowed) << c.name;
    EXPECT_EQ(answer(conf) == "unknown" && c.name.find("denied") == std::string_view::npos && conf.problems.empty() &&
                  conf.use_pam.missing != Missing::kAbsent,
              false)
        << c.name << ": unknown without a reason";
  }
}

TEST(SshdTree, UnreadableFilesAreNamed) {
  const SshdConf conf = collect({.files = {{kMain, "Include a.conf\n"}}, .denied = {"/etc/ssh/a.conf"}});
  ASSERT_EQ(conf.problems.size(), 1U);
  EXPECT_NE(conf.problems[0].find("/etc/ssh/a.conf"), std::string::npos);
  EXPECT_EQ(conf.use_pam.missing, Missing::kDenied);
}

TEST(SshdTree, PamServiceName) {
  const SshdConf conf =
      collect({.files = {{kMain, "Match user a\nPAMServiceName x\nMatch all\nPAMServiceName mine\n"}}});
  ASSERT_TRUE(conf.pam_service.known());
  EXPECT_EQ(*conf.pam_service, "mine");
}

/// `levels` files, each including the next; the last one says UsePAM yes.
MemoryTree chain(int levels) {
  MemoryTree tree;
  const auto name = [](int i) { return "/etc/ssh/" + std::to_string(i); };
  tree.files[kMain] = "Include 1\n";
  for (int i = 1; i < levels; ++i) tree.files[name(i)] = "Include " + std::to_string(i + 1) + "\n";
  tree.files[name(levels)] = "UsePAM yes\n";
  return tree;
}

TEST(SshdHostile, DepthOf16) {
  EXPECT_EQ(answer(collect(chain(16))), "yes 16:1");
  EXPECT_EQ(answer(collect(chain(17))), "refuses 16:1");
}

TEST(SshdHostile, BoundedInFilesAndTime) {
  const auto start = std::chrono::steady_clock::now();
  MemoryTree many;
  many.files[kMain] = "Include /etc/ssh/d/*\nUsePAM yes\n";
  for (int i = 0; i < 9'000; ++i) many.files["/etc/ssh/d/" + std::to_string(10'000 + i)] = "Port 22\n";
  EXPECT_EQ(answer(collect(many)), "yes sshd_config:2");
  for (int i = 9'000; i < 12'000; ++i) many.files["/etc/ssh/d/" + std::to_string(10'000 + i)] = "Port 22\n";
  const SshdConf cut = collect(many);
  EXPECT_EQ(answer(cut), "unknown");
  EXPECT_FALSE(cut.problems.empty());

  // Twelve levels that each include the next one three times: half a million files, if nobody counted.
  MemoryTree tower;
  tower.files[kMain] = "Include 1 1 1\n";
  for (int i = 1; i < 12; ++i) {
    const std::string next = std::to_string(i + 1);
    tower.files["/etc/ssh/" + std::to_string(i)] = "Include " + next + " " + next + " " + next + "\n";
  }
  tower.files["/etc/ssh/12"] = "Port 22\n";
  const SshdConf high = collect(tower);
  EXPECT_EQ(answer(high), "unknown");
  EXPECT_FALSE(high.problems.empty());
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

TEST(SshdHostile, LongLinesAndFiles) {
  EXPECT_EQ(answer(collect({.files = {{kMain, "UsePAM " + std::string(1'000'000, ' ') + "yes\n"}}})),
            "yes sshd_config:1");
  EXPECT_EQ(answer(collect({.files = {{kMain, std::string(1'000'000, 'x')}}})), "refuses sshd_config:1");
  EXPECT_EQ(answer(collect({.files = {{kMain, "Match " + std::string(500'000, '"')}}})), "refuses sshd_config:1");
  std::string words = "AllowUsers";
  while (words.size() < 1'000'000) words += " a";
  EXPECT_EQ(answer(collect({.files = {{kMain, words}}})), "no");
  const SshdConf large = collect({.files = {{kMain, "UsePAM yes\n" + std::string(2U << 20, '\n')}}});
  EXPECT_EQ(answer(large), "unknown");
  EXPECT_EQ(large.problems.size(), 1U);
}

TEST(SshdGlob, Matches) {
  struct Case {
    std::string_view pattern, name;
    bool matches;
  };
  for (const Case& c : std::initializer_list<Case>{{"*.conf", "a.conf", true},
                                                   {"*.conf", ".conf", false},
                                                   {".*", ".x", true},
                                                   {"a*b*c", "aXbXbc", true},
                                                   {"a*b*c", "aXbX", false},
                                                   {"[a-c]?", "bz", true},
                                                   {"[!a]", "b", true},
                                                   {"[^a]", "b", false},
                                                   {"[^a]", "^", true},
                                                   {"[]x]", "]", true},
                                                   {"[[:digit:]]*", "7a", true},
                                                   {"[[:digit:]]*", "a7", false},
                                                   {"x[", "x[", true},
                                                   {"\\*", "*", true},
                                                   {"\\*", "a", false},
                                                   {"*", "", true}}) {
    const auto glob = compile_sshd_glob(c.pattern);
    ASSERT_TRUE(glob) << c.pattern;
    EXPECT_EQ(glob->matches(c.name), c.matches) << c.pattern << " " << c.name;
  }
  EXPECT_FALSE(compile_sshd_glob("[[:nosuch:]]"));
  std::string stars;
  for (int i = 0; i < 2'000; ++i) stars += "*a";
  EXPECT_FALSE(compile_sshd_glob(stars + "b")->matches(std::string(4'000, 'a')));
}

TEST(SshdOptions, EnvironmentFile) {
  struct Case {
    std::string_view text, value;
    std::size_t line;
  };
  for (const Case& c : std::initializer_list<Case>{{"X=1\n", "1", 1},
                                                   {"# X=0\n X = a b  \n", "a b", 2},
                                                   {"X='a b'\"c\"\n", "a bc", 1},
                                                   {"X=1\nX=2\n", "2", 2},
                                                   {"X=a\\\nb\n", "ab", 1},
                                                   {"#\\\nX=1\nX=2", "2", 3},
                                                   {"X=\"a\\\"b\\c\"\n", "a\"b\\c", 1},
                                                   {"X=\n", "", 1}}) {
    const auto found = read_environment_file(c.text, "X");
    ASSERT_TRUE(found) << c.text;
    EXPECT_EQ(found->first, c.value) << c.text;
    EXPECT_EQ(found->second, c.line) << c.text;
  }
  EXPECT_FALSE(read_environment_file("export X=1\nXY=2\n", "X"));
}

}  // namespace
}  // namespace pindown
