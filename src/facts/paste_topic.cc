// SPDX-License-Identifier: Apache-2.0
// What a plain command (nothing in front of it) will print, judged by its name, options and files. Entry point:
// questions_of. One row in kPrograms per program. Nothing is asked when the words do not fit what the program takes.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

using Words = std::span<const std::string>;
using Questions = std::vector<Question>;

Question ask(Topic topic, std::string_view arg = {}, bool single = false) {
  Question q;
  q.topic = topic;
  q.arg = arg;
  q.single = single;
  return q;
}

bool has_word(Words words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

/// Words that are no options; `valued` options take one with them.
std::vector<std::string> operands(Words words, std::string_view valued = {}) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const bool option = word.size() > 1 && word[0] == '-';
    if (!option) {
      out.push_back(word);
    } else if (contains(valued, " " + word + " ")) {
      ++i;
    }
  }
  return out;
}

/// All letters of short options: {"-S", "-l"} → "Sl".
std::string letters(Words words) {
  std::string out;
  for (const std::string& word : words) {
    if (word.size() > 1 && word[0] == '-' && word[1] != '-') out += word.substr(1);
  }
  return out;
}

void ask_ulimit(Words words, Questions& out) {
  if (!operands(words.subspan(1)).empty()) return;  // sets the limit, prints nothing
  const std::string options = letters(words.subspan(1));
  if (!std::ranges::all_of(options, is_alpha)) return;
  const auto resources = std::ranges::count_if(options, [](char c) { return c != 'S' && c != 'H'; });
  const bool all = options.find('a') != options.npos || (resources > 1 && options.find('l') != options.npos);
  if (!all && options.find('l') == options.npos) return;
  Question q = all ? ask(Topic::kUlimitAll) : ask(Topic::kUlimit, {}, true);
  q.hard = options.find('H') != options.npos && options.find('S') == options.npos;
  out.push_back(std::move(q));
}

void ask_limit(Words words, Questions& out) {  // csh, zsh
  const auto rest = operands(words.subspan(1));
  if (!rest.empty() && rest[0] != "memorylocked") return;
  if (rest.size() > 1) return;
  Question q = ask(Topic::kUlimitAll);
  q.hard = has_word(words, "-h");
  out.push_back(std::move(q));
}

void ask_prlimit(Words words, Questions& out) {
  Question q = ask(Topic::kPrlimit);
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string_view word = words[i];
    if (word.starts_with("--memlock=") || word.starts_with("-l=") || word.starts_with("-o") ||
        word.starts_with("--output")) {
      return;
    }
    if ((word == "-p" || word == "--pid") && i + 1 < words.size()) {
      set_who(words[i + 1], q);
    } else if (consume(word, "--pid=") || consume(word, "-p")) {
      set_who(word, q);
    }
  }
  out.push_back(std::move(q));
}

/// Files whose content is printed. A topic that only a count makes sense of stays out without one.
void ask_files(std::span<const std::string> files, Questions& out) {
  for (const std::string& file : files) {
    Question q = question_of_path(file);
    if (q.topic != Topic::kNone && out.size() < 16) out.push_back(std::move(q));
  }
}

void ask_cat(Words words, Questions& out) {
  ask_files(operands(words.subspan(1), " -n -c "), out);
  const std::string_view program = base_name(words[0]);
  for (Question& q : out) q.partial |= program == "head" || program == "tail";
}

void ask_awk(Words words, Questions& out) {
  const auto rest = operands(words.subspan(1), " -F -v -e ");
  if (rest.size() > 1) ask_files(std::span(rest).subspan(1), out);
  for (Question& q : out) q.reshaped = q.partial = true;
}

void ask_grep(Words words, Questions& out) {
  const GrepWords grep = parse_grep(words);
  if (grep.quiet) return;
  ask_files(grep.files, out);
  for (Question& q : out) {
    q.grep = grep.grep;
    q.partial = true;
    q.counts = grep.counts;
    q.reshaped = grep.reshapes;
  }
}

void ask_wc(Words words, Questions& out) {
  if (letters(words).find('l') == std::string::npos) return;
  ask_files(operands(words.subspan(1)), out);
  for (Question& q : out) q.counts = true;
}

void ask_stdin_only(Words, Questions&) {}  // tr: questions_of looks at "< file"

void ask_id(Words words, Questions& out) {
  if (!operands(words.subspan(1)).empty()) return;
  const std::string options = letters(words.subspan(1));
  if (options.empty()) out.push_back(ask(Topic::kId));
  if (options == "u") out.push_back(ask(Topic::kUserId, {}, true));
  if (options == "un" || options == "nu") out.push_back(ask(Topic::kUserName, {}, true));
}

void ask_whoami(Words words, Questions& out) {
  if (words.size() == 1) out.push_back(ask(Topic::kUserName, {}, true));
}

void ask_capsh(Words words, Questions& out) {
  if (has_word(words, "--print")) out.push_back(ask(Topic::kCapabilities));
  if (words.size() == 2 && words[1].starts_with("--decode=")) out.push_back(ask(Topic::kEvident));
}

void ask_getpcaps(Words words, Questions& out) {
  if (words.size() != 2) return;
  Question q = ask(Topic::kCapabilities);
  q.pid = parse_i64(words[1]);
  q.other_process = words[1] != "$$";
  out.push_back(std::move(q));
}

void ask_env(Words words, Questions& out) {
  const auto rest = operands(words.subspan(1), " -u ");
  if (rest.empty()) out.push_back(ask(Topic::kEnviron));
  if (rest.size() == 1 && words[0] == "printenv" && keeps_variable(rest[0])) {
    out.push_back(ask(Topic::kVariable, rest[0], true));
  }
}

void ask_echo(Words words, Questions& out) {
  const std::string text = join_words(words.subspan(skip_options(words, 1, {})));
  if (contains(text, "(ulimit -") || contains(text, "`ulimit -")) return out.push_back(ask(Topic::kEchoed, text));
  if (words.size() != 2) return;
  std::string_view name = words[1];
  if (!consume(name, "$")) return;
  if (consume(name, "{") && name.ends_with('}')) name.remove_suffix(1);
  if (keeps_variable(name)) out.push_back(ask(Topic::kVariable, name, true));
}

void ask_uname(Words words, Questions& out) {
  if (!operands(words.subspan(1)).empty()) return;
  const std::string options = letters(words.subspan(1));
  if (options.find('a') != options.npos) return out.push_back(ask(Topic::kEvident));
  if (options.find('r') != options.npos) return out.push_back(ask(Topic::kKernelRelease, {}, true));
  if (options == "m" || options == "p" || options == "i") out.push_back(ask(Topic::kArch, {}, true));
}

void ask_hostname(Words words, Questions& out) {
  if (operands(words.subspan(1)).empty() && letters(words).find_first_of("iI") == std::string::npos) {
    out.push_back(ask(Topic::kHostname, {}, true));
  }
}

void ask_lsb(Words words, Questions& out) {
  if (operands(words.subspan(1)).empty()) out.push_back(ask(Topic::kLsbRelease));
}

void ask_sysctl(Words words, Questions& out) {
  const auto names = operands(words.subspan(1), " -p ");
  if (letters(words).find('n') == std::string::npos && !has_word(words, "--values")) {
    return out.push_back(ask(Topic::kSysctl));
  }
  for (const std::string& name : names) out.push_back(ask(Topic::kSysctlValue, name, true));
}

void ask_units(Topic topic, Words units, Questions& out) {
  for (const std::string& unit : units) {
    if (out.size() < 16) out.push_back(ask(topic, unit_name(unit), topic == Topic::kUnitShowValue));
  }
}

void ask_systemctl(Words words, Questions& out) {
  if (has_word(words, "--version")) return out.push_back(ask(Topic::kVersion, "systemd"));
  if (has_word(words, "--user") || words.size() < 2) return;  // a user's own units: other limits
  auto rest = operands(words.subspan(1), " -p --property -n -t ");
  if (rest.empty()) return;
  const std::string verb = rest[0];
  rest.erase(rest.begin());
  const std::string all = join_words(words);
  const bool value_only = has_word(words, "--value") && contains(all, "LimitMEMLOCK") && all.find(',') == all.npos;
  if (verb == "show") {
    // `--value -p LimitMEMLOCKSoft` asks for the other of the two.
    ask_units(value_only ? Topic::kUnitShowValue : Topic::kUnitShow, rest, out);
    for (Question& q : out) q.hard = !contains(all, "LimitMEMLOCKSoft");
  }
  if (verb == "cat") ask_units(Topic::kUnitFile, rest, out);
}

void ask_sshd(Words words, Questions& out) {
  if (letters(words).find('T') != std::string::npos) out.push_back(ask(Topic::kSshd));
}

void ask_scontrol(Words words, Questions& out) {
  if (has_word(words, "-V") || has_word(words, "--version")) return out.push_back(ask(Topic::kVersion, "slurm"));
  if (base_name(words[0]) == "scontrol" && has_word(words, "show") && has_word(words, "config")) {
    out.push_back(ask(Topic::kSlurm));
  }
}

void ask_lsmod(Words words, Questions& out) {
  if (words.size() == 1) out.push_back(ask(Topic::kModules));
}

void ask_modinfo(Words words, Questions& out) {
  std::string field;
  for (std::size_t i = 1; i < words.size(); ++i) {
    if ((words[i] == "-F" || words[i] == "--field") && i + 1 < words.size()) field = words[i + 1];
    if (words[i].starts_with("--field=")) field = words[i].substr(8);
    if (words[i] == "-l") field = "license";
  }
  const auto rest = operands(words.subspan(1), " -F --field -k ");
  if (rest.size() != 1) return;
  std::string name(base_name(rest[0]));
  name = name.substr(0, name.find(".ko"));
  if (field.empty()) return out.push_back(ask(Topic::kModinfo, name));
  out.push_back(ask(Topic::kModinfoField, name + ':' + field, true));
}

void ask_nvidia_smi(Words words, Questions& out) {
  for (const std::string& word : words) {
    std::string_view fields = word;
    if (consume(fields, "--query-gpu=")) return out.push_back(ask(Topic::kNvidiaSmiCsv, fields));
  }
  if (!has_word(words, "topo") && !has_word(words, "dmon")) out.push_back(ask(Topic::kNvidiaSmi));
}

void ask_evident(Words, Questions& out) {
  out.push_back(ask(Topic::kEvident));
}

void ask_ib_devices(Words, Questions& out) {
  out.push_back(ask(Topic::kIbDevices));
}

void ask_ps(Words words, Questions& out) {
  Question q = ask(Topic::kProcessList);
  q.columns = ps_columns(words);
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (words[i] == "-p" || words[i] == "--pid") q.pid = parse_i64(words[i + 1]);
  }
  out.push_back(std::move(q));
}

void ask_pgrep(Words words, Questions& out) {
  const auto patterns = operands(words.subspan(1), " -u -U -G -P -g -s -t -d ");
  if (patterns.empty()) return;
  const std::string options = letters(words.subspan(1));
  const bool named = options.find_first_of("al") != options.npos && base_name(words[0]) == "pgrep";
  Question q = ask(named ? Topic::kProcessList : Topic::kPidList, job_daemon(patterns[0]));
  if (named) q.columns = {0, 1};
  if (named || !q.arg.empty()) out.push_back(std::move(q));
}

void ask_ls(Words words, Questions& out) {
  for (const std::string& path : operands(words.subspan(1))) {
    std::string_view rest = path;
    if (rest.starts_with("/dev/infiniband")) {
      out.push_back(ask(Topic::kDeviceNodes, path));
    } else if (rest == "/sys/class/infiniband" || rest == "/sys/class/infiniband/") {
      out.push_back(ask(Topic::kIbClass));
    } else if (consume(rest, "/sys/module/") || rest == "/sys/module") {
      out.push_back(
          ask(Topic::kListModule, rest == "/sys/module" ? std::string_view() : rest.substr(0, rest.find('/'))));
    } else if (rest.starts_with("/proc/")) {
      while (rest.ends_with('/')) rest.remove_suffix(1);
      if (rest.ends_with("/ns")) out.push_back(question_of_path(std::string(rest) + "/user"));
      if (rest.ends_with("/ns/user")) out.push_back(question_of_path(rest));
    }
  }
}

void ask_version(Words words, Questions& out) {
  out.push_back(ask(Topic::kVersion, base_name(words[0])));
}

void ask_python(Words words, Questions& out) {
  const std::string all = join_words(words);
  if (contains(all, "getrlimit") && contains(all, "RLIMIT_MEMLOCK")) out.push_back(ask(Topic::kRlimitTuple));
}

using Asker = void (*)(Words, Questions&);
constexpr std::pair<std::string_view, Asker> kPrograms[] = {
    {"ulimit", ask_ulimit},
    {"limit", ask_limit},
    {"prlimit", ask_prlimit},
    {"cat", ask_cat},
    {"head", ask_cat},
    {"tail", ask_cat},
    {"less", ask_cat},
    {"more", ask_cat},
    {"strings", ask_cat},
    {"xargs", ask_stdin_only},
    {"tr", ask_stdin_only},
    {"awk", ask_awk},
    {"ps", ask_ps},
    {"pgrep", ask_pgrep},
    {"pidof", ask_pgrep},
    {"sed", ask_awk},
    {"grep", ask_grep},
    {"egrep", ask_grep},
    {"fgrep", ask_grep},
    {"rg", ask_grep},
    {"zgrep", ask_grep},
    {"wc", ask_wc},
    {"readlink", ask_cat},
    {"id", ask_id},
    {"whoami", ask_whoami},
    {"capsh", ask_capsh},
    {"getpcaps", ask_getpcaps},
    {"env", ask_env},
    {"printenv", ask_env},
    {"echo", ask_echo},
    {"uname", ask_uname},
    {"hostname", ask_hostname},
    {"hostnamectl", ask_lsb},
    {"lsb_release", ask_lsb},
    {"sysctl", ask_sysctl},
    {"systemctl", ask_systemctl},
    {"sshd", ask_sshd},
    {"scontrol", ask_scontrol},
    {"sinfo", ask_scontrol},
    {"lsmod", ask_lsmod},
    {"modinfo", ask_modinfo},
    {"modprobe", ask_evident},
    {"insmod", ask_evident},
    {"nvidia-smi", ask_nvidia_smi},
    {"ibv_devinfo", ask_ib_devices},
    {"ibstat", ask_ib_devices},
    {"ibstatus", ask_ib_devices},
    {"show_gids", ask_ib_devices},
    {"rdma", ask_ib_devices},
    {"ls", ask_ls},
    {"ofed_info", ask_version},
    {"fi_info", ask_version},
    {"ucx_info", ask_version},
    {"dpkg", ask_evident},
    {"rpm", ask_evident},
    {"dnf", ask_evident},
    {"apt", ask_evident},
    {"python", ask_python},
    {"python3", ask_python},
};

}  // namespace

std::vector<Question> questions_of(const SimpleCommand& command, const Pipeline& rest) {
  Questions out;
  const std::string_view program = base_name(command.words[0]);
  for (const auto& [name, asker] : kPrograms) {
    if (name == program) asker(command.words, out);
  }
  if (!command.stdin_file.empty() && out.empty()) {
    ask_files(std::span(&command.stdin_file, 1), out);
    for (Question& q : out) q.counts = program == "wc";
  }
  std::erase_if(out, [&](Question& q) {
    for (const SimpleCommand& filter : rest) {
      if (!apply_filter(filter, q)) return true;
    }
    const bool countable = q.topic == Topic::kMapCount || q.topic == Topic::kModules || q.topic == Topic::kListModule;
    if (q.topic == Topic::kPidList && q.reshaped) return true;
    return q.topic == Topic::kMapCount ? !q.counts : q.counts && !countable;
  });
  return out;
}

}  // namespace pindown::paste
