// SPDX-License-Identifier: Apache-2.0
// See report_json.h.
#include "finding/report_json.h"

#include "base/text.h"

namespace pindown {

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kNote:
      break;
  }
  return "note";
}

std::string_view certainty_name(Certainty certainty) {
  switch (certainty) {
    case Certainty::kProven:
      return "proven";
    case Certainty::kLikely:
      return "likely";
    case Certainty::kPossible:
      break;
  }
  return "possible";
}

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFault:
      return "fault";
    case Verdict::kUndetermined:
      return "undetermined";
    case Verdict::kDegraded:
      return "degraded";
    case Verdict::kHealthy:
      break;
  }
  return "healthy";
}

namespace {

/// Every string that can come from outside passes here: a report is pasted into terminals and web pages.
Json safe(const std::string& text) {
  return escape(text, 8000);
}

Json strings(const std::vector<std::string>& items) {
  Json out = Json::array();
  for (const std::string& item : items) out.push_back(safe(item));
  return out;
}

template <class T>
void put(Json& out, const char* key, const std::optional<T>& value) {
  if (value) out[key] = *value;
}

void put(Json& out, const char* key, const std::optional<std::string>& value) {
  if (value) out[key] = safe(*value);
}

Json subject_json(const Subject& subject) {
  Json out = Json::object();
  put(out, "host", subject.host);
  put(out, "pid", subject.pid);
  put(out, "rank", subject.rank);
  put(out, "device", subject.device);
  put(out, "container", subject.container);
  put(out, "process", subject.process);
  put(out, "user", subject.user);
  return out;
}

Json evidence_json(const std::vector<Evidence>& evidence) {
  Json out = Json::array();
  for (const Evidence& item : evidence) {
    Json one = {{"source", safe(item.source)}, {"text", safe(item.text)}};
    if (!item.note.empty()) one["note"] = safe(item.note);
    out.push_back(std::move(one));
  }
  return out;
}

Json remedies_json(const std::vector<Remedy>& remedies) {
  Json out = Json::array();
  for (const Remedy& r : remedies) {
    out.push_back({{"id", r.id},
                   {"title", safe(r.title)},
                   {"commands", strings(r.commands)},
                   {"persistent", r.persistent},
                   {"verify", safe(r.verify)}});
  }
  return out;
}

Json finding_json(const Finding& f) {
  return {{"code", f.code},
          {"slug", f.slug},
          {"severity", severity_name(f.severity)},
          {"certainty", certainty_name(f.certainty)},
          {"subject", subject_json(f.subject)},
          {"summary", safe(f.summary)},
          {"evidence", evidence_json(f.evidence)},
          {"remedies", remedies_json(f.remedies)}};
}

Json link_json(const TrailLink& link) {
  return {{"name", safe(link.name)},    {"pid", link.pid},           {"soft", to_json(link.soft)},
          {"hard", to_json(link.hard)}, {"set_here", link.set_here}, {"source", safe(link.source)},
          {"text", safe(link.text)},    {"note", safe(link.note)}};
}

Json trail_json(const Trail& trail) {
  Json links = Json::array();
  for (const TrailLink& link : trail.links) links.push_back(link_json(link));
  Json out = {{"subject", subject_json(trail.subject)}, {"links", std::move(links)}};
  if (!trail.summary.empty()) out["summary"] = safe(trail.summary);
  return out;
}

Json incident_json(const IncidentSummary& incident) {
  Json first = {{"file", safe(incident.first.file)}, {"line", incident.first.line}};
  put(first, "host", incident.first.host);
  put(first, "pid", incident.first.pid);
  put(first, "rank", incident.first.rank);
  first["verb"] = safe(incident.first.verb);
  first["errno"] = incident.first.error.empty() ? Json(nullptr) : safe(incident.first.error);
  first["library"] = safe(incident.first.library);
  first["version_hint"] = safe(incident.first.version_hint);
  first["text"] = safe(incident.first.text);
  Json out = {{"first", std::move(first)},
              {"ranks", incident.ranks},
              {"hosts", incident.hosts},
              {"continued", incident.continued},
              {"occurrences", incident.occurrences},
              {"echoes", incident.echoes}};
  if (!incident.buffer.empty()) out["buffer"] = safe(incident.buffer);
  return out;
}

Json input_json(const InputSummary& input) {
  Json out = {{"path", safe(input.path)}, {"kind", input.kind}, {"lines", input.lines}, {"skipped", input.skipped}};
  if (!input.problem.empty()) out["problem"] = safe(input.problem);
  return out;
}

Json facts_json(const Report& report) {
  Json out = Json::object();
  for (const auto& [name, value] : report.facts) out[name] = safe(value);
  if (!report.mlx5_fw.empty()) out["mlx5_fw"] = report.mlx5_fw;
  if (!report.memlock.empty()) {
    Json entries = Json::object();
    for (const auto& [entry, pair] : report.memlock) {
      entries[escape(entry)] = {{"soft", to_json(pair.first)}, {"hard", to_json(pair.second)}};
    }
    out["memlock"] = std::move(entries);
  }
  return out;
}

template <class Items, class Render>
Json array_of(const Items& items, Render render) {
  Json out = Json::array();
  for (const auto& item : items) out.push_back(render(item));
  return out;
}

}  // namespace

Json to_json(const std::optional<Limit>& limit) {
  if (!limit) return nullptr;
  return limit->is_unlimited() ? Json("unlimited") : Json(limit->bytes);
}

Json to_json(const Report& report) {
  Json out;
  out["schema"] = "pindown.report/1";
  out["tool"] = {{"name", "pindown"}, {"version", PINDOWN_VERSION}};
  out["host"] = safe(report.host);
  out["time"] = report.time;
  out["verdict"] = verdict_name(report.verdict);
  out["headline"] = safe(report.headline);
  out["findings"] = array_of(report.findings, finding_json);
  out["candidates"] = array_of(report.candidates, [](const Candidate& c) {
    return Json{{"code", c.code}, {"decide", safe(c.decide)}, {"why", safe(c.why)}};
  });
  out["ruled_out"] =
      array_of(report.ruled_out, [](const RuledOut& r) { return Json{{"code", r.code}, {"why", safe(r.why)}}; });
  out["suppressed"] =
      array_of(report.suppressed, [](const Suppressed& s) { return Json{{"code", s.code}, {"by", safe(s.by)}}; });
  out["unknown"] = array_of(report.unknown, [](const Unknown& u) {
    return Json{{"code", u.code}, {"missing", strings(u.missing)}, {"how", safe(u.how)}};
  });
  out["trails"] = array_of(report.trails, trail_json);
  out["incidents"] = array_of(report.incidents, incident_json);
  out["facts"] = facts_json(report);
  out["inputs"] = array_of(report.inputs, input_json);
  if (!report.statement.empty()) out["statement"] = safe(report.statement);
  return out;
}

std::string dump(const Json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace pindown
