// SPDX-License-Identifier: Apache-2.0
// `pindown explain CODE` and `pindown list`: the catalogue.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/text.h"
#include "checks/check.h"
#include "cli/cli.h"
#include "cli/suggest.h"
#include "render/catalogue.h"

namespace pindown::cli {
namespace {

/// "101" is PD101.
std::string full_code(const std::string& code) {
  const bool number = code.size() == 3 && std::ranges::all_of(code, [](char c) { return is_digit(c); });
  return number ? "PD" + code : code;
}

int complain_of_code(const std::string& code) {
  std::vector<std::string_view> names;
  for (const Check* check : all_checks()) {
    names.push_back(check->code);
    names.push_back(check->slug);
  }
  const std::string_view meant = nearest_word(code, names);
  const std::string hint = meant.empty() ? "" : fmt::format("did you mean {}? ", meant);
  complain(fmt::format("no such code: {}; {}pindown list shows all", code, hint));
  return kUsage;
}

int run_explain(const std::vector<std::string>& codes, const Output& output) {
  std::string out;
  Json pages = Json::array();
  for (const std::string& code : codes) {
    const Check* check = find_check(full_code(code));
    if (check == nullptr) return complain_of_code(code);
    if (!out.empty()) out += '\n';
    out += render_page(*check, make_style(output));
    pages.push_back(page_json(*check));
  }
  if (output.format == Format::kJson) out = dump(codes.size() == 1 ? pages[0] : pages) + "\n";
  return print(out) ? 0 : kInternal;
}

int run_list(const Output& output) {
  std::string out;
  switch (output.format) {
    case Format::kText:
      out = render_list(make_style(output));
      break;
    case Format::kJson:
      out = dump(list_json()) + "\n";
      break;
    case Format::kMarkdown:
      out = render_list_markdown();
      break;
  }
  return print(out) ? 0 : kInternal;
}

}  // namespace

void add_explain(CLI::App& app, Run& run) {
  auto codes = std::make_shared<std::vector<std::string>>();
  auto output = std::make_shared<Output>();
  CLI::App* command = app.add_subcommand("explain", "what a code means, why, how to fix it, when to ignore it");
  command->add_option("CODE", *codes, "PD102, or its name sshd-usepam-off")->required();
  add_output_options(*command, *output, {"text", "json"});
  command->callback([codes, output, &run] { run = [codes, output] { return run_explain(*codes, *output); }; });
}

void add_list(CLI::App& app, Run& run) {
  auto output = std::make_shared<Output>();
  CLI::App* command = app.add_subcommand("list", "all codes");
  add_output_options(*command, *output, {"text", "json", "markdown"});
  command->callback([output, &run] { run = [output] { return run_list(*output); }; });
}

}  // namespace pindown::cli
