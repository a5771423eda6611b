// SPDX-License-Identifier: Apache-2.0
// See shape.h. One line's way: cleaned, framing decoded, wrappers peeled, progress bars and glued lines parted, halves
// joined. ShapeRun is one call; what must be remembered between calls lives in Shaper and is bounded.
#include "logs/shape.h"

#include <algorithm>
#include <utility>

#include "base/host_name.h"
#include "base/text.h"
#include "logs/shape_parts.h"

namespace pindown::logs {
namespace {

constexpr int kMaxDepth = 4;             // frames inside frames
constexpr std::size_t kMaxPieces = 256;  // of one physical line
constexpr std::size_t kMaxStreams = 256;
constexpr std::size_t kMaxHeld = 64;
constexpr std::size_t kMaxHosts = 4096;
constexpr std::uint64_t kMaxHoldLines = 50;
constexpr std::size_t kFullChunk = 16'000;  // Docker and containerd cut at 16 KiB

/// Would the loss of this piece of an overwritten terminal line matter?
bool is_worth_keeping(std::string_view text) {
  for (const std::string_view word :
       {"NCCL ", "UCX  ", "ibv_", "ibverbs", "mlx5", "MEMLOCK", "memlock", "rror", "ailed"}) {
    if (contains(text, word)) return true;
  }
  return false;
}

void apply(Frame& frame, const Library& library) {
  frame.set_host(library.host, Origin::kLibrary);
  frame.set_pid(library.pid, Origin::kLibrary);
  frame.set_time(library.time_us, library.time_source);
  if (library.tid) frame.shape.tid = library.tid;
  if (library.dev) frame.shape.dev = library.dev;
  if (library.rank) frame.shape.rank = library.rank;
  frame.shape.nccl_prefix = library.nccl;
  frame.shape.ucx_prefix = library.ucx;
}

/// The frame of a later piece of a line: its own wrappers if it has any, else those of the first.
Frame inherit(const Frame& base, Frame own) {
  if (own.shape.wrapper.empty() || base.shape.wrapper.ends_with(own.shape.wrapper)) {
    Frame out = base;
    out.set_time(own.shape.time_us, own.time_source);
    return out;
  }
  if (!base.shape.launcher.empty() && (base.shape.launcher == "cri" || base.shape.launcher == "docker-json")) {
    own.shape.launcher = base.shape.launcher;
  }
  own.shape.kubernetes = own.shape.kubernetes || base.shape.kubernetes;
  own.set_time(base.shape.time_us, base.time_source);
  own.set_host(own.host_origin == Origin::kNone ? base.shape.host : std::string_view{}, base.host_origin);
  return own;
}

Frame frame_of(const Shape& shape) {
  Frame frame{shape, TimeSource::kNone, Origin::kNone, Origin::kNone};
  if (shape.time_us) frame.time_source = TimeSource::kFraming;
  if (!shape.host.empty()) frame.host_origin = Origin::kWrapper;
  if (shape.pid) frame.pid_origin = Origin::kWrapper;
  return frame;
}

}  // namespace

class ShapeRun {
 public:
  ShapeRun(Shaper& shaper, std::uint64_t line, std::string_view raw) : s_(shaper), line_(line), raw_(raw) {}

  std::vector<ShapedLine> feed() {
    expire_held();
    Frame frame;
    frame.shape.group_mark = !s_.group_.rule.empty() || s_.group_.closing;
    if (!s_.group_.hosts.empty() && !frame.shape.group_mark) {
      frame.set_launcher("pdsh");
      frame.set_host(s_.group_.hosts, Origin::kWrapper);
      if (s_.group_.hosts != kUnknownHost) frame.shape.wrapper = s_.group_.hosts + ": ";
    }
    text(raw_, std::move(frame), 0);
    return std::move(out_);
  }

  std::vector<ShapedLine> finish() {
    while (!s_.partial_.empty()) flush_partial(s_.partial_.begin(), 0);
    for (Shaper::Held& held : s_.held_) out_.push_back(std::move(held.line));
    s_.held_.clear();
    std::multimap<std::uint64_t, ShapedLine> by_line;
    for (ShapedLine& shaped : out_) by_line.emplace(shaped.line, std::move(shaped));
    out_.clear();
    for (auto& entry : by_line) out_.push_back(std::move(entry.second));
    return std::move(out_);
  }

 private:
  using Partial = Shaper::Partial;
  using PartialMap = decltype(Shaper::partial_);

  void text(std::string_view text, Frame frame, int depth) {
    std::string cleaned;
    if (needs_cleaning(text)) {
      cleaned = clean(text);
      text = cleaned;
    }
    while (text.ends_with('\r')) text.remove_suffix(1);
    Peeled peeled = peel(text, frame, s_.words_);
    for (int i = 0; i < kMaxDepth && (peeled.stop == Stop::kCriPartial || peeled.stop == Stop::kCriFull); ++i) {
      if (depth < kMaxDepth && chunk(peeled.rest, frame, peeled.stop == Stop::kCriPartial, depth)) return;
      peeled = peel(peeled.rest, frame, s_.words_);
    }
    if (peeled.stop == Stop::kJson && depth < kMaxDepth && json(peeled.rest, frame, depth)) return;
    if (contains(peeled.rest, "\r")) {
      segments(peeled.rest, frame);
    } else {
      message(std::move(frame), peeled);
    }
  }

  /// Adds a piece of a stream to what waits for it. False: nothing waits and this piece is whole.
  bool chunk(std::string_view text, const Frame& frame, bool partial, int depth) {
    const auto waiting = s_.partial_.find(frame.shape.wrapper);
    if (!partial && waiting == s_.partial_.end()) return false;
    if (waiting == s_.partial_.end()) return (start_partial(text, frame, depth), true);
    append(waiting->second, text);
    if (!partial) flush_partial(waiting, depth);
    return true;
  }

  void start_partial(std::string_view text, const Frame& frame, int depth) {
    if (s_.partial_.size() >= kMaxStreams) flush_partial(s_.partial_.begin(), depth);
    s_.partial_.emplace(frame.shape.wrapper, Partial{std::string(text), line_, frame.shape, text.size()});
  }

  static void append(Partial& partial, std::string_view text) {
    partial.text.append(text.substr(0, kMaxText - std::min(kMaxText, partial.text.size())));
    partial.last_chunk = text.size();
  }

  /// Sends on what waits; its line and text stand for the physical line meanwhile.
  void flush_partial(PartialMap::iterator at, int depth) {
    const Partial partial = std::move(at->second);
    s_.partial_.erase(at);
    const auto line = std::exchange(line_, partial.line);
    const auto raw = std::exchange(raw_, std::string_view(partial.text));
    text(partial.text, frame_of(partial.shape), depth + 1);
    line_ = line;
    raw_ = raw;
  }

  bool json(std::string_view text, const Frame& outer, int depth) {
    JsonFrame json = scan_json_frame(text);
    if (!json.found) return false;
    Frame frame = outer;
    frame.set_time(json.time_us, TimeSource::kFraming);
    frame.set_host(json.host, Origin::kWrapper);
    frame.set_pid(json.pid, Origin::kUnit);
    frame.set_launcher(json.journal ? "journald" : "docker-json");
    frame.shape.kubernetes = frame.shape.kubernetes || json.kubernetes;
    frame.shape.wrapper +=
        json.journal ? "{" + json.host.substr(0, kMaxName) + "}" : "{" + json.stream.substr(0, 16) + "}";
    std::string_view rest = json.text;
    for (std::size_t at; (at = rest.find('\n')) != kNpos && out_.size() < kMaxPieces; rest.remove_prefix(at + 1)) {
      json_text(rest.substr(0, at), frame, depth, true);
    }
    if (!rest.empty() || json.text.empty()) json_text(rest, frame, depth, json.journal || json.cut);
    return true;
  }

  /// `ended`: a newline stood behind it. Docker leaves it out only where it splits a long line, but log shippers strip
  /// it from every line: short pieces without one are joined to a piece that ends, never to each other.
  void json_text(std::string_view piece, const Frame& frame, int depth, bool ended) {
    const auto waiting = s_.partial_.find(frame.shape.wrapper);
    if (waiting != s_.partial_.end()) {
      const bool full = waiting->second.last_chunk >= kFullChunk && !scan_library(piece).found;
      const bool tail = ended && !piece.empty() && !has_prefix(piece);
      if (full || tail) return (void)chunk(piece, frame, !ended, depth);
      flush_partial(waiting, depth);
    }
    if (ended || !chunk(piece, frame, true, depth)) text(piece, frame, depth + 1);
  }

  bool has_prefix(std::string_view text) {
    Frame scratch;
    const Peeled peeled = peel(text, scratch, s_.words_);
    return peeled.library.found || !scratch.shape.wrapper.empty();
  }

  /// A terminal shows what was written last after a carriage return; the overwritten parts matter if they tell
  /// something.
  void segments(std::string_view text, const Frame& base) {
    text = text.substr(0, text.find_last_not_of(" \t\r") + 1);
    for (bool last = false; !last;) {
      const std::size_t end = out_.size() < kMaxPieces ? text.find('\r') : kNpos;
      const std::string_view segment = text.substr(0, end);
      last = end == kNpos;
      if (!last) text.remove_prefix(end + 1);
      if (!last && !is_worth_keeping(segment)) continue;
      Frame own;
      const Peeled peeled = peel(segment, own, s_.words_);
      message(inherit(base, std::move(own)), peeled);
    }
  }

  void message(Frame frame, const Peeled& peeled) {
    Library library = peeled.library;
    std::string_view text = peeled.rest.substr(library.length);
    std::size_t cut = find_glued(text, library.host, s_.hosts_);
    if (cut == kNpos) return emit(std::move(frame), library, text);
    const Frame base = frame;
    std::string_view host = library.host;
    while (cut != kNpos && out_.size() < kMaxPieces) {
      const std::string_view head = text.substr(0, cut);
      const bool noise = !library.found && is_noise(head);
      if (!noise) emit(frame, library, head);
      Frame own;
      if (noise)
        own.set_time(scan_bracket_stamp(head).length ? scan_bracket_stamp(head).time_us : scan_iso(head).time_us,
                     TimeSource::kOwnStamp);
      const Peeled next = peel(text.substr(cut), own, s_.words_);
      frame = inherit(base, std::move(own));
      library = next.library;
      text = next.rest.substr(library.length);
      if (!library.host.empty()) host = library.host;
      cut = find_glued(text, host, s_.hosts_);
    }
    emit(std::move(frame), library, text);
  }

  void emit(Frame frame, const Library& library, std::string_view text) {
    apply(frame, library);
    Shape& shape = frame.shape;
    shape.text.assign(text);
    if (!shape.kubernetes && !shape.host.empty()) shape.kubernetes = is_kubernetes_name(shape.host);
    if (library.nccl) remember_host(shape.host);
    ShapedLine shaped{std::move(shape), line_, std::string(raw_.substr(0, kMaxRaw))};
    if (!s_.held_.empty() && join(shaped, library.found)) return;
    if (shaped.shape.nccl_prefix && is_cut(text)) return hold(std::move(shaped));
    out_.push_back(std::move(shaped));
  }

  void remember_host(const std::string& host) {
    if (host == s_.last_host_) return;
    s_.last_host_ = host;
    if (s_.hosts_.size() < kMaxHosts) s_.hosts_.insert(host);
  }

  void hold(ShapedLine line) {
    if (s_.held_.size() >= kMaxHeld) release(s_.held_.begin());
    s_.held_.push_back({std::move(line), s_.feeds_});
  }

  void release(std::vector<Shaper::Held>::iterator at) {
    out_.push_back(std::move(at->line));
    s_.held_.erase(at);
  }

  void expire_held() {
    ++s_.feeds_;
    while (!s_.held_.empty() && s_.held_.front().feed + kMaxHoldLines < s_.feeds_) release(s_.held_.begin());
  }

  /// Lets a held line of the same stream go, with this one as its second half if it is that. True: it was.
  bool join(ShapedLine& next, bool has_library) {
    const auto held = std::ranges::find_if(
        s_.held_, [&](const Shaper::Held& h) { return h.line.shape.wrapper == next.shape.wrapper; });
    if (held == s_.held_.end() || held->line.line == next.line || trim(next.shape.text).empty()) return false;
    auto joined = has_library ? std::nullopt : join_halves(held->line.shape.text, next.shape.text);
    if (!joined) return (release(held), false);
    held->line.shape.text = std::move(*joined);
    held->line.raw.append(next.shape.text, 0, kMaxRaw - std::min(kMaxRaw, held->line.raw.size()));
    if (!is_cut(held->line.shape.text)) release(held);
    return true;
  }

  Shaper& s_;
  std::uint64_t line_;
  std::string_view raw_;
  std::vector<ShapedLine> out_;
};

void Shaper::follow_group(std::uint64_t line, std::string_view raw) {
  constexpr std::size_t kShortestRule = 4;
  constexpr std::size_t kLongestRule = 200;
  while (!raw.empty() && (is_blank(raw.back()) || raw.back() == '\r')) raw.remove_suffix(1);
  if (group_.line + 1 != line) {
    // A heading may have been among the lines that were not seen: whose these are is unknown, and not nobody's.
    const bool was_open = !group_.hosts.empty();
    group_ = {};
    if (was_open) group_.hosts = kUnknownHost;
  }
  if (raw.starts_with("$ ") || raw.starts_with("# ")) group_ = {};
  group_.line = line;
  group_.closing = false;
  const bool rule = raw.size() >= kShortestRule && raw.size() < kLongestRule && raw.find_first_not_of('-') == kNpos;
  if (!rule) {
    // "node[01-04] (4)": the number is how many hosts these are. A heading that is a plain word is no host: those that
    // need grouping are numbered or have names of several parts.
    const std::string_view hosts = raw.substr(0, raw.find(" ("));
    const bool header = !group_.rule.empty() && group_.header.empty() &&
                        std::ranges::any_of(hosts, [](char c) { return is_digit(c) || c == '-'; });
    group_.header.clear();
    // A set too long to be kept is somebody's, but not known whose.
    if (header && is_node_set(hosts)) group_.header = hosts.size() <= kMaxName ? hosts : kUnknownHost;
    if (group_.header.empty()) group_.rule.clear();
  } else if (!group_.header.empty() && group_.rule == raw) {
    group_.hosts = std::exchange(group_.header, {});
    group_.closing = true;
    group_.rule.clear();
  } else {
    group_.hosts.clear();
    group_.header.clear();
    group_.rule = raw;
  }
}

std::vector<ShapedLine> Shaper::feed(std::uint64_t line, std::string_view raw) {
  follow_group(line, raw);
  return ShapeRun(*this, line, raw.substr(0, kMaxText)).feed();
}

std::vector<ShapedLine> Shaper::finish() {
  return ShapeRun(*this, 0, {}).finish();
}

}  // namespace pindown::logs
