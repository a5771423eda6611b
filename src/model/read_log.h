// SPDX-License-Identifier: Apache-2.0
// One log, from bytes to events and pasted facts. Entry point: read_log. The only place where the scanner, the shaper,
// the table of messages and the reader of pasted commands meet. Must not: judge.
#pragma once

#include <string>
#include <vector>

#include "facts/facts.h"
#include "finding/report.h"
#include "host/input.h"
#include "logs/event.h"

namespace pindown {

struct LogInput {
  InputSummary summary;
  std::vector<logs::Event> events;
  std::vector<logs::Event> commands;  // typed between the lines, that start something new
  Facts facts;
  bool recognised = false;  // a known message or a known fact
};

LogInput read_log(InputStream& stream, const std::string& path);

/// What is looked for in large logs: messages that can name a failure.
std::vector<std::string_view> trigger_literals();

}  // namespace pindown
