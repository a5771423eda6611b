// SPDX-License-Identifier: Apache-2.0
// What a check looks at: one failure from a log, one live process, or the machine, with all facts that belong to it and
// the few derivations that many checks share. Built once, read by every check; checks never see files.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "facts/facts.h"
#include "finding/prediction.h"
#include "finding/report.h"
#include "logs/incident.h"
#include "model/charge.h"

namespace pindown {

/// What is enough (product.md): --need, else what the log or process shows, else the default policy.
struct Need {
  std::optional<std::uint64_t> bytes;
  std::string source;  // "--need 4G", "train.log:120 asks for 64 MiB"; empty = default policy
};

/// The memlock limit that governs the failing process, as far as anything shows it.
struct LimitView {
  std::optional<Limit> soft, hard;
  Source source;
  std::string from;         // "the job printed it", "UCX printed it", "a shell printed it", "/proc/4242/limits"
  bool of_job = false;      // seen in the failing process or container itself, not merely in some shell
  bool at_failure = false;  // printed by the failing call itself
  bool inherited = false;   // the daemon's or unit's that starts such jobs: the job has it unless something raised it
  bool holder_capable = false;  // the shell that shows it has CAP_IPC_LOCK, and so have the jobs that it starts
};

/// What the failing process had pinned beside the request that failed.
struct PinView {
  std::optional<std::uint64_t> bytes;
  Source source;
  bool at_failure = false;  // not read some time later
  bool part = false;        // a library's own count: the process may have pinned more
};

/// Whether CAP_IPC_LOCK would let the failing process pass the limit. charge.h, memlock-model A1 R7.
struct CapabilityView {
  std::optional<bool> usable;
  std::string why;  // "CapEff has bit 14 and the user namespace is the first one"
  Source source;
};

enum class SubjectKind { kIncident, kProcess, kMachine };

struct Situation {
  SubjectKind kind = SubjectKind::kMachine;
  const logs::Incident* incident = nullptr;  // kIncident only
  const logs::RunContext* run = nullptr;     // kIncident only
  const Process* process = nullptr;          // kProcess; for kIncident the process whose facts the log shows, if any
  const Facts* facts = nullptr;              // never null
  bool from_log_alone = false;               // no fact of a live machine joined
  bool is_daemon = false;                    // kProcess: starts jobs; judged for what its children will get
  const Trail* trail = nullptr;              // kProcess: ancestors, if known
  const Prediction* session = nullptr;  // kProcess of a session: what one that is opened now, in the same way, gets
  Need need;
  LimitView limit;
  PinView pin;
  CapabilityView ipc_lock;

  // shorthands, all false/empty for a non-incident
  bool registration() const;   // a failed registration, queue creation or PD
  bool queue() const;          // create_cq/qp/srq
  logs::Kind failure() const;  // first.kind; only call with an incident
  bool has_errno(int number) const;
  bool no_errno() const;  // the line carried no errno at all
  /// ENOMEM, or a wording without errno where ENOMEM is possible: the limit is a candidate.
  bool enomem_possible() const;
  /// Host or GPU buffer, as far as verb, [RO], channels and library text tell (demand.h).
  logs::MemoryType memory() const;
  bool gpu_possible() const;
  bool in_container() const;  // docker-id host, pod-like host, container prompt or container command seen
  bool in_kubernetes() const;
  /// Nothing but the host's name says pod, and nothing says otherwise: enough for a question, never for an accusation.
  bool pod_like_name() const;
  bool under_slurm() const;
  bool launched_by(const char* name) const;  // run->launchers has it
  std::optional<Limit> soft() const { return limit.soft; }
  /// Where a shell or Slurm was refused the limit it wanted to set for the job: the hard limit is below that.
  std::optional<Source> raise_refused() const;
  /// What is pinned and what was asked for are together within the job's limit; nothing if one of the three is unknown.
  std::optional<bool> pinned_fits() const;
  /// The limit is shown not to be the cause: unlimited, a usable capability, or room for the request (P3).
  bool limit_cleared() const;
  /// CAP_IPC_LOCK is effective, but whether the user namespace is the first one is not known.
  bool capability_may_count() const;
  /// Cleared, or all that is seen of it (some shell's) is unlimited: other causes are worth naming.
  bool limit_unlikely() const;
  /// Limit facts make it the likely or proven cause (P1/P2); empty optional: they say nothing.
  std::optional<Certainty> limit_guilty() const;
  /// First env value of the name among job, pasted and machine environments.
  const Fact<std::string>* env(const std::string& name) const;
  bool module_loaded(const std::string& name) const;
  bool module_absent(const std::string& name) const;  // shown not to be loaded
  /// First kernel event of this kind, or null.
  const logs::Event* kernel_event(logs::Kind kind) const;

  /// Evidence of the failing line ("train.log:120").
  Evidence failure_evidence() const;
};

/// What would make the unreadable readable: root, or, for root, another place to look from.
std::string how_to_read(const Facts& machine);
std::string how_to_read(const Situation& s);

Evidence cite(const Source& source, std::string note = {});
Evidence cite(const logs::Event& event, std::string note = {});
Source cite_source(const logs::Event& event);

}  // namespace pindown
