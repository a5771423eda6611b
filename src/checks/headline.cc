// SPDX-License-Identifier: Apache-2.0
// See headline.h.
#include "checks/headline.h"

#include <fmt/format.h>

#include "base/errno_name.h"
#include "base/text.h"

namespace pindown {
namespace {

constexpr std::size_t kColumns = 80;

std::string host_of(const Report& report, const logs::Incident* incident) {
  const Subject* subject = report.findings.empty() ? nullptr : &report.findings.front().subject;
  std::string host = subject != nullptr && subject->host ? *subject->host : report.host;
  if (incident != nullptr && host.empty()) host = incident->first.shape.host;
  return escape(host);
}

/// " · 8 ranks on 2 hosts", " · pid 4242"
std::string ranks_of(const Report& report, const logs::Incident* incident) {
  const Subject* subject = report.findings.empty() ? nullptr : &report.findings.front().subject;
  if (incident != nullptr && incident->rank_count() > 1) {
    const std::string ranks = fmt::format(" · {} ranks", incident->rank_count());
    return incident->hosts.size() > 1 ? fmt::format("{} on {} hosts", ranks, incident->hosts.size()) : ranks;
  }
  if (subject != nullptr && subject->pid) return fmt::format(" · pid {}", *subject->pid);
  return {};
}

/// The verdict and the code in whole, because scripts look for them; what stands between them gives way.
std::string in_one_line(std::string_view verdict, std::string host, std::string_view ranks, std::string_view text) {
  constexpr std::size_t kRoom = kColumns - 2;
  constexpr std::size_t kLeastHost = 8;
  const std::string tail = text.empty() ? "" : fmt::format(" · {}", text);
  const std::size_t fixed = display_width(verdict) + display_width(tail);
  host = shorten(host, 24);
  const bool with_ranks = fixed + display_width(ranks) + (host.empty() ? 0 : kLeastHost + 3) <= kRoom;
  const std::size_t used = fixed + (with_ranks ? display_width(ranks) : 0) + 3;
  if (!host.empty() && used + kLeastHost <= kRoom)
    host = fmt::format(" · {}", shorten(host, kRoom - used));
  else
    host.clear();
  return shorten(fmt::format("{}{}{}{}", verdict, host, with_ranks ? ranks : "", tail), kRoom);
}

std::string what_failed(const logs::Incident& incident) {
  const logs::Event& first = incident.first;
  if (first.kind == logs::Kind::kConnection && contains(first.raw, "Watchdog caught")) return "a collective timed out";
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
      if (report.unknown.size() == 1 && report.unknown[0].missing.size() == 1 && report.unknown[0].code == "PD902")
        return escape(report.unknown[0].missing[0]);
      if (!report.candidates.empty() && report.candidates.front().code == "PD705") return "the job ended with an error";
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
  report.headline =
      in_one_line(verdict_name(report.verdict), host_of(report, incident), ranks_of(report, incident), text);
  report.statement = statement(report, incident);
}

}  // namespace pindown
