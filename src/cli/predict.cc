// SPDX-License-Identifier: Apache-2.0
// `pindown predict --via ENTRY [--user U] [--from ENTRY[:USER]] [--root DIR]`: what a new session will get.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <expected>
#include <memory>

#include "base/text.h"

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
  std::string propagate;     // of Slurm: as sbatch and srun take it
  bool propagated = false;   // --propagate was given, perhaps without a value
  std::string submit_limit;  // of Slurm: a size
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

/// sbatch and srun put the soft limit of their shell there, "U" first where --propagate asked for it
/// (srun/srun_job.c _set_rlimit_env()).
void add_environment(SlurmSubmission& out) {
  constexpr const char* kName = "SLURM_RLIMIT_MEMLOCK";
  const char* value = std::getenv(kName);
  if (value == nullptr) return;
  std::string_view text = value;
  const bool asked = consume(text, "U");
  const auto bytes = parse_u64(text);
  if (!bytes) return;
  out.soft = Limit{*bytes};
  out.source = {kName, value, {}};
  if (asked && !out.propagate) out.propagate = "MEMLOCK";
}

std::expected<SlurmSubmission, std::string> submission_of(const Options& options) {
  SlurmSubmission out;
  if (options.propagated) out.propagate = options.propagate.empty() ? "ALL" : options.propagate;
  if (options.submit_limit.empty()) {
    if (options.from.empty() && options.root.empty()) add_environment(out);
    return out;
  }
  const auto size = parse_size(options.submit_limit);
  if (!size) return std::unexpected(size.error());
  out.soft = *size;
  out.source = {"--submit-limit", options.submit_limit, {}};
  return out;
}

int run_predict(const Options& options) {
  const auto entry = parse_entry(options.via);
  if (!entry) return refuse("--via: " + entry.error());
  const bool for_slurm = options.propagated || !options.submit_limit.empty();
  if (for_slurm && entry->kind != EntryKind::kSlurm)
    return refuse("--submit-limit and --propagate go with --via slurm");
  const auto submission = submission_of(options);
  if (!submission) return refuse("--submit-limit: " + submission.error());
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
  LoginQuestion question = question_of(*entry, user_or_self(options));
  const char* slurm_conf = std::getenv("SLURM_CONF");
  if (options.root.empty() && slurm_conf != nullptr) question.slurm_conf = slurm_conf;
  add_question(*host, question, facts);
  if (!caller) return render(derive_prediction(*entry, facts, std::nullopt, nullptr, *submission), options.output);
  const std::string caller_user = caller->user.empty() ? "0" : caller->user;
  LoginFacts caller_facts = machine;
  add_question(*host, question_of(*caller, caller_user), caller_facts);
  return render(derive_prediction(*entry, facts, caller, &caller_facts, *submission), options.output);
}

}  // namespace

void add_predict(CLI::App& app, Run& run) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("predict", "which limit a new session will get, and which link decides");
  command
      ->add_option(
          "--via", options->via,
          "ssh, login, su, su-l, sudo, sudo-i, runuser, runuser-l, cron, at, service:NAME, user-service[:NAME], slurm")
      ->required()
      ->type_name("ENTRY");
  command->add_option("--user", options->user, "whose session (default: you; with --root, root)")->type_name("U");
  command
      ->add_option("--from", options->from,
                   "where su, sudo, runuser, or sbatch and srun are called: ssh:alice, service")
      ->type_name("ENTRY[:USER]");
  command->add_option("--root", options->root, "a directory laid out as on the machine")->type_name("DIR");
  command->add_option("--submit-limit", options->submit_limit, "for slurm: soft limit of the shell that submits")
      ->type_name("SIZE");
  CLI::Option* propagate =
      command->add_option("--propagate", options->propagate, "for slurm: as given to sbatch or srun")
          ->expected(0, 1)
          ->type_name("LIMITS");
  add_output_options(*command, options->output, {"text", "json"});
  command->callback([options, propagate, &run] {
    options->propagated = propagate->count() > 0;
    run = [options] { return run_predict(*options); };
  });
}

}  // namespace pindown::cli
