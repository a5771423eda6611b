// SPDX-License-Identifier: Apache-2.0
// See diagnose.h. Order of an answer: what evidence proves, then what it makes likely; among equals what names the link
// of the chain. A cause of another family than the leading one is not accused beside it.
#include "checks/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/errno_name.h"
#include "base/text.h"
#include "checks/check.h"
#include "checks/derive.h"
#include "checks/headline.h"
#include "checks/limit_common.h"
#include "model/attribute.h"
#include "model/demand.h"
#include "model/trail.h"

namespace pindown {
namespace {

using logs::Event;
using logs::Incident;
using logs::Kind;

constexpr std::size_t kMostIncidents = 4;
constexpr std::size_t kMostCandidates = 5;
constexpr int kStandsBeside = 70;  // weight from which a finding is named beside the leading one

struct Answer {
  const Check* check = nullptr;
  Outcome outcome;
};

/// Causes that say "the locked-memory limit": login, services, and how containers get theirs.
bool is_limit_family(std::string_view code) {
  return code.starts_with("PD1") || code.starts_with("PD2") || (code >= "PD301" && code <= "PD308");
}

Severity severity_of(const Answer& answer) {
  return answer.outcome.severity.value_or(answer.check->severity);
}

bool is_accusation(const Answer& a) {
  return a.outcome.kind == Outcome::Kind::kFound && a.outcome.certainty >= Certainty::kLikely &&
         severity_of(a) != Severity::kNote;
}

/// PD101 says only "the limit": beside a code that names the link it adds nothing, and must not lead by its greater
/// certainty.
void drop_repetition(std::vector<Answer>& answers) {
  const auto names_link = [](const Answer& a) {
    return is_accusation(a) && is_limit_family(a.check->code) && a.check->code != "PD101";
  };
  if (std::ranges::none_of(answers, names_link)) return;
  std::erase_if(answers,
                [](const Answer& a) { return a.check->code == "PD101" && a.outcome.kind == Outcome::Kind::kFound; });
}

std::vector<Answer> ask_all(const Situation& situation) {
  std::vector<Answer> answers;
  for (const Check* check : all_checks()) {
    if (check->eval == nullptr) continue;
    Outcome outcome = check->eval(situation);
    if (outcome.kind != Outcome::Kind::kNotApplicable) answers.push_back({check, std::move(outcome)});
  }
  std::ranges::stable_sort(answers, [](const Answer& a, const Answer& b) {
    if (a.outcome.certainty != b.outcome.certainty) return a.outcome.certainty > b.outcome.certainty;
    return a.outcome.weight > b.outcome.weight;
  });
  drop_repetition(answers);
  return answers;
}

Subject subject_of(const Situation& s) {
  Subject subject;
  if (s.incident != nullptr) {
    const Event& first = s.incident->first;
    if (!first.shape.host.empty()) subject.host = first.shape.host;
    subject.pid = first.shape.pid;
    subject.rank = first.shape.rank;
    if (!first.device.empty()) subject.device = first.device;
    return subject;
  }
  if (!s.facts->host.empty()) subject.host = s.facts->host;
  if (s.process != nullptr) {
    subject.pid = s.process->where.pid;
    subject.process = s.process->cmdline.empty() ? s.process->comm : s.process->cmdline;
    if (!s.process->user.empty()) subject.user = s.process->user;
  }
  return subject;
}

Finding make_finding(const Answer& answer, const Situation& s) {
  Finding f;
  f.code = answer.check->code;
  f.slug = answer.check->slug;
  f.severity = severity_of(answer);
  f.certainty = answer.outcome.certainty;
  f.subject = subject_of(s);
  f.summary = answer.outcome.summary;
  f.evidence = answer.outcome.evidence;
  if (s.incident != nullptr && s.incident->rerun && f.severity != Severity::kNote) {
    f.evidence.push_back(cite(*s.incident->rerun, "started again like this, it worked"));
  }
  f.remedies = answer.outcome.remedies;
  return f;
}

bool has_code(const std::vector<Finding>& findings, std::string_view code) {
  return std::ranges::any_of(findings, [code](const Finding& f) { return f.code == code; });
}

void add_findings(const std::vector<Answer>& answers, const Situation& s, Report& report) {
  const auto lead = std::ranges::find_if(answers, is_accusation);
  for (const Answer& a : answers) {
    if (a.outcome.kind != Outcome::Kind::kFound || has_code(report.findings, a.check->code)) continue;
    if (is_accusation(a) && lead != answers.end() && &a != &*lead) {
      const bool related = is_limit_family(a.check->code) == is_limit_family(lead->check->code);
      if (!related || a.outcome.weight < kStandsBeside) continue;
    }
    report.findings.push_back(make_finding(a, s));
  }
}

void add_candidates(const std::vector<Answer>& answers, Report& report) {
  std::vector<const Answer*> open;
  for (const Answer& a : answers) {
    if (a.outcome.kind == Outcome::Kind::kCandidate) open.push_back(&a);
  }
  std::ranges::stable_sort(open,
                           [](const Answer* a, const Answer* b) { return a->outcome.weight > b->outcome.weight; });
  for (const Answer* a : open) {
    const bool listed =
        std::ranges::any_of(report.candidates, [a](const Candidate& c) { return c.code == a->check->code; });
    if (listed || has_code(report.findings, a->check->code)) continue;
    if (report.candidates.size() == kMostCandidates) return;
    report.candidates.push_back({std::string(a->check->code), a->outcome.decide, a->outcome.why});
  }
}

void add_ruled_out(const std::vector<Answer>& answers, Report& report) {
  for (const Answer& a : answers) {
    if (a.outcome.kind != Outcome::Kind::kRuledOut || has_code(report.findings, a.check->code)) continue;
    const bool listed =
        std::ranges::any_of(report.ruled_out, [&a](const RuledOut& r) { return r.code == a.check->code; });
    if (!listed) report.ruled_out.push_back({std::string(a.check->code), a.outcome.why});
  }
}

void add_unknown(const std::vector<Answer>& answers, Report& report) {
  for (const Answer& a : answers) {
    if (a.outcome.kind != Outcome::Kind::kUnknown) continue;
    report.unknown.push_back({std::string(a.check->code), a.outcome.missing, a.outcome.how});
  }
}

/// A code found for one process is not "ruled out" because of another one.
void drop_contradictions(Report& report) {
  std::erase_if(report.ruled_out, [&report](const RuledOut& r) { return has_code(report.findings, r.code); });
  std::erase_if(report.candidates, [&report](const Candidate& c) { return has_code(report.findings, c.code); });
}

IncidentSummary summarise(const Incident& incident, const logs::RunContext& run) {
  const Event& first = incident.first;
  IncidentSummary out;
  out.first.file = first.input;
  out.first.line = first.line;
  if (!first.shape.host.empty()) out.first.host = first.shape.host;
  out.first.pid = first.shape.pid;
  out.first.rank = first.shape.rank;
  out.first.verb = first.verb;
  if (first.error) out.first.error = errno_name(*first.error);
  if (first.error && out.first.error.empty()) out.first.error = std::to_string(*first.error);
  out.first.library = first.library;
  out.first.version_hint = incident.version_hint;
  out.first.text = first.raw;
  out.ranks = incident.rank_count();
  out.hosts = std::max<std::uint64_t>(incident.hosts.size(), 1);
  out.occurrences = incident.occurrences;
  out.echoes = incident.echo_count;
  out.continued = incident.continued;
  if (is_registration(first.kind)) out.buffer = describe_buffer(derive_buffer(incident, run));
  return out;
}

void put_fact(Report& report, const char* key, const Fact<std::string>& fact) {
  if (fact.known() && !fact->empty()) report.facts[key] = *fact;
}

void put_facts(Report& report, const Facts& facts, const logs::RunContext* run) {
  put_fact(report, "kernel", facts.kernel);
  put_fact(report, "distro", facts.distro);
  for (const auto& [name, value] : facts.versions) put_fact(report, name.c_str(), value);
  if (run != nullptr && !run->nccl_version.empty()) report.facts["nccl"] = run->nccl_version;
  for (const auto& [key, device] : facts.devices) {
    if (!device.name.starts_with("mlx5") || !device.firmware.known()) continue;
    report.mlx5_fw.emplace(escape(device.name), escape(*device.firmware));
  }
}

// ---- verdict

Verdict verdict_of(const Report& report, const Policy& policy, bool open_question) {
  const bool fault = std::ranges::any_of(report.findings, [&policy](const Finding& f) {
    return f.severity >= policy.threshold && f.severity != Severity::kNote && f.certainty >= Certainty::kLikely;
  });
  if (fault) return Verdict::kFault;
  if (open_question) return Verdict::kUndetermined;
  const bool warned = std::ranges::any_of(report.findings, [](const Finding& f) {
    return f.severity >= Severity::kWarning && f.certainty >= Certainty::kLikely;
  });
  return warned ? Verdict::kDegraded : Verdict::kHealthy;
}

void sort_findings(Report& report) {
  // Only notes move: among accusations the order of their situations is the order of the story.
  std::ranges::stable_partition(report.findings, [](const Finding& f) { return f.severity != Severity::kNote; });
}

void note_finding(Report& report, std::string_view code, std::string summary) {
  const Check* row = find_check(code);
  if (row == nullptr || has_code(report.findings, code)) return;
  Finding f;
  f.code = row->code;
  f.slug = row->slug;
  f.severity = Severity::kNote;
  f.certainty = Certainty::kProven;
  f.summary = std::move(summary);
  report.findings.push_back(std::move(f));
}

// ---- logs

Facts gather_facts(const std::vector<LogInput>& logs) {
  Facts facts;
  for (const LogInput& log : logs) merge_facts(facts, log.facts);
  return facts;
}

logs::RunContext seed_from(const Facts& facts, const std::vector<LogInput>& logs) {
  logs::RunContext run;
  for (const LogInput& log : logs) run.commands.insert(run.commands.end(), log.commands.begin(), log.commands.end());
  for (const ContainerCommand& command : facts.containers) run.launchers.insert(command.engine);
  return run;
}

/// Failures the job survived come after those it did not, whatever the order in the log.
std::vector<const Incident*> by_importance(const std::vector<Incident>& incidents) {
  std::vector<const Incident*> order;
  order.reserve(incidents.size());
  for (const Incident& incident : incidents) order.push_back(&incident);
  std::ranges::stable_partition(order, [](const Incident* i) { return !i->continued; });
  if (order.size() > kMostIncidents) order.resize(kMostIncidents);
  return order;
}

bool on_other_host(const Incident& a, const Incident& b) {
  return !a.first.shape.host.empty() && !b.first.shape.host.empty() && a.first.shape.host != b.first.shape.host;
}

/// A failure later than a fatal one, on the same run, is not accused of anything: it may be a consequence. Only where
/// nothing is said of the main one, another step of registering memory may explain the run; and no registration fails
/// because one on another host did.
bool may_be_judged(const Incident& incident, const Incident& main, bool main_named) {
  if (&incident == &main || incident.continued) return true;
  const bool both_register = is_registration(main.first.kind) && is_registration(incident.first.kind);
  return both_register && (!main_named || on_other_host(incident, main));
}

bool judge_incidents(const logs::LogFindings& log, const Facts& facts, const Policy& policy, bool alone,
                     Report& report) {
  const auto order = by_importance(log.incidents);
  bool open = false;
  for (const Incident* incident : order) {
    if (!may_be_judged(*incident, *order.front(), !open)) continue;
    const Facts own = facts_of(*incident, facts);
    Situation s = incident_situation(*incident, log.context, own, policy.need);
    s.from_log_alone = alone;
    const std::vector<Answer> answers = ask_all(s);
    const std::size_t before = report.findings.size();
    add_findings(answers, s, report);
    const bool named = std::any_of(report.findings.begin() + static_cast<std::ptrdiff_t>(before), report.findings.end(),
                                   [](const Finding& f) { return f.certainty >= Certainty::kLikely; });
    const bool main = incident == order.front();
    if (main) {
      open = !named;
      add_ruled_out(answers, report);
      add_unknown(answers, report);
    }
    if (main || open) add_candidates(answers, report);
    open = open && !named;
  }
  for (const Incident& incident : log.incidents) {
    if (report.incidents.size() < kMostIncidents) report.incidents.push_back(summarise(incident, log.context));
  }
  return open;
}

bool speaks_of_rdma(const Facts& facts) {
  if (!facts.devices.empty() || facts.rdma_present.value == true || !facts.device_nodes.empty()) return true;
  if (!facts.env.empty()) return true;
  return std::ranges::any_of(facts.processes, [](const Process& p) {
    return p.nccl_mapped.known() || !p.env.empty() || (p.verbs_open.known() && !p.verbs_open->empty());
  });
}

/// Facts without a failure: a limit somebody pasted, memory numbers. Judged as a machine, never as a failed job.
/// True if that decides nothing.
bool judge_pasted(const Facts& facts, bool used_ib, const Policy& policy, Report& report) {
  if (!speaks_of_rdma(facts)) {
    if (!used_ib && report.findings.empty()) {
      note_finding(report, "PD905", "no failure, and nothing in this input uses RDMA: there is nothing to judge");
    }
    return true;
  }
  bool judged = false;
  for (const Process& process : facts.processes) {
    if (!process.memlock.known() || process.kind == ProcessKind::kShell) continue;
    judged = true;
    const Trail none;
    const Situation s = process_situation(process, none, facts, policy.need, process.kind == ProcessKind::kDaemon);
    const auto more = ask_all(s);
    add_findings(more, s, report);
    add_ruled_out(more, report);
  }
  return !judged;
}

/// An input in which a library shows a finished initialisation or a result, or in which no library speaks.
bool finished_start(const LogInput& log) {
  bool speaks = false;
  for (const Event& e : log.events) {
    if (e.kind == Kind::kInitComplete || (e.kind == Kind::kProgress && e.detail == "result")) return true;
    speaks = speaks || (e.kind != Kind::kProgress && e.kind != Kind::kExit);
  }
  return !speaks && !log.recognised;
}

Candidate ended_badly(const Event& by) {
  return {"PD705", "look for the first error in the logs of the other ranks, or run again with NCCL_DEBUG=INFO",
          fmt::format("the job ended with an error that names no call: {}:{} {}", by.input, by.line,
                      shorten(escape(by.raw, 400), 100))};
}

bool any_unread(const Report& report) {
  return std::ranges::any_of(report.inputs,
                             [](const InputSummary& i) { return i.kind == "unrecognised" || i.kind == "empty"; });
}

bool any_problem(const Report& report) {
  return std::ranges::any_of(report.inputs, [](const InputSummary& i) { return !i.problem.empty(); });
}

}  // namespace

Report diagnose_logs(std::vector<LogInput> logs, const std::optional<LiveFacts>& here, const Policy& policy) {
  Report report;
  attribute_by_name(logs);
  Facts facts = gather_facts(logs);
  if (here) merge_facts(facts, here->machine);
  std::vector<Event> events;
  bool recognised = false;
  bool all_started = true;
  for (LogInput& log : logs) {
    recognised = recognised || log.recognised;
    all_started = all_started && finished_start(log);
    report.inputs.push_back(log.summary);
    std::ranges::move(log.events, std::back_inserter(events));
  }
  const logs::LogFindings log = logs::derive_incidents(std::move(events), seed_from(facts, logs));
  bool open = false;
  if (!log.incidents.empty()) {
    open = judge_incidents(log, facts, policy, !here.has_value(), report);
  } else if (recognised) {
    Situation run = machine_situation(facts, policy.need);
    run.run = &log.context;
    add_findings(ask_all(run), run, report);
    if (!all_started) open = judge_pasted(facts, log.context.net_ib, policy, report);
    open = open || log.ended_by.has_value();
    if (log.ended_by) report.candidates.push_back(ended_badly(*log.ended_by));
  }
  if (!recognised) note_finding(report, "PD901", "nothing in this input is known to pindown");
  put_facts(report, facts, &log.context);
  drop_contradictions(report);
  sort_findings(report);
  report.verdict = verdict_of(report, policy, open || !recognised || any_problem(report) || any_unread(report));
  if (report.verdict != Verdict::kUndetermined) report.candidates.clear();
  write_headline(report, log.incidents.empty() ? nullptr : by_importance(log.incidents).front());
  return report;
}

namespace {

std::string entry_name(const Process& process, const Trail& trail) {
  for (auto link = trail.links.rbegin(); link != trail.links.rend(); ++link) {
    if (link->name.ends_with(".service")) return link->name;
  }
  return process.comm;
}

bool reads_denied(const Process& p) {
  return p.caps.missing == Missing::kDenied || p.memlock.missing == Missing::kDenied ||
         p.initial_userns.missing == Missing::kDenied || p.verbs_open.missing == Missing::kDenied ||
         p.map_count.missing == Missing::kDenied;
}

bool is_kernel_thread(const std::vector<Process>& chain) {
  const Process& root = chain.back();  // kthreadd has no parent, kernel/fork.c and init/main.c rest_init()
  return root.comm == "kthreadd" && root.ppid.value_or(0) == 0;
}

/// What could not be read of a process that is judged: said, with the command that would read it.
void add_denied(const Process& p, const Facts& machine, Report& report) {
  if (p.problems.empty()) return;
  Unknown unknown{"PD902", {}, how_to_read(machine)};
  for (const std::string& problem : p.problems) unknown.missing.push_back(problem);
  report.unknown.push_back(std::move(unknown));
}

std::vector<UnitFile> units_of(const LoginFacts& login) {
  std::vector<UnitFile> units;
  units.reserve(login.units.size());
  for (const auto& [name, unit] : login.units) units.push_back(unit);
  return units;
}

const Prediction* session_of(const Process& process, const Trail& trail, const LiveFacts& live) {
  const auto session = live.sessions.find(process.where.pid.value_or(0));
  return session != live.sessions.end() && limits::session_link(&trail) >= 0 ? &session->second : nullptr;
}

bool judge_chain(const std::vector<Process>& chain, const LiveFacts& live, const Policy& policy, bool daemon,
                 Report& report) {
  const Process& process = chain.front();
  Trail trail = derive_trail(chain);
  if (!live.machine.host.empty()) trail.subject.host = live.machine.host;
  if (live.login) annotate_trail(trail, units_of(*live.login), live.login->system_manager);
  Situation s = process_situation(process, trail, live.machine, policy.need, daemon);
  s.session = session_of(process, trail, live);
  const std::vector<Answer> answers = ask_all(s);
  add_findings(answers, s, report);
  add_ruled_out(answers, report);
  add_unknown(answers, report);
  if (process.memlock.known()) {
    if (daemon) report.memlock[entry_name(process, trail)] = {process.memlock->soft, process.memlock->hard};
    report.trails.push_back(trail);
    if (!daemon && reads_denied(process)) add_denied(process, live.machine, report);
    return !daemon &&
           std::ranges::any_of(answers, [](const Answer& a) { return a.outcome.kind == Outcome::Kind::kUnknown; });
  }
  add_denied(process, live.machine, report);
  return true;  // its limit is unknown: never healthy
}

bool uses_rdma(const LiveFacts& live) {
  return !live.jobs.empty() || live.machine.rdma_present.value == true;
}

}  // namespace

Report diagnose_host(const LiveFacts& live, const Policy& policy) {
  Report report;
  report.host = live.machine.host;
  bool open = false;
  for (const std::int64_t pid : live.vanished) {
    open = true;
    report.unknown.push_back(
        {"PD902", {fmt::format("pid {} does not exist (any more)", pid)}, "pgrep -a python lists the job's processes"});
  }
  for (const auto& chain : live.jobs) {
    if (is_kernel_thread(chain)) {
      note_finding(
          report, "PD905",
          fmt::format("pid {} is a kernel thread: no limit applies to it", chain.front().where.pid.value_or(0)));
    } else {
      open = judge_chain(chain, live, policy, false, report) || open;
    }
  }
  for (const auto& chain : live.daemons) (void)judge_chain(chain, live, policy, true, report);
  const Situation machine = machine_situation(live.machine, policy.need);
  const auto answers = ask_all(machine);
  add_findings(answers, machine, report);
  add_ruled_out(answers, report);
  for (const std::string& problem : live.machine.problems)
    report.unknown.push_back({"PD902", {problem}, how_to_read(live.machine)});
  if (!live.hidden.empty()) {
    report.unknown.push_back({"PD902", {live.hidden}, how_to_read(live.machine)});
    open = open || live.machine.rdma_present.value != false;
  }
  if (live.denied > 0 && live.asked.empty()) {
    const std::string missing = fmt::format("open files or maps of {} of {} processes", live.denied, live.seen);
    report.unknown.push_back({"PD902", {missing}, how_to_read(live.machine)});
    open = open || live.machine.rdma_present.value != false;
  }
  if (!uses_rdma(live) && live.asked.empty()) {
    if (live.machine.rdma_present.known()) {
      note_finding(report, "PD905",
                   live.denied > 0 || !live.hidden.empty()
                       ? "no RDMA device: nothing here registers memory"
                       : "no RDMA device, and no process has NCCL loaded: nothing here registers memory");
    } else {
      open = true;
      report.unknown.push_back({"PD902", {"/sys/class/infiniband"}, "run where /sys is mounted"});
    }
  }
  put_facts(report, live.machine, nullptr);
  drop_contradictions(report);
  sort_findings(report);
  report.verdict = verdict_of(report, policy, open);
  write_headline(report, nullptr);
  return report;
}

int exit_code(Verdict verdict) {
  if (verdict == Verdict::kFault) return 1;
  return verdict == Verdict::kUndetermined ? 2 : 0;
}

}  // namespace pindown
