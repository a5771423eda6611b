// SPDX-License-Identifier: Apache-2.0
// From a raw log line to the text a program wrote, with what the wrappers around it said: launcher rank, host, pod,
// container runtime framing, timestamps, colours. Wrappers nest in any order; each is taken off until none is left.
// Entry point: Shaper::feed. Must not: judge, keep whole logs, or trust a length.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pindown::logs {

/// What the wrappers and NCCL's own prefix say about a line. All optional; nothing is guessed.
struct Shape {
  std::string text;     // the message without wrappers; for NCCL lines without "host:pid:tid [dev] " too
  std::string wrapper;  // the wrappers as they stood ("[1,3]<stdout>:"): equal wrappers = same stream
  std::string host;     // NCCL/UCX/OMPI prefix first, else pdsh/journald/pod name
  std::optional<std::int64_t> pid;
  std::optional<std::int64_t> tid;
  std::optional<std::int64_t> rank;     // srun -l, mpirun tag, [rank3]:, never NCCL's [dev]
  std::optional<std::int64_t> dev;      // NCCL's [dev]: CUDA device of the calling thread, not a rank
  std::optional<std::int64_t> time_us;  // since 1970, where the line has a full wall-clock date; UTC assumed
  /// "srun", "mpirun", "torchrun", "pdsh", "kubectl", "docker-json", "docker-compose", "cri", "journald", "ray", "vllm"
  /// or "".
  std::string launcher;
  bool kubernetes = false;  // CRI framing, pod/…, or a name of a pod's shape
  bool nccl_prefix = false;
  bool ucx_prefix = false;
  bool group_mark = false;  // a rule, or the heading between two, that may part output grouped by hosts
};

/// One physical line in, zero or more shaped lines out (zero: a partial line waits for its rest; more: two ranks
/// glued).
struct ShapedLine {
  Shape shape;
  std::uint64_t line = 0;  // of the physical line it started on, 1-based
  std::string raw;         // the physical line, at most 4096 bytes, for evidence
};

class Shaper {
 public:
  /// `raw` has no '\n'; a trailing '\r' is fine. Lines longer than 64 KiB are cut.
  std::vector<ShapedLine> feed(std::uint64_t line, std::string_view raw);
  /// Whether the newest line stands in output grouped by hosts: equal lines of two groups are two hosts'.
  bool grouped() const { return !group_.hosts.empty(); }
  /// What still waits (a CRI or json-file partial line at the end of the log).
  std::vector<ShapedLine> finish();

 private:
  friend class ShapeRun;  // shape.cc: one call of feed or finish
  struct Partial {
    std::string text;
    std::uint64_t line = 0;
    Shape shape;                 // of the framing
    std::size_t last_chunk = 0;  // bytes of the newest piece: runtimes split at 16 KiB, so a short one was the end
  };
  struct Held {  // a line that seems cut in half
    ShapedLine line;
    std::uint64_t feed = 0;
  };
  /// "----", "node[01-04] (4)", "----": what follows was said by these hosts alike (clush -b, dshbak -c).
  struct Group {
    std::string hosts;       // of the open group; "" if none is, kUnknownHost after a gap
    std::string rule;        // a line of dashes, and then perhaps
    std::string header;      // the line after it
    bool closing = false;    // the newest line is the second rule
    std::uint64_t line = 0;  // of the newest line: a gap means that lines between were not seen
  };
  void follow_group(std::uint64_t line, std::string_view raw);
  Group group_;
  std::map<std::string, Partial, std::less<>> partial_;  // by stream; at most 256 streams, 64 KiB each
  std::set<std::string, std::less<>> words_;  // names that stood as "name: " before a library's prefix; at most 4096
  std::set<std::string, std::less<>> hosts_;  // hosts of library prefixes, to part glued lines; at most 4096
  std::vector<Held> held_;                    // at most 64, oldest first
  std::string last_host_;
  std::uint64_t feeds_ = 0;
};

/// True for names Kubernetes gives: "llm-train-worker-1", "job-abc12-xyz9z", StatefulSet "-0" with at least two words.
/// A hint, not a proof: cluster nodes are called "gpu-node-1" too; callers must say "looks like".
bool looks_like_pod(std::string_view host);
/// Twelve hex digits with at least one letter and one digit: Docker's default host name.
bool looks_like_docker_id(std::string_view host);

}  // namespace pindown::logs
