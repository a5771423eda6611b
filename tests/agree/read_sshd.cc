// SPDX-License-Identifier: Apache-2.0
// What pindown reads from the sshd_config of each directory root given: one line a root, "usepam yes", "usepam no",
// "usepam unknown" or "refuses", a tab and why. tests/agree/sshd_config.py compares it with sshd itself.
// With --wrong before them the last UsePAM counts instead of the first: wrong on purpose.
#include <fmt/format.h>

#include <cstdio>
#include <string_view>

#include "base/text.h"
#include "facts/sshd_config.h"
#include "host/host.h"

namespace {

void let_the_last_count(pindown::SshdConf& conf) {
  if (!conf.use_pam.known() || conf.shadowed.empty()) return;
  conf.use_pam.value = pindown::icontains(conf.shadowed.back().text, "yes");
}

}  // namespace

int main(int argc, char** argv) {
  const bool wrong = argc > 1 && std::string_view(argv[1]) == "--wrong";
  for (int i = wrong ? 2 : 1; i < argc; ++i) {
    const auto host = pindown::make_directory_host(argv[i]);
    if (!host) {
      fmt::print(stderr, "read_sshd: {}\n", host.error().message);
      return 2;
    }
    pindown::SshdConf conf = pindown::collect_sshd(**host);
    if (wrong) let_the_last_count(conf);
    if (conf.refuses) {
      fmt::print("refuses\t{}: {}\n", conf.refuses->path, conf.why);
    } else if (!conf.use_pam.known()) {
      fmt::print("usepam unknown\t{}\n", conf.problems.empty() ? "" : conf.problems[0]);
    } else {
      fmt::print("usepam {}\t{}\n", *conf.use_pam ? "yes" : "no", conf.use_pam.source.path);
    }
  }
  return 0;
}
