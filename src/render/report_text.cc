// SPDX-License-Identifier: Apache-2.0
// See report_text.h.
#include "render/report_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace pindown {
namespace {

constexpr std::size_t kMostEvidence = 6;
constexpr std::size_t kMostRuledOut = 6;
constexpr std::size_t kMostTrails = 3;

std::string_view sign(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFault:
      return "✗";
    case Verdict::kUndetermined:
      return "?";
    case Verdict::kDegraded:
      return "!";
    case Verdict::kHealthy:
      break;
  }
  return "✓";
}

Tone tone_of(Verdict verdict) {
  if (verdict == Verdict::kFault) return Tone::kRed;
  return verdict == Verdict::kHealthy ? Tone::kGreen : Tone::kYellow;
}

std::string label(const Style& style, std::string_view word) {
  return fmt::format("    {}", paint(style, Tone::kDim, fmt::format("{:<10}", word)));
}

std::string first_line(const Report& report, const Style& style) {
  const std::string text = fmt::format("{} {}", sign(report.verdict), report.headline);
  return paint(style, tone_of(report.verdict), shorten(escape(text), 80)) + "\n";
}

void add_wrapped(std::string& out, std::string_view text, const Style& style, std::size_t indent) {
  out.append(indent, ' ');
  out += wrap(escape(text, 4000), style.width, indent);
  out += '\n';
}

std::string link_line(const TrailLink& link, std::size_t depth, std::size_t names, const Style& style) {
  std::string name(depth == 0 ? 0 : (depth - 1) * 2, ' ');
  if (depth > 0) name += "└ ";
  name += shorten(escape(link.name), 32);
  const std::size_t pad = names > display_width(name) ? names - display_width(name) : 0;
  std::string line = fmt::format("    {}{} {:>8}  {:>10}", name, std::string(pad, ' '), link.pid,
                                 link.soft ? format_limit(*link.soft) : "unknown");
  if (link.soft && link.hard && *link.soft != *link.hard) line += fmt::format(" (hard {})", format_limit(*link.hard));
  if (link.set_here || !link.note.empty()) {
    line += "   ◀ ";
    line += escape(link.note.empty() ? "set here" : link.note, 120);
  }
  return (link.set_here ? paint(style, Tone::kBold, line) : line) + "\n";
}

void add_trail(std::string& out, const Trail& trail, const Style& style) {
  std::size_t names = 0;
  for (std::size_t i = 0; i < trail.links.size(); ++i) {
    names = std::max(names, i * 2 + display_width(shorten(escape(trail.links[i].name), 32)));
  }
  out += '\n';
  for (std::size_t i = 0; i < trail.links.size(); ++i) {
    std::string line = link_line(trail.links[i], i, names, style);
    if (i + 1 == trail.links.size() && !trail.summary.empty()) {
      line.pop_back();
      line += fmt::format("   {}\n", escape(trail.summary, 200));
    }
    out += line;
  }
}

void add_evidence(std::string& out, const Finding& f, const Style& style) {
  const std::size_t shown = style.verbose ? f.evidence.size() : std::min(f.evidence.size(), kMostEvidence);
  for (std::size_t i = 0; i < shown; ++i) {
    const Evidence& e = f.evidence[i];
    out += label(style, i == 0 ? "because" : "");
    out += fmt::format("{}  {}", paint(style, Tone::kCyan, escape(e.source, 160)),
                       shorten(escape(trim(e.text), 400), 160));
    if (!e.note.empty()) out += fmt::format("   ({})", escape(e.note, 200));
    out += '\n';
  }
  if (shown < f.evidence.size()) out += label(style, "") + fmt::format("and {} more (-v)\n", f.evidence.size() - shown);
}

void add_remedies(std::string& out, const Finding& f, const Style& style) {
  for (const Remedy& r : f.remedies) {
    out += label(style, r.persistent ? "fix" : "now");
    out += wrap(escape(r.title, 400), style.width, 14);
    out += '\n';
    for (const std::string& command : r.commands) out += fmt::format("                {}\n", escape(command, 600));
    if (!r.verify.empty()) out += fmt::format("{}{}\n", label(style, "verify"), escape(r.verify, 400));
  }
}

void add_finding(std::string& out, const Finding& f, const Style& style) {
  out += fmt::format("\n  {} {} {}  ", paint(style, Tone::kBold, f.code), severity_name(f.severity),
                     certainty_name(f.certainty));
  out += wrap(escape(f.summary, 1000), style.width, 4);
  out += '\n';
  add_evidence(out, f, style);
  add_remedies(out, f, style);
}

void add_incident(std::string& out, const Report& report, const Style& style) {
  if (report.incidents.empty()) return;
  const IncidentSummary& incident = report.incidents.front();
  out += label(style, "first") + fmt::format("{}:{}  {}\n", escape(incident.first.file, 160), incident.first.line,
                                             shorten(escape(incident.first.text, 400), 160));
  std::string scope = fmt::format("{} rank{} on {} host{}", incident.ranks, incident.ranks == 1 ? "" : "s",
                                  incident.hosts, incident.hosts == 1 ? "" : "s");
  if (incident.echoes > 0)
    scope += fmt::format(", {} follow-up line{}", incident.echoes, incident.echoes == 1 ? "" : "s");
  if (incident.continued) scope += ", the job went on";
  out += label(style, "seen on") + scope + "\n";
  if (!incident.buffer.empty()) out += label(style, "buffer") + escape(incident.buffer, 200) + "\n";
  if (!incident.first.version_hint.empty()) {
    out += label(style, "NCCL") + escape(incident.first.version_hint, 80);
    out += report.facts.contains("nccl") ? "\n" : " (a hint, from the message's position)\n";
  }
}

void add_candidates(std::string& out, const Report& report, const Style& style) {
  if (report.candidates.empty()) return;
  out += "\n  it may be, most likely first; the command decides:\n";
  for (const Candidate& c : report.candidates) {
    out += fmt::format("    {} ", paint(style, Tone::kBold, c.code));
    out += wrap(escape(c.why, 600), style.width, 10);
    out += fmt::format("\n          {}\n", paint(style, Tone::kCyan, escape(c.decide, 600)));
  }
}

void add_ruled_out(std::string& out, const Report& report, const Style& style) {
  if (report.ruled_out.empty()) return;
  const std::size_t shown = style.verbose ? report.ruled_out.size() : std::min(report.ruled_out.size(), kMostRuledOut);
  out += "\n";
  for (std::size_t i = 0; i < shown; ++i) {
    out += i == 0 ? "  not the cause  " : "                 ";
    out += fmt::format("{} ", report.ruled_out[i].code);
    out += wrap(escape(report.ruled_out[i].why, 400), style.width, 23);
    out += '\n';
  }
  if (shown < report.ruled_out.size())
    out += fmt::format("                 and {} more (-v)\n", report.ruled_out.size() - shown);
}

void add_unknown(std::string& out, const Report& report) {
  for (const Unknown& u : report.unknown) {
    std::string missing;
    for (const std::string& m : u.missing) missing += (missing.empty() ? "" : ", ") + escape(m, 200);
    out += fmt::format("\n  unknown  {}: {}", u.code, missing);
    if (!u.how.empty()) out += fmt::format(" ({})", escape(u.how, 300));
  }
  if (!report.unknown.empty()) out += '\n';
}

void add_problems(std::string& out, const Report& report, const Style& style) {
  for (const InputSummary& input : report.inputs) {
    if (input.problem.empty()) continue;
    const std::string path = escape(input.path, 300);
    const bool named = contains(input.problem, input.path);
    out += fmt::format("  {} {}\n", paint(style, Tone::kYellow, "input"),
                       named ? escape(input.problem, 400) : fmt::format("{}: {}", path, escape(input.problem, 400)));
  }
}

}  // namespace

std::string render_text(const Report& report, const Style& style) {
  std::string out = first_line(report, style);
  if (!report.statement.empty()) add_wrapped(out, report.statement, style, 2);
  add_problems(out, report, style);
  add_incident(out, report, style);
  const std::size_t trails = style.verbose ? report.trails.size() : std::min(report.trails.size(), kMostTrails);
  for (std::size_t i = 0; i < trails; ++i) add_trail(out, report.trails[i], style);
  if (trails < report.trails.size())
    out += fmt::format("    and {} more processes (-v)\n", report.trails.size() - trails);
  for (const Finding& f : report.findings) add_finding(out, f, style);
  add_candidates(out, report, style);
  add_ruled_out(out, report, style);
  add_unknown(out, report);
  return style.utf8 ? out : plain_ascii(out);
}

}  // namespace pindown
