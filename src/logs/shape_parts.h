// SPDX-License-Identifier: Apache-2.0
// The parts behind shape.h, private to src/logs/shape*.cc: scanners that look at the front of a text and say what
// stands there. All are pure, never read past the view, and do work bounded by its length. Everybody else includes
// shape.h.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "logs/shape.h"

namespace pindown::logs {

using Words = std::set<std::string, std::less<>>;

constexpr std::size_t kMaxName = 253;                     // a DNS name
constexpr std::size_t kMaxText = std::size_t{64} * 1024;  // of one line, also after joining
constexpr std::size_t kMaxRaw = 4096;
constexpr std::size_t kNpos = std::string_view::npos;

/// Where a time came from; a later one is trusted more.
enum class TimeSource { kNone, kOwnStamp, kFramingLocal, kFraming, kEpoch };
/// Where a host or pid came from; a later one is trusted more.
enum class Origin { kNone, kUnit, kWrapper, kLibrary };

/// A Shape being filled, with how good each part of it is.
struct Frame {
  Shape shape;
  TimeSource time_source = TimeSource::kNone;
  Origin host_origin = Origin::kNone;
  Origin pid_origin = Origin::kNone;

  void set_time(std::optional<std::int64_t> time_us, TimeSource source);
  void set_host(std::string_view host, Origin origin);
  void set_pid(std::optional<std::int64_t> pid, Origin origin);
  void set_launcher(std::string_view launcher);  // the outermost stays
};

// shape_stamp.cc
struct Stamp {
  std::size_t length = 0;  // 0: none
  std::optional<std::int64_t> time_us;
  bool iso_t = false;  // date and time joined by 'T'
};
/// "2026-01-02T03:04:05.123456789Z", "2026-01-02 03:04:05,200", "2026/01/02 03:04:05".
Stamp scan_iso(std::string_view text);
/// "Thu Jan 22 10:11:12 2026", also with a zone word before the year.
Stamp scan_asctime(std::string_view text);
/// "Jan 02 03:04:05.123456": no year, so no time.
Stamp scan_month(std::string_view text);
/// "08:14:10.123".
Stamp scan_clock(std::string_view text);
/// Any of the above in brackets, with what follows inside them ("[2026-06-02 04:48:31 TP0]"), without the blank after
/// it.
Stamp scan_bracket_stamp(std::string_view text);
/// Any stamp without brackets.
Stamp scan_plain_stamp(std::string_view text);
std::optional<std::int64_t> epoch_us(std::string_view seconds, std::string_view fraction);

// shape_name.cc
constexpr bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}
/// Length of the run of host-name characters at the front; at most kMaxName + 1.
std::size_t name_length(std::string_view text);
bool is_ipv4(std::string_view text);
/// A name only Kubernetes gives: the hash of a Job or ReplicaSet, or the roles of training operators.
bool is_kubernetes_name(std::string_view host);
/// May stand as "name: " before other programs' lines although no library line proved it yet.
bool is_plausible_host(std::string_view name);
/// Words that start ordinary sentences ("error", "step-10"): never a host.
bool is_common_word(std::string_view name);
bool is_level(std::string_view word);

// shape_library.cc
/// The prefix a library puts before its own messages.
struct Library {
  bool found = false;
  std::size_t length = 0;  // bytes to take off; 0 when the prefix stays in the text
  std::string_view host;
  std::optional<std::int64_t> pid, tid, dev, rank, time_us;
  TimeSource time_source = TimeSource::kNone;
  bool nccl = false;
  bool ucx = false;
};
Library scan_library(std::string_view text);
/// "NCCL …" at the front or after "file:line " and "(function) ".
bool starts_nccl_message(std::string_view text);

std::optional<std::int64_t> small_number(std::string_view digits);  // at most ten digits
/// Drops and returns the run of digits at the end.
std::string_view take_digits_back(std::string_view& text);
bool consume_back(std::string_view& text, char c);
bool is_host(std::string_view text);  // a name, IPv4 or IPv6 address

// shape_tag.cc
/// "[1,3]<stdout>:", "[prterun-h-1@1,3]<stderr>: ", "[1,3][host:77]<stdout>:", "[3]<stdout>:".
struct MpiTag {
  std::size_t length = 0;
  std::optional<std::int64_t> rank, pid;
  std::string_view host;
};
MpiTag scan_mpi_tag(std::string_view text);

/// "[rank3]:" of PyTorch's tracebacks, "[default3]:" of torchrun.
struct RoleTag {
  std::size_t length = 0;
  bool rank = false;
  std::int64_t number = 0;
};
RoleTag scan_role_tag(std::string_view text);

/// "(RayWorkerWrapper pid=12, ip=10.0.0.2) ", "(Worker_TP0 pid=281) ".
struct Actor {
  std::size_t length = 0;
  std::string_view name, ip;
  std::optional<std::int64_t> pid, rank;
};
Actor scan_actor(std::string_view text);
bool is_vllm(const Actor& actor);

/// "[36m", "#033[36m", "^[[36m": a colour whose escape character a pager, rsyslog or a web page replaced. 0: none.
std::size_t scan_bare_colour(std::string_view text);
/// "root@7d41c0a9be12:/# ", "[root@node ~]# ", "$ ": somebody typed what follows.
bool is_prompt(std::string_view text);
/// "ERROR 09-11 09:49:10 [file.py:10] " of vLLM's logger; older: "... file.py:10] ". 0: none.
std::size_t scan_vllm_header(std::string_view text);

// shape_frame.cc
bool needs_cleaning(std::string_view text);
/// Without terminal control sequences, NUL bytes and byte order marks at the front.
std::string clean(std::string_view text);

/// {"log":…} of Docker and {"MESSAGE":…} of the journal.
struct JsonFrame {
  bool found = false;
  bool journal = false;
  bool cut = false;  // the object never ends or is malformed; text is what could be read
  bool kubernetes = false;
  std::string text, stream, host;
  std::optional<std::int64_t> pid, time_us;
};
JsonFrame scan_json_frame(std::string_view text);

/// " stdout F " after a CRI time stamp.
struct CriTag {
  std::size_t length = 0;
  std::string_view stream;
  bool partial = false;
};
CriTag scan_cri_tag(std::string_view text);

// shape_peel.cc
enum class Stop { kMessage, kJson, kCriPartial, kCriFull };
struct Peeled {
  Stop stop = Stop::kMessage;
  std::string_view rest;  // still with the library's own prefix
  Library library;
};
/// Takes wrappers off the front of `text` into `frame` until none is left. New wrapper words go to `words`.
Peeled peel(std::string_view text, Frame& frame, Words& words);
void confirm(Words& words, std::string_view word);

// shape_join.cc
/// Where a second message starts inside `text`, or npos; never 0. `host`: the first one's, may be empty.
std::size_t find_glued(std::string_view text, std::string_view host, const Words& hosts);
/// Text before a prefix that no reader misses: blanks, punctuation, time stamps, a level word.
bool is_noise(std::string_view head);
/// The text of a NCCL line stops in the middle of a message whose wording is known.
bool is_cut(std::string_view text);
/// The two halves as one, if they are halves of one message.
std::optional<std::string> join_halves(std::string_view head, std::string_view tail);

}  // namespace pindown::logs
