// SPDX-License-Identifier: Apache-2.0
// See slurm_conf.h. Follows src/common/parse_config.c of Slurm 22.05 to 26.05: _get_next_line(), s_p_parse_file(),
// _parse_include_directive(). Which keys exist depends on the version and is not judged.
#include "facts/slurm_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/config_path.h"
#include "facts/environment_file.h"
#include "facts/read_config.h"

namespace pindown {
namespace {

constexpr int kMaxDepth = 32;
constexpr std::size_t kMaxFiles = 1'000;
constexpr std::size_t kMaxFileBytes = 16U << 20;
constexpr std::size_t kMaxBytes = 64U << 20;

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

std::size_t skip_word(std::string_view text, std::size_t at) {
  while (at < text.size() && !is_space(text[at])) ++at;
  return at;
}

bool is_all_space(std::string_view text) {
  return std::ranges::all_of(text, is_space);
}

/// Everything from the first "#" on that no odd number of backslashes stands before.
std::string_view without_comment(std::string_view line) {
  std::size_t backslashes = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '#' && backslashes % 2 == 0) return line.substr(0, at);
    backslashes = line[at] == '\\' ? backslashes + 1 : 0;
  }
  return line;
}

/// The line without the last of an odd number of backslashes at its end: the next line goes on with it.
std::optional<std::string_view> continued(std::string_view line) {
  while (!line.empty() && is_space(line.back())) line.remove_suffix(1);
  std::size_t backslashes = 0;
  while (backslashes < line.size() && line[line.size() - 1 - backslashes] == '\\') ++backslashes;
  if (backslashes % 2 == 0) return std::nullopt;
  return line.substr(0, line.size() - 1);
}

std::string without_escapes(std::string_view line) {
  std::string out;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (line[at] == '\\') ++at;
    if (at < line.size()) out += line[at];
  }
  return out;
}

/// The next line with those that continue it, and the first of them as it stands.
bool next_logical_line(TextLines& lines, std::string& line, std::string_view& first) {
  line.clear();
  bool any = false;
  for (std::string_view physical; lines.next(physical); any = true) {
    if (!any) first = physical;
    physical = without_comment(physical.substr(0, physical.find('\0')));
    const auto more = continued(physical);
    line += more.value_or(physical);
    if (more) continue;
    line = without_escapes(line);
    return true;
  }
  line = without_escapes(line);
  return any;
}

/// yes, up, true, 1 and their opposites (src/common/parse_value.c s_p_handle_boolean()).
std::optional<bool> parse_slurm_bool(std::string_view value) {
  static constexpr std::array<std::string_view, 4> kYes = {"yes", "up", "true", "1"};
  static constexpr std::array<std::string_view, 4> kNo = {"no", "down", "false", "0"};
  const auto is = [value](std::string_view word) { return iequals(word, value); };
  if (std::ranges::any_of(kYes, is)) return true;
  if (std::ranges::any_of(kNo, is)) return false;
  return std::nullopt;
}

/// Before 23.02 a relative Include is looked for beside the file that includes, since then beside slurm.conf
/// (d890058691, get_extra_conf_path()). Nothing: the version is not known.
std::optional<bool> beside_includer(std::string_view version) {
  std::string_view rest = version;
  const auto major = parse_u64(take_digits(rest));
  return major ? std::optional(*major < 23) : std::nullopt;
}

class Reader {
 public:
  Reader(const Host& host, const SlurmQuestion& question, SlurmConf& out)
      : host_(host), beside_includer_(beside_includer(question.version)), out_(out), links_(host) {}

  void read_main() { read_file(out_.file, {out_.file, {}, {}}, 0); }

 private:
  void read_file(const std::string& path, const Source& included_by, int depth);
  void read_text(const std::string& path, std::string_view text, int depth);
  void read_line(const std::string& line, const std::string& path, const Source& source, int depth);
  void read_pair(const SlurmPair& pair, const Source& source);
  void read_list(const SlurmPair& pair, const Source& source, Fact<std::string>& fact);
  void read_include(const std::string& path, std::string_view rest, const Source& source, int depth);
  std::optional<std::string> place_of(const std::string& includer, std::string name, const Source& source);

  void refuse(const Source& source, std::string why);
  void lose(Missing why, const std::string& path, std::string problem);

  const Host& host_;
  std::optional<bool> beside_includer_;
  SlurmConf& out_;
  LinkResolver links_;
  std::string cluster_;
  std::size_t files_ = 0;
  std::size_t bytes_ = 0;
};

void Reader::refuse(const Source& source, std::string why) {
  if (out_.refuses) return;
  out_.refuses = source;
  out_.why = std::move(why);
}

/// What cannot be read may set each of the values; a later line sets them again.
void Reader::lose(Missing why, const std::string& path, std::string problem) {
  out_.propagate = Fact<std::string>::none(why, path);
  out_.propagate_except = Fact<std::string>::none(why, path);
  out_.use_pam = Fact<bool>::none(why, path);
  out_.problems.push_back(std::move(problem));
}

void Reader::read_list(const SlurmPair& pair, const Source& source, Fact<std::string>& fact) {
  const auto listed = lists_memlock(pair.value);
  if (!listed) refuse(source, listed.error());
  fact = Fact<std::string>::of(pair.value, source);
}

void Reader::read_pair(const SlurmPair& pair, const Source& source) {
  if (iequals(pair.key, "ClusterName")) cluster_ = lower(pair.value);
  const bool propagate = iequals(pair.key, "PropagateResourceLimits");
  const bool except = iequals(pair.key, "PropagateResourceLimitsExcept");
  const bool pam = iequals(pair.key, "UsePAM");
  if (!propagate && !except && !pam) return;
  if (propagate) read_list(pair, source, out_.propagate);
  if (except) read_list(pair, source, out_.propagate_except);
  if (pam) {
    const auto value = parse_slurm_bool(pair.value);
    if (!value) refuse(source, "UsePAM is neither yes nor no");
    if (value) out_.use_pam = Fact<bool>::of(*value, source);
  }
  if (!is_all_space(pair.rest)) refuse(source, "one line may set one value");
}

/// Where the included file is; "%c" is the cluster's name in lower case.
std::optional<std::string> Reader::place_of(const std::string& includer, std::string name, const Source& source) {
  for (auto at = name.find("%c"); at != name.npos; at = name.find("%c")) {
    if (cluster_.empty()) {
      refuse(source, "%c before ClusterName");
      return std::nullopt;
    }
    name.replace(at, 2, cluster_);
    if (name.size() > 4096) return std::nullopt;
  }
  if (name.starts_with('/')) return name;
  std::string beside_main = fmt::format("{}/{}", parent_path(out_.file), name);
  std::string beside = fmt::format("{}/{}", parent_path(includer), name);
  if (beside_main == beside) return beside;
  if (beside_includer_) return *beside_includer_ ? beside : beside_main;
  lose(Missing::kMalformed, source.path,
       fmt::format("{}: the version of Slurm decides which file is included here", source.path));
  return std::nullopt;
}

void Reader::read_include(const std::string& path, std::string_view rest, const Source& source, int depth) {
  const std::size_t from = skip_space(rest, 0);
  const std::size_t to = skip_word(rest, from);
  std::string name(rest.substr(from, to - from));
  if (name.empty() || name.size() > 4096) return refuse(source, "Include without a file");
  if (!is_all_space(rest.substr(to))) refuse(source, "one Include names one file");
  if (contains(name, "*")) return refuse(source, "Slurm knows no patterns in Include");
  if (depth == kMaxDepth) return refuse(source, "includes without end");
  const auto place = place_of(path, std::move(name), source);
  if (place) read_file(*place, source, depth + 1);
}

void Reader::read_line(const std::string& line, const std::string& path, const Source& source, int depth) {
  constexpr std::string_view kInclude = "include";
  const std::string_view text = line;
  if (text.empty() || is_all_space(text)) return;
  if (text.size() > kInclude.size() && iequals(text.substr(0, kInclude.size()), kInclude) &&
      is_space(text[kInclude.size()]))
    return read_include(path, text.substr(kInclude.size()), source, depth);
  const auto pair = parse_slurm_pair(text);
  if (!pair) return refuse(source, "not of the form Key=value");
  read_pair(*pair, source);
}

void Reader::read_text(const std::string& path, std::string_view text, int depth) {
  TextLines lines(text);
  std::string line;
  std::string_view physical;
  for (std::size_t first = 1; next_logical_line(lines, line, physical); first = lines.number() + 1) {
    const Source source{fmt::format("{}:{}", path, first), std::string(trim(physical.substr(0, 400))), {}};
    read_line(line, path, source, depth);
  }
}

void Reader::read_file(const std::string& path, const Source& included_by, int depth) {
  if (++files_ > kMaxFiles || bytes_ > kMaxBytes) {
    return lose(Missing::kError, path, fmt::format("{}: not read: too many files are included", path));
  }
  const auto place = links_.resolve(path);
  if (!place) return lose(Missing::kError, path, fmt::format("{}: links without end", path));
  const ConfigText file = read_config(host_, *place, kMaxFileBytes);
  // slurmd waits a minute for it, then ends.
  if (file.missing == Missing::kAbsent) return refuse(included_by, fmt::format("there is no {}", path));
  if (file.missing) return lose(*file.missing, path, file.problem);
  bytes_ += file.text.size();
  read_text(path, file.text, depth);
}

/// -f FILE, -fFILE among slurmd's options (src/slurmd/slurmd/slurmd.c GETOPT_ARGS).
std::optional<std::string> file_of_options(const std::vector<std::string>& words) {
  static constexpr std::string_view kWithArgument = "dfILnN";
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word.size() < 2 || word[0] != '-' || word[1] == '-') continue;
    for (std::size_t i = 1; i < word.size(); ++i) {
      if (!contains(kWithArgument, std::string_view(word).substr(i, 1))) continue;
      const bool last = i + 1 == word.size();
      if (word[i] == 'f' && !last) return word.substr(i + 1);
      if (word[i] == 'f' && at + 1 < words.size()) return words[at + 1];
      if (last) ++at;
      break;
    }
  }
  return std::nullopt;
}

/// By what the running slurmd, else its unit's environment file names; nothing: the usual places.
bool name_file(const Host& host, const SlurmQuestion& question, SlurmConf& out) {
  if (!question.slurmd_cmdline.empty()) {
    if (const auto file = file_of_options(split_environment_words(question.slurmd_cmdline))) {
      out.file = *file;
      out.named_by = {"slurmd", question.slurmd_cmdline, {}};
      return true;
    }
  }
  for (const std::string_view key : {"SLURMD_OPTIONS", "SLURM_CONF"}) {
    const std::array<EnvironmentPlace, 2> places = {{{"/etc/default/slurmd", key}, {"/etc/sysconfig/slurmd", key}}};
    const Fact<std::string> value = collect_environment_value(host, places, out.problems);
    if (!value.known()) continue;
    const auto file = key == "SLURM_CONF" ? std::optional(*value) : file_of_options(split_environment_words(*value));
    if (!file) continue;
    out.file = *file;
    out.named_by = value.source;
    return true;
  }
  if (question.file.empty()) return false;
  out.file = question.file;
  out.named_by = {"SLURM_CONF", {}, {}};
  return true;
}

/// The default of Debian's, RHEL's and EPEL's builds first, then where slurmd keeps what it fetched, then others'.
constexpr std::array<const char*, 6> kPlaces = {
    "/etc/slurm/slurm.conf",      "/run/slurm/conf/slurm.conf", "/var/spool/slurmd/conf-cache/slurm.conf",
    "/etc/slurm-llnl/slurm.conf", "/usr/local/etc/slurm.conf",  "/opt/slurm/etc/slurm.conf"};

void find_file(const Host& host, SlurmConf& out) {
  for (const char* place : kPlaces) {
    if (!host.exists(place)) continue;
    out.file = place;
    return;
  }
}

}  // namespace

std::expected<bool, std::string> lists_memlock(std::string_view list) {
  static constexpr std::array<std::string_view, 10> kNames = {"CPU", "FSIZE", "DATA",   "STACK",   "CORE",
                                                              "RSS", "NPROC", "NOFILE", "MEMLOCK", "AS"};
  if (list == "ALL") return true;
  if (list == "NONE") return false;
  bool listed = false;
  for (std::size_t at = list.find_first_not_of(", \t\n"); at < list.size(); at = list.find_first_not_of(", \t\n", at)) {
    const std::size_t end = std::min(list.find_first_of(", \t\n", at), list.size());
    std::string_view name = list.substr(at, end - at);
    at = end;
    while (consume(name, "RLIMIT_")) continue;
    if (std::ranges::find(kNames, name) == kNames.end())
      return std::unexpected(fmt::format("Bad rlimit name: {}", shorten(escape(name, 100), 40)));
    listed = listed || name == "MEMLOCK";
  }
  return listed;
}

std::optional<SlurmPair> parse_slurm_pair(std::string_view line) {
  const std::size_t key_at = skip_space(line, 0);
  std::size_t at = key_at;
  while (at < line.size() && (is_alnum(line[at]) || line[at] == '_' || line[at] == '.')) ++at;
  SlurmPair pair{std::string(line.substr(key_at, at - key_at)), {}, {}};
  at = skip_space(line, at);
  if (at < line.size() && contains("-*+/", line.substr(at, 1))) ++at;
  if (pair.key.empty() || at >= line.size() || line[at] != '=') return std::nullopt;
  at = skip_space(line, at + 1);
  if (at >= line.size()) return std::nullopt;
  const std::size_t close = line[at] == '"' ? line.find('"', at + 1) : line.npos;
  const bool quoted = close != line.npos && (close + 1 == line.size() || is_space(line[close + 1]));
  const std::size_t end = quoted ? close + 1 : skip_word(line, at);
  pair.value = quoted ? line.substr(at + 1, close - at - 1) : line.substr(at, end - at);
  pair.rest = line.substr(end);
  return pair;
}

SlurmConf collect_slurm(const Host& host, const SlurmQuestion& question) {
  SlurmConf out;
  if (!name_file(host, question, out)) find_file(host, out);
  const std::string place = out.file.empty() ? kPlaces.front() : out.file;
  out.propagate = Fact<std::string>::none(Missing::kAbsent, place);
  out.propagate_except = Fact<std::string>::none(Missing::kAbsent, place);
  out.use_pam = Fact<bool>::none(Missing::kAbsent, place);
  if (out.file.empty()) return out;
  out.use_pam = Fact<bool>::of(false, {out.file, {}, {}});
  Reader(host, question, out).read_main();
  return out;
}

}  // namespace pindown
