// SPDX-License-Identifier: Apache-2.0
// What a host or pod name may tell, and which words before a colon are no names at all. Entry points: looks_like_pod,
// looks_like_docker_id, is_plausible_host. Hints only: nothing here looks anything up.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "logs/shape_parts.h"

namespace pindown::logs {
namespace {

constexpr std::size_t kMaxParts = 24;

struct Parts {
  std::array<std::string_view, kMaxParts> part;
  std::size_t count = 0;

  std::string_view last(std::size_t back = 0) const {
    return back < count ? part[count - 1 - back] : std::string_view{};
  }
  /// Parts that start with a letter, leaving out the last `back`.
  std::size_t words(std::size_t back) const {
    std::size_t n = 0;
    for (std::size_t i = 0; i + back < count; ++i) n += is_alpha(part[i][0]) ? 1 : 0;
    return n;
  }
};

/// The first DNS label cut at dashes; no parts at all unless every one is of lower-case letters and digits.
Parts split_label(std::string_view host) {
  std::string_view label = host.substr(0, host.find('.'));
  Parts parts;
  if (label.empty() || label.size() > 63 || !is_alnum(label[0])) return parts;
  while (parts.count < kMaxParts) {
    const std::size_t dash = label.find('-');
    const std::string_view part = label.substr(0, dash);
    const bool plain =
        !part.empty() && std::ranges::all_of(part, [](char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); });
    if (!plain) return {};
    parts.part[parts.count++] = part;
    if (dash == kNpos) return parts;
    label.remove_prefix(dash + 1);
  }
  return {};
}

bool has_digit(std::string_view text) {
  return std::ranges::any_of(text, is_digit);
}
bool has_letter(std::string_view text) {
  return std::ranges::any_of(text, is_alpha);
}
bool all_digits(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, is_digit);
}

/// "gpu01", "node7": letters, then digits: a machine's name rather than a hash.
bool is_numbered_word(std::string_view text) {
  const auto first_digit = std::ranges::find_if(text, is_digit);
  return first_digit != text.begin() && std::all_of(first_digit, text.end(), is_digit);
}

/// Five random characters, as the API server's generateName appends (k8s.io/apimachinery util/rand), after a name of at
/// least two parts; a ReplicaSet's own hash before them makes even an odd-looking five sure.
bool ends_in_hash(const Parts& parts) {
  const std::string_view tail = parts.last();
  if (parts.count < 3 || tail.size() != 5 || !has_letter(tail) || parts.words(1) == 0) return false;
  const std::string_view before = parts.last(1);
  const bool replica_set =
      before.size() >= 8 && before.size() <= 10 && has_digit(before) && has_letter(before) && !is_numbered_word(before);
  if (replica_set) return true;
  return has_digit(tail) && !is_numbered_word(tail);
}

bool is_ordinal(std::string_view part) {
  return all_digits(part) && part.size() <= 4 && (part == "0" || part[0] != '0');
}

/// Roles the training operators, Ray and the MPI operator put at the end of their pods' names.
bool ends_in_role(const Parts& parts) {
  if (parts.count >= 3 && is_ordinal(parts.last()) && (parts.last(1) == "worker" || parts.last(1) == "master"))
    return true;
  if (parts.count >= 2 && parts.last() == "launcher") return true;
  if (parts.count < 3) return false;
  return parts.last(1) == "launcher" || parts.last(1) == "head";
}

constexpr std::array kFileEndings = {"c",    "cc",  "cpp",  "cu",  "cuh", "conf", "go",   "h",   "hpp", "json",
                                     "log",  "md",  "out",  "err", "py",  "rs",   "sh",   "so",  "txt", "toml",
                                     "yaml", "yml", "html", "csv", "bin", "pt",   "java", "cfg", "ini", "service"};

/// "1.2", "libfoo-1.2", "train-7b.py": dotted, but no host.
bool is_dotted_non_host(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == kNpos) return false;
  if (dot + 1 == name.size() || !is_alpha(name[dot + 1])) return true;
  const std::string_view ending = name.substr(name.rfind('.') + 1);
  return name.find(".so.") != kNpos || std::ranges::find(kFileEndings, ending) != kFileEndings.end();
}

constexpr std::array kCommonWords = {
    "attempt", "bash",      "batch",     "bytes",  "case",    "cause",   "caused", "chunk",      "connectx",
    "count",   "cpu",       "critical",  "cuda",   "debug",   "device",  "driver", "env",        "epoch",
    "err",     "error",     "exception", "fatal",  "file",    "gcc",     "hint",   "hugepages",  "info",
    "iter",    "iteration", "key",       "last",   "layer",   "level",   "lib",    "libibverbs", "limit",
    "line",    "loss",      "max",       "memory", "message", "min",     "name",   "nccl",       "note",
    "notice",  "numa",      "output",    "phase",  "pid",     "port",    "py",     "python",     "rank",
    "rc",      "reason",    "result",    "retry",  "round",   "sha",     "size",   "slurmstepd", "srun",
    "stage",   "status",    "step",      "stderr", "stdout",  "success", "task",   "test",       "time",
    "total",   "trace",     "traceback", "try",    "type",    "utf",     "v",      "value",      "ver",
    "version", "warn",      "warning",   "x",      "zsh"};

}  // namespace

std::size_t name_length(std::string_view text) {
  const std::size_t end = std::min(text.size(), kMaxName + 1);
  std::size_t n = 0;
  while (n < end && is_name_char(text[n])) ++n;
  return n;
}

bool is_ipv4(std::string_view text) {
  for (int i = 0; i < 4; ++i) {
    const std::string_view part = take_digits(text);
    if (part.empty() || part.size() > 3) return false;
    if (i < 3 && !consume(text, ".")) return false;
  }
  return text.empty();
}

bool is_level(std::string_view word) {
  constexpr std::array kLevels = {"DEBUG", "INFO", "WARN", "WARNING", "ERROR", "CRITICAL", "FATAL", "TRACE"};
  return std::ranges::any_of(kLevels, [&](std::string_view level) { return iequals(level, word); });
}

bool is_common_word(std::string_view name) {
  if (name.ends_with("Error") || name.ends_with("Exception") || name.ends_with("Warning")) return true;
  std::array<char, 16> stem{};
  std::size_t n = 0;
  while (n < name.size() && n < stem.size() && is_alpha(name[n])) {
    stem[n] = to_lower(name[n]);
    ++n;
  }
  // "step-10" and "utf8" are their stems; "test-node-3" is a host.
  const std::string_view word(stem.data(), n);
  const bool whole = name.substr(n).find_first_not_of("0123456789-_.") == kNpos;
  if (word == "hugepages" || word == "python") return true;
  return whole && std::ranges::find(kCommonWords, word) != kCommonWords.end();
}

bool is_plausible_host(std::string_view name) {
  if (name.size() < 3 || name.size() > kMaxName || !is_alnum(name.front()) || !is_alnum(name.back())) return false;
  if (is_ipv4(name)) return true;
  if (!is_alpha(name[0]) || name.find('_') != kNpos || is_common_word(name) || is_dotted_non_host(name)) return false;
  if (looks_like_pod(name)) return true;
  return has_digit(name) && name.find_first_of("-.") != kNpos;
}

bool is_kubernetes_name(std::string_view host) {
  if (host.find('-') == kNpos) return false;
  if (host.find(".svc.") != kNpos || host.ends_with(".svc")) return true;
  const Parts parts = split_label(host);
  return ends_in_role(parts) || ends_in_hash(parts);
}

bool looks_like_pod(std::string_view host) {
  if (is_kubernetes_name(host)) return true;
  // A StatefulSet or training job counts from 0 without padding; a machine of one word and a number is not taken for
  // one.
  const Parts parts = split_label(host);
  return parts.count >= 3 && is_ordinal(parts.last()) && parts.words(1) >= 2;
}

bool looks_like_docker_id(std::string_view host) {
  const auto is_hex = [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); };
  return host.size() == 12 && std::ranges::all_of(host, is_hex) && has_digit(host) && has_letter(host);
}

}  // namespace pindown::logs
