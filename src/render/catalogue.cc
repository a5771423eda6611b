// SPDX-License-Identifier: Apache-2.0
// See catalogue.h.
#include "render/catalogue.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace pindown {
namespace {

struct Part {
  std::string_view title;
  std::string_view key;
  std::string_view Page::* text;
};

/// One description of a page's parts feeds every renderer.
constexpr std::array<Part, 5> kParts = {{
    {"what it means", "meaning", &Page::meaning},
    {"why", "why", &Page::why},
    {"how it is recognised", "recognised_by", &Page::recognised},
    {"how to fix it", "fix", &Page::fix},
    {"when to ignore it", "ignore_when", &Page::ignore_when},
}};

std::string_view not_yet(const Check& check) {
  return check.eval == nullptr && !check.code.starts_with("PD9") ? "documented; not recognised by this version yet"
                                                                 : "";
}

/// Codes whose finding the driver itself writes have no eval and are recognised all the same.
bool recognised(const Check& check) {
  return check.eval != nullptr || check.code == "PD901" || check.code == "PD902" || check.code == "PD905";
}

/// Paragraphs are wrapped; lines that begin with four blanks are commands and stay as they are.
void add_paragraphs(std::string& out, std::string_view text, std::size_t width) {
  std::string paragraph;
  const auto flush = [&] {
    if (!trim(paragraph).empty()) out += "  " + wrap(paragraph, width, 2) + "\n";
    paragraph.clear();
  };
  std::string_view line;
  while (next_line(text, line)) {
    if (line.starts_with("    ") || trim(line).empty()) {
      flush();
      out += trim(line).empty() ? "\n" : fmt::format("  {}\n", line);
      continue;
    }
    paragraph += paragraph.empty() ? "" : " ";
    paragraph += trim(line);
  }
  flush();
}

}  // namespace

std::string render_page(const Check& check, const Style& style) {
  std::string out = fmt::format("{} {}: {}\n", paint(style, Tone::kBold, check.code), check.slug, check.title);
  out += fmt::format("severity {}", severity_name(check.severity));
  out += recognised(check)
             ? "\n"
             : fmt::format("; {}\n", not_yet(check).empty() ? "not recognised by this version yet" : not_yet(check));
  for (const Part& part : kParts) {
    out += fmt::format("\n{}\n", paint(style, Tone::kBold, part.title));
    add_paragraphs(out, check.page.*part.text, std::min<std::size_t>(style.width, 100));
  }
  return style.utf8 ? out : plain_ascii(out);
}

Json page_json(const Check& check) {
  Json out = {{"code", check.code},
              {"slug", check.slug},
              {"severity", severity_name(check.severity)},
              {"title", check.title},
              {"recognised", recognised(check)}};
  for (const Part& part : kParts) out[part.key] = check.page.*part.text;
  return out;
}

std::string render_list(const Style& style) {
  std::string out;
  for (const Check* check : all_checks()) {
    out += fmt::format("{} {} {:<8} {:<34} {}\n", paint(style, Tone::kBold, check->code),
                       recognised(*check) ? ' ' : '-', severity_name(check->severity), check->slug, check->title);
  }
  out += "\n- documented, not recognised by this version yet.   pindown explain CODE shows a page.\n";
  return style.utf8 ? out : plain_ascii(out);
}

Json list_json() {
  Json out = Json::array();
  for (const Check* check : all_checks()) {
    out.push_back({{"code", check->code},
                   {"slug", check->slug},
                   {"severity", severity_name(check->severity)},
                   {"title", check->title},
                   {"recognised", recognised(*check)}});
  }
  return out;
}

std::string render_list_markdown() {
  std::string out = "# Codes\n\nWritten by `pindown list --format markdown`.\n";
  for (const Check* check : all_checks()) {
    out +=
        fmt::format("\n## {} {}\n\n{}. Severity: {}.{}\n", check->code, check->slug, check->title,
                    severity_name(check->severity), recognised(*check) ? "" : " Not recognised by this version yet.");
    for (const Part& part : kParts) out += fmt::format("\n**{}**\n\n{}\n", part.title, trim(check->page.*part.text));
  }
  return out;
}

}  // namespace pindown
