// SPDX-License-Identifier: Apache-2.0
// One failure told over several lines (a structured logger's record, a dump of the arguments): which lines still belong
// to it, and what they add. Entry points: OpenRecord::begin, continued_by, complete. Must not: keep lines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "logs/event.h"

namespace pindown::logs {

class OpenRecord {
 public:
  /// `event` just became the failure number `index`; its record is followed if it lacks an errno.
  void begin(Event& event, std::size_t index);
  void close() { index_.reset(); }
  /// The failure that `line`, which no row knows, still belongs to.
  std::optional<std::size_t> continued_by(const ShapedLine& line);
  /// Takes errno, address and length from a further line, as far as the failure has none.
  static void complete(Event& event, std::string_view text);

 private:
  std::optional<std::size_t> index_;
  std::string wrapper_;
  std::uint64_t line_ = 0;  // of the newest line that belongs to it
  std::uint64_t lines_ = 0;
  bool unfinished_ = false;  // the newest line ends in the middle of something
};

}  // namespace pindown::logs
