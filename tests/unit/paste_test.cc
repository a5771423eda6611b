// SPDX-License-Identifier: Apache-2.0
// Pasted text → facts. One row = what stood in a log and every fact that must come of it, no more. Rows with an empty
// expectation are texts that must not be mistaken for facts.
// A line "@2@text" is rank 2 of srun, "@4411*@text" from pid 4411 by the journal, "@node1@text" a pdsh line of that
// host, "@END" a library message in between.
#include "facts/paste.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"

namespace pindown {
namespace {

std::string show(const std::optional<Limit>& limit) {
  return !limit ? "?" : limit->is_unlimited() ? "unlimited" : std::to_string(limit->bytes);
}

template <class T>
std::string show(const std::string& name, const Fact<T>& fact) {
  if (!fact.known()) return fact.missing == Missing::kAbsent ? fmt::format(" {}=none", name) : "";
  return fmt::format(" {}={}", name, *fact);
}

std::string_view kind_name(ProcessKind kind) {
  static constexpr std::string_view kNames[] = {"unknown", "job", "shell", "container", "daemon"};
  return kNames[static_cast<int>(kind)];
}

std::string show_caps(const CapabilitySets& caps) {
  std::string out;
  const auto add = [&](const char* name, const std::optional<std::uint64_t>& set) {
    if (set) out += fmt::format(" {}={:x}", name, *set);
  };
  add("inh", caps.inheritable);
  add("prm", caps.permitted);
  add("eff", caps.effective);
  add("bnd", caps.bounding);
  add("amb", caps.ambient);
  return out;
}

std::string show_process(const Process& p) {
  std::string out = std::string(kind_name(p.kind));
  if (!p.where.host.empty()) out += " host=" + p.where.host;
  if (p.where.pid) out += fmt::format(" pid={}", *p.where.pid);
  if (p.where.rank) out += fmt::format(" rank={}", *p.where.rank);
  if (!p.target.empty()) out += " target=" + p.target;
  if (p.of_several) out += " of-several";
  if (p.wrapper_pid) out += fmt::format(" printer={}", *p.wrapper_pid);
  if (!p.comm.empty()) out += " comm=" + p.comm;
  if (!p.user.empty()) out += " user=" + p.user;
  if (p.memlock) out += fmt::format(" memlock={}/{}", show(p.memlock->soft), show(p.memlock->hard));
  if (p.caps) out += show_caps(*p.caps);
  out += show("euid", p.euid) + show("nnp", p.no_new_privs) + show("initns", p.initial_userns);
  out += show("vmpin", p.vm_pin) + show("vmlck", p.vm_lck) + show("maps", p.map_count);
  for (const auto& [name, value] : p.env) out += fmt::format(" {}={}", name, *value);
  return out;
}

std::string show_setting(const LimitSetting& s) {
  std::string out = fmt::format("{} sets", kind_name(s.kind));
  if (!s.where.host.empty()) out += " host=" + s.where.host;
  if (s.where.pid) out += fmt::format(" pid={}", *s.where.pid);
  if (s.where.rank) out += fmt::format(" rank={}", *s.where.rank);
  out += fmt::format(" {}{} {}", s.soft ? "soft" : "", s.hard ? "hard" : "", show(std::optional(s.value)));
  return out + (s.refused ? " refused" : "");
}

std::string show_gids(const std::vector<GidEntry>& gids) {
  std::string out;
  for (const GidEntry& g : gids) out += fmt::format(" gid={}/{}:{}:v{}", g.port, g.index, g.ipv4, g.roce_version);
  return out;
}

std::string show_device(const RdmaDevice& d) {
  return "device " + d.name + show("state", d.state) + show("link", d.link_layer) + show("fw", d.firmware) +
         show("max_mr_size", d.max_mr_size) + show("max_mr", d.max_mr) + show("max_qp", d.max_qp) +
         show("max_cq", d.max_cq) + show("mr", d.mr_count) + show("qp", d.qp_count) + show("cq", d.cq_count) +
         show("max_handle", d.cg_max_handle) + show("max_object", d.cg_max_object) +
         show("handle", d.cg_current_handle) + show("object", d.cg_current_object) + show_gids(d.gids);
}

std::string show_container(const ContainerCommand& c) {
  std::string out = "container " + c.engine;
  if (c.ulimit_memlock)
    out += fmt::format(" memlock={}/{}", show(c.ulimit_memlock->soft), show(c.ulimit_memlock->hard));
  if (c.privileged) out += " privileged";
  if (c.ipc_lock) out += " ipc_lock";
  if (c.infiniband_device) out += " infiniband";
  if (c.cap_drop_all) out += " drop_all";
  if (!c.user.empty()) out += " user=" + c.user;
  if (!c.shm_size.empty()) out += " shm=" + c.shm_size;
  return out;
}

template <class T>
void show_map(std::string& out, const char* what, const std::map<std::string, Fact<T>>& facts) {
  for (const auto& [name, fact] : facts) {
    if (fact.known()) out += fmt::format("{} {}={}\n", what, name, *fact);
  }
}

void show_machine(std::string& out, const Facts& f) {
  const auto line = [&](const std::string& text) {
    if (!text.empty()) out += std::string(trim(text)) + "\n";
  };
  if (!f.host.empty()) line("host=" + f.host);
  line(show("kernel", f.kernel));
  line(show("arch", f.arch));
  line(show("distro", f.distro));
  line(show("cmdline", f.cmdline));
  for (const auto& [name, value] : f.meminfo.bytes) line(fmt::format("meminfo {}={}", name, value));
  show_map(out, "sysctl", f.sysctl);
  show_map(out, "module", f.modules);
  line(show("modules_complete", f.modules_complete));
  show_map(out, "version", f.versions);
  line(show("license", f.nvidia_license));
  for (const Gpu& g : f.gpus) {
    line("gpu" + show("product", g.product) + show("total", g.bar1_total) + show("used", g.bar1_used) +
         show("free", g.bar1_free));
  }
  for (const auto& [name, device] : f.devices) line(show_device(device));
  line(show("rdma_present", f.rdma_present));
  show_map(out, "hugetlb", f.hugetlb_limit);
  line(show("buddyinfo", f.buddyinfo));
  line(show("usepam", f.sshd_usepam));
}

std::string show(const Facts& f) {
  std::string out;
  show_machine(out, f);
  for (const auto& l : f.limits_conf) out += fmt::format("limits {} {} {} {}\n", l.domain, l.type, l.item, l.value);
  for (const auto& u : f.units)
    out += fmt::format("unit {} {}/{}\n", u.unit, show(u.memlock.soft), show(u.memlock.hard));
  show_map(out, "slurm", f.slurm_conf);
  for (const auto& c : f.containers) out += show_container(c) + "\n";
  for (const auto& n : f.device_nodes) out += fmt::format("node {} {}{}\n", n.path, n.mode, n.error);
  show_map(out, "env", f.env);
  for (const auto& p : f.processes) out += show_process(p) + "\n";
  for (const auto& s : f.limit_settings) out += show_setting(s) + "\n";
  for (const auto& p : f.problems) out += "problem " + p + "\n";
  return out;
}

logs::ShapedLine shaped(std::string_view text, std::uint64_t number) {
  logs::ShapedLine line;
  line.line = number;
  line.raw = text;
  if (text.starts_with('@')) {
    const auto end = text.find('@', 1);
    const std::string_view tag = text.substr(1, end - 1);
    if (tag.ends_with('*')) {
      line.shape.host = "node9";
      line.shape.pid = parse_i64(tag.substr(0, tag.size() - 1));
      line.shape.launcher = "journald";
    } else if (const auto rank = parse_i64(tag)) {
      line.shape.rank = rank;
      line.shape.launcher = "srun";
    } else {
      line.shape.host = tag;
      line.shape.launcher = "pdsh";
    }
    line.shape.wrapper = tag;
    text.remove_prefix(end + 1);
  }
  line.shape.text = text;
  return line;
}

Facts read(std::string_view input) {
  Facts facts;
  PasteReader reader(facts, "job.log");
  std::uint64_t number = 0;
  for (const std::string_view line : split(input, '\n')) {
    ++number;
    if (line == "@END") {
      reader.end_block();
    } else {
      reader.feed(shaped(line, number));
    }
  }
  reader.end_block();
  return facts;
}

struct Row {
  const char* name;
  const char* input;
  const char* expect;
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

class Paste : public testing::TestWithParam<Row> {};

TEST_P(Paste, Reads) {
  EXPECT_EQ(show(read(GetParam().input)), GetParam().expect) << GetParam().input;
}

const auto by_name = [](const testing::TestParamInfo<Row>& info) { return std::string(info.param.name); };

constexpr Row kLimits[] = {
    {"ulimit_at_prompt", "$ ulimit -l\n64", "shell memlock=65536/?\n"},
    {"ulimit_unlimited", "$ ulimit -l\nunlimited", "shell memlock=unlimited/?\n"},
    {"ulimit_as_root", "# ulimit -l\n8192", "shell user=root memlock=8388608/?\n"},
    {"ulimit_at_named_prompt", "alice@node07:~/run$ ulimit -l\n64", "shell host=node07 user=alice memlock=65536/?\n"},
    {"ulimit_in_brackets", "[root@node01 ~]# ulimit -l\n64", "shell host=node01 user=root memlock=65536/?\n"},
    {"ulimit_in_venv", "(venv) bob@n1:~$ ulimit -l\n64", "shell host=n1 user=bob memlock=65536/?\n"},
    {"ulimit_in_conda_brackets", "(base) [bob@n1 job]$ ulimit -l\n64", "shell host=n1 user=bob memlock=65536/?\n"},
    {"ulimit_in_container", "root@7d41c0a9be12:/# ulimit -l\n64",
     "container host=7d41c0a9be12 user=root memlock=65536/?\n"},
    {"ulimit_in_workdir", "root@7d41c0a9be12:/workspace/a b# ulimit -l\n64", ""},
    {"ulimit_bash_prompt", "bash-4.4$ ulimit -l\n64", "shell memlock=65536/?\n"},
    {"ulimit_sh_root_prompt", "sh-5.1# ulimit -l\n64", "shell user=root memlock=65536/?\n"},
    {"ulimit_zsh_prompt", "% ulimit -l\n64", "shell memlock=65536/?\n"},
    {"ulimit_busybox_prompt", "/ # ulimit -l\n64", "shell user=root memlock=65536/?\n"},
    {"ulimit_suse_prompt", "node01:~ # ulimit -l\n64", "shell host=node01 user=root memlock=65536/?\n"},
    {"ulimit_traced", "+ ulimit -l\n64", "unknown memlock=65536/?\n"},
    {"ulimit_without_prompt", "ulimit -l\n64", "unknown memlock=65536/?\n"},
    {"ulimit_soft_then_hard", "$ ulimit -Sl\n64\n$ ulimit -Hl\nunlimited", "shell memlock=65536/unlimited\n"},
    {"ulimit_soft_and_hard_at_once", "$ ulimit -Sl; ulimit -H -l\n64\n8192", "shell memlock=65536/8388608\n"},
    {"ulimit_raised_later", "$ ulimit -l\n64\n$ ulimit -l unlimited\n$ ulimit -l\nunlimited",
     "shell memlock=65536/?\nshell memlock=unlimited/?\nshell sets softhard unlimited\n"},
    {"ulimit_that_sets", "$ ulimit -l unlimited\n64", "shell sets softhard unlimited\n"},
    {"ulimit_of_64_gib", "$ ulimit -l\n67108864", "shell memlock=68719476736/?\n"},
    {"ulimit_of_64_gib_in_script", "+ ulimit -l\n67108864", "unknown memlock=68719476736/?\n"},
    {"ulimit_of_another_resource", "$ ulimit -n\n1024", ""},
    {"ulimit_error", "$ ulimit -l\nbash: ulimit: -l: invalid option\n64", ""},
    {"ulimit_answer_missing", "$ ulimit -l\n$ nproc\n64", ""},
    {"ulimit_overflow", "$ ulimit -l\n99999999999999999999999", ""},
    {"ulimit_2_54_is_unlimited", "$ ulimit -l\n18014398509481983", "shell memlock=unlimited/?\n"},
    {"only_the_first_number", "$ ulimit -l\n64\n65\n66", "shell memlock=65536/?\n"},
    {"bash_all",
     "$ ulimit -a\ncore file size          (blocks, -c) 0\nmax locked memory       (kbytes, -l) 64\nopen files (-n) "
     "1024",
     "shell memlock=65536/?\n"},
    {"bash_all_new", "max locked memory           (kbytes, -l) 8192", "unknown memlock=8388608/?\n"},
    {"bash_all_hard", "$ ulimit -aH\nmax locked memory       (kbytes, -l) unlimited", "shell memlock=?/unlimited\n"},
    {"dash_all", "locked memory(kbytes)       64", "unknown memlock=65536/?\n"},
    {"zsh_all", "-l: locked-in-memory size (kbytes)  64", "unknown memlock=65536/?\n"},
    {"fish_all", "Maximum size that may be locked into memory                         (kB, -l) 64",
     "unknown memlock=65536/?\n"},
    {"busybox_all", "locked memory (kb)             (-l) 64", "unknown memlock=65536/?\n"},
    {"tcsh_limit", "% limit\nmemorylocked 64 kbytes", "shell memlock=65536/?\n"},
    {"zsh_limit", "memorylocked    8MB", "unknown memlock=8388608/?\n"},
    {"tcsh_unlimited", "memorylocked unlimited", "unknown memlock=unlimited/?\n"},
    {"container_all_grep", "root@7d41c0a9be12:/# ulimit -a | grep lock\nmax locked memory           (kbytes, -l) 64",
     "container host=7d41c0a9be12 user=root memlock=65536/?\n"},
    {"job_says", "@2@ulimit -l: 64\n@10@ulimit -l: 64", "job rank=2 memlock=65536/?\njob rank=10 memlock=65536/?\n"},
    {"equals_sign", "ulimit -l = 64", "unknown memlock=65536/?\n"},
    {"hard_equals", "ulimit -Hl=unlimited", "unknown memlock=?/unlimited\n"},
    {"unit_in_parens", "ulimit -l (kbytes): 8192", "unknown memlock=8388608/?\n"},
    {"value_with_unit", "ulimit -l: 8 MiB", "unknown memlock=8388608/?\n"},
    {"in_parens", "memory lock limit (ulimit -l): unlimited", "unknown memlock=unlimited/?\n"},
    {"memlock_unlimited", "memlock=unlimited", "unknown memlock=unlimited/?\n"},
    {"memlock_with_unit", "memlock: 65536 KB", "unknown memlock=67108864/?\n"},
    {"memlock_without_unit", "memlock: 65536", ""},
    {"memlock_in_yaml", "memlock: -1", ""},
    {"memlock_as_docker_option", "--ulimit memlock=unlimited", ""},
    {"memlock_of_sudoers", "Defaults rlimit_memlock=infinity", ""},
    {"advice_ulimit", "Please make sure that ulimit -l: unlimited", ""},
    {"advice_plain", "run ulimit -l unlimited before the job", ""},
    {"advice_ucx", "Please set max locked memory (ulimit -l) to 'unlimited' (current: 64 kbytes)", ""},
    {"proc_line", "Max locked memory         8388608              8388608              bytes",
     "unknown memlock=8388608/8388608\n"},
    {"proc_line_collapsed", "Max locked memory 65536 unlimited bytes", "unknown memlock=65536/unlimited\n"},
    {"proc_line_behind_text", "worker limits: Max locked memory 65536 65536 bytes", "unknown memlock=65536/65536\n"},
    {"proc_line_cut", "Max locked memory 65536", ""},
    {"proc_self",
     "$ grep \"locked memory\" /proc/self/limits\nMax locked memory         unlimited            unlimited            "
     "bytes",
     "shell memlock=unlimited/unlimited\n"},
    {"proc_pid", "bob@n1:~$ cat /proc/4242/limits\nMax locked memory 65536 65536 bytes",
     "unknown host=n1 pid=4242 memlock=65536/65536\n"},
    {"proc_slurmd", "# cat /proc/$(pidof slurmd)/limits | grep locked\nMax locked memory 65536 65536 bytes",
     "daemon comm=slurmd memlock=65536/65536\n"},
    {"proc_containerd_backticks", "$ grep lock /proc/`pgrep -o containerd`/limits\nMax locked memory 65536 65536 bytes",
     "daemon comm=containerd memlock=65536/65536\n"},
    {"proc_sshd_pid_file", "$ sudo cat /proc/$(cat /run/sshd.pid)/limits\nMax locked memory 65536 65536 bytes",
     "daemon comm=sshd memlock=65536/65536\n"},
    {"proc_1_in_container", "root@7d41c0a9be12:/# cat /proc/1/limits\nMax locked memory 65536 65536 bytes",
     "container host=7d41c0a9be12 pid=1 memlock=65536/65536\n"},
    {"proc_1_on_host", "$ cat /proc/1/limits\nMax locked memory 65536 65536 bytes",
     "unknown pid=1 memlock=65536/65536\n"},
    {"grep_names_files",
     "$ grep -h x /dev/null\n/proc/11/limits:Max locked memory 65536 65536 bytes\n/proc/12/limits:Max locked memory "
     "unlimited unlimited bytes",
     "unknown pid=11 memlock=65536/65536\nunknown pid=12 memlock=unlimited/unlimited\n"},
    {"head_names_files",
     "$ tail -n +1 /proc/11/limits /proc/12/limits\n==> /proc/11/limits <==\nMax locked memory 1 2 bytes\n\n==> "
     "/proc/12/limits <==\nMax locked memory 3 4 bytes",
     "unknown pid=11 memlock=1/2\nunknown pid=12 memlock=3/4\n"},
    {"prlimit_table",
     "$ prlimit --pid 77\nRESOURCE   DESCRIPTION                             SOFT      HARD UNITS\nMEMLOCK    max "
     "locked-in-memory address "
     "space 8388608   8388608 bytes",
     "unknown pid=77 memlock=8388608/8388608\n"},
    {"prlimit_bare", "MEMLOCK    max locked-in-memory address space 65536 unlimited bytes",
     "unknown memlock=65536/unlimited\n"},
    {"python_command",
     "$ python3 -c 'import resource; print(resource.getrlimit(resource.RLIMIT_MEMLOCK))'\n(65536, -1)",
     "shell memlock=65536/unlimited\n"},
    {"python_prompt", ">>> resource.getrlimit(resource.RLIMIT_MEMLOCK)\n(-1, -1)",
     "shell memlock=unlimited/unlimited\n"},
    {"python_named", "RLIMIT_MEMLOCK: (8388608, 8388608)", "unknown memlock=8388608/8388608\n"},
    {"tuple_without_a_name", "(65536, 65536)", ""},
    {"soft_hard_named", "RLIMIT_MEMLOCK soft=65536, hard=131072", "unknown memlock=65536/131072\n"},
};
INSTANTIATE_TEST_SUITE_P(Limits, Paste, testing::ValuesIn(kLimits), by_name);

constexpr Row kWrapped[] = {
    {"sudo_of_self", "$ sudo cat /proc/self/limits\nMax locked memory 1 1 bytes", "shell user=root memlock=1/1\n"},
    {"sudo_user", "$ sudo -u alice bash -c 'ulimit -l'\n64", "shell user=alice memlock=65536/?\n"},
    {"su_user", "# su - alice -c 'ulimit -l'\n64", "shell user=alice memlock=65536/?\n"},
    {"ssh_host", "$ ssh -p 22 alice@node9 ulimit -l\n64", "shell host=node9 user=alice memlock=65536/?\n"},
    {"ssh_quoted", "$ ssh node9 'ulimit -Sl; ulimit -Hl'\n64\nunlimited", "shell host=node9 memlock=65536/unlimited\n"},
    {"ssh_local_grep", "$ ssh node9 lsmod | grep -c nvidia_peermem\n0", "module nvidia_peermem=false\n"},
    {"kubectl_exec",
     "$ kubectl -n ml exec llm-0 -c main -- sh -c 'ulimit -l'\nDefaulted container \"main\" out of: main, x\n64",
     "container host=llm-0 target=pod/llm-0 memlock=65536/?\n"},
    {"kubectl_exec_grep",
     "$ kubectl exec -it llm-0 -- grep Cap /proc/1/status\nCapEff:\t0000000000000000\nCapBnd:\t00000000a80465fb",
     "container host=llm-0 pid=1 target=pod/llm-0 eff=0 bnd=a80465fb\n"},
    {"docker_exec_id", "$ docker exec 7d41c0a9be12 sh -c \"ulimit -l\"\n64",
     "container host=7d41c0a9be12 target=7d41c0a9be12 memlock=65536/?\n"},
    {"docker_exec_name", "bob@n1:~$ docker exec -u 0 postgres sh -c 'ulimit -l'\n64",
     "container host=postgres target=postgres memlock=65536/?\n"},
    {"kubectl_exec_workload", "me@laptop:~$ kubectl exec deploy/web -- sh -c 'ulimit -l'\n64",
     "container target=deploy/web memlock=65536/?\n"},
    {"docker_exec_over_ssh", "$ ssh n2 docker exec web cat /proc/1/limits\nMax locked memory 1 2 bytes",
     "container host=web pid=1 target=web memlock=1/2\n"},
    {"enroot_enter", "$ enroot start -w ngc\n$ ulimit -l\n64", "container enroot\ncontainer memlock=65536/?\n"},
    {"docker_exec_enter",
     "bob@n1:~$ docker exec -it trainer bash\nroot@box:/# ulimit -l\n64\nroot@box:/# exit\nbob@n1:~$ ulimit -l\n128",
     "container host=box target=trainer user=root memlock=65536/?\nshell host=n1 user=bob memlock=131072/?\n"},
    {"ssh_localhost", "$ ssh localhost ulimit -l\n64", "shell memlock=65536/?\n"},
    {"root_at_slash", "root@bw-test-0:/# ulimit -l\n64", "container host=bw-test-0 user=root memlock=65536/?\n"},
    {"root_at_home", "root@gpu01:~# ulimit -l\n64", "shell host=gpu01 user=root memlock=65536/?\n"},
    {"host_prompt", "laptop$ ulimit -l\n64", "shell host=laptop memlock=65536/?\n"},
    {"srun_is_elsewhere", "al@login1:~$ srun bash -c 'ulimit -l'\n64", "job user=al memlock=65536/?\n"},
    {"shown_file_is_of_elsewhere", "al@login1:~$ cat slurm-7.out\nulimit -l: 64", "unknown memlock=65536/?\n"},
    {"quoted", "> $ ulimit -l\n> 64\n    $ ulimit -Hl\n    128", "shell memlock=65536/131072\n"},
    {"numbered_listing", "11 | $ ulimit -l\n12 | 64", "shell memlock=65536/?\n"},
    {"barred", "| CapEff:\t0000000000004000", "unknown eff=4000\n"},
    {"bullet", "- Max locked memory 1 2 bytes\n- ulimit -l unlimited", "unknown memlock=1/2\n"},
    {"grep_over_logs", "job.out:CapEff:\t0000000000004000\njob.err:17:ulimit -l: 64",
     "unknown memlock=65536/? eff=4000\n"},
    {"wrapper_pid_is_not_the_ranks", "@4411*@ulimit -l: 64", "job host=node9 printer=4411 memlock=65536/?\n"},
    {"asked_pid_is_kept", "@4411*@+ cat /proc/77/limits\n@4411*@Max locked memory 1 2 bytes",
     "job host=node9 pid=77 printer=4411 memlock=1/2\n"},
    {"ssh_enter", "bob@n1:~$ ssh n2\nbob@n2:~$ ulimit -l\n64", "shell host=n2 user=bob memlock=65536/?\n"},
    {"srun", "$ srun -N 1 -p gpu bash -c 'ulimit -l'\n64", "job memlock=65536/?\n"},
    {"srun_labelled", "$ srun -l -n 2 bash -c 'ulimit -l'\n@0@64\n@1@unlimited",
     "job rank=0 memlock=65536/?\njob rank=1 memlock=unlimited/?\n"},
    {"srun_names", "$ srun -N2 sh -c 'hostname; ulimit -l'\nn1\nunlimited\nn2\n64",
     "job host=n1 memlock=unlimited/?\njob host=n2 memlock=65536/?\n"},
    {"srun_names_and_both", "$ srun sh -c 'hostname; ulimit -Sl; ulimit -Hl'\nn1\n64\nunlimited\nn2\n128\n256",
     "job host=n1 memlock=65536/unlimited\njob host=n2 memlock=131072/262144\n"},
    {"srun_names_mixed", "$ srun -N2 sh -c 'hostname; ulimit -l'\nn1\nn2\n64\nunlimited",
     "job of-several memlock=65536/?\njob of-several memlock=unlimited/?\n"},
    {"srun_names_behind", "$ srun -N2 sh -c 'ulimit -l; hostname'\n64\nn1\nunlimited\nn2",
     "job of-several memlock=65536/?\njob of-several memlock=unlimited/?\n"},
    {"srun_without_names", "$ srun -N2 sh -c 'ulimit -l'\nunlimited\n64\n128 steps done\n256",
     "job of-several memlock=unlimited/?\njob of-several memlock=65536/?\n"},
    {"srun_asked_again", "$ srun ulimit -l\n64\n$ srun ulimit -l\n128", "job memlock=65536/?\njob memlock=131072/?\n"},
    {"echoed_pairs", "$ mpirun -np 2 bash -c 'echo $(hostname) $(ulimit -l)'\nn1 unlimited\nn2 64",
     "job host=n1 memlock=unlimited/?\njob host=n2 memlock=65536/?\n"},
    {"echoed_both",
     "$ srun sh -c 'echo \"${HOSTNAME}: soft=$(ulimit -Sl) hard=$(ulimit -H -l)\"'\nn1: soft=64 hard=128",
     "job host=n1 memlock=65536/131072\n"},
    {"echoed_otherwise", "$ srun sh -c 'echo $(hostname) $(ulimit -l)'\nn1 64 kB\nn1", ""},
    {"mpirun", "$ mpirun -np 2 --host a,b --mca btl self -x NCCL_DEBUG=INFO sh -c 'ulimit -l'\n64",
     "env NCCL_DEBUG=INFO\njob memlock=65536/?\n"},
    {"pdsh_wrapped", "$ pdsh -w node[1-2] ulimit -l\n@node1@64\n@node2@unlimited",
     "shell host=node1 memlock=65536/?\nshell host=node2 memlock=unlimited/?\n"},
    {"pdsh_plain", "$ clush -w node[1-2] ulimit -l\nnode1: 64\nnode2: unlimited",
     "shell host=node1 memlock=65536/?\nshell host=node2 memlock=unlimited/?\n"},
    {"job_entry_script", "@3@[entry] Max locked memory 65536 65536 bytes\n@3@[entry] CapEff: 0000000000004000",
     "job rank=3 memlock=65536/65536 eff=4000\n"},
    {"job_traces_commands", "@3@+ ulimit -l\n@3@64", "job rank=3 memlock=65536/?\n"},
    {"streams_do_not_mix", "@3@+ ulimit -l\n@4@99\n@3@64", "job rank=3 memlock=65536/?\n"},
    {"library_line_ends_block", "$ ulimit -l\n@END\n64", ""},
    {"nested_too_deep", "$ sh -c \"sh -c 'sudo sudo sudo sudo sudo sudo sudo ulimit -l'\"\n64", ""},
    {"output_to_file", "$ ulimit -l > out.txt\n64", ""},
    {"errors_to_file", "$ ulimit -l 2>/dev/null\n64", "shell memlock=65536/?\n"},
    {"and_list", "$ cd /tmp && ulimit -l\n64", "shell memlock=65536/?\n"},
    {"unknown_command_number", "$ ./count-ranks\n64", ""},
    {"comment_is_no_prompt", "# ranks on this node: 256\n64", ""},
    {"comment_with_command_word", "# ulimit of the node\n64", ""},
    {"percent_in_text", "Epoch 1/3: 100% done\n64", ""},
    {"mail_address", "contact ops@site.org: costs 5$ now\n64", ""},
};
INSTANTIATE_TEST_SUITE_P(Wrapped, Paste, testing::ValuesIn(kWrapped), by_name);

constexpr Row kProcess[] = {
    {"status_lines",
     "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t00000000a80465fb",
     "unknown inh=0 prm=0 eff=0 bnd=a80465fb\n"},
    {"status_differs", "CapEff:\t0000000000000000\nCapEff:\t000001ffffffffff",
     "unknown eff=0\nunknown eff=1ffffffffff\n"},
    {"status_file",
     "$ cat /proc/4242/status\nName:\tpython3\nUid:\t1000\t1000\t1000\t1000\nVmLck:\t       0 kB\nVmPin:\t    5248 "
     "kB\nNoNewPrivs:\t1",
     "unknown pid=4242 comm=python3 user=1000 euid=1000 nnp=true vmpin=5373952 vmlck=0\n"},
    {"name_without_file", "Name:\tpython3\nUid:\t1000\t1000\t1000\t1000", ""},
    {"capsh_old",
     "$ capsh --print\nCurrent: = cap_chown,cap_ipc_lock+eip\nBounding set =cap_chown,cap_ipc_lock\nSecurebits: "
     "00/0x0/1'b0",
     "shell inh=4001 prm=4001 eff=4001 bnd=4001\n"},
    {"capsh_new",
     "root@7d41c0a9be12:/# capsh --print\nCurrent: cap_chown=ep\nCurrent IAB: !cap_kill\nBounding set "
     "=cap_chown\nAmbient set =",
     "container host=7d41c0a9be12 user=root inh=0 prm=1 eff=1 bnd=1 amb=0\n"},
    {"capsh_all", "$ capsh --print\nCurrent: =ep cap_sys_admin-ep", "shell inh=0 prm=1ffffdfffff eff=1ffffdfffff\n"},
    {"capsh_none", "$ capsh --print\nCurrent: =\nBounding set =", "shell inh=0 prm=0 eff=0 bnd=0\n"},
    {"current_of_something_else", "Current: 14 A\nCurrent: epoch 3", ""},
    {"getpcaps_old", "$ getpcaps 77\nCapabilities for `77': = cap_ipc_lock+p", "unknown pid=77 inh=0 prm=4000 eff=0\n"},
    {"getpcaps_new", "$ getpcaps 77\n77: cap_ipc_lock=ep", "unknown pid=77 inh=0 prm=4000 eff=4000\n"},
    {"capsh_decode_is_no_fact", "$ capsh --decode=00000000a80425fb\n0x00000000a80425fb=cap_chown,cap_kill", ""},
    {"id_line", "uid=1000(app) gid=1000(app) groups=1000(app)", "unknown user=app euid=1000\n"},
    {"id_effective", "$ id\nuid=1000(app) gid=1000(app) euid=0(root)", "shell user=root euid=0\n"},
    {"id_number", "$ id -u\n1000", "shell user=1000 euid=1000\n"},
    {"whoami", "$ whoami\nroot", "shell user=root euid=0\n"},
    {"whoami_error", "$ whoami\nwhoami: cannot find name for user ID 1000", ""},
    {"uid_map_child", "$ cat /proc/self/uid_map\n         0       1000          1", "shell initns=false\n"},
    {"uid_map_first", "$ cat /proc/self/uid_map\n         0          0 4294967295", "shell initns=true\n"},
    {"uid_map_in_container", "root@x:/# cat /proc/1/uid_map\n\t0 100000 65536",
     "container host=x pid=1 initns=false\n"},
    {"uid_map_of_pid", "$ cat /proc/77/uid_map\n         0          0 4294967295", "unknown pid=77 initns=true\n"},
    {"uid_map_of_unnamed", "$ cat /proc/PID/uid_map\n0 100000 65536\n100000 1 5", "unknown initns=false\n"},
    {"uid_map_label", "uid_map: 0 100000 65536", "unknown initns=false\n"},
    {"uid_map_label_of_rank", "@0@uid_map:          0      12001          1", "job rank=0 initns=false\n"},
    {"uid_map_by_path", "/proc/77/uid_map:         0       1000          1", "unknown pid=77 initns=false\n"},
    {"uid_map_prose", "uid_map: see user_namespaces(7)", ""},
    {"uid_map_without_command", "         0       1000          1", ""},
    {"ns_user", "$ readlink /proc/self/ns/user\nuser:[4026531837]", "shell initns=true\n"},
    {"ns_user_listed",
     "$ ls -l /proc/55/ns/user\nlrwxrwxrwx 1 a a 0 Nov 1 10:00 /proc/55/ns/user -> 'user:[4026532777]'",
     "unknown pid=55 initns=false\n"},
    {"ns_user_of_pid", "$ readlink /proc/4411/ns/user\nuser:[4026531837]", "unknown pid=4411 initns=true\n"},
    {"ns_user_listing",
     "$ ls -l /proc/self/ns/user\nlrwxrwxrwx 1 a a 0 Nov 1 10:00 /proc/self/ns/user -> "
     "user:[4026532777]",
     "shell initns=false\n"},
    {"ns_all_listed",
     "$ ls -l /proc/self/ns/\nlrwxrwxrwx 1 a a 0 Nov 1 10:00 uts -> uts:[4026531838]\nlrwxrwxrwx 1 a "
     "a 0 Nov 1 10:00 user -> user:[4026532777]",
     "shell initns=false\n"},
    {"ns_user_row_bare", "lrwxrwxrwx 1 a a 0 Nov 1 10:00 /proc/55/ns/user -> user:[4026532777]",
     "unknown pid=55 initns=false\n"},
    {"ns_user_label", "namespace: user:[4026531837]", "unknown initns=true\n"},
    {"ns_user_prose", "from user:[alice] to user:[bob]", ""},
    {"maps_wc", "$ wc -l /proc/123/maps\n65531 /proc/123/maps", "unknown pid=123 maps=65531\n"},
    {"maps_wc_pipe", "$ cat /proc/123/maps | wc -l\n65531", "unknown pid=123 maps=65531\n"},
    {"maps_wc_stdin", "$ wc -l < /proc/123/maps\n65531", "unknown pid=123 maps=65531\n"},
    {"maps_grep_count", "$ grep -c . /proc/123/maps\n65531", "unknown pid=123 maps=65531\n"},
    {"maps_without_count", "$ cat /proc/123/maps\n65531", ""},
    {"env_bare", "BYTEPS_RDMA_RX_DEPTH=2048", "env BYTEPS_RDMA_RX_DEPTH=2048\n"},
    {"env_tagged", "env: RDMAV_FORK_SAFE=1", "env RDMAV_FORK_SAFE=1\n"},
    {"env_several", "launch env: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True HOME=/root MC_LOG_LEVEL=INFO",
     "env MC_LOG_LEVEL=INFO\nenv PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"},
    {"env_grep", "$ env | grep UCX_RC\nUCX_RC_MLX5_ALLOC=huge,thp,md,mmap,heap",
     "env UCX_RC_MLX5_ALLOC=huge,thp,md,mmap,heap\n"},
    {"env_export", "$ export NCCL_IB_HCA='mlx5_0,mlx5_1' PATH=/x", "env NCCL_IB_HCA=mlx5_0,mlx5_1\n"},
    {"env_declared", "declare -x NCCL_DEBUG=\"INFO\"", "env NCCL_DEBUG=INFO\n"},
    {"env_traced", "+ export NCCL_IB_DISABLE=1", "env NCCL_IB_DISABLE=1\n"},
    {"env_in_front", "$ NCCL_DEBUG=INFO python train.py", "env NCCL_DEBUG=INFO\n"},
    {"env_mpirun", "mpirun failed, was: -x NCCL_DEBUG=INFO", ""},
    {"env_setenv", "setenv UCX_TLS rc,cuda", "env UCX_TLS=rc,cuda\n"},
    {"env_docker", "$ docker run -e NCCL_DEBUG=WARN --env=UCX_TLS=rc img",
     "container docker\nenv NCCL_DEBUG=WARN\nenv UCX_TLS=rc\n"},
    {"env_from_nccl", "@4@NCCL INFO NCCL_IB_DISABLE set by environment to 0.",
     "env NCCL_IB_DISABLE=0\njob rank=4 NCCL_IB_DISABLE=0\n"},
    {"env_echo", "$ echo $NCCL_IB_HCA\nmlx5_0", "env NCCL_IB_HCA=mlx5_0\n"},
    {"env_secret", "$ env\nAWS_SECRET_ACCESS_KEY=abc\nHF_TOKEN=def", ""},
    {"env_first_value_stays", "NCCL_DEBUG=INFO\nNCCL_DEBUG=WARN", "env NCCL_DEBUG=INFO\n"},
    {"env_of_process", "$ tr '\\0' '\\n' < /proc/9/environ\nNCCL_DEBUG=INFO",
     "env NCCL_DEBUG=INFO\nunknown pid=9 NCCL_DEBUG=INFO\n"},
};
INSTANTIATE_TEST_SUITE_P(Processes, Paste, testing::ValuesIn(kProcess), by_name);

/// Each row ends with the limits of pid 4411, once a command has shown which program that is.
#define LIMITS_OF_4411 "\n$ cat /proc/4411/limits\nMax locked memory 1 2 bytes"
constexpr Row kNames[] = {
    {"pgrep_a", "$ pgrep -a raylet\n4411 /opt/ray/raylet/raylet --socket=x" LIMITS_OF_4411,
     "daemon pid=4411 comm=raylet memlock=1/2\n"},
    {"pgrep_l", "$ pgrep -l raylet\n4411 raylet" LIMITS_OF_4411, "daemon pid=4411 comm=raylet memlock=1/2\n"},
    {"pgrep_bare", "$ pgrep -x slurmd\n4411" LIMITS_OF_4411, "daemon pid=4411 comm=slurmd memlock=1/2\n"},
    {"pidof", "$ pidof pbs_mom\n4409 4411" LIMITS_OF_4411, "daemon pid=4411 comm=pbs_mom memlock=1/2\n"},
    {"pgrep_of_the_job", "$ pgrep python\n4411" LIMITS_OF_4411, "unknown pid=4411 memlock=1/2\n"},
    {"ps_aux",
     "$ ps aux | grep slurmd\nroot  4411  0.0  0.1 12 34 ?  Ss  Mar01  0:01 /usr/sbin/slurmd -D" LIMITS_OF_4411,
     "daemon pid=4411 comm=slurmd memlock=1/2\n"},
    {"ps_ef", "$ ps -ef\nUID PID PPID C STIME TTY TIME CMD\nroot 4411 1 0 08:00 ? 00:00:01 slurmd -D" LIMITS_OF_4411,
     "daemon pid=4411 comm=slurmd memlock=1/2\n"},
    {"ps_eo", "$ ps -eo pid,lstart,cmd | grep raylet\n 4411 Mon Mar  2 08:00:01 2026 raylet --x" LIMITS_OF_4411,
     "daemon pid=4411 comm=raylet memlock=1/2\n"},
    {"ps_eo_user_first", "$ ps -eo user,pid,args\nroot 4411 /usr/sbin/pbs_mom" LIMITS_OF_4411,
     "daemon pid=4411 comm=pbs_mom memlock=1/2\n"},
    {"ps_p", "$ ps -p 4411 -o comm=\nraylet" LIMITS_OF_4411, "daemon pid=4411 comm=raylet memlock=1/2\n"},
    {"ps_tree", "$ ps auxf\nroot 4411 0.0 0.1 1 2 ? S 10:00 0:00  \\_ raylet --x" LIMITS_OF_4411,
     "daemon pid=4411 comm=raylet memlock=1/2\n"},
    {"ps_of_the_grep", "$ ps aux | grep raylet\nal 4411 0.0 0.1 1 2 ? S 10:00 0:00 grep raylet" LIMITS_OF_4411,
     "unknown pid=4411 memlock=1/2\n"},
    {"ps_of_another_pid", "$ pgrep -a raylet\n4412 /opt/ray/raylet/raylet" LIMITS_OF_4411,
     "unknown pid=4411 memlock=1/2\n"},
    {"prlimit_of_pgrep",
     "$ prlimit --pid $(pgrep -f raylet | head -1) --memlock\nMEMLOCK max locked-in-memory address space 1 2 bytes",
     "daemon comm=raylet memlock=1/2\n"},
    {"prlimit_of_pidof", "$ sudo prlimit -p $(pidof slurmd)\nMEMLOCK max locked-in-memory address space 1 2 bytes",
     "daemon comm=slurmd memlock=1/2\n"},
    {"prlimit_of_itself", "$ prlimit --pid $$\nMEMLOCK max locked-in-memory address space 1 2 bytes",
     "shell memlock=1/2\n"},
};
#undef LIMITS_OF_4411
INSTANTIATE_TEST_SUITE_P(Names, Paste, testing::ValuesIn(kNames), by_name);

constexpr Row kSettings[] = {
    {"traced", "+ ulimit -l\n64\n+ ulimit -l unlimited\n+ python train.py",
     "unknown memlock=65536/?\nunknown sets softhard unlimited\n"},
    {"soft_only", "@2@+ ulimit -S -l unlimited", "job sets rank=2 soft unlimited\n"},
    {"hard_only", "$ ulimit -Hl 64", "shell sets hard 65536\n"},
    {"among_others", "$ ulimit -n 1048576 -l 128", "shell sets softhard 131072\n"},
    {"other_resource", "$ ulimit -n 1048576", ""},
    {"of_the_container", "$ docker run img bash -c 'ulimit -l unlimited && ib_write_bw'",
     "container docker\ncontainer sets softhard unlimited\n"},
    {"of_a_shell_that_ends", "$ sudo sh -c 'ulimit -l unlimited'", ""},
    {"advice_without_prompt", "ulimit -l unlimited", ""},
    {"comment", "# ulimit -l unlimited", ""},
    {"csh", "$ limit memorylocked unlimited", "shell sets soft unlimited\n"},
    {"prlimit_pid", "$ sudo prlimit --pid 4411 --memlock=65536:unlimited", "shell sets pid=4411 softhard 65536\n"},
    {"prlimit_own", "$ sudo prlimit --pid $$ --memlock=unlimited:unlimited", "shell sets softhard unlimited\n"},
    {"prlimit_of_somebody", "$ sudo prlimit --pid $(pidof slurmd) --memlock=unlimited", ""},
    {"refused", "$ ulimit -l unlimited\n-bash: ulimit: max locked memory: cannot modify limit: Operation not permitted",
     "shell sets softhard unlimited refused\n"},
    {"refused_in_trace",
     "+ ulimit -l unlimited\n/opt/run.sh: line 3: ulimit: max locked memory: cannot modify limit: Operation not "
     "permitted",
     "unknown sets softhard unlimited refused\n"},
    {"refused_by_dash", "$ ulimit -l unlimited\nsh: 1: ulimit: error setting limit (Operation not permitted)",
     "shell sets softhard unlimited refused\n"},
    {"refused_by_sudo", "$ sudo ulimit -l unlimited\nsudo: ulimit: command not found",
     "shell sets softhard unlimited refused\n"},
    {"refusal_of_the_second",
     "$ ulimit -l 64\n$ ulimit -l 128\nbash: ulimit: cannot modify limit: Operation not permitted",
     "shell sets softhard 65536\nshell sets softhard 131072 refused\n"},
    {"refusal_without_command", "bash: ulimit: max locked memory: cannot modify limit: Operation not permitted", ""},
    {"read_again_after_it", "$ ulimit -l\n64\n$ ulimit -l unlimited\n$ ulimit -l\n64",
     "shell memlock=65536/?\nshell memlock=65536/?\nshell sets softhard unlimited\n"},
};
INSTANTIATE_TEST_SUITE_P(Settings, Paste, testing::ValuesIn(kSettings), by_name);

constexpr Row kMachine[] = {
    {"uname_r", "$ uname -r\n7.0.0-1019-nvidia", "kernel=7.0.0-1019-nvidia\n"},
    {"uname_r_no_release", "$ uname -r\nbash: uname: command not found", ""},
    {"uname_a", "Linux node07 5.15.0-91-generic #101-Ubuntu SMP Tue x86_64 x86_64 x86_64 GNU/Linux",
     "host=node07\nkernel=5.15.0-91-generic\narch=x86_64\n"},
    {"uname_a_in_container",
     "root@7d41c0a9be12:/# uname -a\nLinux 7d41c0a9be12 6.1.0-13-amd64 #1 SMP Debian aarch64 GNU/Linux",
     "kernel=6.1.0-13-amd64\narch=aarch64\n"},
    {"uname_srm", "$ uname -srm\nLinux 6.8.0 aarch64", "kernel=6.8.0\narch=aarch64\n"},
    {"proc_version", "Linux version 5.14.0-362.el9.x86_64 (mockbuild@x) (gcc)", "kernel=5.14.0-362.el9.x86_64\n"},
    {"linux_in_prose", "Linux is required for 5.15 features", ""},
    {"hostname", "$ hostname\nnode07", "host=node07\n"},
    {"cmdline", "$ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-6.8 root=/dev/sda1 ro quiet kho=off",
     "cmdline=BOOT_IMAGE=/vmlinuz-6.8 root=/dev/sda1 ro quiet kho=off\n"},
    {"cmdline_bare", "BOOT_IMAGE=/vmlinuz ro", "cmdline=BOOT_IMAGE=/vmlinuz ro\n"},
    {"os_release", "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 22.04.3 LTS\"", "distro=Ubuntu 22.04.3 LTS\n"},
    {"lsb_release", "$ lsb_release -a\nDistributor ID: Ubuntu\nDescription:    Ubuntu 20.04.6 LTS",
     "distro=Ubuntu 20.04.6 LTS\n"},
    {"redhat_release", "$ cat /etc/redhat-release\nRocky Linux release 8.8 (Green Obsidian)",
     "distro=Rocky Linux release 8.8 (Green Obsidian)\n"},
    {"meminfo_cma", "$ grep -i cma /proc/meminfo\nCmaTotal:              0 kB\nCmaFree:        9741236 kB",
     "meminfo CmaFree=9975025664\nmeminfo CmaTotal=0\n"},
    {"meminfo_bare", "HugePages_Free:     2048\nHugepagesize:       2048 kB",
     "meminfo HugePages_Free=2048\nmeminfo Hugepagesize=2097152\n"},
    {"meminfo_other_names_need_the_file", "Cached:   100 kB", ""},
    {"sysctl_line", "vm.max_map_count = 65530", "sysctl vm.max_map_count=65530\n"},
    {"sysctl_file", "$ cat /proc/sys/vm/max_map_count\n65530", "sysctl vm.max_map_count=65530\n"},
    {"sysctl_n", "$ sysctl -n vm.max_map_count\n262144", "sysctl vm.max_map_count=262144\n"},
    {"sysctl_two_files", "$ cat /proc/sys/vm/max_map_count /proc/sys/vm/overcommit_memory\n65530\n1",
     "sysctl vm.max_map_count=65530\nsysctl vm.overcommit_memory=1\n"},
    {"sysctl_grep", "/proc/sys/vm/max_map_count:65530", "sysctl vm.max_map_count=65530\n"},
    {"sysctl_advice", "vm.max_map_count=262144", ""},
    {"buddyinfo", "Node 0, zone      DMA      1      0\nNode 0, zone   Normal   1046    527",
     "buddyinfo=Node 0, zone      DMA      1      0\nNode 0, zone   Normal   1046    527\n"},
    {"ofed", "$ ofed_info -s\nMLNX_OFED_LINUX-5.8-1.1.2.1:", "version ofed=5.8-1.1.2.1\n"},
    {"ofed_internal", "$ ofed_info -s\nOFED-internal-24.10-0.7.0:", "version ofed=24.10-0.7.0\n"},
    {"libfabric", "$ fi_info --version\nfi_info: 1.18.1\nlibfabric: 1.18.1\nlibfabric api: 1.18",
     "version libfabric=1.18.1\n"},
    {"ucx", "# Library version: 1.15.0", "version ucx=1.15.0\n"},
    {"ucx_old", "# UCT version=1.12.1 revision dc92435", "version ucx=1.12.1\n"},
    {"efa", "EFA installer version: 1.28.0", "version efa_installer=1.28.0\n"},
    {"nccl_version_is_not_ours", "NCCL version 2.19.3+cuda12.2", ""},
    {"dpkg", "ii  rdma-core  2:39.0-1ubuntu1  amd64  RDMA core userspace", "version rdma_core=39.0-1ubuntu1\n"},
    {"dpkg_multiarch", "ii  libibverbs1:amd64  39.0-1  amd64  Library", "version rdma_core=39.0-1\n"},
    {"rpm", "$ rpm -qa | grep rdma-core\nrdma-core-35.0-1.el8.x86_64", "version rdma_core=35.0-1.el8\n"},
    {"rpm_prose", "rdma-core-devel is missing", ""},
    {"nvrm", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19",
     "version nvidia_driver=535.104.05\n"},
    {"nvrm_open", "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.54.15  Release Build",
     "version nvidia_driver=550.54.15\nlicense=Dual MIT/GPL\n"},
    {"slurm_version", "$ sinfo -V\nslurm 22.05.8", "version slurm=22.05.8\n"},
    {"systemd_version", "$ systemctl --version\nsystemd 252 (252.22-1~deb12u1)", "version systemd=252\n"},
};
INSTANTIATE_TEST_SUITE_P(Machine, Paste, testing::ValuesIn(kMachine), by_name);

constexpr Row kModules[] = {
    {"lsmod_whole",
     "$ lsmod\nModule                  Size  Used by\nnvidia_peermem         16384  0\nfoo   4096  1 bar",
     "module foo=true\nmodule nvidia_peermem=true\nmodules_complete=true\n"},
    {"lsmod_whole_without_prompt", "Module                  Size  Used by\nib_core  450560  9 rdma_cm",
     "module ib_core=true\nmodules_complete=true\n"},
    {"lsmod_head", "$ lsmod | head\nModule                  Size  Used by\nfoo   4096  1", "module foo=true\n"},
    {"lsmod_shortened", "$ lsmod\nModule                  Size  Used by\nfoo   4096  1\n...", "module foo=true\n"},
    {"lsmod_grep", "$ lsmod | grep nvidia_peermem\nnvidia_peermem         16384  0", "module nvidia_peermem=true\n"},
    {"lsmod_grep_used_by", "$ lsmod | grep peer\nnvidia  56524800  3 nvidia_peermem,nvidia_uvm",
     "module nvidia=true\n"},
    {"lsmod_row_bare", "nv_peer_mem            16384  0", "module nv_peer_mem=true\n"},
    {"lsmod_row_of_prose", "step 16384 0\nnvidia driver loaded 3 times", ""},
    {"lsmod_nothing_prompt", "$ lsmod | grep nvidia_peermem\n$ uptime", "module nvidia_peermem=false\n"},
    {"lsmod_nothing_blank", "$ lsmod | grep nvidia-peermem\n\nlater text", "module nvidia_peermem=false\n"},
    {"lsmod_nothing_library", "$ lsmod | grep nvidia_peermem\n@END", "module nvidia_peermem=false\n"},
    {"lsmod_nothing_of_a_part", "$ lsmod | grep peermem\n$", "module nvidia_peermem=false\nmodule peermem=false\n"},
    {"lsmod_nothing_either", "$ lsmod | grep -E 'nvidia_peermem|nv_peer_mem'\n$ x",
     "module nv_peer_mem=false\nmodule nvidia_peermem=false\n"},
    {"lsmod_nothing_inverted", "$ lsmod | grep -v nvidia_peermem\n$ x", ""},
    {"lsmod_nothing_quiet", "$ lsmod | grep -q nvidia_peermem\n$ x", ""},
    {"lsmod_advice_without_prompt", "lsmod | grep nvidia_peermem\n\nif it prints nothing, load it", ""},
    {"lsmod_count_none", "$ lsmod | grep -c nvidia_peermem\n0", "module nvidia_peermem=false\n"},
    {"lsmod_count_some", "$ lsmod | grep -c nvidia_peermem\n2", "module nvidia_peermem=true\n"},
    {"lsmod_count_wc", "$ lsmod | grep nvidia_peermem | wc -l\n0", "module nvidia_peermem=false\n"},
    {"proc_modules_grep", "$ grep nvidia_peermem /proc/modules\n$ x", "module nvidia_peermem=false\n"},
    {"modprobe_error", "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument",
     "module nvidia_peermem=false\n"},
    {"modprobe_missing", "modprobe: FATAL: Module nvidia-peermem not found in directory /lib/modules/5.15",
     "module nvidia_peermem=false\n"},
    {"insmod_loaded", "insmod: ERROR: could not insert module ./nv_peer_mem.ko: File exists",
     "module nv_peer_mem=true\n"},
    {"modinfo_missing", "modinfo: ERROR: Module nvidia_peermem not found.", "module nvidia_peermem=false\n"},
    {"modinfo_license", "$ modinfo nvidia | grep license\nlicense:        Dual MIT/GPL", "license=Dual MIT/GPL\n"},
    {"modinfo_field", "$ modinfo -F license nvidia\nNVIDIA", "license=NVIDIA\n"},
    {"modinfo_versions",
     "$ modinfo mlx5_core | grep version\nversion:        5.8-1.1.2\nsrcversion:     ABC\nvermagic: 5.15",
     "version mlx5_core=5.8-1.1.2\n"},
    {"sys_module", "$ ls /sys/module/nvidia_peermem\ncoresize  drivers  version", "module nvidia_peermem=true\n"},
    {"sys_module_missing", "ls: cannot access '/sys/module/nvidia_peermem': No such file or directory",
     "module nvidia_peermem=false\n"},
    {"sys_module_version", "$ cat /sys/module/nvidia_peermem/version\n535.104.05",
     "module nvidia_peermem=true\nversion nvidia_peermem=535.104.05\n"},
    {"smi_table",
     "| NVIDIA-SMI 535.104.05   Driver Version: 535.104.05   CUDA Version: 12.2 |\n|   0  Tesla T4            On   | "
     "00000000:00:1E.0 Off |   0 "
     "|\n|   1  NVIDIA A100-SXM...  Off  | 00000000:10:1C.0 Off |   0 |",
     "version nvidia_driver=535.104.05\ngpu product=Tesla T4\ngpu product=NVIDIA A100-SXM...\n"},
    {"smi_L", "$ nvidia-smi -L\nGPU 0: Tesla T4 (UUID: GPU-1)\nGPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-2)",
     "gpu product=Tesla T4\ngpu product=NVIDIA H100 80GB HBM3\n"},
    {"gpu_and_bar1_lines", "GPU 0: Tesla T4\nBAR1 Memory Usage Total 256 MiB Used 214 MiB Free 42 MiB",
     "gpu product=Tesla T4 total=268435456 used=224395264 free=44040192\n"},
    {"gpu_of_a_training_log", "GPU 0: 34.5 GiB used\nGPU 1: loss 3\nGPU 0: NVIDIA H100 util 98%", ""},
    {"smi_q",
     "$ nvidia-smi -q -d MEMORY\nGPU 00000000:00:1E.0\n    FB Memory Usage\n        Total : 15360 MiB\n    BAR1 Memory "
     "Usage\n        Total       "
     "                      : 256 MiB\n        Used                              : 5 MiB\n        Free                 "
     "             : 251 MiB\n"
     "    Conf Compute Protected Memory Usage\n        Total : 1 MiB\nGPU 00000000:00:1F.0\n    BAR1 Memory Usage\n    "
     "    Total : 512 MiB",
     "gpu total=268435456 used=5242880 free=263192576\ngpu total=536870912\n"},
    {"smi_csv",
     "$ nvidia-smi --query-gpu=name,driver_version --format=csv\nname, driver_version\nTesla T4, 535.54\nTesla T4, "
     "535.54",
     "version nvidia_driver=535.54\ngpu product=Tesla T4\ngpu product=Tesla T4\n"},
};
INSTANTIATE_TEST_SUITE_P(Modules, Paste, testing::ValuesIn(kModules), by_name);

constexpr Row kDevices[] = {
    {"ibv_devinfo",
     "$ ibv_devinfo -v\nhca_id:\tmlx5_0\n\ttransport:\t\t\tInfiniBand "
     "(0)\n\tfw_ver:\t\t\t\t20.31.1014\n\tmax_mr_size:\t\t\t0xffffffffffffffff\n"
     "\tmax_qp:\t\t\t\t131072\n\tmax_cq:\t\t\t\t16777216\n\tmax_mr:\t\t\t\t16777216\n\t\tport:\t1\n\t\t\tstate:"
     "\t\t\tPORT_ACTIVE (4)\n"
     "\t\t\tlink_layer:\t\tEthernet",
     "device mlx5_0 state=PORT_ACTIVE link=Ethernet fw=20.31.1014 max_mr_size=18446744073709551615 max_mr=16777216 "
     "max_qp=131072 "
     "max_cq=16777216\nrdma_present=true\n"},
    {"show_gids",
     "$ show_gids\nDEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4\t\tVER\tDEV\n---\t----\t-----\t---\t\t\t\t\t----\t\t---\t---\n"
     "rocep1\t1\t0\tfe80:0000:0000:0000:ba59:9fff:fe0c:1234\t\t\tv1\teth0\n"
     "rocep1\t1\t3\t0000:0000:0000:0000:0000:ffff:0a00:01fe\t10.0.1.254\tv2\teth0\nn_gids_found=2",
     "device rocep1 gid=1/0::v1 gid=1/3:10.0.1.254:v2\n"},
    {"gids_of_devinfo",
     "hca_id:\tmlx5_2\n\t\t\tGID[  0]:\t\tfe80::ba59:9fff:fe0c:1234, RoCE v1\n\t\t\tGID[  3]:\t\t::ffff:10.0.0.1, RoCE "
     "v2\n"
     "\t\t\tGID[  x]:\t\t::1, RoCE v2\n\t\t\tGID[  4]:\t\tnone",
     "device mlx5_2 gid=0/0::v1 gid=0/3:10.0.0.1:v2\nrdma_present=true\n"},
    {"gid_without_device", "GID[  0]: fe80::1, RoCE v2", ""},
    {"two_ports", "hca_id: mlx4_0\nstate: PORT_DOWN (1)\nstate: PORT_ACTIVE (4)",
     "device mlx4_0 state=PORT_ACTIVE\nrdma_present=true\n"},
    {"max_mr_size_alone", "        max_mr_size:                    0x1000000000", "device  max_mr_size=68719476736\n"},
    {"state_without_device", "state: running\nState: Active", ""},
    {"ibstat",
     "CA 'mlx5_1'\n\tFirmware version: 20.31.1014\n\tPort 1:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tLink "
     "layer: InfiniBand",
     "device mlx5_1 state=ACTIVE link=InfiniBand fw=20.31.1014\nrdma_present=true\n"},
    {"rdma_link", "link mlx5_0/1 state ACTIVE physical_state LINK_UP netdev ens1f0np0",
     "device mlx5_0 state=ACTIVE\nrdma_present=true\n"},
    {"rdma_link_old", "1/1: mlx5_0/1: state DOWN physical_state DISABLED",
     "device mlx5_0 state=DOWN\nrdma_present=true\n"},
    {"rdma_resource", "0: mlx5_0: pd 3 cq 5 qp 4 cm_id 0 mr 3000 ctx 1",
     "device mlx5_0 mr=3000 qp=4 cq=5\nrdma_present=true\n"},
    {"rdma_resource_prose", "0: mlx5_0: all good with 5 cq now", ""},
    {"cgroup_max_and_current",
     "$ cat /sys/fs/cgroup/rdma.max\nmlx5_0 hca_handle=4 hca_object=2000\n$ cat /sys/fs/cgroup/rdma.current\nmlx5_0 "
     "hca_handle=3 hca_object=2000",
     "device mlx5_0 max_handle=4 max_object=2000 handle=3 object=2000\n"},
    {"cgroup_no_limit", "$ cat rdma.max\nmlx5_0 hca_handle=max hca_object=2000",
     "device mlx5_0 max_handle=none max_object=2000\n"},
    {"cgroup_by_file_name", "/sys/fs/cgroup/a/rdma.max:mlx5_0 hca_handle=2 hca_object=9",
     "device mlx5_0 max_handle=2 max_object=9\n"},
    {"cgroup_of_unknown_file", "mlx5_0 hca_handle=4 hca_object=2000", ""},
    {"hugetlb_v1", "$ cat /sys/fs/cgroup/hugetlb/hugetlb.2MB.limit_in_bytes\n0", "hugetlb 2MB=0\n"},
    {"hugetlb_v2", "$ cat /sys/fs/cgroup/hugetlb.1GB.max\nmax", "hugetlb 1GB=18446744073709551615\n"},
    {"sysfs_state", "$ cat /sys/class/infiniband/mlx5_0/ports/1/state\n4: ACTIVE",
     "device mlx5_0 state=ACTIVE\nrdma_present=true\n"},
    {"sysfs_list", "$ ls /sys/class/infiniband\nmlx5_0  mlx5_1", "device mlx5_0\ndevice mlx5_1\nrdma_present=true\n"},
    {"sysfs_none", "ls: cannot access '/sys/class/infiniband': No such file or directory", "rdma_present=false\n"},
    {"nodes",
     "$ ls -l /dev/infiniband\ntotal 0\ncrw------- 1 root root 231,  64 Nov  1 10:00 issm0\ncrw-rw-rw- 1 root root "
     "231, 192 Nov  1 10:00 uverbs0",
     "node /dev/infiniband/issm0 crw-------\nnode /dev/infiniband/uverbs0 crw-rw-rw-\n"},
    {"nodes_full_path", "crw-rw-rw-. 1 root root 231, 192 Nov  1 10:00 /dev/infiniband/uverbs0",
     "node /dev/infiniband/uverbs0 crw-rw-rw-\n"},
    {"nodes_missing", "ls: cannot access '/dev/infiniband': No such file or directory",
     "node /dev/infiniband No such file or directory\n"},
    {"nodes_missing_utf8_quotes", "ls: cannot access ‘/dev/infiniband’: No such file or directory",
     "node /dev/infiniband No such file or directory\n"},
    {"nodes_denied", "ls: cannot open directory '/dev/infiniband': Permission denied",
     "node /dev/infiniband Permission denied\n"},
    {"other_missing_file", "ls: cannot access '/data/x': No such file or directory", ""},
    {"other_char_device", "crw-rw-rw- 1 root root 1, 3 Nov  1 10:00 null", ""},
};
INSTANTIATE_TEST_SUITE_P(Devices, Paste, testing::ValuesIn(kDevices), by_name);

constexpr Row kConfig[] = {
    {"systemctl_show",
     "$ sudo systemctl show docker | grep Limit\nLimitNOFILE=1048576\nLimitMEMLOCK=65536\nLimitMEMLOCKSoft=65536",
     "unit docker.service 65536/65536\n"},
    {"systemctl_show_p", "$ systemctl show -p LimitMEMLOCK slurmd.service\nLimitMEMLOCK=infinity",
     "unit slurmd.service ?/unlimited\n"},
    {"systemctl_show_number", "$ systemctl show sshd --property=LimitMEMLOCK\nLimitMEMLOCK=18446744073709551615",
     "unit sshd.service ?/unlimited\n"},
    {"systemctl_show_two",
     "$ systemctl show docker containerd -p LimitMEMLOCK\nLimitMEMLOCK=65536\n\nLimitMEMLOCK=infinity",
     "unit docker.service ?/65536\nunit containerd.service ?/unlimited\n"},
    {"systemctl_show_value", "$ systemctl show docker -p LimitMEMLOCK --value\n65536", "unit docker.service ?/65536\n"},
    {"systemctl_user_unit", "$ systemctl --user show docker\nLimitMEMLOCK=65536", ""},
    {"unit_unknown", "LimitMEMLOCK=infinity", ""},
    {"systemctl_cat",
     "$ systemctl cat containerd\n# /lib/systemd/system/containerd.service\n[Service]\nLimitMEMLOCK=64M:infinity",
     "unit containerd.service 67108864/unlimited\n"},
    {"systemctl_cat_override",
     "$ systemctl cat docker\nLimitMEMLOCK=64K\n# /etc/systemd/system/docker.service.d/x.conf\nLimitMEMLOCK=infinity",
     "unit docker.service unlimited/unlimited\n"},
    {"systemctl_cat_invalid", "$ systemctl cat docker\nLimitMEMLOCK=unlimited\nLimitMEMLOCK=64m", ""},
    {"unit_by_path", "/etc/systemd/system/docker.service.d/override.conf:LimitMEMLOCK=infinity",
     "unit docker.service unlimited/unlimited\n"},
    {"sshd_T", "$ sudo sshd -T | grep -i pam\nusepam no", "usepam=false\n"},
    {"sshd_bare", "UsePAM yes", "usepam=true\n"},
    {"sshd_path", "/etc/ssh/sshd_config:96:UsePAM no", "usepam=false\n"},
    {"sshd_comment", "#UsePAM no", ""},
    {"sshd_first_counts", "UsePAM no\nUsePAM yes", "usepam=false\n"},
    {"limits_bare", "* soft memlock unlimited", "limits * soft memlock unlimited\n"},
    {"limits_group", "@rdma - memlock 64G", "limits @rdma - memlock 64G\n"},
    {"limits_path", "/etc/security/limits.conf:* - memlock 65536", "limits * - memlock 65536\n"},
    {"limits_path_numbered", "/etc/security/limits.d/20-x.conf:3:root hard memlock unlimited",
     "limits root hard memlock unlimited\n"},
    {"limits_relative_path", "limits.d/20-x.conf:* hard memlock 8", "limits * hard memlock 8\n"},
    {"limits_file", "$ cat /etc/security/limits.conf\n# comment soft memlock 1\n* soft nofile 1024\n* hard memlock 64",
     "limits * soft nofile 1024\nlimits * hard memlock 64\n"},
    {"limits_comment", "/etc/security/limits.conf:#* soft memlock 64", ""},
    {"limits_other_item_bare", "* soft nofile 1024", ""},
    {"limits_prose", "use - memlock settings in limits.conf", ""},
    {"scontrol",
     "$ scontrol show config | grep -i propagate\nPropagatePrioProcess    = 0\nPropagateResourceLimits = "
     "ALL\nPropagateResourceLimitsExcept = MEMLOCK",
     "slurm PropagateResourceLimits=ALL\nslurm PropagateResourceLimitsExcept=MEMLOCK\n"},
    {"scontrol_version", "SLURM_VERSION           = 22.05.8", "version slurm=22.05.8\nslurm SLURM_VERSION=22.05.8\n"},
    {"scontrol_pam", "UsePAM                  = no", "slurm UsePAM=no\n"},
    {"slurm_conf", "$ cat /etc/slurm/slurm.conf\npropagateresourcelimitsexcept=MEMLOCK UsePAM=1\n#UsePAM=0",
     "slurm PropagateResourceLimitsExcept=MEMLOCK\n"},
};
INSTANTIATE_TEST_SUITE_P(Config, Paste, testing::ValuesIn(kConfig), by_name);

constexpr Row kContainers[] = {
    {"docker_plain", "+ docker run --gpus all --network host --device /dev/infiniband harness:local run_harness",
     "container docker infiniband\n"},
    {"docker_ulimit", "$ docker run --rm -it --ulimit memlock=-1 --ulimit stack=67108864 img",
     "container docker memlock=unlimited/unlimited\n"},
    {"docker_ulimit_pair", "$ docker run --ulimit=memlock=65536:131072 img", "container docker memlock=65536/131072\n"},
    {"docker_caps", "$ sudo docker run --cap-drop ALL --cap-add=IPC_LOCK --user 1000:1000 --shm-size 8g img x",
     "container docker ipc_lock drop_all user=1000:1000 shm=8g\n"},
    {"docker_cap_prefix", "docker run --cap-add CAP_IPC_LOCK img", "container docker ipc_lock\n"},
    {"docker_other_cap", "docker run --cap-add SYS_ADMIN img", "container docker\n"},
    {"docker_privileged", "docker run --privileged -u0 --device=/dev/infiniband/uverbs0:/dev/infiniband/uverbs0 img",
     "container docker privileged infiniband user=0\n"},
    {"docker_options_of_the_command", "$ docker run img run --privileged --ulimit memlock=-1", "container docker\n"},
    {"docker_continued", "$ docker run --gpus all \\\n    --ulimit memlock=-1 \\\n    --cap-add IPC_LOCK \\\n    img:1",
     "container docker memlock=unlimited/unlimited ipc_lock\n"},
    {"docker_inner_command", "bob@n1:~$ docker run --rm img bash -c 'ulimit -l'\n64",
     "container docker\ncontainer host=n1 memlock=65536/?\n"},
    {"docker_prose", "docker run fails with ENOMEM", ""},
    {"docker_other_verb", "$ docker ps -a --no-trunc", ""},
    {"podman",
     "$ podman run --ulimit memlock=-1:-1 --device /dev/infiniband localhost/bench:1\nError: crun: setrlimit "
     "`RLIMIT_MEMLOCK`: Operation not "
     "permitted: OCI permission denied",
     "container podman memlock=unlimited/unlimited infiniband\n"},
    {"podman_cap_list", "$ podman run --cap-add=NET_RAW,IPC_LOCK img", "container podman ipc_lock\n"},
    {"nerdctl_namespace", "$ nerdctl -n k8s.io run --privileged img", "container nerdctl privileged\n"},
    {"srun_image", "$ srun -N1 --container-image=nvcr.io/x train.sh", "container srun\n"},
    {"srun_without_image", "$ srun -N1 train.sh", ""},
    {"apptainer", "$ apptainer exec --nv img.sif bash -c 'ulimit -l'\n64",
     "container apptainer\ncontainer memlock=65536/?\n"},
    {"inspect_none",
     "$ docker inspect trainer\n            \"Privileged\": false,\n            \"CapAdd\": null,\n            "
     "\"Ulimits\": [],",
     "container docker\n"},
    {"inspect_bare", "\"Ulimits\": null,", "container docker\n"},
    {"inspect_some",
     "$ docker inspect trainer\n\"CapAdd\": [\n\"IPC_LOCK\"\n],\n\"Privileged\": true,\n\"Ulimits\": [\n{\n\"Hard\": "
     "-1,\n\"Name\": \"memlock\",\n\"Soft\": "
     "65536\n}\n],",
     "container docker memlock=65536/unlimited privileged ipc_lock\n"},
};
INSTANTIATE_TEST_SUITE_P(Containers, Paste, testing::ValuesIn(kContainers), by_name);

// ------------------------------------------------------------------------------------------------------------------

TEST(PasteReader, CitesFileAndLine) {
  const Facts facts = read("x\n$ ulimit -l\n  64");
  ASSERT_EQ(facts.processes.size(), 1U);
  EXPECT_EQ(facts.processes[0].memlock.source.path, "job.log:3");
  EXPECT_EQ(facts.processes[0].memlock.source.text, "64");
}

TEST(PasteReader, LibraryPrefixTellsThePid) {
  Facts facts;
  PasteReader reader(facts, "x");
  logs::ShapedLine line = shaped("NCCL_IB_DISABLE set by environment to 0.", 1);
  line.shape.pid = 4500;
  line.shape.nccl_prefix = true;
  reader.feed(line);
  ASSERT_EQ(facts.processes.size(), 1U);
  EXPECT_EQ(facts.processes[0].where.pid, 4500);
  EXPECT_FALSE(facts.processes[0].wrapper_pid);
}

struct HostRow {
  const char* input;
  const char* host;
};

/// Whose machine a fact tells of: every row ends with the kernel's release.
TEST(PasteReader, SourceNamesTheMachine) {
  static constexpr HostRow kRows[] = {
      {"alice@laptop:~$ uname -r\n6.8.0", "laptop"},
      {"[root@n1 ~]# uname -r\n6.8.0", "n1"},
      {"laptop$ uname -r\n6.8.0", "laptop"},
      {"$ uname -r\n6.8.0", ""},
      {"alice@laptop:~$ ssh bob@n2 uname -r\n6.8.0", "n2"},
      {"alice@laptop:~$ ssh localhost uname -r\n6.8.0", "laptop"},
      {"alice@laptop:~$ ssh n2\n$ uname -r\n6.8.0", "n2"},
      {"al@login:~$ clush -w n[1-2] uname -r\nn1: 6.8.0", "n1"},
      {"al@login:~$ pdsh -w n[1-2] uname -r\n@n1@6.8.0", "n1"},
      {"al@login:~$ pdsh -w n1 uname -r\n6.8.0", ""},
      {"al@login:~$ srun uname -r\n6.8.0", ""},
      {"al@login:~$ mpirun -np 2 uname -r\n6.8.0", "login"},
      {"al@login:~$ mpirun --host n1,n2 uname -r\n6.8.0", ""},
      {"me@laptop:~$ kubectl exec llm-0 -- uname -r\n6.8.0", "llm-0"},
      {"me@laptop:~$ kubectl exec deploy/web -- uname -r\n6.8.0", ""},
      {"bob@n1:~$ docker exec web uname -r\n6.8.0", "n1"},
      {"bob@n1:~$ docker exec -it web bash\nroot@box:/# uname -r\n6.8.0", "box"},
      {"bob@n1:~$ docker exec -it web bash\n# uname -r\n6.8.0", "n1"},
      {"@n7@+ uname -r\n@n7@6.8.0", "n7"},
      {"al@login:~$ cat slurm-7.out\n$ uname -r\n6.8.0", ""},
  };
  for (const HostRow& row : kRows) {
    const Facts facts = read(row.input);
    ASSERT_TRUE(facts.kernel.known()) << row.input;
    EXPECT_EQ(facts.kernel.source.host, row.host) << row.input;
  }
}

TEST(PasteReader, EvidentLinesNameTheMachineOfTheOpenPrompt) {
  EXPECT_EQ(read("root@login1:~# ./show\nCmaFree: 1 kB").meminfo.source.at("CmaFree").host, "login1");
  EXPECT_EQ(read("al@login1:~$ cat job.out\nCmaFree: 1 kB").meminfo.source.at("CmaFree").host, "");
  EXPECT_EQ(read("me@laptop:~$ ls -l /dev/infiniband\nls: cannot access '/dev/infiniband': No such file or directory")
                .device_nodes.at(0)
                .source.host,
            "laptop");
  EXPECT_EQ(read("$ x\n@n7@vm.max_map_count = 65530").sysctl.at("vm.max_map_count").source.host, "n7");
}

TEST(PasteReader, ContainerCommandKeepsImageAndWords) {
  const auto only = [](const char* input) {
    const Facts facts = read(input);
    return facts.containers.size() == 1 ? facts.containers[0].image + " | " + facts.containers[0].command : "none";
  };
  EXPECT_EQ(only("$ docker run --rm hello-world"), "hello-world | ");
  EXPECT_EQ(only("$ docker run --rm alpine sh -c 'ulimit -l'"), "alpine | sh -c ulimit -l");
  EXPECT_EQ(only("$ srun --container-image=nvcr.io/x:1 python train.py"), "nvcr.io/x:1 | python train.py");
  EXPECT_EQ(only("$ apptainer exec --nv img.sif ib_write_bw -d mlx5_0"), "img.sif | ib_write_bw -d mlx5_0");
}

TEST(PasteReader, ExpectsWhatLooksLikeALibrarysLine) {
  Facts facts;
  PasteReader reader(facts, "x");
  const auto row = shaped("4411 Mon Mar 2 08:00:01 2026 /opt/ray/raylet/raylet", 2);
  const auto refusal = shaped("bash: ulimit: max locked memory: cannot modify limit: Operation not permitted", 2);
  EXPECT_FALSE(reader.expects(row));
  EXPECT_FALSE(reader.expects(refusal));
  reader.feed(shaped("$ ps -eo pid,lstart,cmd | grep raylet", 1));
  EXPECT_TRUE(reader.expects(row));
  EXPECT_FALSE(reader.expects(shaped("@2@4411 raylet", 2)));
  reader.feed(shaped("$ ulimit -l unlimited", 3));
  EXPECT_FALSE(reader.expects(row));
  EXPECT_TRUE(reader.expects(refusal));
  reader.end_block();
  EXPECT_FALSE(reader.expects(refusal));
}

TEST(PasteReader, SettingCitesItsLine) {
  const Facts facts = read("alice@n1:~$ ulimit -l\n64\nalice@n1:~$ ulimit -l unlimited");
  ASSERT_EQ(facts.limit_settings.size(), 1U);
  EXPECT_EQ(facts.limit_settings[0].source.path, "job.log:3");
  EXPECT_EQ(facts.limit_settings[0].source.host, "n1");
}

TEST(PasteReader, SilenceCitesTheCommand) {
  const Facts facts = read("$ lsmod | grep nvidia_peermem\n$ x");
  EXPECT_EQ(facts.modules.at("nvidia_peermem").source.path, "job.log:1");
  EXPECT_EQ(facts.modules.at("nvidia_peermem").source.text, "$ lsmod | grep nvidia_peermem");
}

TEST(PasteReader, ContinuedCommandCitesItsFirstLine) {
  const Facts facts = read("text\n$ docker run \\\n --privileged \\\n img");
  ASSERT_EQ(facts.containers.size(), 1U);
  EXPECT_EQ(facts.containers[0].source.path, "job.log:2");
  EXPECT_EQ(facts.containers[0].source.text, "docker run  --privileged  img");
}

TEST(PasteReader, SaysWhatItUnderstood) {
  Facts facts;
  PasteReader reader(facts, "x");
  EXPECT_TRUE(reader.feed(shaped("$ ulimit -l", 1)));
  EXPECT_TRUE(reader.feed(shaped("64", 2)));
  EXPECT_FALSE(reader.feed(shaped("64", 3)));
  EXPECT_FALSE(reader.feed(shaped("step 100 loss 3.214 tokens/s 51230", 4)));
  EXPECT_TRUE(reader.feed(shaped("CapEff:\t0000000000000000", 5)));
}

TEST(PasteReader, BlockEndsAfterManyLines) {
  std::string input = "$ lsmod\nModule                  Size  Used by\n";
  for (int i = 0; i < 500; ++i) input += "m" + std::to_string(i) + " 4096 0\n";
  const Facts facts = read(input);
  EXPECT_FALSE(facts.modules_complete.known());
  EXPECT_TRUE(facts.modules.contains("m390"));
  EXPECT_FALSE(facts.modules.contains("m410"));
}

TEST(PasteReader, ListsAreBounded) {
  std::string input;
  for (int i = 0; i < 6000; ++i) {
    input += fmt::format("Max locked memory {} {} bytes\n* - memlock {}\n", i, i, i);
  }
  const Facts facts = read(input);
  EXPECT_EQ(facts.processes.size(), 4096U);
  EXPECT_EQ(facts.limits_conf.size(), 1024U);
}

TEST(PasteReader, SettingsAndNamesAreBounded) {
  std::string input;
  for (int i = 0; i < 3000; ++i) input += fmt::format("$ ulimit -l {}\n", i + 1);
  input += "$ pgrep -a x\n";
  for (int i = 0; i < 390; ++i) input += fmt::format("{} /bin/x\n", i + 1);
  const Facts facts = read(input + input);
  EXPECT_EQ(facts.limit_settings.size(), 1024U);
  EXPECT_EQ(facts.pid_names.size(), 390U);
}

TEST(PasteReader, ManyStreamsKeepTheirOwnBlocks) {
  std::string input;
  for (int i = 0; i < 40; ++i) input += fmt::format("@{}@+ ulimit -l\n", i);
  for (int i = 0; i < 40; ++i) input += fmt::format("@{}@{}\n", i, i + 1);
  const Facts facts = read(input);
  ASSERT_EQ(facts.processes.size(), 40U);
  for (const Process& p : facts.processes) EXPECT_EQ(p.memlock->soft->bytes, (*p.where.rank + 1) * 1024U);
}

TEST(PasteReader, LiteralsAreLongEnoughAndFew) {
  EXPECT_LE(PasteReader::literals().size(), 64U);
  for (const std::string_view word : PasteReader::literals()) EXPECT_GE(word.size(), 4U) << word;
}

TEST(PasteReader, LiteralsFindEverySelfEvidentLine) {
  // Without a command in front, the line itself must hold a literal, or a large log would never show it.
  for (const std::string_view line :
       {"Max locked memory 1 1 bytes", "CapEff:\t0", "max locked memory (kbytes, -l) 64", "ulimit -l: 64",
        "CmaFree: 1 kB", "vm.max_map_count = 65530", "UsePAM no", "* - memlock 64", "hca_id: mlx5_0",
        "mlx5_0 hca_handle=1 hca_object=2", "uid=0(root) gid=0", "BAR1 Memory Usage",
        "modprobe: ERROR: could not insert 'nvidia_peermem': x", "NVRM version: x", "EFA installer version: 1.2.3"}) {
    const auto& words = PasteReader::literals();
    EXPECT_TRUE(std::ranges::any_of(words, [&](std::string_view word) { return contains(line, word); })) << line;
  }
}

TEST(PasteReader, SurvivesBinaryAndLongLines) {
  Facts facts;
  PasteReader reader(facts, "x");
  std::string junk;
  for (int i = 0; i < 70000; ++i) junk += static_cast<char>(i * 37);
  for (const std::string lead :
       {"", "$ ", "docker run -", "CapEff:", "root@7d41c0a9be12:/# ", "/proc/", "Current: =", "NCCL_DEBUG="}) {
    reader.feed(shaped(lead + junk, 1));
  }
  SUCCEED();
}

}  // namespace
}  // namespace pindown
