// SPDX-License-Identifier: Apache-2.0
// What the readers of sshd_config and systemd units share: where a path leads through symbolic links, and a file's
// bytes or why there are none. Entry points: LinkResolver, read_config. Must not: know any format.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "facts/fact.h"
#include "host/host.h"

namespace pindown {

/// Follows links by name, because some readers decide by the name a link points to, not by the bytes behind it.
class LinkResolver {
 public:
  explicit LinkResolver(const Host& host) : host_(host) {}

  /// The path without links, "." and ".."; what does not exist stays as it is. Nothing after 40 links, where the kernel
  /// says ELOOP (fs/namei.c MAXSYMLINKS). With `follow_last` false, a link at the end stays.
  std::optional<std::string> resolve(std::string_view path, bool follow_last = true);

 private:
  const Host& host_;
  std::set<std::string> plain_;  // directories known not to be links: thousands of files lie in the same few
};

struct ConfigText {
  std::string text;
  std::optional<Missing> missing;  // empty: `text` is the file
  bool directory = false;          // with kError: it is a directory
  std::string problem;             // one line, if missing and not merely absent
};

/// `path` is resolved already; "/dev/null" is an empty file here as it is for everyone.
ConfigText read_config(const Host& host, const std::string& path, std::size_t max_bytes);

std::string parent_path(std::string_view path);
std::string_view base_name(std::string_view path);

}  // namespace pindown
