// SPDX-License-Identifier: Apache-2.0
// argv → command table. Nothing else belongs here.
#include <algorithm>
#include <array>
#include <csignal>
#include <exception>

#include "cli/cli.h"

namespace {

/// `pindown`, `pindown LOG` and `pindown --pid 42` mean `pindown check …`.
std::vector<std::string> with_default_command(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  static constexpr std::array<std::string_view, 6> kFirstWords = {"check",  "explain", "list",
                                                                  "--help", "-h",      "--version"};
  if (words.empty() || std::ranges::find(kFirstWords, words.front()) == kFirstWords.end())
    words.insert(words.begin(), "check");
  return words;
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
