// SPDX-License-Identifier: Apache-2.0
// The table of messages pindown knows, one row each: a literal that must occur, a regular expression with named groups,
// and what the message is. Adding a library or a wording = adding rows in patterns.cc. Must not: decide causes.
#pragma once

#include <span>
#include <string_view>

#include "logs/event.h"

namespace pindown::logs {

/// When a row's literal is looked for in a large log.
enum class Look {
  kTrigger,  // can name a failure: always
  kContext,  // only in logs where a trigger was found
  kAmend,    // like kContext; the match completes the event before it (same library, within 20 lines) instead of being
             // one
};

/// Named groups: verb, errno (words), n (errno number, sign ignored), dev, addr, len (bytes), args ("addr=…, len=…"),
/// mem (1/2 or cuda/host …), kb / bytes (a limit named by the line), detail, file, line.
struct Pattern {
  std::string_view literal;  // at least 4 bytes
  std::string_view regex;    // RE2 syntax, unanchored
  Kind kind;
  std::string_view library;
  Look look = Look::kTrigger;
};

std::span<const Pattern> patterns();

/// The kind a failing verb stands for ("ibv_create_cq" → kCreateQueue); kMention for verbs whose failure is harmless.
Kind kind_of_verb(std::string_view verb);

}  // namespace pindown::logs
