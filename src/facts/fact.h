// SPDX-License-Identifier: Apache-2.0
// Fact<T>: a value together with where it was read, or the reason why there is none. A missing fact is data, never an
// error, and never a pass.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace pindown {

enum class Missing {
  kNotAsked,   // nobody looked, or the input does not carry it
  kAbsent,     // looked: it is not there (file not found)
  kDenied,     // permission refused
  kMalformed,  // there, but not what the format says
  kVanished,   // was there a moment ago (a process that ended)
  kError,      // any other read error
};

std::string_view missing_name(Missing);

/// `path` is a file, optionally with ":line"; `text` is what stood there (one line, raw bytes as read); `host` whose
/// machine it tells of: of the prompt, of ssh, of the line's wrapper. Empty: not known, or this machine.
struct Source {
  std::string path;
  std::string text;
  std::string host = {};
};

template <class T>
struct Fact {
  std::optional<T> value;
  Source source;
  Missing missing = Missing::kNotAsked;

  bool known() const { return value.has_value(); }
  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  const T* operator->() const { return &*value; }

  static Fact of(T v, Source s) { return Fact{std::move(v), std::move(s), Missing::kNotAsked}; }
  static Fact none(Missing why, std::string path) { return Fact{std::nullopt, {std::move(path), {}, {}}, why}; }
};

}  // namespace pindown
