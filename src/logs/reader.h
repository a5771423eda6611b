// SPDX-License-Identifier: Apache-2.0
// Shaped lines → events, by the table of patterns.h. Entry point: EventReader::feed. Keeps at most a bounded number of
// equal events; the rest are counted on the last one kept.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "logs/event.h"
#include "logs/reader_record.h"

namespace pindown::logs {

class EventReader {
 public:
  explicit EventReader(std::string input) : input_(std::move(input)) {}

  /// True if the line is a message of a known library or a follow-up pindown understands.
  bool feed(const ShapedLine& line);
  /// The event the last line fed became or was counted on, if it was one.
  std::optional<std::size_t> latest() const { return latest_; }
  /// Whether it was merely counted. A line that differs only in numbers of its prefix would be too, and may be given to
  /// repeat() instead.
  bool counted() const { return counted_; }
  Kind kind(std::size_t event) const { return events_[event].kind; }
  void repeat(std::size_t event) { ++events_[event].repeats; }
  std::vector<Event> take() { return std::move(events_); }

 private:
  bool add(Event event);
  void add_version(const ShapedLine& line);
  bool amend(const Event& part, const ShapedLine& line);
  bool feed_traceback(const ShapedLine& line);
  void follow_record(const ShapedLine& line);

  std::string input_;
  bool in_table_ = false;  // a benchmark's header was seen: rows of numbers are results
  std::vector<Event> events_;
  bool counted_ = false;
  std::optional<std::size_t> latest_;
  OpenRecord record_;  // of the newest failure, while its lines may follow
  std::map<std::string, std::pair<std::size_t, std::uint64_t>, std::less<>> kept_;  // signature → last index, count
  std::map<std::string, std::uint64_t, std::less<>> traceback_;  // wrapper → line of an open traceback
};

/// Literals of all rows: triggers first, then context. `triggers` is how many of them are triggers.
const std::vector<std::string_view>& event_literals(std::size_t& triggers);

}  // namespace pindown::logs
