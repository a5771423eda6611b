// SPDX-License-Identifier: Apache-2.0
// Versions from dpkg, from rpm's answer, and from the release where neither is there.
#include "facts/packages.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "host/host.h"

namespace pindown {
namespace {

Distribution distribution(const char* id, const char* like, const char* version) {
  return {Fact<std::string>::of(id, {"/etc/os-release", id}), like, version};
}

TEST(Release, ByIdAndVersion) {
  struct Row {
    const char *id, *like, *version;
    const char *pam, *systemd, *kernel;  // empty pam: nothing is known of it
  };
  const Row rows[] = {{"rhel", "fedora", "7.9", "1.1.8", "219", "3.10"},
                      {"centos", "rhel fedora", "8", "1.3.1", "239", "4.18"},
                      {"rocky", "rhel centos fedora", "9.4", "1.5.1", "252", ""},
                      {"almalinux", "rhel centos fedora", "10.0", "1.6.1", "257", ""},
                      {"ol", "fedora", "9.3", "1.5.1", "252", ""},
                      {"miracle", "rhel fedora", "9.2", "1.5.1", "252", ""},
                      {"amzn", "centos rhel fedora", "2", "1.1.8", "219", "4.14"},
                      {"amzn", "fedora", "2023", "1.5.1", "252", ""},
                      {"amzn", "centos rhel fedora", "9", "", "", ""},
                      {"fedora", "", "41", "1.6.1", "256", ""},
                      {"fedora", "", "9", "", "", ""},
                      {"sles", "suse", "12.5", "1.1.8", "228", "4.4"},
                      {"sles", "suse", "15", "1.3.0", "234", "4.12"},
                      {"sles", "suse", "15.3", "1.3.0", "246", "5.3"},
                      {"sle_hpc", "suse", "15.4", "1.3.0", "249", "5.14"},
                      {"opensuse-leap", "suse opensuse", "15.6", "1.3.0", "254", ""},
                      {"opensuse-tumbleweed", "opensuse suse", "20260101", "", "", ""},
                      {"debian", "", "12", "", "", ""},
                      {"arch", "", "", "", "", ""},
                      {"rhel", "fedora", "nine", "", "", ""},
                      {"rhel", "fedora", "99999999999999999999", "", "", ""}};
  for (const Row& row : rows) {
    const ReleaseRow* release = release_of(distribution(row.id, row.like, row.version));
    EXPECT_EQ(release ? release->pam : "", row.pam) << row.id << " " << row.version;
    if (release == nullptr) continue;
    EXPECT_EQ(release->systemd, row.systemd) << row.id << " " << row.version;
    EXPECT_EQ(release->kernel, row.kernel) << row.id << " " << row.version;
    EXPECT_FALSE(release->reference.empty());
  }
  EXPECT_EQ(release_of(Distribution{}), nullptr);
}

TEST(Rpm, ReadsWhatItPrints) {
  const auto versions = parse_rpm_versions(
      "pam\t1.5.1-19.el9\npackage openssh-server is not installed\nsystemd\t252-32.el9_4\npam\t1.5.1-18.el9\n");
  EXPECT_EQ(versions.at(kPamPackage).value.value_or(""), "1.5.1-19.el9") << "the first of two architectures";
  EXPECT_EQ(versions.at(kPamPackage).source.text, "pam-1.5.1-19.el9");
  EXPECT_EQ(versions.at(kSystemdPackage).value.value_or(""), "252-32.el9_4");
  EXPECT_FALSE(versions.at("openssh-server").known());
  EXPECT_FALSE(parse_rpm_versions("").at(kPamPackage).known());
  EXPECT_FALSE(parse_rpm_versions("pam\t\n").at(kPamPackage).known());
}

TEST(Packages, DpkgGoesBeforeTheRelease) {
  MemoryTree tree;
  tree.files["/var/lib/dpkg/status"] =
      "Package: libpam-modules\nStatus: install ok installed\nVersion: 1.5.2-6\n\n"
      "Package: systemd\nStatus: deinstall ok config-files\nVersion: 252\n\n";
  std::vector<std::string> problems;
  const Packages packages =
      collect_packages(*make_memory_host(tree), distribution("rocky", "rhel centos fedora", "9"), problems);
  EXPECT_EQ(packages.versions.at(kPamPackage).value.value_or(""), "1.5.2-6");
  EXPECT_FALSE(packages.versions.at(kSystemdPackage).known()) << "removed";
  EXPECT_EQ(packages.derived_from, "");
}

TEST(Packages, WhatTheReleaseShips) {
  std::vector<std::string> problems;
  const auto host = make_memory_host({});
  const Packages packages = collect_packages(*host, distribution("ol", "fedora", "8.10"), problems);
  EXPECT_EQ(packages.versions.at(kPamPackage).value.value_or(""), "1.3.1");
  EXPECT_EQ(packages.versions.at(kPamPackage).source.path, "/etc/os-release");
  EXPECT_EQ(packages.derived_from, "RHEL 8 and its rebuilds");
  EXPECT_EQ(packages.derived_kernel, "4.18");
  EXPECT_FALSE(packages.versions.at("sudo").known());
  EXPECT_TRUE(problems.empty());
  const Packages unknown = collect_packages(*host, distribution("arch", "", ""), problems);
  EXPECT_FALSE(unknown.versions.at(kPamPackage).known());
  EXPECT_EQ(unknown.derived_from, "");
}

TEST(Packages, AnUnreadableStatusIsNoRpmSystem) {
  MemoryTree tree;
  tree.denied = {"/var/lib/dpkg/status"};
  std::vector<std::string> problems;
  const Packages packages =
      collect_packages(*make_memory_host(tree), distribution("rocky", "rhel centos fedora", "9"), problems);
  EXPECT_EQ(packages.versions.at(kPamPackage).missing, Missing::kDenied);
  EXPECT_FALSE(problems.empty());
}

}  // namespace
}  // namespace pindown
