// SPDX-License-Identifier: Apache-2.0
// See headline.h.
#include "checks/headline.h"

#include <fmt/format.h>

#include "base/errno_name.h"
#include "base/text.h"

namespace pindown {
namespace {

constexpr std::size_t kColumns = 80;

std::string who(const Report& report, const logs::Incident* incident) {
  std::string text;
  const Subject* subject = report.findings.empty() ? nullptr : &report.findings.front().subject;
  std::string host = subject != nullptr && subject->host ? *subject->host : report.host;
  if (incident != nullptr && host.empty()) host = incident->first.shape.host;
  if (!host.empty()) text += fmt::format(" · {}", shorten(escape(host), 24));
  if (incident != nullptr && incident->rank_count() > 1) {
    text += fmt::format(" · {} ranks", incident->rank_count());
    if (incident->hosts.size() > 1) text += fmt::format(" on {} hosts", incident->hosts.size());
  } else if (subject != nullptr && subject->pid) {
    text += fmt::format(" · pid {}", *subject->pid);
  }
  return text;
}

std::string what_failed(const logs::Incident& incident) {
  const logs::Event& first = incident.first;
  const std::string what = first.verb.empty() ? std::string(kind_name(first.kind)) : escape(first.verb, 40);
  std::string text = what + " failed";
  if (first.error) {
    const std::string_view name = errno_name(*first.error);
    text += name.empty() ? fmt::format(": errno {}", *first.error) : fmt::format(": {}", name);
  }
  return text;
}

std::string message(const Report& report, const logs::Incident* incident) {
  const bool accused = !report.findings.empty() && report.findings.front().severity != Severity::kNote;
  if (accused && report.verdict != Verdict::kUndetermined) {
    return fmt::format("{} {}", report.findings.front().code, report.findings.front().slug);
  }
  if (incident != nullptr) return what_failed(*incident);
  if (!report.findings.empty()) return fmt::format("{} {}", report.findings.front().code, report.findings.front().slug);
  switch (report.verdict) {
    case Verdict::kHealthy:
      return report.inputs.empty() ? "enough locked memory everywhere looked at" : "initialised, no failure";
    case Verdict::kUndetermined:
      return "not everything could be looked at";
    default:
      return "";
  }
}

std::string statement(const Report& report, const logs::Incident* incident) {
  if (!report.findings.empty() && report.verdict != Verdict::kUndetermined) return report.findings.front().summary;
  if (incident == nullptr) {
    if (!report.findings.empty()) return report.findings.front().summary;
    if (report.verdict == Verdict::kHealthy && !report.inputs.empty()) return "the log shows no failed registration";
    return {};
  }
  const logs::Event& first = incident->first;
  // NCCL printed nothing itself: only torch's "Last error:" or its bare result is there.
  const bool nccl_off = (first.library == "torch" || first.library == "nccl") && !contains(first.raw, "NCCL");
  const std::string_view next =
      nccl_off ? " Run again with NCCL_DEBUG=INFO; that shows the call, the buffer and the transport."
      : report.candidates.empty() ? ""
                                  : " The commands below do.";
  return fmt::format("{}; what was seen does not decide why.{}", what_failed(*incident), next);
}

}  // namespace

void write_headline(Report& report, const logs::Incident* incident) {
  const std::string text = message(report, incident);
  report.headline = shorten(
      fmt::format("{}{}{}{}", verdict_name(report.verdict), who(report, incident), text.empty() ? "" : " · ", text),
      kColumns - 2);
  report.statement = statement(report, incident);
}

}  // namespace pindown
