// SPDX-License-Identifier: Apache-2.0
// See prediction.h.
#include "finding/prediction.h"

#include "base/text.h"

namespace pindown {
namespace {

Json link_json(const TrailLink& link) {
  Json out = {{"name", escape(link.name, 200)}};
  if (link.pid > 0) out["pid"] = link.pid;
  out["soft"] = to_json(link.soft);
  out["hard"] = to_json(link.hard);
  out["set_here"] = link.set_here;
  out["source"] = escape(link.source, 4000);
  out["text"] = escape(link.text, 4000);
  if (!link.note.empty()) out["note"] = escape(link.note, 1000);
  return out;
}

}  // namespace

Json to_json(const Prediction& p) {
  Json out = {{"schema", "pindown.predict/1"}, {"entry", escape(p.entry, 300)}, {"user", escape(p.user, 300)}};
  out["soft"] = to_json(p.soft);
  out["hard"] = to_json(p.hard);
  out["cap_ipc_lock"] = p.cap_ipc_lock ? Json(*p.cap_ipc_lock) : Json(nullptr);
  out["decided_by"] = {{"source", escape(p.decided_by.source, 4000)}, {"text", escape(p.decided_by.text, 4000)}};
  out["links"] = Json::array();
  for (const TrailLink& link : p.links) out["links"].push_back(link_json(link));
  out["refused"] = p.refused;
  if (p.refused) out["refused_why"] = escape(p.refused_why, 1000);
  out["unknown"] = Json::array();
  for (const std::string& each : p.unknown) out["unknown"].push_back(escape(each, 1000));
  out["assumed"] = Json::array();
  for (const std::string& each : p.assumed) out["assumed"].push_back(escape(each, 1000));
  return out;
}

}  // namespace pindown
