// SPDX-License-Identifier: Apache-2.0
// Reads `docker run` and its relatives, srun --container-…, and `docker inspect`: what a container was given that
// matters for locked memory and devices. Entry points: parse_container_run, has_srun_container, read_inspect.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

using Words = std::span<const std::string>;

bool is_flag_without_value(std::string_view option) {
  static constexpr std::array<std::string_view, 22> kFlags = {
      "--rm",          "--detach",         "--interactive", "--tty",
      "--privileged",  "--init",           "--read-only",   "--oom-kill-disable",
      "--publish-all", "--no-healthcheck", "--quiet",       "--disable-content-trust",
      "--sig-proxy",   "--replace",        "--rmi",         "--no-hosts",
      "--http-proxy",  "--tls-verify",     "--rootfs",      "--help",
      "--env-host",    "--passwd"};
  if (option.starts_with("--")) return std::ranges::find(kFlags, option) != kFlags.end();
  return std::ranges::all_of(option.substr(1), [](char c) { return contains("ditPq", std::string_view(&c, 1)); });
}

std::optional<Limit> parse_ulimit_number(std::string_view text) {
  if (text == "-1" || text == "unlimited") return Limit::unlimited();
  const auto bytes = parse_u64(text);
  return bytes ? std::optional(Limit{*bytes}) : std::nullopt;
}

/// "memlock=-1", "memlock=65536:131072": bytes, the soft limit first.
void set_ulimit(std::string_view value, ContainerCommand& out) {
  if (!consume(value, "memlock=")) return;
  const auto parts = split(value, ':');
  const auto soft = parse_ulimit_number(parts[0]);
  const auto hard = parts.size() > 1 ? parse_ulimit_number(parts[1]) : soft;
  if (soft && hard) out.ulimit_memlock = MemlockLimit{soft, hard};
}

bool names_capability(std::string_view list, std::string_view wanted) {
  return std::ranges::any_of(split(list, ','), [&](std::string_view each) {
    each = trim(each);
    if (each.size() > 4 && iequals(each.substr(0, 4), "CAP_")) each.remove_prefix(4);
    return iequals(each, wanted);
  });
}

/// One option with its value; the option in its long form.
void set_option(std::string_view option, std::string_view value, ContainerCommand& out,
                std::vector<std::pair<std::string, std::string>>& env) {
  if (option == "--ulimit") set_ulimit(value, out);
  if (option == "--privileged") out.privileged = value.empty() || value == "true";
  if (option == "--cap-add") out.ipc_lock |= names_capability(value, "IPC_LOCK") || names_capability(value, "ALL");
  if (option == "--cap-drop") out.cap_drop_all |= names_capability(value, "ALL");
  if (option == "--device") out.infiniband_device |= value.starts_with("/dev/infiniband");
  if (option == "--user" || option == "-u") out.user = value.substr(0, 64);
  if (option == "--shm-size") out.shm_size = value.substr(0, 32);
  if (option != "--env" && option != "-e") return;
  const auto equals = value.find('=');
  if (equals != value.npos && keeps_variable(value.substr(0, equals)) && env.size() < kMaxList) {
    env.emplace_back(value.substr(0, equals), value.substr(equals + 1, 256));
  }
}

/// "-u1000", "-eNAME=V": a short option with its value attached.
bool is_attached_short(std::string_view word) {
  return word.size() > 2 && word[1] != '-' && contains("uevwphl", word.substr(1, 1));
}

/// Reads the option at `at`; returns how many words it took.
std::size_t take_option(Words words, std::size_t at, ContainerCommand& out,
                        std::vector<std::pair<std::string, std::string>>& env) {
  const std::string_view word = words[at];
  const auto equals = word.find('=');
  if (word.starts_with("--") && equals != word.npos) {
    set_option(word.substr(0, equals), word.substr(equals + 1), out, env);
    return 1;
  }
  if (is_flag_without_value(word)) {
    set_option(word, {}, out, env);
    return 1;
  }
  if (is_attached_short(word)) {
    set_option(word.substr(0, 2), word.substr(2), out, env);
    return 1;
  }
  if (at + 1 < words.size()) set_option(word, words[at + 1], out, env);
  return 2;
}

ContainerCommand* inspected(const Context& c) {
  auto& all = c.facts.containers;
  Stream& s = c.stream;
  if (s.container < all.size()) return &all[s.container];
  if (all.size() >= kMaxList) return nullptr;
  s.container = all.size();
  ContainerCommand& out = all.emplace_back();
  out.engine = "docker";
  out.source = c.source();
  return &out;
}

/// Splits `"Name": value,`.
bool split_member(std::string_view text, std::string_view& name, std::string_view& value) {
  if (!consume(text, "\"")) return false;
  const auto end = text.find("\":");
  if (end == text.npos) return false;
  name = text.substr(0, end);
  value = trim(text.substr(end + 2));
  if (value.ends_with(',')) value.remove_suffix(1);
  return true;
}

std::string_view unquote(std::string_view text) {
  text = trim(text);
  if (text.ends_with(',')) text.remove_suffix(1);
  if (text.size() >= 2 && text.front() == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  return text;
}

bool is_inspected(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kMembers = {"CapDrop", "User", "ShmSize", "Hard", "Name", "Soft"};
  return std::ranges::find(kMembers, name) != kMembers.end();
}

/// The entries of CapAdd stand one a line: "IPC_LOCK",
bool read_inspected_cap(const Context& c) {
  if (c.text.starts_with(']')) {
    c.stream.inspect_caps = false;
    return true;
  }
  ContainerCommand* out = inspected(c);
  const std::string_view name = unquote(c.text);
  if (out) out->ipc_lock |= names_capability(name, "IPC_LOCK") || names_capability(name, "ALL");
  return true;
}

/// The three members of an entry of Ulimits come in alphabetical order: Hard, Name, Soft.
void set_inspected_ulimit(ContainerCommand& out, Stream& s, std::string_view name, std::string_view value) {
  if (name == "Hard") s.inspect_hard = value;
  if (name == "Name") s.inspect_name = unquote(value);
  if (name != "Soft" || s.inspect_name != "memlock") return;
  const auto soft = parse_ulimit_number(value);
  const auto hard = parse_ulimit_number(s.inspect_hard);
  if (soft && hard) out.ulimit_memlock = MemlockLimit{soft, hard};
}

}  // namespace

std::size_t parse_container_run(Words words, std::string_view engine, ContainerCommand& out,
                                std::vector<std::pair<std::string, std::string>>& env) {
  out.engine = engine;
  std::size_t at = 1;
  while (at < words.size() && words[at].size() > 1 && words[at].starts_with('-')) {
    if (words[at] == "--") {
      ++at;
      break;
    }
    at += take_option(words, at, out, env);
  }
  if (at < words.size()) out.image = words[at].substr(0, 200);
  const std::size_t inner = std::min(at + 1, words.size());
  set_inner_command(words.subspan(inner), out);
  return inner;
}

void set_inner_command(Words words, ContainerCommand& out) {
  out.command = join_words(words.first(std::min<std::size_t>(words.size(), 8))).substr(0, 120);
}

std::string srun_image(Words options) {
  for (std::size_t i = 0; i < options.size(); ++i) {
    std::string_view word = options[i];
    if (consume(word, "--container-image=")) return std::string(word.substr(0, 200));
    if (word == "--container-image" && i + 1 < options.size()) return options[i + 1].substr(0, 200);
  }
  return {};
}

bool has_srun_container(Words options) {
  return std::ranges::any_of(options, [](std::string_view word) {
    return word == "--container-image" || word.starts_with("--container-image=");
  });
}

bool read_inspect(const Context& c) {
  if (c.stream.inspect_caps) return read_inspected_cap(c);
  std::string_view name, value;
  if (!split_member(c.text, name, value)) return false;
  const bool asked = c.question && c.question->topic == Topic::kInspect;
  if (!asked && name != "Ulimits") return false;
  const bool starts = name == "Ulimits" || name == "Privileged" || name == "CapAdd";
  if (!starts && c.stream.container >= c.facts.containers.size()) return false;
  ContainerCommand* out = inspected(c);
  if (!out) return false;
  if (name == "Privileged") out->privileged = value == "true";
  if (name == "User") out->user = unquote(value);
  if (name == "ShmSize") out->shm_size = value.substr(0, 32);
  if (name == "CapAdd") {
    out->ipc_lock |= contains(value, "IPC_LOCK") || contains(value, "\"ALL\"");
    c.stream.inspect_caps = value == "[";
  }
  if (name == "CapDrop") out->cap_drop_all |= contains(value, "\"ALL\"") || contains(value, "\"all\"");
  set_inspected_ulimit(*out, c.stream, name, value);
  return starts || is_inspected(name);
}

bool read_privileged(const Context& c) {
  if (c.text != "privileged: true") return false;
  c.learn(c.facts.pod_privileged, true);
  return true;
}

bool read_manifest(const Context& c) {
  static constexpr std::array<std::string_view, 14> kKinds = {
      "Pod",    "Deployment", "StatefulSet", "DaemonSet", "ReplicaSet",      "Job",        "CronJob",
      "MPIJob", "PyTorchJob", "TrainJob",    "JobSet",    "LeaderWorkerSet", "RayCluster", "RayJob"};
  std::string_view kind = c.text;
  if (!consume(kind, "kind: ") || std::ranges::find(kKinds, trim(kind)) == kKinds.end()) return false;
  c.facts.launchers.try_emplace("kubectl", c.source());
  return true;
}

}  // namespace pindown::paste
