// SPDX-License-Identifier: Apache-2.0
// What people paste between log lines: `$ command` and its output, or the bare output of one. Bytes → facts, with the
// log's file:line as source. Entry point: PasteReader. Pure; hostile input; keeps nothing it does not understand.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "facts/facts.h"
#include "logs/shape.h"

namespace pindown {

namespace paste {
struct State;
}

/// Feed every line that is not a recognised library message, in order. State: the command whose output is being read (a
/// "$ cmd", "# cmd", "user@host:~$ cmd", "root@7d41c0a9be12:/# cmd", "[root@node ~]# cmd" or "+ cmd" line opens it; the
/// next prompt, or a recognised log line via end_block(), closes it), per wrapper. The first answer wins where a fact
/// can hold one value; a second, different limit makes a second process.
class PasteReader {
 public:
  PasteReader(Facts& facts, std::string input_path);
  ~PasteReader();
  PasteReader(PasteReader&&) noexcept;
  /// Returns true if the line was understood as a command or as a fact.
  bool feed(const logs::ShapedLine& line);
  /// True for a line that should be fed although it looks like a library's message: a row of `ps | grep raylet`, or the
  /// shell's "cannot modify limit" behind a command that set one.
  bool expects(const logs::ShapedLine& line) const;
  /// A line of a known library came, or the input ended: pasted output is over.
  void end_block();
  /// Words that must be looked for in a large log to find pasted lines at all (at least 4 bytes each).
  static const std::vector<std::string_view>& literals();

 private:
  std::unique_ptr<paste::State> state_;
};

/// The command of a "$ cmd" or "user@host:~$ cmd" line, if it starts something new rather than to show a file or a
/// state; at most 400 bytes.
std::optional<std::string> started_command(std::string_view text);

}  // namespace pindown
