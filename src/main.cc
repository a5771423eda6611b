// SPDX-License-Identifier: Apache-2.0
// argv → command table. Nothing else belongs here.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <exception>

#include "cli/cli.h"
#include "cli/suggest.h"

namespace {

constexpr std::array<std::string_view, 4> kCommands = {"check", "explain", "list", "predict"};
constexpr std::array<std::string_view, 3> kFirstOptions = {"--help", "-h", "--version"};

/// `pindown`, `pindown LOG` and `pindown --pid 42` mean `pindown check …`; `help` and `version` are asked for in either
/// spelling.
std::vector<std::string> with_default_command(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() == 1 && (words[0] == "help" || words[0] == "version") && !pindown::cli::is_there(words[0]))
    words[0].insert(0, "--");
  const auto is_one_of = [&words](const auto& list) { return std::ranges::find(list, words[0]) != list.end(); };
  if (words.empty() || (!is_one_of(kCommands) && !is_one_of(kFirstOptions))) words.insert(words.begin(), "check");
  return words;
}

/// `pindown exlpain PD101`: no file of that name, but nearly a command.
bool complain_of_mistyped_command(int argc, char** argv) {
  using namespace pindown::cli;
  const std::string_view word = argc > 1 ? argv[1] : "";
  const bool may_be_file = word.empty() || word[0] == '-' || word.find_first_of("./") != word.npos || is_there(word);
  if (may_be_file || std::ranges::find(kCommands, word) != kCommands.end()) return false;
  const std::string_view meant = nearest_word(word, kCommands);
  if (meant.empty()) return false;
  complain(fmt::format("no command and no file is called {}; did you mean pindown {}?", word, meant));
  return true;
}

int run_command(int argc, char** argv) {
  using namespace pindown::cli;
  CLI::App app{"find why an RDMA memory registration failed, and which link of the chain set the limit", "pindown"};
  app.set_version_flag("--version", std::string("pindown ") + PINDOWN_VERSION);
  app.require_subcommand(0, 1);
  app.footer(
      "Exit status: 0 healthy or degraded, 1 fault, 2 undetermined, 64 usage, 70 internal error.\nMore: man pindown; "
      "pindown explain CODE.");
  Run run;
  add_check(app, run);
  add_explain(app, run);
  add_list(app, run);
  add_predict(app, run);
  if (complain_of_mistyped_command(argc, argv)) return kUsage;
  std::vector<std::string> words = with_default_command(argc, argv);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    return print(app.help()) ? 0 : kInternal;
  } catch (const CLI::CallForVersion&) {
    return print(std::string("pindown ") + PINDOWN_VERSION + "\n") ? 0 : kInternal;
  } catch (const CLI::ParseError& error) {
    complain(std::string(error.what()) + "; pindown --help shows what there is");
    return kUsage;
  }
  return run ? run() : kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an answer of write(2), not a death
  pindown::cli::occupy_standard_streams();
  try {
    return run_command(argc, argv);
  } catch (const std::exception& error) {
    pindown::cli::complain(std::string("internal error: ") + error.what() + "; please report it with the input");
    return pindown::cli::kInternal;
  }
}
