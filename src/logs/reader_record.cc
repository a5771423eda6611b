// SPDX-License-Identifier: Apache-2.0
// See reader_record.h.
#include "logs/reader_record.h"

#include <re2/re2.h>

#include "base/errno_name.h"
#include "base/text.h"

namespace pindown::logs {
namespace {

constexpr std::uint64_t kMostLines = 20;
constexpr std::size_t kMostBytes = 1000;
constexpr int kLeastErrno = 1, kMostErrno = 4095;  // MAX_ERRNO, include/linux/err.h

/// "arguments:", "MemoryRegion {", "len: 4096,": more must follow.
bool is_unfinished(std::string_view text) {
  text = trim(text);
  return !text.empty() && std::string_view(":,{([").find(text.back()) != std::string_view::npos;
}

/// A line that begins as no message of its own does.
bool is_continuation(std::string_view text) {
  return !text.empty() && (is_blank(text.front()) || std::string_view(",})]").find(text.front()) != text.npos);
}

bool starts_record(const Shape& shape) {
  return shape.time_us || shape.nccl_prefix || shape.ucx_prefix;
}

/// "Os { code: 14, kind: …" as Rust prints an io::Error (std/src/io/error.rs), "(os error 14)", "errno=14". A plain
/// "ret -1" is no errno.
std::optional<int> errno_number(std::string_view text) {
  static const RE2 number(R"((?i)\b(?:errno\s*[:=]?\s*-?|os error |os ?\{ ?code: )(\d{1,4})\b)");
  int value = 0;
  if (!RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), number, &value)) return std::nullopt;
  if (value < kLeastErrno || value > kMostErrno) return std::nullopt;
  return value;
}

/// The words of strerror(3) anywhere in the line.
std::optional<int> errno_words(std::string_view text) {
  for (int tries = 0; !text.empty() && tries < 64; ++tries) {
    if (const auto number = errno_from_text(text)) return number;
    const auto at = text.find_first_of(" (:'\"=");
    if (at == std::string_view::npos) return std::nullopt;
    text.remove_prefix(at + 1);
  }
  return std::nullopt;
}

void take_range(Event& event, std::string_view text) {
  static const RE2 address(R"((?i)\baddr(?:ess)?\s*[:=]\s*0x([0-9a-f]{1,16})\b)");
  static const RE2 length(R"((?i)\b(?:len(?:gth)?|size)\s*[:=]\s*(\d{1,19})\b)");
  std::string digits;
  if (!event.address && RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), address, &digits)) {
    event.address = parse_hex(digits);
  }
  if (!event.length && RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), length, &digits)) {
    event.length = parse_u64(digits);
  }
}

}  // namespace

void OpenRecord::begin(Event& event, std::size_t index) {
  close();
  if (!is_registration(event.kind) || event.error) return;
  index_ = index;
  wrapper_ = event.shape.wrapper;
  line_ = event.line;
  lines_ = 0;
  unfinished_ = is_unfinished(event.shape.text);
  event.cut = unfinished_ && event.library.empty();  // the known libraries end their messages so, too
}

std::optional<std::size_t> OpenRecord::continued_by(const ShapedLine& line) {
  if (!index_) return std::nullopt;
  const std::string_view text = line.shape.text;
  const bool other_stream = line.shape.wrapper != wrapper_;
  if (other_stream && line.line <= line_ + kMostLines) return std::nullopt;  // ranks write at the same time
  const bool belongs =
      !other_stream && !starts_record(line.shape) && lines_ < kMostLines && (unfinished_ || is_continuation(text));
  if (!belongs) {
    close();
    return std::nullopt;
  }
  line_ = line.line;
  ++lines_;
  unfinished_ = is_unfinished(text);
  return index_;
}

void OpenRecord::complete(Event& event, std::string_view text) {
  text = text.substr(0, kMostBytes);
  take_range(event, text);
  if (event.error) return;
  event.error = errno_words(text);
  if (!event.error) event.error = errno_number(text);
  if (!event.error) return;
  event.error_text = std::string(trim(text).substr(0, 120));
  event.with_errno = true;
  event.cut = false;
}

}  // namespace pindown::logs
