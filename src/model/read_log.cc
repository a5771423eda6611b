// SPDX-License-Identifier: Apache-2.0
// See read_log.h.
#include "model/read_log.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "base/text.h"
#include "facts/paste.h"
#include "logs/reader.h"
#include "logs/scan.h"
#include "logs/shape.h"

namespace pindown {
namespace {

using logs::Event;
using logs::Kind;

/// "$ cmd", "+ cmd", "root@7d41c0a9be12:/# cmd": what the paste reader must see before the table of messages does.
bool looks_like_prompt(std::string_view text) {
  if (text.starts_with("$ ") || text.starts_with("# ") || text.starts_with("+ ") || text.starts_with("% ")) return true;
  const auto at = text.find('@');
  if (at == std::string_view::npos || at > 64) return false;
  const auto mark = text.find_first_of("$#%", at);
  return mark != std::string_view::npos && mark < 160 && mark + 1 < text.size() && text[mark + 1] == ' ';
}

/// What a launcher says before the output of the command it was given.
bool is_notice(std::string_view text) {
  return text.starts_with("srun: job ") || text.starts_with("salloc: ");
}

logs::ScanLiterals all_literals() {
  logs::ScanLiterals literals;
  std::size_t triggers = 0;
  const auto& events = logs::event_literals(triggers);
  literals.triggers.assign(events.begin(), events.begin() + static_cast<std::ptrdiff_t>(triggers));
  literals.context.assign(events.begin() + static_cast<std::ptrdiff_t>(triggers), events.end());
  const auto& pasted = PasteReader::literals();
  literals.context.insert(literals.context.end(), pasted.begin(), pasted.end());
  return literals;
}

/// Attributes printed without their device's name ("max_mr: 262144" of a grep) belong to the only device there is.
void name_lone_device(Facts& facts) {
  const auto unnamed = std::ranges::find_if(facts.devices, [](const auto& entry) { return entry.second.name.empty(); });
  if (unnamed == facts.devices.end() || facts.devices.size() != 2) return;
  const RdmaDevice attributes = unnamed->second;
  RdmaDevice& device = unnamed == facts.devices.begin() ? std::next(unnamed)->second : facts.devices.begin()->second;
  if (attributes.host != device.host) return;
  merge_device(device, attributes);
  facts.devices.erase(unnamed);
}

/// Lines that say what many before them said, known by their text: the very same line, or one in which only digits in
/// front of NCCL's message (host, pid, rank, time) differ. A log where every hundredth line is a warning costs a
/// look-up each.
class Repeats {
 public:
  /// The event this line repeats, if it is known to.
  std::optional<std::size_t> find(std::string_view line) {
    if (const auto at = same_.find(line); at != same_.end() && at->second.times >= kOften) return at->second.event;
    if (alike_.empty() || !make_key(line)) return std::nullopt;
    const auto at = alike_.find(key_);
    return at == alike_.end() ? std::nullopt : std::optional(at->second);
  }
  /// `line` became the event, or was counted on it.
  void learn_same(std::string_view line, std::size_t event) {
    if (line.size() > kLongest) return;
    if (const auto at = same_.find(line); at != same_.end()) {
      at->second = {event, at->second.times + 1};
    } else if (same_.size() < kMost) {
      same_.emplace(line, Times{event, 1});
    }
  }
  /// `line` was counted on the event, as every line would be that differs from it only in digits of its prefix.
  void learn_alike(std::string_view line, std::size_t event) {
    if (alike_.size() < kMost && make_key(line)) alike_.emplace(key_, event);
  }

 private:
  static constexpr std::size_t kMost = 1024;
  static constexpr std::size_t kLongest = 512;
  static constexpr std::uint64_t kOften = 32;  // one more tells nothing
  struct Times {
    std::size_t event = 0;
    std::uint64_t times = 0;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  bool make_key(std::string_view line) {
    const auto message = line.size() > kLongest ? std::string_view::npos : line.find("NCCL WARN ");
    if (message == std::string_view::npos) return false;
    key_ = line;
    for (std::size_t i = 0; i < message; ++i) {
      if (is_digit(key_[i])) key_[i] = '0';
    }
    return true;
  }

  std::unordered_map<std::string, Times, Hash, std::equal_to<>> same_;
  std::unordered_map<std::string, std::size_t, Hash, std::equal_to<>> alike_;
  std::string key_;
};

class LogReader {
 public:
  LogReader(LogInput& out, const std::string& path) : out_(out), events_(path), paste_(out.facts, path) {}

  void feed(std::uint64_t line, std::string_view text) {
    if (const auto event = shaper_.grouped() ? std::nullopt : repeats_.find(text)) {
      events_.repeat(*event);
      paste_.end_block();
      return;
    }
    const auto lines = shaper_.feed(line, text);
    for (const logs::ShapedLine& shaped : lines) take(shaped);
    const bool whole = lines.size() == 1 && lines.front().line == line;
    if (!whole || shaper_.grouped()) return;
    const auto event = events_.latest();
    if (!event) return;
    if (events_.counted()) repeats_.learn_alike(text, *event);
    if (is_failure(events_.kind(*event))) repeats_.learn_same(text, *event);
  }
  void finish() {
    for (const logs::ShapedLine& shaped : shaper_.finish()) take(shaped);
    paste_.end_block();
    name_lone_device(out_.facts);
    out_.events = events_.take();
  }
  bool understood_paste() const { return paste_seen_; }

 private:
  void note_command(const logs::ShapedLine& shaped) {
    constexpr std::size_t kMost = 64;
    auto command = out_.commands.size() < kMost ? started_command(shaped.shape.text) : std::nullopt;
    if (!command) return;
    Event event;
    event.detail = std::move(*command);
    event.input = out_.summary.path;
    event.line = shaped.line;
    event.raw = shaped.shape.text.substr(0, 400);
    out_.commands.push_back(std::move(event));
  }
  void take(const logs::ShapedLine& shaped) {
    const bool prompt = looks_like_prompt(shaped.shape.text);
    if (prompt) note_command(shaped);
    if (prompt && paste_.feed(shaped)) {
      paste_seen_ = true;
      return;
    }
    if (paste_.expects(shaped) && paste_.feed(shaped)) {
      paste_seen_ = true;
      (void)events_.feed(shaped);  // a shell's "cannot modify limit" is an event as well
      return;
    }
    if (events_.feed(shaped)) {
      if (!is_notice(shaped.shape.text)) paste_.end_block();
      return;
    }
    paste_seen_ = paste_.feed(shaped) || paste_seen_;
  }

  LogInput& out_;
  logs::Shaper shaper_;
  logs::EventReader events_;
  Repeats repeats_;
  PasteReader paste_;
  bool paste_seen_ = false;
};

std::string kind_of(const LogInput& log, bool pasted) {
  const auto has = [&log](std::string_view library) {
    return std::ranges::any_of(log.events,
                               [library](const Event& e) { return e.library == library && e.kind != Kind::kProgress; });
  };
  if (has("nccl") || has("torch")) return "nccl-log";
  if (has("rccl")) return "rccl-log";
  for (const char* library :
       {"ucx", "aws-ofi-nccl", "libfabric", "openmpi", "mvapich2", "mooncake", "nixl", "nvshmem", "perftest"}) {
    if (has(library)) return std::string(library) + "-log";
  }
  if (has("kernel")) return "kernel-log";
  const bool any = std::ranges::any_of(
      log.events, [](const Event& e) { return e.kind != Kind::kProgress && e.kind != Kind::kExit; });
  if (any) return "log";
  return pasted ? "pasted-facts" : "unrecognised";
}

/// Why an input says nothing, in one line; empty if it was fine.
std::string problem_of(const logs::ScanResult& scan, const std::string& kind) {
  if (!scan.problem.empty()) return scan.problem;
  if (scan.bytes == 0) return "empty";
  if (scan.utf16) return "UTF-16 text; convert it first: iconv -f UTF-16 -t UTF-8";
  if (kind == "unrecognised" && scan.nul_bytes > 16) return "binary, not a log";
  return {};
}

}  // namespace

LogInput read_log(InputStream& stream, const std::string& path) {
  LogInput out;
  out.summary.path = path;
  LogReader reader(out, path);
  const logs::ScanResult scan = scan_lines(
      stream, all_literals(), [&reader](std::uint64_t line, std::string_view text) { reader.feed(line, text); });
  reader.finish();
  if (scan.utf16) out.events.clear(), out.facts = {};  // every second byte is not what it seems
  out.summary.lines = scan.lines;
  out.summary.skipped = scan.cut;
  out.summary.kind = scan.bytes == 0 ? "empty" : kind_of(out, reader.understood_paste() && !scan.utf16);
  out.summary.problem = problem_of(scan, out.summary.kind);
  out.recognised = out.summary.kind != "unrecognised" && out.summary.kind != "empty";
  return out;
}

std::vector<std::string_view> trigger_literals() {
  return all_literals().triggers;
}

}  // namespace pindown
