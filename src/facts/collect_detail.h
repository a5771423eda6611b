// SPDX-License-Identifier: Apache-2.0
// What the collect_*.cc files share: Host answers as facts, problems as lines, and the parts of collect_machine that
// have a file of their own. Private to facts/collect. Must not: be included elsewhere, or judge.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/facts.h"
#include "host/host.h"

namespace pindown::collect {

Missing missing_of(HostErrorKind kind);

/// Adds the message of a refused or failed read, once. What is merely not there, or has ended, is no problem.
void note_problem(std::vector<std::string>& problems, const HostError& error);

/// The first line of a small file.
Fact<std::string> read_line(const Host& host, const std::string& path, std::vector<std::string>& problems);

/// The line of `text` that starts with `key`, without its end; empty if there is none.
std::string_view line_of(std::string_view text, std::string_view key);

/// os-release(5): the value may be quoted as for a shell; a backslash takes the next character as it is.
std::string unquote(std::string_view text);

/// User names from /etc/passwd as the Host has it, read at the first question. No NSS: a static program has none, and
/// for a directory the machine's own would be wrong.
class UserNames {
 public:
  explicit UserNames(const Host& host) : host_(host) {}
  /// The name, or the number as text.
  std::string name_of(std::uint32_t uid);

 private:
  const Host& host_;
  std::optional<std::string> passwd_;
  std::map<std::uint32_t, std::string> known_;
};

/// /sys/class/infiniband, and the rdma and hugetlb controllers of pindown's own cgroup.
void collect_rdma(const Host& host, Facts& facts);
/// Whether pindown itself runs in a container; missing when nothing tells.
Fact<bool> collect_inside_container(const Host& host);
void collect_kernel_log(const Host& host, Facts& facts);
/// The lines of `dmesg --raw` text that can matter to registered memory, without their "<6>", at most the last 4,096.
std::vector<std::string> pick_kernel_lines(std::string_view text);

}  // namespace pindown::collect
