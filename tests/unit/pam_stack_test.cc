// SPDX-License-Identifier: Apache-2.0
// PAM service files: how libpam splits lines into words, and which files and modules are found where.
#include "facts/pam_stack.h"

#include <gtest/gtest.h>

namespace pindown {
namespace {

std::string join(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : "|") + word;
  return out;
}

/// "type control module arguments", with what is special about the line in front.
std::string show(const PamLine& line) {
  const char* types[] = {"auth", "account", "password", "session"};
  std::string out = line.must_fail ? "FAILS " : "";
  if (line.ends_reading) out += "END ";
  if (line.quiet) out += "quiet ";
  out += line.type ? types[static_cast<int>(*line.type)] : "none";
  out += " <" + line.control + "> <" + line.module + ">";
  return line.arguments.empty() ? out : out + " " + join(line.arguments);
}

std::string show_all(std::string_view text) {
  std::string out;
  for (const PamLine& line : parse_pam_file(text, "/etc/pam.d/x")) out += (out.empty() ? "" : "; ") + show(line);
  return out;
}

TEST(PamStack, SplitsLinesAsLibpamDoes) {
  struct Row {
    const char *text, *lines;
  };
  const Row rows[] = {
      {"session required pam_limits.so\n", "session <required> <pam_limits.so>"},
      {"session required pam_limits.so", "session <required> <pam_limits.so>"},
      {"SESSION\tREQUIRED  pam_limits.so", "session <required> <pam_limits.so>"},
      {"  session optional pam_x.so a  b=c\t d # why", "session <optional> <pam_x.so> a|b=c|d"},
      {"session optional pam_x.so#why", "session <optional> <pam_x.so>"},
      {"# session required pam_deny.so\n\n \t\n", ""},
      {"-session optional pam_systemd.so", "quiet session <optional> <pam_systemd.so>"},
      {"session /x", "FAILS session </x> <>"},
      {"session [success=1 default=ignore] pam_succeed_if.so user = alice",
       "session <[success=1 default=ignore]> <pam_succeed_if.so> user|=|alice"},
      {"session [success=1 default=ignore]pam_permit.so", "session <[success=1 default=ignore]> <pam_permit.so>"},
      {"session [a\\]b] pam_x.so", "session <[a]b]> <pam_x.so>"},
      {"session [default=ignore pam_x.so", "FAILS session <[default=ignore pam_x.so]> <>"},
      {"session [required] pam_x.so", "session <required> <pam_x.so>"},
      {"session requird pam_x.so", "session <requird> <pam_x.so>"},
      {"session default=ignore pam_x.so", "session <default=ignore> <pam_x.so>"},
      {"session required pam_limits.so [conf=/a b.conf] x", "session <required> <pam_limits.so> conf=/a b.conf|x"},
      {"session include common-session", "session <include> <common-session>"},
      {"session SubStack common-session", "session <substack> <common-session>"},
      {"@include common-session", "none <@include> <common-session>"},
      {"@INCLUDE common-session", "none <@include> <common-session>"},
      {"@include", "FAILS none <@include> <>"},
      {"session required \\\n pam_limits.so", "session <required> <pam_limits.so>"},
      {"session required \\ \t\n pam_limits.so", "session <required> <pam_limits.so>"},
      {"session required\\\npam_limits.so", "session <required> <pam_limits.so>"},
      {"session required \\\n# why\npam_limits.so", "session <required> <pam_limits.so>"},
      {"session required pam_x.so # why \\\nsession optional pam_y.so",
       "session <required> <pam_x.so>; session <optional> <pam_y.so>"},
      {"session required pam_x.so \\", "FAILS END none <bad> <>"},
      {"session required pam_a.so\nsession \\\n", "session <required> <pam_a.so>; FAILS END none <bad> <>"},
      {"session required pam_limits.so\r\n", "session <required> <pam_limits.so\r>"},
      {"session required pam_x.so a\r\n", "session <required> <pam_x.so> a\r"},
      {"\r\n", "FAILS none <bad> <>"},
      {"sesion required pam_x.so", "FAILS none <required> <pam_x.so>"},
      {"session", "FAILS session <bad> <>"},
      {"session optional", "FAILS session <optional> <>"},
      {"- required pam_x.so", "FAILS quiet none <required> <pam_x.so>"},
      {"\xc2\xa0session required pam_x.so", "FAILS none <required> <pam_x.so>"},
      {"\xef\xbb\xbfsession required pam_x.so", "FAILS none <required> <pam_x.so>"},
  };
  for (const Row& row : rows) EXPECT_EQ(show_all(row.text), row.lines) << '"' << row.text << '"';
  EXPECT_EQ(show_all(std::string_view("session required pam_x.so\0 y\nauth required z", 44)),
            "session <required> <pam_x.so>; auth <required> <z>")
      << "a NUL hides the rest of its line";
}

TEST(PamStack, LinesHaveTheirPlaceAndProblemsAreNamed) {
  std::vector<std::string> problems;
  const auto lines = parse_pam_file("# c\nauth \\\n required \\\n a.so\nsesion required b.so\nsession optional\n",
                                    "/etc/pam.d/x", &problems);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].source.path, "/etc/pam.d/x:2");
  EXPECT_EQ(lines[1].source.path, "/etc/pam.d/x:5");
  EXPECT_EQ(lines[1].source.text, "sesion required b.so");
  ASSERT_EQ(problems.size(), 2U);
  EXPECT_EQ(problems[0], "/etc/pam.d/x:5: \"sesion\" is no type; libpam lets the line fail");
  EXPECT_EQ(problems[1], "/etc/pam.d/x:6: no module; libpam lets the line fail");
}

PamConf collect(MemoryTree tree) {
  return collect_pam(*make_memory_host(std::move(tree)));
}

TEST(PamStack, TheFirstDirectoryThatHasAServiceCounts) {
  MemoryTree tree;
  tree.files = {{"/etc/pam.d/systemd-user", "session required pam_a.so\n"},
                {"/usr/lib/pam.d/systemd-user", "session required pam_b.so\n"},
                {"/usr/lib/pam.d/vendor", "session required pam_c.so\n"},
                {"/etc/pam.d/su", "@include common\nsession include /opt/extra\n"},
                {"/opt/extra", "session include gone\n"},
                {"/etc/pam.conf", "su session required pam_deny.so\n"},
                {"/etc/pam.d/secret", ""}};
  tree.denied = {"/etc/pam.d/secret"};
  const PamConf conf = collect(tree);
  EXPECT_TRUE(conf.has_directory);
  EXPECT_EQ(conf.services.at("systemd-user")->at(0).module, "pam_a.so");
  EXPECT_EQ(conf.services.at("vendor")->at(0).module, "pam_c.so");
  EXPECT_EQ(conf.services.at("vendor").source.path, "/usr/lib/pam.d/vendor");
  EXPECT_EQ(conf.services.at("su")->size(), 2U) << "/etc/pam.conf is not read";
  EXPECT_EQ(conf.services.at("common").missing, Missing::kAbsent);
  ASSERT_TRUE(conf.services.at("/opt/extra"));
  EXPECT_EQ(conf.services.at("gone").missing, Missing::kAbsent) << "included from what is included";
  EXPECT_EQ(conf.services.at("secret").missing, Missing::kDenied);
  EXPECT_EQ(conf.problems.size(), 1U);
}

TEST(PamStack, PamConfCountsWithoutAnyDirectory) {
  MemoryTree tree;
  tree.files["/etc/pam.conf"] =
      "# c\nsu session required pam_a.so\nSU auth required pam_b.so\nother session \\\n required c.so\n";
  const PamConf conf = collect(tree);
  EXPECT_FALSE(conf.has_directory);
  ASSERT_TRUE(conf.services.contains("su"));
  EXPECT_EQ(conf.services.at("su")->size(), 2U);
}

TEST(PamStack, ModulesOfEveryDirectoryAndPathsThatAreMissing) {
  MemoryTree tree;
  tree.files = {{"/lib/security/pam_a.so", ""},
                {"/usr/lib/aarch64-linux-gnu/security/pam_b.so", ""},
                {"/usr/lib64/security/pam_c.so", ""},
                {"/usr/lib/python3/security/pam_d.so", ""},
                {"/etc/pam.d/su", "session required /opt/pam_e.so\nsession required /lib/security/pam_a.so\n"}};
  const PamConf conf = collect(tree);
  EXPECT_TRUE(conf.modules_known);
  EXPECT_EQ(conf.modules, (std::set<std::string>{"pam_a.so", "pam_b.so", "pam_c.so"}));
  EXPECT_EQ(conf.missing_paths, (std::set<std::string>{"/opt/pam_e.so"}));
  EXPECT_FALSE(collect({}).modules_known);
}

TEST(PamStack, DebianIncludesFromEtcOnly) {
  MemoryTree tree;
  tree.files["/etc/os-release"] = "NAME=x\nID=ubuntu\nID_LIKE=debian\n";
  EXPECT_TRUE(collect(tree).includes_from_etc_only);
  tree.files["/etc/os-release"] = "ID=\"rhel\"\nHOME_URL=https://debian.example\n";
  EXPECT_FALSE(collect(tree).includes_from_etc_only);
}

TEST(PamStack, AThousandFilesAreReadAndTheRestIsNamed) {
  MemoryTree tree;
  for (int i = 0; i < 1'100; ++i) tree.files["/etc/pam.d/s" + std::to_string(i)] = "";
  const PamConf conf = collect(tree);
  EXPECT_EQ(conf.services.size(), 1'000U);
  EXPECT_EQ(conf.problems.size(), 1U);
}

}  // namespace
}  // namespace pindown
