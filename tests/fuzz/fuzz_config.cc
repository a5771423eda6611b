// SPDX-License-Identifier: Apache-2.0
// Fuzzes what decides a session's limits: one file of the login chain is the input, the rest of the machine is
// ordinary; every entry point is predicted. Beyond not crashing: the JSON parses, and no control character reaches the
// reports.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "finding/prediction.h"
#include "finding/report_json.h"
#include "fuzz.h"
#include "host/host.h"
#include "model/predict.h"
#include "render/prediction_text.h"

namespace {

using pindown::fuzz::has_control;
using pindown::fuzz::require;

/// The files that take turns in being hostile.
constexpr std::array<const char*, 15> kFiles = {"/etc/security/limits.conf",
                                                "/etc/security/limits.d/50-x.conf",
                                                "/etc/pam.d/sshd",
                                                "/etc/pam.d/common-session",
                                                "/etc/pam.conf",
                                                "/etc/ssh/sshd_config",
                                                "/etc/ssh/sshd_config.d/10-x.conf",
                                                "/etc/systemd/system/ssh.service",
                                                "/etc/systemd/system/ssh.service.d/x.conf",
                                                "/etc/systemd/system.conf",
                                                "/etc/passwd",
                                                "/etc/group",
                                                "/etc/sudoers",
                                                "/etc/os-release",
                                                "/etc/slurm/slurm.conf"};

pindown::MemoryTree ordinary() {
  pindown::MemoryTree tree;
  tree.files = {{"/etc/os-release", "ID=debian\nVERSION_ID=\"12\"\n"},
                {"/var/lib/dpkg/status",
                 "Package: libpam-modules\nStatus: install ok installed\nVersion: 1.5.2-6\n\n"
                 "Package: systemd\nStatus: install ok installed\nVersion: 252.30-1\n\n"
                 "Package: openssh-server\nStatus: install ok installed\nVersion: 1:9.2p1-2\n\n"},
                {"/etc/passwd", "root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/sh\n"},
                {"/etc/group", "root:x:0:\nalice:x:1000:\nrdma:x:2000:alice\n"},
                {"/etc/security/limits.conf", "* - memlock unlimited\n"},
                {"/etc/pam.d/sshd", "@include common-session\nsession required pam_limits.so\n"},
                {"/etc/pam.d/common-session", "session required pam_unix.so\n"},
                {"/etc/pam.d/su", "session required pam_limits.so\n"},
                {"/etc/slurm/slurm.conf", "UsePAM=1\nPropagateResourceLimitsExcept=MEMLOCK\n"},
                {"/etc/ssh/sshd_config", "Include /etc/ssh/sshd_config.d/*.conf\nUsePAM yes\n"},
                {"/usr/lib/systemd/system/ssh.service", "[Service]\nExecStart=/usr/sbin/sshd -D\n"}};
  return tree;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  pindown::MemoryTree tree = ordinary();
  tree.files[kFiles[data[0] % kFiles.size()]] = std::string(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto host = pindown::make_memory_host(std::move(tree));
  for (const char* name : {"ssh", "login", "su", "su-l", "sudo", "sudo-i", "runuser", "runuser-l", "cron", "at",
                           "service:ssh", "user-service", "slurm"}) {
    const auto entry = pindown::parse_entry(name);
    require(entry.has_value());
    const auto facts = pindown::collect_login(*host, pindown::question_of(*entry, "alice"));
    const pindown::Prediction prediction = pindown::derive_prediction(*entry, facts, std::nullopt, nullptr);
    const std::string json = pindown::dump(pindown::to_json(prediction));
    require(pindown::Json::accept(json) && !has_control(json));
    pindown::Style style;
    style.utf8 = true;
    style.width = 80;
    require(!has_control(pindown::render_prediction(prediction, style)));
  }
  return 0;
}
