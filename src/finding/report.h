// SPDX-License-Identifier: Apache-2.0
// What pindown has to say, as plain data: findings, candidates, what was ruled out, trails, incidents, inputs.
// The JSON shape (report_json.h) is normative: schema pindown.report/1. Passive data; no logic, no printing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/size.h"

namespace pindown {

enum class Severity { kNote, kWarning, kError };
enum class Certainty { kPossible, kLikely, kProven };
enum class Verdict { kHealthy, kDegraded, kUndetermined, kFault };

std::string_view severity_name(Severity);
std::string_view certainty_name(Certainty);
std::string_view verdict_name(Verdict);

/// Where something was read and what stood there: "/etc/ssh/sshd_config:57", "train.log:120", "/proc/4242/limits".
struct Evidence {
  std::string source;
  std::string text;
  std::string note;  // a word of explanation for people ("never reached"); may be empty
};

struct Subject {
  std::optional<std::string> host;
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> rank;
  std::optional<std::string> device;
  std::optional<std::string> container;
  std::optional<std::string> process;  // "python3 train.py"
  std::optional<std::string> user;

  friend bool operator==(const Subject&, const Subject&) = default;
};

struct Remedy {
  std::string id;     // stable: "limits-conf-unlimited"
  std::string title;  // "set UsePAM yes, reload sshd, log in again"
  std::vector<std::string> commands;
  bool persistent = true;
  std::string verify;  // the command that shows it worked
};

struct Finding {
  std::string code;
  std::string slug;
  Severity severity = Severity::kError;
  Certainty certainty = Certainty::kPossible;
  Subject subject;
  std::string summary;
  std::vector<Evidence> evidence;
  std::vector<Remedy> remedies;
};

struct Candidate {
  std::string code;
  std::string decide;  // the one command that would decide it
  std::string why;
};

struct RuledOut {
  std::string code;
  std::string why;
};

struct Suppressed {
  std::string code;
  std::string by;
};

struct Unknown {
  std::string code;
  std::vector<std::string> missing;
  std::string how;
};

struct TrailLink {
  std::string name;
  std::int64_t pid = 0;
  std::optional<Limit> soft;
  std::optional<Limit> hard;
  bool set_here = false;
  std::string source;
  std::string text;
  std::string note;
  std::string comm;  // of the process; not shown where the name is its service's
};

/// From PID 1 down to the subject.
struct Trail {
  Subject subject;
  std::vector<TrailLink> links;
  std::string summary;  // "VmPin 5.1 MiB · CAP_IPC_LOCK no"
};

struct IncidentFirst {
  std::string file;
  std::uint64_t line = 0;
  std::optional<std::string> host;
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> rank;
  std::string verb;
  std::string error;  // errno name, or empty when the line had none; the JSON key is "errno"
  std::string library;
  std::string version_hint;
  std::string text;
};

struct IncidentSummary {
  IncidentFirst first;
  std::uint64_t ranks = 0;
  std::uint64_t hosts = 0;
  std::uint64_t occurrences = 0;
  std::uint64_t echoes = 0;
  bool continued = false;
  std::string buffer;  // "a data buffer in host memory, at most 4.6 MiB"
};

/// A file of a directory in which nothing is known to pindown: no reason for a complaint, but never hidden.
constexpr std::string_view kPassedOver = "passed-over";

struct InputSummary {
  std::string path;
  std::string kind;  // "nccl-log" …, "empty", "unrecognised", "unreadable", "directory", kPassedOver
  std::uint64_t lines = 0;
  std::uint64_t skipped = 0;
  std::string problem;  // one line: why it could not be read (whole), empty if it could
};

struct Report {
  std::string host;
  std::string time;  // RFC 3339, UTC
  Verdict verdict = Verdict::kUndetermined;
  std::string headline;   // at most 80 columns
  std::string statement;  // one or two sentences for people, below the headline
  std::vector<Finding> findings;
  std::vector<Candidate> candidates;
  std::vector<RuledOut> ruled_out;
  std::vector<Suppressed> suppressed;
  std::vector<Unknown> unknown;
  std::vector<Trail> trails;
  std::vector<IncidentSummary> incidents;
  std::map<std::string, std::string> facts;    // kernel, nccl, … as product.md lists them
  std::map<std::string, std::string> mlx5_fw;  // by device
  std::map<std::string, std::pair<std::optional<Limit>, std::optional<Limit>>> memlock;  // by entry point: soft, hard
  std::vector<InputSummary> inputs;
};

}  // namespace pindown
