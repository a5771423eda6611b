// SPDX-License-Identifier: Apache-2.0
// What the commands share: output, style, exit codes. With main.cc the only code that prints or exits.
#pragma once

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "render/style.h"

namespace pindown::cli {

constexpr int kUsage = 64;     // sysexits.h EX_USAGE
constexpr int kInternal = 70;  // EX_SOFTWARE

enum class Format { kText, kJson, kMarkdown };

struct Output {
  Format format = Format::kText;
  std::string color = "auto";
  bool verbose = false;
};

/// Colour only on a terminal and without NO_COLOR; ASCII unless the locale's charset is UTF-8; width from COLUMNS or
/// the terminal.
Style make_style(const Output& output);

/// All of `text` to standard output. A reader that had enough (EPIPE) is no error; any other failure to write is
/// reported. False on error.
bool print(std::string_view text);
/// Gives descriptors 0 to 2 that are closed something that refuses what they are for, so that no file opened later can
/// take their place and be read or written by mistake.
void occupy_standard_streams();
/// Whether anything of that name is in the file system.
bool is_there(std::string_view path);
/// "pindown: message" to standard error, one line, escaped.
void complain(std::string_view message);

/// Each registers its command and sets `run` when it is chosen.
using Run = std::function<int()>;
void add_check(CLI::App& app, Run& run);
void add_explain(CLI::App& app, Run& run);
void add_list(CLI::App& app, Run& run);
void add_predict(CLI::App& app, Run& run);

/// --format text|json… and --color.
void add_output_options(CLI::App& app, Output& output, const std::vector<std::string>& formats);

}  // namespace pindown::cli
