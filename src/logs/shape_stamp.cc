// SPDX-License-Identifier: Apache-2.0
// Time stamps that launchers, runtimes and libraries put before a line. Entry points: scan_iso, scan_asctime,
// scan_month, scan_clock and the two that try them all. UTC is assumed where no zone is written. Knows nothing of what
// follows.
#include <chrono>

#include "base/text.h"
#include "logs/shape_parts.h"

namespace pindown::logs {
namespace {

constexpr std::string_view kDays = "SunMonTueWedThuFriSat";
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

/// Index of a three-letter word in a table of such words, or -1.
int find_word(std::string_view table, std::string_view text) {
  if (text.size() < 3) return -1;
  for (std::size_t i = 0; i < table.size(); i += 3) {
    if (table.substr(i, 3) == text.substr(0, 3)) return static_cast<int>(i / 3);
  }
  return -1;
}

/// `count` digits at `at`, or -1.
int number(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return -1;
  int value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    if (!is_digit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

std::int64_t micros(std::string_view fraction) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < 6; ++i) value = value * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
  return value;
}

struct Clock {
  std::size_t length = 0;
  std::int64_t us = 0;  // since midnight
};

/// "03:04:05", then '.' or ',' and digits.
Clock read_clock(std::string_view text) {
  const int hour = number(text, 0, 2);
  const int minute = number(text, 3, 2);
  const int second = number(text, 6, 2);
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return {};
  if (text[2] != ':' || text[5] != ':') return {};
  Clock clock{8, ((hour * 60LL + minute) * 60 + second) * 1'000'000};
  if (text.size() > 9 && (text[8] == '.' || text[8] == ',') && is_digit(text[9])) {
    std::string_view rest = text.substr(9);
    const std::string_view fraction = take_digits(rest);
    clock.length += 1 + fraction.size();
    clock.us += micros(fraction);
  }
  return clock;
}

std::optional<std::int64_t> date_us(int year, int month, int day) {
  using namespace std::chrono;
  const year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                            std::chrono::day{static_cast<unsigned>(day)}};
  if (year < 1970 || month < 1 || day < 1 || !date.ok()) return std::nullopt;
  return duration_cast<microseconds>(sys_days{date}.time_since_epoch()).count();
}

/// "Z", "+02:00", "-0700": its length and offset. Length 0: none.
Clock read_zone(std::string_view text) {
  if (text.starts_with('Z')) return {1, 0};
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return {};
  const bool colon = text.size() > 3 && text[3] == ':';
  const int hours = number(text, 1, 2);
  const int minutes = number(text, colon ? 4 : 3, 2);
  if (hours < 0 || hours > 15 || minutes < 0 || minutes > 59) return {};
  const std::int64_t us = (hours * 60LL + minutes) * 60'000'000;
  return {colon ? 6U : 5U, text[0] == '-' ? -us : us};
}

}  // namespace

Stamp scan_iso(std::string_view text) {
  if (text.size() < 19 || !is_digit(text[0])) return {};
  const char dash = text[4];
  if ((dash != '-' && dash != '/') || text[7] != dash || (text[10] != 'T' && text[10] != ' ')) return {};
  const auto date = date_us(number(text, 0, 4), number(text, 5, 2), number(text, 8, 2));
  const Clock clock = read_clock(text.substr(11));
  if (!date || clock.length == 0) return {};
  const Clock zone = read_zone(text.substr(11 + clock.length));
  return {11 + clock.length + zone.length, *date + clock.us - zone.us, text[10] == 'T'};
}

Stamp scan_asctime(std::string_view text) {
  if (text.size() < 24 || find_word(kDays, text) < 0 || text[3] != ' ' || text[7] != ' ' || text[10] != ' ') return {};
  const int month = find_word(kMonths, text.substr(4));
  const int day = text[8] == ' ' ? number(text, 9, 1) : number(text, 8, 2);
  const Clock clock = read_clock(text.substr(11));
  if (month < 0 || day < 1 || clock.length == 0) return {};
  std::size_t at = 11 + clock.length;
  if (at >= text.size() || text[at] != ' ') return {};
  ++at;
  const std::size_t zone = at;
  while (at < text.size() && at - zone < 5 && text[at] >= 'A' && text[at] <= 'Z') ++at;
  if (at > zone) {
    if (at >= text.size() || text[at] != ' ') return {};
    ++at;
  }
  const auto date = date_us(number(text, at, 4), month + 1, day);
  if (!date) return {};
  return {at + 4, *date + clock.us, false};
}

Stamp scan_month(std::string_view text) {
  if (text.size() < 15 || find_word(kMonths, text) < 0 || text[3] != ' ' || text[6] != ' ') return {};
  const int day = text[4] == ' ' ? number(text, 5, 1) : number(text, 4, 2);
  const Clock clock = read_clock(text.substr(7));
  if (day < 1 || day > 31 || clock.length == 0) return {};
  return {7 + clock.length, std::nullopt, false};
}

Stamp scan_clock(std::string_view text) {
  return {read_clock(text).length, std::nullopt, false};
}

Stamp scan_plain_stamp(std::string_view text) {
  if (text.empty()) return {};
  if (is_digit(text[0])) {
    const Stamp iso = scan_iso(text);
    return iso.length != 0 ? iso : scan_clock(text);
  }
  const Stamp asctime = scan_asctime(text);
  return asctime.length != 0 ? asctime : scan_month(text);
}

Stamp scan_bracket_stamp(std::string_view text) {
  if (!text.starts_with('[')) return {};
  Stamp stamp = scan_plain_stamp(text.substr(1));
  if (stamp.length == 0) return {};
  const std::size_t end = text.substr(0, stamp.length + 24).find(']', stamp.length + 1);
  if (end == kNpos) return {};
  stamp.length = end + 1;
  return stamp;
}

std::optional<std::int64_t> epoch_us(std::string_view seconds, std::string_view fraction) {
  // Below 2001 it is somebody's uptime, above 2200 no time at all.
  const auto value = parse_u64(seconds);
  if (!value || *value < 1'000'000'000 || *value > 7'300'000'000) return std::nullopt;
  return static_cast<std::int64_t>(*value) * 1'000'000 + micros(fraction);
}

}  // namespace pindown::logs
