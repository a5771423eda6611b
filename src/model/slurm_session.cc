// SPDX-License-Identifier: Apache-2.0
// See slurm_session.h.
#include "model/slurm_session.h"

#include <fmt/format.h>

#include <tuple>

#include "base/text.h"
#include "model/login_session.h"

namespace pindown {
namespace {

/// A propagation with the reason in words.
struct Propagation {
  std::optional<bool> travels;
  bool asked = false;  // by --propagate: Slurm does not cut it then
  Source source;
  std::string why;
};

Propagation propagation_asked(const std::string& list) {
  const auto listed = lists_memlock(list);
  return {listed ? std::optional(*listed) : std::nullopt,
          true,
          {"--propagate", list, {}},
          listed ? fmt::format("--propagate={}", list) : listed.error()};
}

Propagation propagation_configured(const SlurmConf& slurm) {
  for (const auto* list : {&slurm.propagate_except, &slurm.propagate}) {
    if (!list->known() && list->missing != Missing::kAbsent) return {{}, false, list->source, {}};
    if (list->known()) break;
  }
  if (!slurm.propagate_except.known() && !slurm.propagate.known())
    return {true, false, {slurm.file, {}, {}}, "PropagateResourceLimits is ALL where slurm.conf says nothing"};
  const SlurmPropagation set = derive_propagation(slurm.propagate, slurm.propagate_except);
  return {set.travels, false, set.source, set.source.text};
}

using Version = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;

/// "21.08.8-2", "22.05.8-4+deb12u3".
std::optional<Version> slurm_version(std::string_view text) {
  const auto major = parse_u64(take_digits(text));
  if (!major || !consume(text, ".")) return std::nullopt;
  const auto minor = parse_u64(take_digits(text));
  if (!minor) return std::nullopt;
  const auto micro = consume(text, ".") ? parse_u64(take_digits(text)) : std::nullopt;
  return Version(*major, *minor, micro.value_or(0));
}

/// More than the hard limit was asked for.
std::optional<Limit> soft_above_hard(Walk& walk, bool asked) {
  constexpr Version kFirstThatCuts(21, 8, 7);
  if (asked) return walk.now.soft;
  const auto version = slurm_version(version_text(walk.facts, kSlurmPackage));
  if (!version) {
    walk.assumed.push_back("Slurm is taken to be 21.08.7 or later, which cuts the soft limit to the hard one");
  }
  return !version || *version >= kFirstThatCuts ? walk.now.hard : walk.now.soft;
}

void keep_limit(Walk& walk, const Propagation& propagation) {
  add_link(walk, "slurmstepd", 0, walk.now, propagation.source,
           fmt::format("the submitting shell's limit stays behind: {}", propagation.why));
}

void set_soft(Walk& walk, const Propagation& propagation, const SlurmSubmission& submission) {
  if (!walk.now.soft || !walk.now.hard) return;  // said already
  MemlockLimit next = walk.now;
  const bool above = *submission.soft > *walk.now.hard;
  next.soft = above ? soft_above_hard(walk, propagation.asked) : submission.soft;
  std::string note =
      fmt::format("the submitting shell's soft limit, {}: {}", format_limit(*submission.soft), propagation.why);
  if (above && next.soft == walk.now.hard) note += "; cut to the hard limit";
  if (above && next.soft != walk.now.hard) note += "; more than the hard limit, so that Slurm gives up setting it";
  add_link(walk, "slurmstepd", 0, next, submission.source, note);
}

void propagate(Walk& walk, const SlurmSubmission& submission) {
  const Propagation propagation =
      submission.propagate ? propagation_asked(*submission.propagate) : propagation_configured(walk.facts.slurm);
  if (!propagation.travels && propagation.asked) {
    return walk.refuse(propagation.source, fmt::format("sbatch and srun refuse it: {}", propagation.why));
  }
  if (!propagation.travels) {
    walk.miss(fmt::format("{}: whether memlock is propagated is not known", propagation.source.path));
    walk.now.soft.reset();
    return;
  }
  if (!*propagation.travels) return keep_limit(walk, propagation);
  if (submission.soft) return set_soft(walk, propagation, submission);
  walk.miss(
      "the soft limit of the shell that submits: give --submit-limit (its `ulimit -Sl` is in KiB), or --from ssh");
  walk.now.soft.reset();
}

}  // namespace

SlurmPropagation derive_propagation(const Fact<std::string>& only, const Fact<std::string>& except) {
  const Fact<std::string>& counts = except.known() ? except : only;
  if (!counts.known()) return {};
  const auto listed = lists_memlock(*counts);
  return {listed ? std::optional(*listed != except.known()) : std::nullopt, counts.source};
}

void run_slurm_job(Walk& walk, const SlurmSubmission& submission) {
  const SlurmConf& slurm = walk.facts.slurm;
  if (slurm.refuses) {
    return walk.refuse(*slurm.refuses, fmt::format("Slurm does not accept {}: {}", slurm.file, slurm.why));
  }
  for (const std::string& problem : slurm.problems) walk.miss(problem);
  if (slurm.file.empty()) {
    walk.miss("no slurm.conf where it usually is: name it with SLURM_CONF");
    walk.now.soft.reset();
    return;
  }
  if (!slurm.use_pam.known()) {
    walk.miss(fmt::format("{}: whether slurmstepd uses PAM is not known", slurm.use_pam.source.path));
    walk.now = {};
    return;
  }
  if (*slurm.use_pam) open_pam_session(walk, "slurm");
  if (!walk.refused) propagate(walk, submission);
}

}  // namespace pindown
