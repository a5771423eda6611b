// SPDX-License-Identifier: Apache-2.0
// The reader of pasted text: keeps one state per stream, opens a block at a command, hands its output to the readers of
// paste_dispatch.cc. Entry point: PasteReader. Most lines of a log are nothing to it: they must cost well under 1 µs.
#include "facts/paste.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown {
namespace paste {
namespace {

constexpr std::size_t kMaxStreams = 64;
constexpr std::uint64_t kMaxContinuations = 100;

bool is_of(const Stream& s, const logs::Shape& shape) {
  return s.rank == shape.rank && s.pid == shape.pid && s.launcher == shape.launcher && s.origin_host == shape.host;
}

bool holds_state(const Stream& s) {
  return s.open || s.pending || s.detail_lines > 0 || s.entered.active;
}

bool begins_a_fact(std::string_view text) {
  static constexpr std::array<std::string_view, 9> kStarts = {
      "$ ", "Max locked memory", "max locked memory", "Cap", "ulimit -l:", "ulimit -l =", "uid_map", "user:[", "root@"};
  return std::ranges::any_of(kStarts, [&](std::string_view start) { return text.starts_with(start); });
}

/// "12 | " of a numbered listing, "| " of quoted text (a row of nvidia-smi ends in the same sign), "- " of a list.
void drop_listing(std::string_view& text) {
  std::string_view rest = text;
  if (!take_digits(rest).empty()) {
    if (consume(rest, " | ")) text = trim(rest);
  } else if (consume(rest, "| ")) {
    if (!text.ends_with('|')) text = trim(rest);
  } else if (consume(rest, "- ") && begins_a_fact(trim(rest))) {
    text = trim(rest);
  }
}

/// "job.out:", "job.out:12:" that grep puts in front.
void drop_file_name(std::string_view& text) {
  const auto colon = text.substr(0, 80).find(':');
  if (colon == text.npos || colon + 1 >= text.size() || is_blank(text[colon + 1])) return;
  static constexpr std::array<std::string_view, 4> kEndings = {".out", ".log", ".err", ".txt"};
  const std::string_view name = text.substr(0, colon);
  if (name.find_first_of(" \t=") != name.npos) return;
  if (std::ranges::none_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); })) return;
  std::string_view rest = text.substr(colon + 1);
  std::string_view behind_number = rest;
  if (!take_digits(behind_number).empty() && consume(behind_number, ":")) rest = behind_number;
  text = trim(rest);
}

/// "[entry] ", "[init-step] " of entry scripts, "> " of quoted mail. Not "[root@node ~]# " and not "[0] ".
void drop_tags(std::string_view& text) {
  drop_listing(text);
  drop_file_name(text);
  for (int i = 0; i < 2; ++i) {
    if (consume(text, "> ")) text = trim(text);
    if (text.size() < 4 || text[0] != '[' || !is_alpha(text[1])) return;
    std::size_t n = 1;
    while (n < text.size() && n < 28 && (is_alnum(text[n]) || text[n] == '-' || text[n] == '_')) ++n;
    if (n + 1 >= text.size() || text[n] != ']' || text[n + 1] != ' ') return;
    text = trim(text.substr(n + 1));
  }
}

void forget_position(Stream& s) {
  s.device.clear();
  s.gpu = -1;
  s.bar1 = false;
  s.inspect_caps = false;
  s.container = static_cast<std::size_t>(-1);
  s.header = {};
  s.detail_lines = 0;
}

void close_block(Stream& s) {
  s.open = false;
  s.command = {};
  s.lines = s.outputs = 0;
  s.fan = {};
  s.host.clear();
  s.user.clear();
  s.machine.clear();
  s.target.clear();
  s.settings = 0;
  s.kind = ProcessKind::kUnknown;
  forget_position(s);
}

/// A grep that printed nothing is an answer too, when the next prompt or an empty line shows that it ended.
void conclude(State& state, Stream& s) {
  if (!s.open || s.bare_command || s.outputs > 0) return;
  const Context c{state.facts, state.input, s.command_line, s, {}};
  for (const Question& q : s.command.questions) conclude_no_module(c, q);
}

ProcessKind kind_of_prompt(const Prompt& prompt, bool bare, const logs::Shape& shape) {
  if (prompt.container || logs::looks_like_docker_id(prompt.host)) return ProcessKind::kContainer;
  if (is_wrapped(shape)) return ProcessKind::kJob;
  return bare || prompt.kind == PromptKind::kTrace ? ProcessKind::kUnknown : ProcessKind::kShell;
}

/// After `docker exec -it X bash` prompts are inside, until `exit` or the outer prompt comes back.
void follow_entry(Stream& s, const Prompt& prompt, std::string_view command) {
  if (!s.entered.active) return;
  const bool outer = !prompt.host.empty() && prompt.host == s.entered.outer_host && prompt.user == s.entered.outer_user;
  if (outer) s.entered = {};
  if (!s.entered.active) return;
  s.kind = s.entered.kind;
  if (s.host.empty()) s.host = s.entered.host;
  if (s.machine.empty()) s.machine = s.entered.machine;
  s.target = s.entered.target;
  if (command == "exit" || command == "logout") s.entered = {};
}

void note_entry(Stream& s, const Prompt& prompt) {
  if (!s.command.enters_shell || s.command.kind == ProcessKind::kUnknown) return;
  s.entered = {true, s.command.kind, s.command.host, s.machine, s.command.target, prompt.user, prompt.host};
}

void learn_from_command(Context& c, std::string_view text, std::uint64_t first_line) {
  Stream& s = c.stream;
  for (const auto& [name, value] : s.command.env) learn_env(c, name, value);
  // Without a prompt it may be advice.
  if (!s.bare_command) learn_settings(c);
  if (!s.bare_command && !s.command.launcher.empty()) {
    c.facts.launchers.try_emplace(s.command.launcher, c.source());
  }
  if (!s.command.pod_namespace.empty() && c.facts.pod_namespaces.size() < kMaxList) {
    c.facts.pod_namespaces.insert(s.command.pod_namespace);
  }
  if (!s.command.container || c.facts.containers.size() >= kMaxList) return;
  ContainerCommand& out = c.facts.containers.emplace_back(*s.command.container);
  out.source = c.source();
  if (first_line == c.line.line) return;
  out.source.path = c.input + ":" + std::to_string(first_line);
  out.source.text = text.substr(0, kMaxLine);
}

/// What runs elsewhere, or was printed elsewhere, is not of the prompt's machine.
void forget_place(Stream& s) {
  s.host.clear();
  s.machine.clear();
}

/// "sbatch --nodes=2 run.sh", not "srun fails on two nodes": the word behind the program is an option or a file.
bool starts_a_job(const Command& command, std::string_view text) {
  const auto words = split_blanks(text.substr(0, 400));
  return !command.launcher.empty() && words.size() > 1 &&
         (words[1].starts_with('-') || words[1].find_first_of("./") < words[1].size() - 1);
}

/// Opens the block of `command`. False: nothing says that this is a command at all.
bool open_block(State& state, Context& c, const Prompt& prompt, bool bare, std::string_view text,
                std::uint64_t first_line) {
  Stream& s = c.stream;
  Command command = parse_command(text);
  const bool sure = prompt.kind == PromptKind::kPlain || prompt.kind == PromptKind::kNamed;
  const bool sets = !command.settings.empty() && (prompt.kind == PromptKind::kTrace || !prompt.host.empty());
  if ((bare || !sure) && !command.understood() && !sets && (bare || !starts_a_job(command, text))) return false;
  conclude(state, c.stream);
  close_block(s);
  s.open = true;
  s.command_line = c.line;
  s.bare_command = bare;
  s.trace = prompt.kind == PromptKind::kTrace;
  s.kind = kind_of_prompt(prompt, bare, c.line.shape);
  s.host = s.machine = prompt.host;
  s.user = prompt.root && prompt.user.empty() ? "root" : prompt.user;
  follow_entry(s, prompt, text);
  if (command.kind != ProcessKind::kUnknown) s.kind = command.kind;
  if (command.elsewhere) forget_place(s);
  if (command.elsewhere && !command.understood()) s.user.clear();
  if (!command.host.empty()) s.host = command.host;
  if (!command.machine.empty()) s.machine = command.machine;
  if (!command.target.empty()) s.target = command.target;
  if (!command.user.empty()) s.user = command.user;
  if (command.kind == ProcessKind::kContainer) s.user = command.user;
  s.command = std::move(command);
  note_entry(s, prompt);
  learn_from_command(c, text, first_line);
  return true;
}

bool continue_command(State& state, Context& c) {
  Stream::Pending& p = *c.stream.pending;
  std::string_view text = c.text;
  // The shell's own continuation prompt, where the paste kept it.
  if (consume(text, "> ")) text = trim(text);
  const bool more = text.ends_with('\\');
  if (more) text.remove_suffix(1);
  if (p.text.size() + text.size() < kMaxCommand) p.text.append(" ").append(text);
  if (more && ++p.lines < kMaxContinuations) return true;
  const Stream::Pending done = std::move(p);
  c.stream.pending.reset();
  return open_block(state, c, done.prompt, done.bare, trim(done.text), done.first_line);
}

bool start_command(State& state, Context& c, const Prompt& prompt, bool bare, std::string_view text) {
  if (!text.ends_with('\\')) return open_block(state, c, prompt, bare, text, c.line.line);
  text.remove_suffix(1);
  Prompt kept = prompt;
  kept.command = {};
  c.stream.pending = Stream::Pending{std::string(text.substr(0, kMaxCommand)), std::move(kept), bare, 1, c.line.line};
  return true;
}

/// ">>> resource.getrlimit(resource.RLIMIT_MEMLOCK)".
bool read_python_prompt(State& state, Context& c, std::string_view text) {
  conclude(state, c.stream);
  close_block(c.stream);
  if (!contains(text, "getrlimit") || !contains(text, "RLIMIT_MEMLOCK")) return false;
  Question q;
  q.topic = Topic::kRlimitTuple;
  c.stream.open = true;
  c.stream.bare_command = false;
  c.stream.kind = is_wrapped(c.line.shape) ? ProcessKind::kJob : ProcessKind::kShell;
  c.stream.command.questions.push_back(std::move(q));
  return true;
}

bool is_word_start(char c) {
  return is_alnum(c) || c == '.' || c == '/' || c == '~' || c == '_' || c == '\\' || c == '(';
}

/// True if the line is a prompt; `understood` is what feed() returns for it.
bool read_prompt(State& state, Context& c, bool& understood) {
  const auto prompt = parse_prompt(c.text);
  if (!prompt) return false;
  if (prompt->kind == PromptKind::kPython) {
    understood = read_python_prompt(state, c, prompt->command);
    return true;
  }
  const bool sure = prompt->kind == PromptKind::kPlain || prompt->kind == PromptKind::kNamed;
  if (prompt->command.empty() || !is_word_start(prompt->command[0])) {
    if (!sure || !prompt->command.empty()) return false;
    conclude(state, c.stream);
    close_block(c.stream);
    understood = prompt->kind == PromptKind::kNamed;
    return true;
  }
  const bool opened = start_command(state, c, *prompt, false, prompt->command);
  if (!opened && prompt->kind == PromptKind::kTrace) {  // set -x went on: what was asked before is over
    conclude(state, c.stream);
    close_block(c.stream);
  }
  understood = opened;
  return opened;
}

/// Commands that are recognised without a prompt: nobody begins a sentence or a log line with them.
bool looks_like_command(std::string_view text) {
  static constexpr std::array<std::string_view, 27> kStarts = {
      "ulimit -",        "cat /proc/",        "cat /sys/",        "cat /etc/",
      "grep ",           "uname -r",          "uname -a",         "lsmod",
      "systemctl show ", "systemctl cat ",    "docker run ",      "podman run ",
      "nerdctl run ",    "sudo docker run ",  "sudo podman run ", "docker exec ",
      "kubectl exec ",   "srun --container-", "nvidia-smi",       "ibv_devinfo",
      "rdma resource",   "sysctl ",           "modinfo ",         "sshd -T",
      "scontrol show ",  "docker inspect ",   "apptainer exec "};
  return std::ranges::any_of(kStarts, [&](std::string_view start) { return text.starts_with(start); });
}

bool read_bare_command(State& state, Context& c) {
  static constexpr std::string_view kFirst = "ucglsdpnkirma";
  if (kFirst.find(c.text[0]) == kFirst.npos || !looks_like_command(c.text)) return false;
  // "docker run fails with …" is a sentence: a command has an option.
  if (contains(c.text.substr(0, 24), " run ") && !contains(c.text, " -")) return false;
  // "ulimit -l (kbytes): 64" is an answer.
  if (c.text.starts_with("ulimit") && c.text.find_first_of("(:=>") != c.text.npos) return false;
  Prompt none;
  none.kind = PromptKind::kWeak;
  return start_command(state, c, none, true, c.text);
}

/// "node1: 64": a host in front of fan-out output that no wrapper was taken off.
void drop_fan_host(Context& c) {
  const auto colon = c.text.find(": ");
  if (colon == c.text.npos || colon == 0 || colon > 64) return;
  const std::string_view host = c.text.substr(0, colon);
  const bool name = std::ranges::all_of(host, [](char ch) { return is_alnum(ch) || ch == '-' || ch == '.'; });
  if (!name || !contains(c.text.substr(colon), " ") || host.starts_with("Cap") || host.starts_with("Vm")) return;
  c.fan_host = host;
  c.text = trim(c.text.substr(colon + 2));
}

bool names_a_host(std::string_view text) {
  return is_host_name(text) && text != "unlimited" && std::ranges::any_of(text, is_alpha);
}

/// Names are read_fan_name's: to the readers of answers "unlimited" would be one.
void ask_again(Stream& block) {
  for (Question& q : block.command.questions) q.answered = q.topic == Topic::kHostname;
}

/// A host name that a fan-out command prints says whose the values behind it are, as long as every name is followed by
/// a value before the next one comes.
bool read_fan_name(Context& c, Stream& block) {
  auto& questions = block.command.questions;
  const auto asks_name = [](const Question& q) { return q.topic == Topic::kHostname; };
  if (block.fan.over || std::ranges::none_of(questions, asks_name)) return false;
  auto& names = block.fan.by_rank;
  const std::int64_t rank = c.line.shape.rank.value_or(-1);
  if (names.size() >= kMaxProcesses && !names.contains(rank)) return false;
  FanNames::Name& name = names[rank];
  if (names_a_host(c.text)) {
    const bool first = asks_name(questions.front());
    name.unclear |= !first || (questions.size() > 1 && !name.host.empty() && !name.has_value);
    name.host = c.text;
    name.has_value = false;
    ask_again(block);
    return true;
  }
  if (name.host.empty() || name.unclear) return false;
  c.fan = true;
  c.fan_host = name.host;
  return false;
}

/// Which task or host printed the line; empty: it does not say.
std::string teller_of(const Context& c) {
  if (c.line.shape.rank) return std::to_string(*c.line.shape.rank);
  return c.fan_host.empty() ? c.line.shape.host : c.fan_host;
}

/// Several lone values for each teller, whose lines come mixed: everyone answers the questions in order.
bool read_in_turn(Context& c, Stream& block) {
  auto& questions = block.command.questions;
  auto& all = block.fan.answered;
  const std::string teller = teller_of(c);
  if (all.size() >= kMaxProcesses && !all.contains(teller)) return false;
  std::vector<bool>& answered = all[teller];
  answered.resize(questions.size());
  if (std::ranges::find(answered, false) == answered.end()) answered.assign(questions.size(), false);
  for (std::size_t i = 0; i < questions.size(); ++i) questions[i].answered = answered[i];
  const bool understood = read_block(c, block);
  for (std::size_t i = 0; i < questions.size(); ++i) answered[i] = questions[i].answered;
  return understood;
}

bool asks_in_turn(const Context& c, const Stream& block) {
  return block.asks_several_values() && block.fan.by_rank.empty() && !teller_of(c).empty();
}

/// One block for the output of many tasks: what was answered for one is asked again for the next.
bool read_fan_block(Context& c, Stream& block) {
  if (read_fan_name(c, block)) return true;
  if (asks_in_turn(c, block)) return read_in_turn(c, block);
  const auto done = [](const Question& q) { return q.answered || !q.single || q.topic == Topic::kHostname; };
  if (!block.fan.over && (block.outputs == 1 || std::ranges::all_of(block.command.questions, done))) ask_again(block);
  if (!read_block(c, block)) return false;
  if (const auto at = block.fan.by_rank.find(c.line.shape.rank.value_or(-1)); at != block.fan.by_rank.end()) {
    at->second.has_value = true;
  }
  return true;
}

bool read_output(Context& c, Stream& block) {
  ++block.lines;
  ++block.outputs;
  if (block.lines > kBlockLines) {
    const auto lists = [](const Question& q) { return q.topic == Topic::kModules; };
    if (std::ranges::any_of(block.command.questions, lists)) c.facts.modules_complete = {};
    close_block(block);
    return false;
  }
  if (!block.command.fan_out) return read_block(c, block);
  if (read_fan_block(c, block)) return true;
  const std::string_view whole = c.text;
  drop_fan_host(c);
  if (!c.fan_host.empty()) {
    const bool was_fan = c.fan;
    c.fan = true;
    for (Question& q : block.command.questions) q.answered = false;
    if (asks_in_turn(c, block) ? read_in_turn(c, block) : read_block(c, block)) return true;
    c.fan = was_fan;
    c.fan_host.clear();
    c.text = whole;
  }
  block.fan.over = true;
  return false;
}

/// People write down that a command printed nothing.
bool says_nothing(std::string_view text) {
  for (const std::string_view words : {"(no output)", "<no output>", "(empty)", "(nothing)", "<empty>"}) {
    if (iequals(text, words)) return true;
  }
  return false;
}

bool read_text(State& state, Context& c) {
  Stream& s = c.stream;
  if (s.pending) return continue_command(state, c);
  if (s.open && s.outputs == 0 && says_nothing(c.text)) {
    conclude(state, s);
    close_block(s);
    return true;
  }
  bool understood = false;
  if (read_prompt(state, c, understood)) return understood;
  if (s.open && read_refusal(c)) return true;
  if (read_bare_command(state, c)) return true;
  if (s.open && read_output(c, s)) return true;
  Stream& root = state.streams[0];
  if (!s.open && &s != &root && root.open && root.command.fan_out) {
    Context fan{c.facts, c.input, c.line, root, c.text};
    fan.fan = true;
    if (read_output(fan, root)) return true;
    return read_evident(fan);
  }
  // "0: mlx5_0: pd 3 …" of rdma(8) looks like srun's label of task 0.
  if (!s.open && &s != &root && root.open && contains(c.text.substr(0, 60), ": pd ")) {
    Context row{c.facts, c.input, c.line, root, c.text};
    return read_evident(row);
  }
  if (s.detail_lines > 0) {
    --s.detail_lines;
    if (s.detail_lines == 0) forget_position(s);
  }
  return read_evident(c);
}

void read_empty(State& state, Stream& s) {
  if (s.pending) {
    s.pending.reset();
    return;
  }
  if (!s.open || s.outputs > 0) return;
  const auto may_be_silent = [](const Question& q) {
    return q.topic == Topic::kModules || q.topic == Topic::kListModule;
  };
  if (!std::ranges::any_of(s.command.questions, may_be_silent)) return;
  conclude(state, s);
  close_block(s);
}

Stream* find_stream(State& state, const logs::Shape& shape) {
  for (Stream& s : state.streams) {
    if (is_of(s, shape)) return &s;
  }
  return nullptr;
}

/// Gives the scratch stream a name and a place; the oldest wrapped one makes room.
void keep_scratch(State& state, const logs::Shape& shape) {
  Stream& s = state.scratch;
  s.launcher = shape.launcher;
  s.origin_host = shape.host;
  s.rank = shape.rank;
  s.pid = shape.pid;
  if (state.streams.size() < kMaxStreams) {
    state.streams.push_back(std::move(s));
  } else {
    state.streams[state.next_victim] = std::move(s);
    state.next_victim = state.next_victim + 1 < kMaxStreams ? state.next_victim + 1 : 1;
  }
  s = Stream{};
}

}  // namespace
}  // namespace paste

using namespace paste;

PasteReader::PasteReader(Facts& facts, std::string input_path)
    : state_(std::make_unique<State>(facts, std::move(input_path))) {
  state_->streams.emplace_back();
}
PasteReader::~PasteReader() = default;
PasteReader::PasteReader(PasteReader&&) noexcept = default;

bool PasteReader::feed(const logs::ShapedLine& line) {
  State& state = *state_;
  if (line.shape.group_mark && state.streams[0].open && state.streams[0].command.fan_out) return true;
  Stream* known = find_stream(state, line.shape);
  std::string_view text = trim(std::string_view(line.shape.text).substr(0, kMaxCommand));
  if (text.empty()) {
    if (known) read_empty(state, *known);
    return false;
  }
  drop_tags(text);
  if (text.empty()) return false;
  Context c{state.facts, state.input, line, known ? *known : state.scratch, text};
  const bool understood = read_text(state, c);
  if (!known && holds_state(state.scratch)) keep_scratch(state, line.shape);
  return understood;
}

bool PasteReader::expects(const logs::ShapedLine& line) const {
  const Stream* s = find_stream(*state_, line.shape);
  if (!s || !s->open) return false;
  if (s->settings > 0 && is_refusal(std::string_view(line.shape.text).substr(0, kMaxLine))) return true;
  const bool library = line.shape.nccl_prefix || line.shape.ucx_prefix;
  return !library && std::ranges::any_of(s->command.questions, [](const Question& q) {
    return q.topic == Topic::kProcessList || q.topic == Topic::kPidList;
  });
}

void PasteReader::end_block() {
  for (Stream& s : state_->streams) {
    // Another rank's line may come between a rank's command and its output; only a lone stream's silence is an answer.
    const bool lone = s.launcher.empty() && !s.rank && !s.trace;
    if (lone) conclude(*state_, s);
    if (s.open) close_block(s);
    s.pending.reset();
    forget_position(s);
  }
}

const std::vector<std::string_view>& PasteReader::literals() {
  static const std::vector<std::string_view> words = {"ocked memory",   "locked-in-memory",
                                                      "ulimit -",       "memorylocked",
                                                      "MEMLOCK",        "memlock",
                                                      "CapEff",         "CapBnd",
                                                      "VmPin",          "uid_map",
                                                      "user:[",         "capsh",
                                                      "Bounding set",   "uname -",
                                                      "BOOT_IMAGE=",    "PRETTY_NAME",
                                                      "/proc/meminfo",  "CmaFree",
                                                      "CmaTotal",       "HugePages_",
                                                      "max_map_count",  "/maps",
                                                      "systemctl show", "systemctl cat",
                                                      "sshd -T",        "usepam",
                                                      "UsePAM",         "PropagateResource",
                                                      "scontrol",       "lsmod",
                                                      "modprobe",       "modinfo",
                                                      "peermem",        "nv_peer_mem",
                                                      "nvidia-smi",     "NVRM version",
                                                      "BAR1",           "ibv_devinfo",
                                                      "hca_id",         "max_mr",
                                                      "rdma resource",  "/dev/infiniband",
                                                      "hca_object",     "limit_in_bytes",
                                                      "hugetlb",        "MLNX_OFED",
                                                      "ucx_info",       "NCCL_IB_",
                                                      "show_gids",      "GID[",
                                                      "EFA installer",  "rdma-core",
                                                      "docker run",     "podman run",
                                                      "Ulimits",        "set by environment",
                                                      "BYTEPS_RDMA",    "RDMAV_",
                                                      "IBV_FORK_SAFE",  "ALLOC_CONF",
                                                      "UCX_",           "uid="};
  return words;
}

}  // namespace pindown
