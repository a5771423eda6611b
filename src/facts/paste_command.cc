// SPDX-License-Identifier: Apache-2.0
// Takes a command line apart: what runs it elsewhere (sudo, ssh, docker exec, kubectl exec, srun, mpirun, sh -c …) is
// peeled off and noted, the rest becomes questions. Entry point: parse_command. Recursion ends at kMaxDepth.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

constexpr int kMaxDepth = 6;
using Words = std::span<const std::string>;

/// `outer` is the pipeline the text was a word of: what it is piped into filters the output too.
void add_text(std::string_view text, const Pipeline& outer, Command& out, int depth);
void add_words(Words words, const Pipeline& pipeline, Command& out, int depth);

/// A program that runs the words behind its own options, as the same kind of process.
struct Carrier {
  std::string_view name;
  std::string_view valued;  // options that take the next word
  std::size_t positionals;  // words of its own before the command
};
constexpr Carrier kCarriers[] = {
    {"sudo", " -u -g -U -h -p -C -r -t -T -D -R --user --group ", 0},
    {"doas", " -u -C ", 0},
    {"env", " -u -C --unset --chdir ", 0},
    {"nohup", "", 0},
    {"time", " -f -o ", 0},
    {"command", "", 0},
    {"builtin", "", 0},
    {"exec", " -a ", 0},
    {"setsid", "", 0},
    {"unbuffer", "", 0},
    {"stdbuf", " -i -o -e ", 0},
    {"nice", " -n ", 0},
    {"ionice", " -c -n ", 0},
    {"numactl", " -N -m -C -i -p ", 0},
    {"watch", " -n -d ", 0},
    {"timeout", " -s -k ", 1},
    {"taskset", "", 1},
    {"chroot", "", 1},
    {"then", "", 0},
    {"do", "", 0},
    {"!", "", 0},
};

constexpr std::string_view kSrunValued =
    " -A -c -C -d -D -e -G -i -J -L -M -m -N -n -o -p -q -r -S -t -T -w -W -x --mpi --nodes --ntasks --ntasks-per-node "
    "--gres "
    "--gpus --gpus-per-node --gpus-per-task --cpus-per-task --partition --account --time --jobid --nodelist --exclude "
    "--qos "
    "--reservation --container-image --container-mounts --container-name --container-workdir --container-env --export "
    "--output "
    "--error --input --job-name --mem --mem-per-cpu --constraint --cpu-bind --propagate --network --chdir --uid --gid "
    "--distribution --hint --licenses ";
constexpr std::string_view kMpiValued =
    " -n -np -c -N -H -host --host -hosts --hosts -hostfile --hostfile -machinefile --machinefile -f -ppn -perhost "
    "-npernode "
    "--npernode -x -wdir -wd --wdir --map-by -map-by --bind-to -bind-to --rank-by --rankfile -rf --prefix --display "
    "--output "
    "-iface -genvlist -envlist --timeout -configfile --np ";
constexpr std::string_view kMpiTwoValued = " --mca -mca --gmca -gmca --prtemca --pmixmca -genv -env -am ";
constexpr std::string_view kExecValued =
    " -e --env -u --user -w --workdir --env-file --detach-keys -n --namespace -c --container --context --kubeconfig -f "
    "--filename --pod-running-timeout --index ";
constexpr std::string_view kEngineGlobals =
    " -H --host --context -c --config -l --log-level -n --namespace --root --connection ";

bool in(std::string_view list, std::string_view word) {
  const auto at = list.find(word);
  return at != list.npos && !word.empty() && at > 0 && list[at - 1] == ' ' && at + word.size() < list.size() &&
         list[at + word.size()] == ' ';
}

bool is_assignment(std::string_view word) {
  std::size_t n = 0;
  while (n < word.size() && (is_alnum(word[n]) || word[n] == '_')) ++n;
  return n > 0 && n < word.size() && word[n] == '=' && !is_digit(word[0]);
}

void note_env(std::string_view assignment, Command& out) {
  const auto equals = assignment.find('=');
  if (equals == assignment.npos || out.env.size() >= kMaxList) return;
  const std::string_view name = assignment.substr(0, equals);
  if (keeps_variable(name)) out.env.emplace_back(name, assignment.substr(equals + 1, 256));
}

ContainerCommand container_of(std::string_view engine) {
  ContainerCommand out;
  out.engine = engine;
  return out;
}

void enter_shell(Command& out) {
  out.enters_shell = true;
}

bool is_shell(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kShells = {"sh", "bash", "zsh", "dash", "ksh", "ash", "csh", "tcsh"};
  return std::ranges::find(kShells, name) != kShells.end();
}

/// `sh -c 'text'`; a shell without a script is interactive.
void add_shell(Words words, const Pipeline& pipeline, Command& out, int depth) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!word.starts_with('-') || word == "--") return;  // a script file
    const bool script = !word.starts_with("--") && word.find('c') != word.npos;
    if (!script) continue;
    if (i + 1 < words.size()) add_text(words[i + 1], pipeline, out, depth + 1);
    return;
  }
  enter_shell(out);
}

void add_carried(const Carrier& carrier, Words words, const Pipeline& pipeline, Command& out, int depth) {
  std::size_t at = skip_options(words, 1, carrier.valued);
  if (carrier.name == "sudo" || carrier.name == "doas") {
    for (std::size_t i = 1; i + 1 < at; ++i) {
      if (words[i] == "-u" || words[i] == "--user") out.user = words[i + 1];
    }
    if (out.user.empty()) out.user = "root";
    const bool login = at == words.size() && std::ranges::any_of(words.subspan(1, at - 1), [](const std::string& w) {
                         return w == "-i" || w == "-s" || w == "-su" || w == "-E";
                       });
    if (login) return enter_shell(out);
  }
  at = std::min(at + carrier.positionals, words.size());
  add_words(words.subspan(at), pipeline, out, depth + 1);
}

/// `su - alice -c 'cmd'`, `runuser -u alice -- cmd`.
void add_su(Words words, const Pipeline& pipeline, Command& out, int depth) {
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "-c" && i + 1 < words.size()) return add_text(words[i + 1], pipeline, out, depth + 1);
    if (words[i] == "-u" && i + 1 < words.size()) {
      out.user = words[++i];
      const std::size_t from = skip_options(words, i + 1, "");
      return add_words(words.subspan(from), pipeline, out, depth + 1);
    }
    if (!words[i].starts_with('-')) out.user = words[i];
  }
  if (out.user.empty()) out.user = "root";
  enter_shell(out);
}

void add_ssh(Words words, const Pipeline& pipeline, Command& out, int depth) {
  const std::size_t at = skip_options(words, 1, " -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w ");
  if (at >= words.size()) return;
  const std::string_view target = words[at];
  const auto sign = target.find('@');
  if (sign != target.npos) out.user = target.substr(0, sign);
  const std::string_view host = sign == target.npos ? target : target.substr(sign + 1);
  const bool here = host == "localhost" || host == "127.0.0.1" || host == "::1";
  if (!here) out.host = out.machine = host;
  if (out.kind == ProcessKind::kUnknown) out.kind = ProcessKind::kShell;
  if (at + 1 == words.size()) return enter_shell(out);
  add_text(join_words(words.subspan(at + 1)), pipeline, out, depth + 1);
}

/// pdsh, clush: one output line per host, "host: " in front.
void add_fan_out(Words words, const Pipeline& pipeline, Command& out, int depth) {
  const std::size_t at = skip_options(words, 1, " -w -x -l -t -u -f -g -R -h -H -p ");
  out.fan_out = out.elsewhere = true;
  out.kind = ProcessKind::kShell;
  if (at < words.size()) add_text(join_words(words.subspan(at)), pipeline, out, depth + 1);
}

void add_mpirun(Words words, const Pipeline& pipeline, Command& out, int depth) {
  out.kind = ProcessKind::kJob;
  out.fan_out = true;
  std::size_t at = 1;
  for (; at < words.size() && words[at].starts_with('-'); ++at) {
    const std::string_view word = words[at];
    if (word == "-x" && at + 1 < words.size()) note_env(words[at + 1], out);
    if ((word == "-genv" || word == "-env") && at + 2 < words.size()) {
      note_env(words[at + 1] + "=" + words[at + 2], out);
    }
    out.elsewhere |= in(" -H -host --host -hosts --hosts -hostfile --hostfile -machinefile --machinefile -f ", word);
    if (in(kMpiValued, word)) at += 1;
    if (in(kMpiTwoValued, word)) at += 2;
  }
  if (at < words.size()) add_words(words.subspan(at), pipeline, out, depth + 1);
}

void add_srun(Words words, const Pipeline& pipeline, Command& out, int depth) {
  out.kind = ProcessKind::kJob;
  out.fan_out = out.elsewhere = true;
  out.launcher = "slurm";
  const std::size_t from = skip_options(words, 1, kSrunValued);
  if (has_srun_container(words.first(from))) {
    out.container = container_of("srun");
    out.container->image = srun_image(words.first(from));
    set_inner_command(words.subspan(from), *out.container);
  }
  if (from < words.size()) add_words(words.subspan(from), pipeline, out, depth + 1);
}

/// flux-run(1), flux-exec(1): the broker of each node starts the command, with its own limit.
void add_flux(Words words, const Pipeline& pipeline, Command& out, int depth) {
  std::size_t at = 1;
  if (at < words.size() && words[at] == "mini") ++at;
  if (at >= words.size() || !in(" run exec submit batch alloc bulksubmit ", words[at])) return;
  out.kind = ProcessKind::kJob;
  out.fan_out = out.elsewhere = true;
  out.launcher = "flux";
  const std::size_t from = skip_options(words, at + 1, " -N -n -c -g -t -q -r -x --rank --nodes --ntasks --cwd ");
  if (from < words.size()) add_words(words.subspan(from), pipeline, out, depth + 1);
}

/// The words behind `exec`: options, the container or pod, then (after "--") the command.
void add_exec(Words words, std::size_t exec, const Pipeline& pipeline, Command& out, int depth) {
  out.kind = ProcessKind::kContainer;
  out.host.clear();
  std::size_t at = skip_options(words, exec + 1, kExecValued);
  if (at >= words.size()) return;
  std::string_view name = words[at];
  out.target = name.substr(0, 200);
  const bool kubernetes = words[0] == "kubectl" || words[0] == "oc" || words[0] == "k";
  if (kubernetes) {
    consume(name, "pod/");
    out.elsewhere = true;
    if (name.find('/') == name.npos) out.target = fmt::format("pod/{}", name.substr(0, 200));
    if (name.find('/') == name.npos) out.host = out.machine = name.substr(0, 200);
  } else {
    out.host = logs::looks_like_docker_id(name.substr(0, 12)) ? name.substr(0, 12) : name.substr(0, 200);
  }
  const auto dashes = std::ranges::find(words.subspan(at), "--");
  const auto rest = dashes == words.subspan(at).end()
                        ? skip_options(words, at + 1, kExecValued)
                        : static_cast<std::size_t>(dashes - words.subspan(at).begin()) + at + 1;
  if (rest < words.size()) add_words(words.subspan(rest), pipeline, out, depth + 1);
}

void add_engine(Words words, std::string_view engine, const Pipeline& pipeline, Command& out, int depth) {
  std::size_t at = skip_options(words, 1, kEngineGlobals);
  if (at < words.size() && (words[at] == "container" || words[at] == "compose")) {
    at = skip_options(words, at + 1, " -f --file -p --project-name ");
  }
  if (at >= words.size()) return;
  const std::string_view verb = words[at];
  if (verb == "exec") return add_exec(words, at, pipeline, out, depth);
  if (verb == "inspect") {
    Question q;
    q.topic = Topic::kInspect;
    out.questions.push_back(std::move(q));
    return;
  }
  if (verb != "run" && verb != "create") return;
  ContainerCommand container;
  const std::size_t inner = parse_container_run(words.subspan(at), engine, container, out.env);
  out.container = std::move(container);
  out.kind = ProcessKind::kContainer;
  out.host.clear();
  if (at + inner < words.size()) add_words(words.subspan(at + inner), pipeline, out, depth + 1);
}

/// `-n NS`, `-nNS`, `--namespace NS`, `--namespace=NS`, before or behind the verb; what follows "--" runs in the pod.
std::string namespace_option(Words words) {
  for (std::size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    std::string_view word = words[i];
    if (word == "-n" || word == "--namespace") return i + 1 < words.size() ? words[i + 1].substr(0, 64) : std::string();
    if (consume(word, "--namespace=") || consume(word, "-n=") || (!word.starts_with("--") && consume(word, "-n"))) {
      return std::string(word.substr(0, 64));
    }
  }
  return {};
}

void add_kubectl(Words words, const Pipeline& pipeline, Command& out, int depth) {
  const std::size_t at = skip_options(words, 1, " -n --namespace --context --kubeconfig ");
  if (at >= words.size()) return;
  static constexpr std::array<std::string_view, 6> kOfPods = {"exec", "rsh", "logs", "attach", "run", "debug"};
  const bool looks = words[at] == "get" || words[at] == "describe";
  const bool at_pod = looks && at + 1 < words.size() && words[at + 1].starts_with("pod");
  if (at_pod || std::ranges::find(kOfPods, words[at]) != kOfPods.end()) {
    out.launcher = "kubectl";
    out.pod_namespace = namespace_option(words);
  }
  if (words[at] == "exec" || words[at] == "rsh") add_exec(words, at, pipeline, out, depth);
}

void add_apptainer(Words words, const Pipeline& pipeline, Command& out, int depth) {
  const std::size_t verb = skip_options(words, 1, "");
  if (verb >= words.size() || (words[verb] != "exec" && words[verb] != "run" && words[verb] != "shell")) return;
  const std::size_t image =
      skip_options(words, verb + 1, " -B --bind -H --home -W --workdir --env --pwd --overlay --app ");
  if (image >= words.size()) return;
  out.container = container_of("apptainer");
  out.container->image = words[image].substr(0, 200);
  set_inner_command(words.subspan(image + 1), *out.container);
  out.kind = ProcessKind::kContainer;
  if (words[verb] == "shell") return enter_shell(out);
  add_words(words.subspan(image + 1), pipeline, out, depth + 1);
}

void add_enroot(Words words, const Pipeline& pipeline, Command& out, int depth) {
  const std::size_t verb = skip_options(words, 1, "");
  if (verb >= words.size() || (words[verb] != "start" && words[verb] != "exec")) return;
  const std::size_t name = skip_options(words, verb + 1, " -c --conf -e --env --rc -m --mount ");
  if (name >= words.size()) return;
  out.kind = ProcessKind::kContainer;
  if (words[verb] == "exec") {
    out.target = words[name].substr(0, 200);
  } else {
    out.container = container_of("enroot");
    out.container->image = words[name].substr(0, 200);
    set_inner_command(words.subspan(name + 1), *out.container);
  }
  if (name + 1 == words.size()) return enter_shell(out);
  add_words(words.subspan(name + 1), pipeline, out, depth + 1);
}

using Adder = void (*)(Words, const Pipeline&, Command&, int);
constexpr std::pair<std::string_view, Adder> kLaunchers[] = {
    {"srun", add_srun},      {"salloc", add_srun},         {"mpirun", add_mpirun},         {"mpiexec", add_mpirun},
    {"orterun", add_mpirun}, {"prterun", add_mpirun},      {"kubectl", add_kubectl},       {"oc", add_kubectl},
    {"k", add_kubectl},      {"apptainer", add_apptainer}, {"singularity", add_apptainer}, {"enroot", add_enroot},
    {"su", add_su},          {"runuser", add_su},          {"mpiexec.hydra", add_mpirun},  {"ssh", add_ssh},
    {"pdsh", add_fan_out},   {"clush", add_fan_out},       {"pssh", add_fan_out},          {"flux", add_flux},
};

bool add_launcher(Words words, std::string_view program, const Pipeline& pipeline, Command& out, int depth) {
  for (const auto& [name, add] : kLaunchers) {
    if (program != name) continue;
    add(words, pipeline, out, depth);
    return true;
  }
  if (program == "docker" || program == "podman" || program == "nerdctl" || program == "crictl") {
    add_engine(words, program, pipeline, out, depth);
    return true;
  }
  if (is_shell(program)) {
    add_shell(words, pipeline, out, depth);
    return true;
  }
  return false;
}

/// export, declare -x, setenv: the words that set variables.
bool add_export(Words words, std::string_view program, Command& out) {
  if (program == "setenv" && words.size() >= 3) {
    note_env(words[1] + "=" + words[2], out);
    return true;
  }
  if (program != "export" && program != "declare" && program != "set") return false;
  for (const std::string& word : words.subspan(1)) note_env(word, out);
  return words.size() > 1;
}

void add_words(Words words, const Pipeline& pipeline, Command& out, int depth) {
  if (depth > kMaxDepth) return;
  while (!words.empty() && is_assignment(words[0])) {
    note_env(words[0], out);
    words = words.subspan(1);
  }
  if (words.empty() || out.questions.size() >= 16) return;
  const std::string_view program = base_name(words[0]);
  if (add_export(words, program, out)) return;
  if (program == "sbatch") out.launcher = "slurm";
  if (add_launcher(words, program, pipeline, out, depth)) return;
  const bool lone_env = program == "env" && skip_options(words, 1, " -u ") == words.size();
  for (const Carrier& carrier : kCarriers) {
    if (carrier.name == program && !lone_env) return add_carried(carrier, words, pipeline, out, depth);
  }
  SimpleCommand command{{words.begin(), words.end()}, pipeline.front().stdin_file, pipeline.back().to_file};
  for (const LimitRequest& request : settings_of(command)) {
    if (out.settings.size() < 16) out.settings.push_back(request);
  }
  if (command.to_file) return;
  const Pipeline rest(pipeline.begin() + 1, pipeline.end());
  for (Question& q : questions_of(command, rest)) {
    if (out.questions.size() < 16) out.questions.push_back(std::move(q));
  }
}

void add_text(std::string_view text, const Pipeline& outer, Command& out, int depth) {
  if (depth > kMaxDepth) return;
  std::size_t before = 0;
  for (Pipeline& pipeline : parse_shell(text)) {
    if (outer.size() > 1) pipeline.insert(pipeline.end(), outer.begin() + 1, outer.end());
    before = out.settings.size();
    add_words(pipeline[0].words, pipeline, out, depth);
  }
  // `sh -c 'ulimit -l unlimited'`: a shell that ends right there hands its limit to nobody.
  if (depth == 0 || before >= out.settings.size()) return;
  out.settings.erase(out.settings.begin() + static_cast<std::ptrdiff_t>(before), out.settings.end());
}

}  // namespace

std::size_t skip_options(Words words, std::size_t from, std::string_view valued) {
  std::size_t at = from;
  while (at < words.size() && words[at].size() > 1 && words[at].starts_with('-')) {
    if (words[at] == "--") return at + 1;
    at += in(valued, words[at]) ? 2 : 1;
  }
  return std::min(at, words.size());
}

namespace {

/// "… 'for p in $(pgrep raylet); do grep locked /proc/$p/limits; done'": the limits of a daemon, whatever carries the
/// command there.
void ask_loop_over_daemons(std::string_view text, Command& out) {
  if (!contains(text, "/limits")) return;
  for (const std::string_view finder : {"pgrep ", "pidof "}) {
    const auto at = text.find(finder);
    if (at == text.npos) continue;
    Question q = question_of_path("/proc/$(" + std::string(text.substr(at, 80)) + ")/limits");
    if (q.comm.empty()) continue;
    out.questions.push_back(std::move(q));
    out.fan_out = true;
    return;
  }
}

/// Commands that show what was printed on some other machine, or at some other time.
bool shows_records(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kPrograms = {"cat",   "tail", "head",  "less",    "more", "grep",
                                                                 "egrep", "zcat", "zgrep", "kubectl", "oc",   "sbatch"};
  const std::string_view program = base_name(text.substr(0, text.find_first_of(" \t")));
  return std::ranges::find(kPrograms, program) != kPrograms.end();
}

}  // namespace

Command parse_command(std::string_view text) {
  Command out;
  add_text(trim(text), {}, out, 0);
  if (out.questions.empty()) ask_loop_over_daemons(text, out);
  if (!out.understood() && shows_records(trim(text))) out.elsewhere = true;
  return out;
}

}  // namespace pindown::paste
