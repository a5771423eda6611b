// SPDX-License-Identifier: Apache-2.0
// Versions of what reads the login chain's files: from dpkg's status file, from rpm, or, where neither can be asked,
// what the release is known to ship. Entry point: collect_packages. Must not: say what a version means.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "facts/fact.h"
#include "host/host.h"

namespace pindown {

/// os-release(5), unquoted.
struct Distribution {
  Fact<std::string> id;  // "debian"
  std::string id_like;   // "rhel centos fedora"
  std::string version;   // VERSION_ID: "12"
};

/// By Debian's names, whatever the distribution calls them.
constexpr const char* kPamPackage = "libpam-modules";
constexpr const char* kSystemdPackage = "systemd";
constexpr const char* kSlurmPackage = "slurmd";

struct Packages {
  std::map<std::string, Fact<std::string>> versions;
  /// "RHEL 9 and its rebuilds": the versions are those that this release ships, nobody read them. Empty: they were
  /// read, or are not known.
  std::string derived_from;
  std::string derived_kernel;  // that the release ships, "4.18"; only where a service's default depends on it
};

/// dpkg's status, else rpm (asked on the live machine only: its database is no text), else the release.
Packages collect_packages(const Host& host, const Distribution& distro, std::vector<std::string>& problems);

/// What `rpm -q --qf '%{NAME}\t%{VERSION}-%{RELEASE}\n'` printed; packages it does not name are absent.
std::map<std::string, Fact<std::string>> parse_rpm_versions(std::string_view printed);

/// One release of a distribution without dpkg. `ids` are words of os-release's ID, "~rhel" one of ID_LIKE.
struct ReleaseRow {
  std::string_view ids;
  unsigned major;
  unsigned from_minor;  // the row is for VERSION_ID major.minor from this minor on
  std::string_view name;
  std::string_view pam;
  std::string_view systemd;
  std::string_view kernel;  // where systemd passes the kernel's default on (before 251), else empty
  std::string_view reference;
};
/// Null: nothing is known of the release.
const ReleaseRow* release_of(const Distribution& distro);

}  // namespace pindown
