// SPDX-License-Identifier: Apache-2.0
// `pindown predict --via ENTRY [--user U] [--from ENTRY[:USER]] [--root DIR]`: what a new session will get.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "cli/cli.h"
#include "facts/login.h"
#include "host/host.h"
#include "model/predict.h"
#include "render/prediction_text.h"

namespace pindown::cli {
namespace {

struct Options {
  std::string via;
  std::string from;
  std::string user;
  std::string root;
  Output output;
};

int refuse(const std::string& message) {
  complain(message);
  return kUsage;
}

/// Without --user: whoever runs pindown; in a directory, root.
std::string user_or_self(const Options& options) {
  if (!options.user.empty()) return options.user;
  return options.root.empty() ? std::to_string(::geteuid()) : "0";
}

int render(const Prediction& prediction, const Output& output) {
  const std::string text = output.format == Format::kJson ? dump(to_json(prediction)) + "\n"
                                                          : render_prediction(prediction, make_style(output));
  if (!print(text)) return kInternal;
  if (prediction.refused) return 1;
  return prediction.soft && prediction.hard ? 0 : 2;
}

int run_predict(const Options& options) {
  const auto entry = parse_entry(options.via);
  if (!entry) return refuse("--via: " + entry.error());
  std::optional<Entry> caller;
  if (!options.from.empty()) {
    const auto parsed = parse_caller(options.from);
    if (!parsed) return refuse("--from: " + parsed.error());
    caller = *parsed;
  }
  std::unique_ptr<Host> host = options.root.empty() ? make_live_host() : nullptr;
  if (!host) {
    auto directory = make_directory_host(options.root);
    if (!directory) return refuse(fmt::format("--root: {}", directory.error().message));
    host = std::move(*directory);
  }
  const LoginFacts machine = collect_login_machine(*host);
  LoginFacts facts = machine;
  add_question(*host, question_of(*entry, user_or_self(options)), facts);
  if (!caller) return render(derive_prediction(*entry, facts, std::nullopt, nullptr), options.output);
  const std::string caller_user = caller->user.empty() ? "0" : caller->user;
  LoginFacts caller_facts = machine;
  add_question(*host, question_of(*caller, caller_user), caller_facts);
  return render(derive_prediction(*entry, facts, caller, &caller_facts), options.output);
}

}  // namespace

void add_predict(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("predict", "which limit a new session will get, and which link decides");
  command
      ->add_option(
          "--via", options->via,
          "ssh, login, su, su-l, sudo, sudo-i, runuser, runuser-l, cron, at, service:NAME, user-service[:NAME]")
      ->required()
      ->type_name("ENTRY");
  command->add_option("--user", options->user, "whose session (default: you; with --root, root)")->type_name("U");
  command->add_option("--from", options->from, "where su, sudo or runuser is called: ssh:alice, service")
      ->type_name("ENTRY[:USER]");
  command->add_option("--root", options->root, "a directory laid out as on the machine")->type_name("DIR");
  add_output_options(*command, options->output, {"text", "json"});
  command->callback([options, &run] { run = [options] { return run_predict(*options); }; });
}

}  // namespace pindown::cli
