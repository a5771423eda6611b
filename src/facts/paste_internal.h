// SPDX-License-Identifier: Apache-2.0
// Shared by the paste_*.cc files only: what a command asks (Question), the state of one stream of pasted text, and the
// readers of each kind of output. A reader returns true if it understood the line; it never touches what it did not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/facts.h"
#include "logs/shape.h"

namespace pindown::paste {

constexpr std::uint64_t kBlockLines = 400;
constexpr std::size_t kMaxCommand = std::size_t{64} * 1024;
constexpr std::size_t kMaxLine = 4096;
constexpr std::size_t kMaxList = 1024;  // entries in any list or map that pasted text fills
constexpr std::size_t kMaxProcesses = 4096;

/// What the output of a command, or the content of a file, is about.
enum class Topic {
  kNone,
  kUlimit,  // one value in KiB
  kEchoed,  // a line made by echo, with a host name and a limit in it; arg is echo's text
  kUlimitAll,
  kRlimitTuple,
  kPrlimit,
  kLimitsFile,
  kStatusFile,
  kUidMap,
  kUserNs,
  kMapCount,
  kUserId,
  kUserName,
  kId,
  kCapabilities,
  kEnviron,
  kVariable,
  kKernelRelease,
  kArch,
  kHostname,
  kKernelCmdline,
  kDistroLine,
  kLsbRelease,
  kMeminfo,
  kSysctlValue,
  kSysctl,
  kBuddyinfo,
  kUnitShow,
  kUnitShowValue,
  kUnitFile,
  kSshd,
  kLimitsConf,
  kSlurm,
  kScript,
  kModules,
  kModinfo,
  kModinfoField,
  kModuleVersion,
  kListModule,
  kNvidiaSmi,
  kNvidiaSmiCsv,
  kIbDevices,
  kIbAttribute,
  kRdmaMax,
  kRdmaCurrent,
  kHugetlb,
  kDeviceNodes,
  kIbClass,
  kInspect,
  kProcessList,  // ps, pgrep -a
  kPidList,      // pgrep, pidof: bare pids; arg names the program
  kVersion,      // any line that is a version; arg names the program
  kEvident,      // output that explains itself: nothing to add, but the command is understood
};

struct Grep {
  std::string pattern;  // empty: no grep in the pipeline
  bool ignore_case = false;
  bool invert = false;
  bool whole_word = false;
  bool numbered = false;  // -n: "12:" in front of every line
};

/// Where ps(1) puts the pid and the program, counted in words from 0; -1: not known.
struct PsColumns {
  int pid = -1, name = -1;
};

/// `ulimit -l N`: a limit that a command sets, not yet known to be refused.
struct LimitRequest {
  Limit value;
  bool soft = true, hard = true;
  std::optional<std::int64_t> pid;  // of prlimit --pid; else the shell itself
};

/// One thing a command asks. It decides how the command's output is read.
struct Question {
  Topic topic = Topic::kNone;
  std::string arg;  // unit, module, sysctl, page size, directory …
  std::optional<std::int64_t> pid;
  std::string comm;            // of $(pidof NAME)
  bool other_process = false;  // some process that is not the asking shell
  bool hard = false;           // ulimit -H
  bool single = false;         // the answer is one line without a name
  bool counts = false;         // grep -c, wc -l: the answer is a number of lines
  bool partial = false;        // head, tail, grep: not the whole output
  bool reshaped = false;       // awk, sed, cut: a lone value cannot be trusted
  bool answered = false;
  std::string seen;   // properties read so far: with several units the next unit begins where one comes again
  PsColumns columns;  // of ps
  Grep grep;
};

/// A command line, understood as far as possible.
struct Command {
  std::vector<Question> questions;
  ProcessKind kind = ProcessKind::kUnknown;  // what exec, srun … make of the process
  std::string host;                          // of ssh; of exec the pod or container
  std::string machine;                       // of ssh; pod of kubectl exec
  std::string target;                        // of exec: the container or pod as written
  bool elsewhere = false;                    // runs, or was written, not on the machine of the prompt
  std::vector<LimitRequest> settings;
  std::string user;                                      // of sudo -u, su, ssh
  bool fan_out = false;                                  // pdsh, srun -l: output lines carry wrappers of their own
  bool enters_shell = false;                             // interactive: the next prompts are inside
  std::vector<std::pair<std::string, std::string>> env;  // only kept variables
  std::optional<ContainerCommand> container;
  std::string launcher;       // "slurm", "kubectl": what the command shows to start jobs here
  std::string pod_namespace;  // of `kubectl -n NS` where it looks at a pod

  bool understood() const { return !questions.empty() || container || enters_shell || !env.empty(); }
};

enum class PromptKind {
  kPlain,   // "$ "
  kNamed,   // has user@host, or a shell's name
  kWeak,    // "# ", "% ", "/ # ": a comment or markup unless the command is known
  kTrace,   // "+ " of set -x
  kPython,  // ">>> "
};

struct Prompt {
  PromptKind kind = PromptKind::kPlain;
  std::string user, host;
  bool root = false;
  bool container = false;    // "root@x:/#": a login shell starts in a home directory, a container in / or its workdir
  std::string_view command;  // into the parsed text
};

/// Whose output a fan-out command's lines are, from the host names among them; by rank, or -1 without one.
struct FanNames {
  struct Name {
    std::string host;
    bool has_value = false;  // something was read behind it
    bool unclear = false;    // two names without a value between them: the tasks' lines are mixed
  };
  std::map<std::int64_t, Name> by_rank;
  std::map<std::string, std::vector<bool>> answered;  // by task or host: which of the command's questions
  bool over = false;                                  // a line that answers nothing: the command's own output ended
};

/// One stream: lines of equal origin (launcher, host, rank, pid).
struct Stream {
  std::string launcher, origin_host;
  std::optional<std::int64_t> rank, pid;

  bool open = false;
  Command command;
  ProcessKind kind = ProcessKind::kUnknown;  // of what the open command asks about
  std::string host, user;
  std::string machine;            // of what the open command asks about; empty: not known
  std::string target;             // of exec
  bool raised = false;            // a limit was set since one was read
  std::size_t first_setting = 0;  // those of the open command: limit_settings from here on
  std::size_t settings = 0;       // so many
  bool bare_command = false;      // no prompt stood before the command
  logs::ShapedLine command_line;  // cited when the silence of the command is the answer
  bool trace = false;
  std::uint64_t lines = 0;  // since the block opened
  FanNames fan;
  std::uint64_t outputs = 0;  // not blank

  struct Pending {  // a command whose last line ended in a backslash
    std::string text;
    Prompt prompt;  // its command is not used
    bool bare = false;
    std::uint64_t lines = 0;
    std::uint64_t first_line = 0;
  };
  std::optional<Pending> pending;

  struct Entered {  // docker exec -it X bash, ssh X …: later prompts are inside
    bool active = false;
    ProcessKind kind = ProcessKind::kUnknown;
    std::string host, machine, target;
    std::string outer_user, outer_host;
  } entered;

  /// `ulimit -Sl; ulimit -Hl`: lone values, told apart by their order only.
  bool asks_several_values() const;

  // Position inside multi-line output.
  std::string device;  // ibv_devinfo, ibstat: the one being described
  int gpu = -1;
  bool bar1 = false;
  bool inspect_caps = false;  // inside CapAdd of docker inspect
  std::string inspect_name, inspect_hard;
  std::size_t container = static_cast<std::size_t>(-1);
  Question header;                 // of "==> path <=="; kNone: none seen
  std::uint64_t detail_lines = 0;  // how long device, gpu and bar1 still hold without a block
};

struct State {
  State(Facts& f, std::string path) : facts(f), input(std::move(path)) {}
  Facts& facts;
  std::string input;
  std::vector<Stream> streams;  // [0] is that of lines without any wrapper
  Stream scratch;               // for a line whose stream has no state yet
  std::size_t next_victim = 1;
};

/// One line being read.
struct Context {
  Facts& facts;
  const std::string& input;
  const logs::ShapedLine& line;
  Stream& stream;
  std::string_view text;               // without wrappers, tags and blanks at the ends
  const Question* question = nullptr;  // null: no command is known
  std::string fan_host = {};           // "node1: " in front of fan-out output
  bool fan = false;                    // the line's own wrapper, not the stream's, says whose it is

  Source source() const;
  /// Remembers `value` unless the fact is known already.
  template <class T>
  void learn(Fact<T>& fact, T value) const {
    if (!fact.known()) fact = Fact<T>::of(std::move(value), source());
  }
};

/// True for what is printed through the same kind of wrapper as the ranks of a job.
inline bool is_wrapped(const logs::Shape& shape) {
  return shape.rank || shape.nccl_prefix || !shape.launcher.empty();
}

// paste_subject.cc
/// The process a line tells of, made if there is none; null when there are too many.
Process* subject(const Context& c);
/// Another process of the same name and place: the line contradicts what subject() is known to have.
Process* another_subject(const Context& c);
void learn_memlock(const Context& c, const MemlockLimit& limit);
/// The settings of the command that opened the block.
void learn_settings(const Context& c);
/// "cannot modify limit" and the other shells' words for it: what the open command wanted to set was refused.
bool read_refusal(const Context& c);
bool is_refusal(std::string_view text);

// paste_dispatch.cc
/// Lines that say themselves what they are.
bool read_evident(const Context& c);
/// Output of the open block's command; `fan` as in Context.
bool read_block(Context& c, Stream& block);

// paste_prompt.cc
std::optional<Prompt> parse_prompt(std::string_view text);

// paste_shell.cc
struct SimpleCommand {
  std::vector<std::string> words;
  std::string stdin_file;
  bool to_file = false;
};
using Pipeline = std::vector<SimpleCommand>;
std::vector<Pipeline> parse_shell(std::string_view text);
std::string_view base_name(std::string_view path);
std::string join_words(std::span<const std::string> words);

// paste_command.cc
Command parse_command(std::string_view text);
/// Words whose first is an option are skipped; `valued` options (": -u -g ") take the next word too.
std::size_t skip_options(std::span<const std::string> words, std::size_t from, std::string_view valued);

// paste_filter.cc
struct GrepWords {
  Grep grep;
  bool counts = false;
  bool quiet = false;
  bool reshapes = false;
  std::vector<std::string> files;
};

GrepWords parse_grep(std::span<const std::string> words);
/// What a command behind a pipe does to the output. False: nothing of it is printed.
bool apply_filter(const SimpleCommand& filter, Question& q);

// paste_topic.cc: what a plain command or a file is about
std::vector<Question> questions_of(const SimpleCommand& command, const Pipeline& rest);
Question question_of_path(std::string_view path);
/// The process of "self", "4242", "$(pidof slurmd)", "<pid>".
void set_who(std::string_view who, Question& q);
/// The daemon that a text names, if its children are jobs or containers; else empty.
std::string_view job_daemon(std::string_view text);
/// The limits that `ulimit -l 64`, `limit memorylocked 64`, `prlimit --memlock=64` set.
std::vector<LimitRequest> settings_of(const SimpleCommand& command);

// paste_limits.cc
bool read_limits_line(const Context& c);
bool read_lock_phrase(const Context& c);  // ulimit -a of every shell, "ulimit -l: 64", "memlock=unlimited"
bool read_prlimit(const Context& c);
bool read_rlimit_tuple(const Context& c);
bool read_ulimit_value(const Context& c);
/// "node2 64" of `echo $(hostname) $(ulimit -l)`.
bool read_echoed(const Context& c);
bool is_host_name(std::string_view word);

// paste_process.cc
bool read_status_line(const Context& c);
bool read_status_field(const Context& c);  // also Name, Pid, Uid: only in a status file
bool read_capabilities(const Context& c);
bool read_id(const Context& c);
bool read_user_id(const Context& c);
bool read_user_name(const Context& c);
bool read_uid_map(const Context& c);
bool read_user_ns(const Context& c);
bool read_map_count(const Context& c);
bool read_map_count_line(const Context& c);
bool read_env(const Context& c);
bool read_variable(const Context& c);
void learn_env(const Context& c, std::string_view name, std::string_view value);
bool keeps_variable(std::string_view name);
/// Leading NAME=VALUE words of `text`, quotes removed; only kept variables.
std::vector<std::pair<std::string, std::string>> parse_assignments(std::string_view text);
struct CapText {
  std::uint64_t effective = 0, permitted = 0, inheritable = 0;
};
std::optional<CapText> parse_cap_text(std::string_view text);
std::optional<std::uint64_t> parse_cap_names(std::string_view text);

// paste_machine.cc
bool read_uname(const Context& c);
bool read_kernel_release(const Context& c);
bool read_arch(const Context& c);
bool read_hostname(const Context& c);
bool read_cmdline(const Context& c);
bool read_distro(const Context& c);
bool read_distro_line(const Context& c);
bool read_lsb(const Context& c);
bool read_meminfo(const Context& c);
bool read_sysctl(const Context& c);
bool read_sysctl_value(const Context& c);
bool read_buddyinfo(const Context& c);

// paste_version.cc
bool read_version_line(const Context& c);
bool read_package(const Context& c);
bool read_version_answer(const Context& c);

// paste_modules.cc
bool read_module_row(const Context& c);
bool read_modules(const Context& c);
bool read_module_error(const Context& c);
bool read_modinfo(const Context& c);
bool read_modinfo_field(const Context& c);
bool read_module_version(const Context& c);
bool read_list_module(const Context& c);
/// A grep over the module list printed nothing: what it looked for is not loaded.
void conclude_no_module(const Context& c, const Question& q);
void learn_module(const Context& c, std::string_view name, bool loaded);

// paste_gpu.cc
bool read_nvidia_smi(const Context& c);
bool read_gpu_line(const Context& c);
bool read_bar1(const Context& c);
bool read_gpu_field(const Context& c);
bool read_nvidia_csv(const Context& c);

// paste_mapping.cc
bool read_mapping(const Context& c);
bool read_ps_row(const Context& c);
bool read_pid_list(const Context& c);
PsColumns ps_columns(std::span<const std::string> words);

// paste_rdma.cc
bool read_ib_device(const Context& c);
bool read_ib_field(const Context& c);
bool read_rdma_link(const Context& c);
bool read_rdma_resource(const Context& c);
bool read_rdma_cgroup(const Context& c);
bool read_hugetlb(const Context& c);
bool read_ib_attribute(const Context& c);
bool read_ib_class(const Context& c);
bool read_gid_row(const Context& c);    // show_gids
bool read_gid_field(const Context& c);  // ibv_devinfo -v

// paste_nodes.cc
bool read_device_node(const Context& c);
bool read_lookup_error(const Context& c);

// paste_config.cc
bool read_unit_show(const Context& c);
bool read_unit_show_value(const Context& c);
bool read_unit_file(const Context& c);
bool read_sshd(const Context& c);
bool read_limits_conf(const Context& c);
bool read_slurm(const Context& c);
bool read_script_line(const Context& c);
bool read_sudoers(const Context& c);
bool read_pam_or_slurm(const Context& c);
std::string unit_name(std::string_view name);

// paste_container.cc
/// Reads `engine run …` from words[0] on; returns the index of the command inside the container, or words.size().
std::size_t parse_container_run(std::span<const std::string> words, std::string_view engine, ContainerCommand& out,
                                std::vector<std::pair<std::string, std::string>>& env);
/// The first words of what runs inside.
void set_inner_command(std::span<const std::string> words, ContainerCommand& out);
std::string srun_image(std::span<const std::string> options);
/// pyxis: srun --container-image.
bool has_srun_container(std::span<const std::string> options);
bool read_inspect(const Context& c);
/// "kind: Pod": a Kubernetes object that makes pods.
bool read_manifest(const Context& c);
bool read_privileged(const Context& c);

}  // namespace pindown::paste
