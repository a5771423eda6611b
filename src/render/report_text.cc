// SPDX-License-Identifier: Apache-2.0
// See report_text.h.
#include "render/report_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/text.h"
#include "checks/check.h"

namespace pindown {
namespace {

constexpr std::size_t kLabel = 14;    // "    because   "
constexpr std::size_t kCommand = 16;  // commands and quoted lines, below a label
constexpr std::size_t kFirstLine = 80;
constexpr std::size_t kMostEvidence = 6;
constexpr std::size_t kMostQuoted = 4;     // lines of a quotation
constexpr std::size_t kLeastQuoted = 200;  // columns of it in any case
constexpr std::size_t kMostRuledOut = 8;
constexpr std::size_t kShortReason = 44;
constexpr std::size_t kMostTrails = 3;
constexpr std::size_t kMostLinks = 10;
constexpr std::size_t kMostUnknown = 6;
constexpr std::size_t kMostPassedOver = 3;
constexpr std::size_t kMostFurther = 3;

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

/// Cut after it has become ASCII, because that makes it longer.
std::string first_line(const Report& report, const Style& style) {
  std::string text = fmt::format("{} {}", sign(report.verdict), escape(report.headline));
  if (!style.utf8) text = plain_ascii(text);
  return paint(style, tone_of(report.verdict), shorten(text, kFirstLine, style.utf8)) + "\n";
}

/// "word      text", the text wrapped beside its label.
void add_labelled(std::string& out, std::string_view word, std::string_view text, const Style& style) {
  out += label(style, word) + wrap(escape(text, 2000), style.width, kLabel) + "\n";
}

/// What stood in a file, below the place where it stood. It is nobody's command, so long words may be broken.
std::string quotation(std::string_view text, const Style& style) {
  const std::size_t room = style.width - kCommand;
  std::string quoted = escape(trim(text), 4000);
  // On a narrow terminal more lines: the message stands behind its prefixes.
  if (!style.verbose) quoted = shorten(quoted, std::max(kMostQuoted * room - room / 4, kLeastQuoted));
  return std::string(kCommand, ' ') + wrap(quoted, style.width, kCommand, LongWords::kBreak) + "\n";
}

// ---- trails

std::string link_name(const TrailLink& link, std::size_t depth) {
  std::string name(depth == 0 ? 0 : (depth - 1) * 2, ' ');
  if (depth > 0) name += "└ ";
  return name + shorten(escape(link.name), 32);
}

/// "8 MiB (hard unlimited)   ◀ set here".
std::string limit_words(const TrailLink& link) {
  std::string words = fmt::format("{:>10}", link.soft ? format_limit(*link.soft) : "unknown");
  if (link.soft && link.hard && *link.soft != *link.hard) words += fmt::format(" (hard {})", format_limit(*link.hard));
  if (link.set_here || !link.note.empty()) words += "   ◀ " + escape(link.note.empty() ? "set here" : link.note, 120);
  return words;
}

bool is_shown(const Trail& trail, std::size_t i, const Style& style) {
  const auto& links = trail.links;
  if (style.verbose || links.size() <= kMostLinks || i == 0 || i + 2 >= links.size()) return true;
  const bool marked = links[i].set_here || !links[i].note.empty();
  return marked || links[i + 1].set_here;
}

/// In a deep chain those between that changed nothing are only counted.
void add_trail(std::string& out, const Trail& trail, const Style& style) {
  std::size_t names = 0;
  std::vector<std::pair<std::string, const TrailLink*>> lines;
  std::size_t depth = 0;
  for (std::size_t i = 0; i < trail.links.size(); ++i) {
    if (is_shown(trail, i, style)) {
      lines.emplace_back(link_name(trail.links[i], depth++), &trail.links[i]);
      names = std::max(names, display_width(lines.back().first));
    } else if (!lines.empty() && lines.back().second != nullptr) {
      lines.emplace_back(std::string(depth * 2, ' ') + "…", nullptr);
    }
  }
  out += '\n';
  for (const auto& [name, link] : lines) {
    if (link == nullptr) {
      out += fmt::format("    {}\n", name);
      continue;
    }
    const std::string pad(names - display_width(name), ' ');
    const std::string line = fmt::format("    {}{}  {:>7}  {}", name, pad, link->pid, limit_words(*link));
    const bool last = link == &trail.links.back() && !trail.summary.empty();
    out += link->set_here ? paint(style, Tone::kBold, line) : line;
    if (last && display_width(line) + 3 + display_width(trail.summary) > style.width)
      out += fmt::format("\n    {:<{}}", "", names + 11);
    out += last ? fmt::format("   {}\n", escape(trail.summary, 200)) : "\n";
  }
}

/// The chains of those that are accused; of a process that somebody asked for also when all is well.
std::vector<const Trail*> trails_to_show(const Report& report, const Style& style) {
  std::vector<const Trail*> shown;
  for (const Trail& trail : report.trails) {
    const bool accused = std::ranges::any_of(report.findings, [&trail](const Finding& f) {
      return f.severity != Severity::kNote && f.subject.pid && f.subject.pid == trail.subject.pid;
    });
    if (style.verbose || accused || report.trails.size() == 1) shown.push_back(&trail);
  }
  if (!style.verbose && shown.size() > kMostTrails) shown.resize(kMostTrails);
  return shown;
}

void add_trails(std::string& out, const Report& report, const Style& style) {
  const auto shown = trails_to_show(report, style);
  for (const Trail* trail : shown) add_trail(out, *trail, style);
  const std::size_t left = report.trails.size() - shown.size();
  if (left == 0) return;
  out += fmt::format("\n    {}{} {} looked at (-v shows the limits)\n", left, shown.empty() ? "" : " more",
                     left == 1 ? "process was" : "processes were");
}

// ---- findings

bool is_first_failure(const Evidence& e, const Report& report) {
  if (report.incidents.empty() || !e.note.empty()) return false;
  const IncidentFirst& first = report.incidents.front().first;
  return e.source == fmt::format("{}:{}", first.file, first.line);
}

void add_evidence(std::string& out, const Finding& f, const Report& report, const Style& style) {
  std::vector<const Evidence*> all;
  for (const Evidence& e : f.evidence) {
    if (!is_first_failure(e, report)) all.push_back(&e);  // that one stands above already
  }
  const std::size_t shown = style.verbose ? all.size() : std::min(all.size(), kMostEvidence);
  std::size_t sources = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::size_t width = display_width(escape(all[i]->source, 300));
    if (width <= style.width / 2) sources = std::max(sources, width);
  }
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string source = escape(all[i]->source, 300);
    std::string text = escape(trim(all[i]->text), 4000);
    if (!all[i]->note.empty()) text += fmt::format("{}({})", text.empty() ? "" : "   ", escape(all[i]->note, 300));
    out += label(style, i == 0 ? "because" : "") + paint(style, Tone::kCyan, source);
    if (kLabel + sources + 3 + display_width(text) <= style.width && display_width(source) <= sources) {
      out += std::string(text.empty() ? 0 : sources - display_width(source) + 3, ' ') + text + "\n";
    } else {
      out += "\n" + quotation(text, style);
    }
  }
  if (shown < all.size()) out += label(style, "") + fmt::format("and {} more (-v)\n", all.size() - shown);
}

/// Commands are never wrapped or cut: they are there to be copied.
void add_command(std::string& out, std::string_view command, std::size_t indent) {
  out += fmt::format("{:<{}}{}\n", "", indent, escape(command, 100000));
}

void add_remedies(std::string& out, const Finding& f, const Style& style) {
  for (std::size_t i = 0; i < f.remedies.size(); ++i) {
    const Remedy& r = f.remedies[i];
    add_labelled(out, r.persistent ? "fix" : "now", r.title, style);
    for (const std::string& command : r.commands) add_command(out, command, kCommand);
    // Several remedies with one test: it is said after the last of them.
    const bool again = i + 1 < f.remedies.size() && f.remedies[i + 1].verify == r.verify;
    if (r.verify.empty() || again) continue;
    out += label(style, "verify");
    add_command(out, r.verify, 0);
  }
}

void add_finding(std::string& out, const Finding& f, const Report& report, const Style& style) {
  out += fmt::format("\n  {} {} {}   ", paint(style, Tone::kBold, f.code), severity_name(f.severity),
                     certainty_name(f.certainty));
  const std::size_t used =
      8 + display_width(f.code) + severity_name(f.severity).size() + certainty_name(f.certainty).size();
  out += wrap(escape(f.summary, 2000), style.width, 4, LongWords::kKeep, used) + "\n";
  add_evidence(out, f, report, style);
  add_remedies(out, f, style);
}

void add_findings(std::string& out, const Report& report, const Style& style) {
  for (const Finding& f : report.findings) {
    // A note that only repeats the sentence at the top adds nothing.
    if (f.severity == Severity::kNote && f.summary == report.statement && f.evidence.empty() && f.remedies.empty())
      continue;
    add_finding(out, f, report, style);
  }
  const bool accused = !report.findings.empty() && report.findings.front().severity != Severity::kNote;
  if (accused) out += label(style, "more") + fmt::format("pindown explain {}\n", report.findings.front().code);
}

// ---- what failed

std::string count_of(std::uint64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

std::string scope_of(const IncidentSummary& incident) {
  std::string scope;
  if (incident.ranks > 1 || incident.hosts > 1)
    scope = fmt::format("{} on {}", count_of(incident.ranks, "rank"), count_of(incident.hosts, "host"));
  if (incident.echoes > 0)
    scope += fmt::format("{}{} that only follow from it", scope.empty() ? "" : ", ", count_of(incident.echoes, "line"));
  if (incident.echoes == 1) scope.replace(scope.rfind("follow"), 6, "follows");
  if (incident.continued) scope += fmt::format("{}the job went on", scope.empty() ? "" : ", ");
  return scope;
}

void add_incident(std::string& out, const Report& report, const Style& style) {
  if (report.incidents.empty()) return;
  const IncidentSummary& incident = report.incidents.front();
  out += fmt::format(
      "\n{}{}\n", label(style, "failure"),
      paint(style, Tone::kCyan, fmt::format("{}:{}", escape(incident.first.file, 300), incident.first.line)));
  out += quotation(incident.first.text, style);
  if (const std::string scope = scope_of(incident); !scope.empty()) add_labelled(out, "scope", scope, style);
  if (!incident.buffer.empty()) add_labelled(out, "buffer", incident.buffer, style);
  if (incident.first.version_hint.empty()) return;
  const bool known = report.facts.contains("nccl");
  add_labelled(out, incident.first.library == "rccl" ? "RCCL" : "NCCL",
               incident.first.version_hint + (known ? "" : " (a hint, from the message's position)"), style);
}

/// Failures of another kind or place: shown by name, so that none is lost behind the first one.
void add_further_incidents(std::string& out, const Report& report, const Style& style) {
  if (report.incidents.size() < 2) return;
  const std::size_t most = style.verbose ? report.incidents.size() : kMostFurther + 1;
  for (std::size_t i = 1; i < std::min(most, report.incidents.size()); ++i) {
    const IncidentSummary& incident = report.incidents[i];
    const std::string scope = scope_of(incident);
    out += fmt::format(
        "{}{}{}\n{}", label(style, "also"),
        paint(style, Tone::kCyan, fmt::format("{}:{}", escape(incident.first.file, 300), incident.first.line)),
        scope.empty() ? "" : fmt::format("   ({})", scope), quotation(incident.first.text, style));
  }
  if (most < report.incidents.size())
    out += fmt::format("{}{} more (-v)\n", label(style, "also"),
                       count_of(report.incidents.size() - most, "other failure"));
  const auto& first = report.incidents.front().first.file;
  if (std::ranges::any_of(report.incidents, [&first](const IncidentSummary& i) { return i.first.file != first; }))
    add_labelled(out, "", "if these files are of different jobs, check each of them alone", style);
}

void add_problems(std::string& out, const Report& report, const Style& style) {
  for (const InputSummary& input : report.inputs) {
    if (input.problem.empty()) continue;
    const bool named = contains(input.problem, input.path);
    const std::string text = named ? input.problem : fmt::format("{}: {}", input.path, input.problem);
    out += fmt::format("    {}{}\n", paint(style, Tone::kYellow, "input     "),
                       wrap(escape(text, 2000), style.width, kLabel));
  }
}

void add_passed_over(std::string& out, const Report& report, const Style& style) {
  std::size_t files = 0;
  std::string names;
  for (const InputSummary& input : report.inputs) {
    if (input.kind != kPassedOver) continue;
    if (++files <= kMostPassedOver || style.verbose) names += (names.empty() ? "" : ", ") + escape(input.path, 300);
  }
  if (files == 0) return;
  const std::string more = files > kMostPassedOver && !style.verbose ? ", … (-v names all)" : "";
  out += label(style, "input") +
         wrap(fmt::format("passed over, nothing in {} is known to pindown: {}{}", count_of(files, "file"), names, more),
              style.width, kLabel) +
         "\n";
}

// ---- what it is not, may be, and cannot be told

std::string named_code(std::string_view code) {
  const Check* check = find_check(code);
  return check == nullptr ? std::string(code) : fmt::format("{} {}", code, check->slug);
}

void add_candidates(std::string& out, const Report& report, const Style& style) {
  if (report.candidates.empty()) return;
  out +=
      fmt::format("\n  it may be{}; the command decides:\n", report.candidates.size() > 1 ? ", most likely first" : "");
  for (const Candidate& c : report.candidates) {
    const std::string name = named_code(c.code);
    out += fmt::format("    {}   ", paint(style, Tone::kBold, name));
    out += wrap(escape(c.why, 1000), style.width, 10, LongWords::kKeep, 7 + display_width(name)) + "\n";
    if (!c.decide.empty()) add_command(out, c.decide, 10);
  }
}

/// Short reasons stand side by side, each in one piece; a long one has lines of its own.
void add_ruled_out(std::string& out, const Report& report, const Style& style) {
  if (report.ruled_out.empty()) return;
  const std::size_t shown = style.verbose ? report.ruled_out.size() : std::min(report.ruled_out.size(), kMostRuledOut);
  std::string brief;
  std::size_t column = style.width;
  std::string lengthy;
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string why = escape(report.ruled_out[i].why, 1000);
    const std::string item = fmt::format("{}: {}", named_code(report.ruled_out[i].code), why);
    const std::size_t size = display_width(item);
    if (display_width(why) > kShortReason) {
      lengthy += fmt::format("    {}\n", wrap(item, style.width, 6));
    } else if (column + 3 + size <= style.width) {
      brief += " · " + item;
      column += 3 + size;
    } else {
      brief += (brief.empty() ? "    " : "\n    ") + item;
      column = 4 + size;
    }
  }
  out += fmt::format("\n  not the cause\n{}{}{}", brief, brief.empty() ? "" : "\n", lengthy);
  if (shown < report.ruled_out.size()) out += fmt::format("    and {} more (-v)\n", report.ruled_out.size() - shown);
}

void add_unknown(std::string& out, const Report& report, const Style& style) {
  if (report.unknown.empty()) return;
  out += "\n  unknown\n";
  const std::size_t shown = style.verbose ? report.unknown.size() : std::min(report.unknown.size(), kMostUnknown);
  for (std::size_t i = 0; i < shown; ++i) {
    const Unknown& u = report.unknown[i];
    std::string text = u.code == "PD902" ? "" : named_code(u.code) + ": ";
    for (std::size_t m = 0; m < u.missing.size(); ++m) text += (m == 0 ? "" : ", ") + escape(u.missing[m], 300);
    if (!u.how.empty()) text += fmt::format("; {}", escape(u.how, 300));
    out += fmt::format("    {}\n", wrap(text, style.width, 6));
  }
  if (shown < report.unknown.size()) out += fmt::format("    and {} more (-v)\n", report.unknown.size() - shown);
}

}  // namespace

std::string render_text(const Report& report, const Style& style) {
  std::string out;
  const bool said_below = std::ranges::any_of(report.findings, [&report](const Finding& f) {
    return f.severity != Severity::kNote && f.summary == report.statement;
  });
  if (!report.statement.empty() && !said_below)
    out += fmt::format("  {}\n", wrap(escape(report.statement, 4000), style.width, 2));
  add_problems(out, report, style);
  add_passed_over(out, report, style);
  add_incident(out, report, style);
  add_further_incidents(out, report, style);
  add_trails(out, report, style);
  add_findings(out, report, style);
  add_candidates(out, report, style);
  add_ruled_out(out, report, style);
  add_unknown(out, report, style);
  return first_line(report, style) + (style.utf8 ? out : plain_ascii(out));
}

}  // namespace pindown
