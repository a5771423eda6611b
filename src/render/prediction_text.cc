// SPDX-License-Identifier: Apache-2.0
// See prediction_text.h. The first line is the answer by itself.
#include "render/prediction_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace pindown {
namespace {

std::string limit_words(const std::optional<Limit>& soft, const std::optional<Limit>& hard) {
  if (!soft) return "unknown";
  std::string words = format_limit(*soft);
  if (hard && *hard != *soft) words += fmt::format(" (hard {})", format_limit(*hard));
  return words;
}

std::string answer(const Prediction& p) {
  const std::string who =
      p.user.empty() ? escape(p.entry, 60) : fmt::format("{} · {}", escape(p.entry, 60), escape(p.user, 40));
  if (p.refused) return fmt::format("{} · the session is refused", who);
  const std::string cap = !p.cap_ipc_lock   ? "CAP_IPC_LOCK unknown"
                          : *p.cap_ipc_lock ? "CAP_IPC_LOCK yes"
                                            : "CAP_IPC_LOCK no";
  const char* likely = p.assumed.empty() ? "" : "likely ";
  return fmt::format("{} · {}memlock {} · {}", who, likely, limit_words(p.soft, p.hard), cap);
}

void add_links(std::string& out, const Prediction& p, const Style& style) {
  std::size_t names = 0;
  for (std::size_t i = 0; i < p.links.size(); ++i)
    names = std::max(names, 2 * i + display_width(escape(p.links[i].name, 60)));
  if (!p.links.empty()) out += '\n';
  for (std::size_t i = 0; i < p.links.size(); ++i) {
    const TrailLink& link = p.links[i];
    std::string name = i == 0 ? "" : std::string((i - 1) * 2, ' ') + "└ ";
    name += escape(link.name, 60);
    name.append(names + 2 - std::min(names + 2, display_width(name)), ' ');
    out +=
        fmt::format("    {}{:>10}{}\n", name, limit_words(link.soft, link.hard), link.set_here ? "   ◀ set here" : "");
    const std::string place = link.text.empty()
                                  ? escape(link.source, 300)
                                  : fmt::format("{}   {}", escape(link.source, 300), escape(trim(link.text), 300));
    if (!link.source.empty()) out += fmt::format("        {}\n", wrap(place, style.width, 10));
    if (!link.note.empty()) out += fmt::format("        {}\n", wrap(escape(link.note, 300), style.width, 10));
  }
}

void add_section(std::string& out, std::string_view title, const std::vector<std::string>& lines, const Style& style) {
  if (!lines.empty()) out += fmt::format("\n  {}\n", title);
  for (const std::string& each : lines) out += fmt::format("    {}\n", wrap(escape(each, 500), style.width, 6));
}

}  // namespace

std::string render_prediction(const Prediction& p, const Style& style) {
  std::string out;
  if (p.refused) out += fmt::format("  {}\n", wrap(escape(p.refused_why, 1000), style.width, 2));
  add_links(out, p, style);
  if (!p.decided_by.source.empty()) {
    out +=
        fmt::format("\n    decided by  {}\n",
                    wrap(fmt::format("{}   {}", escape(p.decided_by.source, 300), escape(trim(p.decided_by.text), 300)),
                         style.width, 16));
  }
  add_section(out, "assumed", p.assumed, style);
  add_section(out, "unknown", p.unknown, style);
  std::string first = answer(p);
  if (!style.utf8) return plain_ascii(first) + "\n" + plain_ascii(out);
  return first + "\n" + out;
}

}  // namespace pindown
