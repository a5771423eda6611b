// SPDX-License-Identifier: Apache-2.0
// See packages.h. Everything pindown knows of distributions' versions stands in kReleases.
#include "facts/packages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "facts/collect_detail.h"
#include "host/helper.h"

namespace pindown {
namespace {

using collect::line_of;
using collect::missing_of;
using collect::note_problem;

struct Name {
  const char* debian;
  const char* rpm;
};
constexpr std::array<Name, 6> kNames = {{{kPamPackage, "pam"},
                                         {kSystemdPackage, "systemd"},
                                         {"openssh-server", "openssh-server"},
                                         {"sudo", "sudo"},
                                         {"util-linux", "util-linux"},
                                         {kSlurmPackage, "slurm-slurmd"}}};

/// Minor releases do not change PAM's or systemd's upstream version, but for SUSE's service packs. OpenSSH reads
/// sshd_config in the same way in all of them. RHEL's rebuilds call themselves by their own ID and "rhel" in ID_LIKE.
constexpr std::string_view kRhel = "rhel centos rocky almalinux ol scientific eurolinux ~rhel";
constexpr std::string_view kSle = "sles sled sles_sap sle_hpc sle-hpc opensuse-leap";
constexpr std::array kReleases = {
    ReleaseRow{"amzn", 2, 0, "Amazon Linux 2", "1.1.8", "219", "4.14", "docs.aws.amazon.com/AL2/latest/relnotes"},
    ReleaseRow{"amzn", 2023, 0, "Amazon Linux 2023", "1.5.1", "252", "",
               "docs.aws.amazon.com/linux/al2023/release-notes/all-packages.html"},
    ReleaseRow{kRhel, 7, 0, "RHEL 7 and its rebuilds", "1.1.8", "219", "3.10",
               "vault.centos.org/7.9.2009/os/x86_64/Packages"},
    ReleaseRow{kRhel, 8, 0, "RHEL 8 and its rebuilds", "1.3.1", "239", "4.18",
               "docs.redhat.com RHEL 8 Package manifest, BaseOS"},
    ReleaseRow{kRhel, 9, 0, "RHEL 9 and its rebuilds", "1.5.1", "252", "",
               "docs.redhat.com RHEL 9 Package manifest, BaseOS"},
    ReleaseRow{kRhel, 10, 0, "RHEL 10 and its rebuilds", "1.6.1", "257", "",
               "vault.almalinux.org/10.0/BaseOS/x86_64_v2/os/Packages"},
    ReleaseRow{kSle, 12, 2, "SUSE Linux Enterprise 12", "1.1.8", "228", "4.4",
               "suse.com/releasenotes/x86_64/SUSE-SLES/12-SP5"},
    ReleaseRow{kSle, 15, 6, "SUSE Linux Enterprise 15 SP6, SP7", "1.3.0", "254", "",
               "suse.com/releasenotes/x86_64/SUSE-SLES/15-SP6"},
    ReleaseRow{kSle, 15, 4, "SUSE Linux Enterprise 15 SP4, SP5", "1.3.0", "249", "5.14",
               "suse.com/releasenotes/x86_64/SUSE-SLES/15-SP4"},
    ReleaseRow{kSle, 15, 3, "SUSE Linux Enterprise 15 SP3", "1.3.0", "246", "5.3",
               "suse.com/releasenotes/x86_64/SUSE-SLES/15-SP3"},
    ReleaseRow{kSle, 15, 0, "SUSE Linux Enterprise 15 to SP2", "1.3.0", "234", "4.12",
               "suse.com/releasenotes/x86_64/SUSE-SLES/15"},
    ReleaseRow{"fedora", 40, 0, "Fedora 40", "1.6.1", "255", "", "archives.fedoraproject.org fedora/releases/40"},
    ReleaseRow{"fedora", 41, 0, "Fedora 41", "1.6.1", "256", "", "archives.fedoraproject.org fedora/releases/41"},
    ReleaseRow{"fedora", 42, 0, "Fedora 42", "1.7.0", "257", "", "packages.fedoraproject.org/pkgs/pam/pam"},
};

bool has_word(std::string_view words, std::string_view wanted) {
  const auto list = split_blanks(words);
  return !wanted.empty() && std::ranges::find(list, wanted) != list.end();
}

bool is_of(const ReleaseRow& row, const Distribution& distro) {
  const std::string_view id = distro.id.known() ? std::string_view(*distro.id) : std::string_view();
  if (has_word(row.ids, id)) return true;
  // Amazon's and Fedora's own numbers are not Red Hat's.
  const bool other_numbers = id == "amzn" || id == "fedora";
  return !other_numbers && has_word(row.ids, "~rhel") && has_word(distro.id_like, "rhel");
}

/// The paragraph of an installed package, deb822: "Package:" first, then "Status: install ok installed", "Version: …".
Fact<std::string> dpkg_version(std::string_view status, std::string_view name) {
  constexpr std::string_view kPath = "/var/lib/dpkg/status";
  const std::string head = fmt::format("Package: {}\n", name);
  for (std::size_t at = status.find(head); at != status.npos; at = status.find(head, at + 1)) {
    if (at > 0 && status[at - 1] != '\n') continue;
    const std::string_view paragraph = status.substr(at, status.find("\n\n", at) - at);
    const std::string_view state = line_of(paragraph, "Status: ");
    const std::string_view version = line_of(paragraph, "Version: ");
    if (!state.ends_with(" installed") || version.empty()) continue;
    const std::string text = fmt::format("{} {}", name, version.substr(9));
    return Fact<std::string>::of(std::string(version.substr(9)), {std::string(kPath), text});
  }
  return Fact<std::string>::none(Missing::kAbsent, std::string(kPath));
}

/// Its own query program, because the database has three formats and none is text. Nothing if it does not answer.
std::map<std::string, Fact<std::string>> ask_rpm(const Host& host, std::vector<std::string>& problems) {
  if (!host.live() || !(host.exists("/var/lib/rpm") || host.exists("/usr/lib/sysimage/rpm"))) return {};
  // Once a run: the answer is the same for every session, and a database that hangs shall cost its two seconds once.
  static std::optional<std::map<std::string, Fact<std::string>>> answered;
  if (answered) return *answered;
  answered.emplace();
  std::vector<std::string> arguments = {"-q", "--qf", "%{NAME}\\t%{VERSION}-%{RELEASE}\\n"};
  for (const Name& name : kNames) arguments.emplace_back(name.rpm);
  const auto printed = run_system_program("/usr/bin/rpm", arguments, std::chrono::seconds(2), 64U << 10);
  if (printed) {
    answered = parse_rpm_versions(*printed);
  } else {
    note_problem(problems, printed.error());
  }
  return *answered;
}

void derive_from_release(const Distribution& distro, Packages& out) {
  const ReleaseRow* row = release_of(distro);
  if (row == nullptr) return;
  const Source source{"/etc/os-release", fmt::format("{} {}", *distro.id, distro.version)};
  out.derived_from = row->name;
  out.derived_kernel = row->kernel;
  out.versions[kPamPackage] = Fact<std::string>::of(std::string(row->pam), source);
  out.versions[kSystemdPackage] = Fact<std::string>::of(std::string(row->systemd), source);
}

}  // namespace

const ReleaseRow* release_of(const Distribution& distro) {
  std::string_view version = distro.version;
  const auto major = parse_u64(take_digits(version));
  if (!distro.id.known() || !major) return nullptr;
  const auto minor = consume(version, ".") ? parse_u64(take_digits(version)) : std::nullopt;
  for (const ReleaseRow& row : kReleases) {
    if (row.major == *major && minor.value_or(0) >= row.from_minor && is_of(row, distro)) return &row;
  }
  return nullptr;
}

std::map<std::string, Fact<std::string>> parse_rpm_versions(std::string_view printed) {
  std::map<std::string, Fact<std::string>> versions;
  for (const Name& name : kNames) {
    const std::string head = fmt::format("{}\t", name.rpm);
    const std::string_view line = line_of(printed, head);
    const std::string_view version = line.empty() ? line : line.substr(head.size());
    versions[name.debian] =
        version.empty()
            ? Fact<std::string>::none(Missing::kAbsent, "rpm -q")
            : Fact<std::string>::of(std::string(version), {"rpm -q", fmt::format("{}-{}", name.rpm, version)});
  }
  return versions;
}

Packages collect_packages(const Host& host, const Distribution& distro, std::vector<std::string>& problems) {
  constexpr std::size_t kMostBytes = 64U << 20;
  Packages out;
  const auto status = host.read("/var/lib/dpkg/status", kMostBytes);
  for (const Name& name : kNames) {
    out.versions[name.debian] = status
                                    ? dpkg_version(*status, name.debian)
                                    : Fact<std::string>::none(missing_of(status.error().kind), "/var/lib/dpkg/status");
  }
  if (out.versions[kPamPackage].known()) return out;
  if (!status) note_problem(problems, status.error());
  if (!status && status.error().kind != HostErrorKind::kNotFound) return out;
  // Without PAM in it the file is a tool's on a system of rpm's.
  const auto asked = ask_rpm(host, problems);
  const auto pam = asked.find(kPamPackage);
  if (pam != asked.end() && pam->second.known()) {
    out.versions = asked;
  } else {
    derive_from_release(distro, out);
  }
  return out;
}

}  // namespace pindown
