// SPDX-License-Identifier: Apache-2.0
// PAM service files as libpam splits them, and which files and modules there are. Entry points: parse_pam_file,
// collect_pam. Must not: follow an include or decide what a line does.
#include "facts/pam_stack.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "facts/read_config.h"

namespace pindown {
namespace {

constexpr std::size_t kMaxBytes = 1U << 20;
constexpr std::size_t kMaxFiles = 1'000;
constexpr std::size_t kLongLine = 1'023;  // BUF_SIZE in libpam/pam_handlers.c up to 1.6.1 is 1,024
constexpr std::array<const char*, 4> kDirectories = {"/etc/pam.d", "/usr/lib/pam.d", "/usr/etc/pam.d",
                                                     "/usr/share/pam.d"};

bool separates(char c) {
  return c == ' ' || c == '\t' || c == '\n';
}

/// libpam/pam_misc.c _pam_StrTok: words between blanks; "[…]" is one word without its brackets, whatever follows "]".
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  struct Word {
    std::string text;
    bool bracketed = false;
  };

  std::optional<Word> next() {
    while (!rest_.empty() && separates(rest_.front())) rest_.remove_prefix(1);
    if (rest_.empty()) return std::nullopt;
    if (rest_.front() == '[') return bracketed();
    const auto end = std::find_if(rest_.begin(), rest_.end(), separates);
    Word word{std::string(rest_.begin(), end)};
    rest_.remove_prefix(word.text.size());
    return word;
  }

 private:
  Word bracketed() {
    rest_.remove_prefix(1);
    Word word{{}, true};
    while (!rest_.empty() && rest_.front() != ']') {
      if (rest_.starts_with("\\]")) rest_.remove_prefix(1);
      word.text += rest_.front();
      rest_.remove_prefix(1);
    }
    if (!rest_.empty()) rest_.remove_prefix(1);
    return word;
  }

  std::string_view rest_;
};

struct Reader {
  std::string_view path;
  std::vector<PamLine> lines;
  std::vector<std::string>* problems = nullptr;

  void problem(const Source& where, std::string_view what) const {
    if (problems) add_config_problem(*problems, fmt::format("{}: {}", where.path, what));
  }
};

std::optional<PamType> type_of(std::string_view word) {
  if (iequals(word, "auth")) return PamType::kAuth;
  if (iequals(word, "account")) return PamType::kAccount;
  if (iequals(word, "password")) return PamType::kPassword;
  if (iequals(word, "session")) return PamType::kSession;
  return std::nullopt;
}

std::string control_of(const Words::Word& word) {
  for (const char* known : {"required", "requisite", "optional", "sufficient", "include", "substack"}) {
    if (iequals(word.text, known)) return known;
  }
  return word.bracketed ? fmt::format("[{}]", word.text) : word.text;
}

/// The words after the type: control, module, arguments.
void read_rest(Words& words, PamLine& line, const Reader& reader) {
  const auto control = words.next();
  if (!control) {
    line.must_fail = true;
    line.control = "bad";
    return reader.problem(line.source, "no control word; libpam lets the line fail");
  }
  line.control = control_of(*control);
  const auto module = words.next();
  if (!module) {
    line.must_fail = true;
    return reader.problem(line.source, "no module; libpam lets the line fail");
  }
  line.module = module->text;
  while (const auto argument = words.next()) line.arguments.push_back(argument->text);
}

void read_line(std::string_view text, Source source, Reader& reader) {
  PamLine line;
  line.source = std::move(source);
  Words words(text);
  const auto first = words.next();
  std::string_view type = first ? std::string_view(first->text) : std::string_view();
  line.quiet = consume(type, "-");
  if (iequals(type, "@include")) {
    line.control = "@include";
    const auto file = words.next();
    line.must_fail = !file;
    if (file) line.module = file->text;
    reader.lines.push_back(std::move(line));
    return;
  }
  line.type = type_of(type);
  line.must_fail = !line.type;
  if (!line.type) reader.problem(line.source, fmt::format("\"{}\" is no type; libpam lets the line fail", type));
  read_rest(words, line, reader);
  reader.lines.push_back(std::move(line));
}

/// A physical line's part before its comment; whether it ends in a backslash, which is a blank then.
struct Piece {
  std::string_view text;
  bool nothing = false;
  bool continues = false;
};

Piece piece_of(std::string_view raw) {
  raw = raw.substr(0, raw.find('\0'));  // fgets(3) and strlen(3): a NUL hides the rest
  const std::size_t first = raw.find_first_not_of(" \t");
  if (first == std::string_view::npos || raw[first] == '#') return {{}, true, false};
  const std::size_t comment = raw.find('#');
  if (comment != std::string_view::npos) return {raw.substr(0, comment), false, false};
  const std::size_t last = raw.find_last_not_of(" \t");
  if (raw[last] == '\\') return {raw.substr(0, last), false, true};
  return {raw, false, false};
}

}  // namespace

std::vector<PamLine> parse_pam_file(std::string_view text, std::string_view path, std::vector<std::string>* problems) {
  Reader reader{path, {}, problems};
  std::string joined;
  Source place;
  TextLines physical(text);
  for (std::string_view raw; physical.next(raw);) {
    const Piece piece = piece_of(raw);
    const auto at = [&] { return Source{fmt::format("{}:{}", path, physical.number()), std::string(raw), {}}; };
    if (raw.size() > kLongLine) {
      reader.problem(at(), "longer than 1,023 bytes; libpam before 1.7 takes it for several lines");
    }
    if (piece.nothing) {
      // 1.5.2 passes over it, libpam/pam_line.c of 1.7 ends the line here.
      if (!joined.empty()) reader.problem(at(), "a blank or comment line within a continued line");
      continue;
    }
    if (joined.empty()) place.path = at().path;
    joined += piece.text;
    if (piece.continues) {
      joined += ' ';
      continue;
    }
    place.text = joined;
    read_line(joined, std::exchange(place, {}), reader);
    joined.clear();
  }
  if (joined.empty()) return std::move(reader.lines);
  PamLine end;
  end.must_fail = end.ends_reading = true;
  end.control = "bad";
  end.source = {place.path, joined};
  reader.problem(end.source, "a backslash ends the file; libpam refuses the file");
  reader.lines.push_back(std::move(end));
  return std::move(reader.lines);
}

namespace {

using Lines = std::vector<PamLine>;

constexpr std::size_t kMaxLines = 200'000;  // of all files; a line takes some 300 bytes

std::size_t count_lines(const PamConf& conf) {
  std::size_t lines = 0;
  for (const auto& [_, service] : conf.services) lines += service ? service->size() : 0;
  return lines;
}

/// Reads a file and keeps it under `name`. Missing files are kept, too.
void add_service(const Host& host, const std::string& name, const std::string& path, PamConf& conf) {
  const Fact<std::string> text = read_text(host, path, kMaxBytes, conf.problems);
  if (!text) {
    conf.services[name] = Fact<Lines>::none(text.missing, path);
    return;
  }
  Lines lines = parse_pam_file(*text, path, &conf.problems);
  if (lines.size() > kMaxLines - std::min(kMaxLines, count_lines(conf))) {
    add_config_problem(conf.problems, fmt::format("{}: not read, there is too much beside it", path));
    conf.services[name] = Fact<Lines>::none(Missing::kError, path);
    return;
  }
  conf.services[name] = Fact<Lines>::of(std::move(lines), {path, {}});
}

/// fopen(3) fails for what is not there only: the next directory is asked then (_pam_open_config_file).
bool settled(const PamConf& conf, const std::string& name) {
  const auto it = conf.services.find(name);
  return it != conf.services.end() && (it->second || it->second.missing != Missing::kAbsent);
}

void add_directory(const Host& host, const std::string& directory, PamConf& conf) {
  auto names = host.list(directory);
  if (!names) {
    if (names.error().kind != HostErrorKind::kNotFound) conf.problems.push_back(names.error().message);
    return;
  }
  if (directory == kDirectories[0]) conf.has_directory = true;
  std::sort(names->begin(), names->end());
  for (const std::string& name : *names) {
    if (settled(conf, name)) continue;
    if (conf.services.size() >= kMaxFiles) {
      conf.problems.push_back(fmt::format("{}: only the first {} files were read", directory, kMaxFiles));
      return;
    }
    add_service(host, name, fmt::format("{}/{}", directory, name), conf);
  }
}

bool includes(const PamLine& line) {
  return line.control == "include" || line.control == "substack" || line.control == "@include";
}

/// Files that are included and in none of the directories: full paths, names with a slash, and what is missing.
void add_included(const Host& host, PamConf& conf) {
  std::vector<std::string> wanted;
  auto note = [&](const Lines& lines) {
    for (const PamLine& line : lines) {
      if (includes(line) && !line.module.empty()) wanted.push_back(line.module);
    }
  };
  for (const auto& [_, service] : conf.services) {
    if (service) note(*service);
  }
  while (!wanted.empty()) {
    const std::string name = std::move(wanted.back());
    wanted.pop_back();
    if (conf.services.contains(name) || conf.services.size() >= 2 * kMaxFiles) continue;
    const bool full = name.starts_with('/');
    add_service(host, name, full ? name : fmt::format("{}/{}", kDirectories[0], name), conf);
    if (conf.services[name]) note(*conf.services[name]);
  }
}

/// /etc/pam.conf: the first word is the service, pam.conf(5). Names are compared without regard to case.
void add_pam_conf(const Host& host, PamConf& conf) {
  const std::string path = "/etc/pam.conf";
  const Fact<std::string> text = read_text(host, path, kMaxBytes, conf.problems);
  if (!text) return;
  std::map<std::string, std::string> by_name;
  for (const ConfigLine& line : split_lines(*text, path)) {
    const Piece piece = piece_of(line.text);
    if (piece.nothing) continue;
    const auto words = split_blanks(piece.text);
    const std::string_view rest = piece.text.substr(static_cast<std::size_t>(words[0].end() - piece.text.begin()));
    std::string& own = by_name[lower(words[0])];
    own += rest;
    own += piece.continues ? "\\\n" : "\n";
  }
  for (const auto& [name, own] : by_name) {
    conf.services[name] = Fact<Lines>::of(parse_pam_file(own, path, &conf.problems), {path, {}});
  }
}

void add_modules_of(const Host& host, const std::string& directory, PamConf& conf) {
  const auto names = host.list(directory);
  if (!names) return;
  // A directory without a single module was not copied with the rest.
  conf.modules_known |= std::ranges::any_of(*names, [](const std::string& name) { return name.ends_with(".so"); });
  for (const std::string& name : *names) conf.modules.insert(name);
}

void add_modules(const Host& host, PamConf& conf) {
  for (const std::string base : {"/lib", "/usr/lib"}) {
    add_modules_of(host, base + "/security", conf);
    add_modules_of(host, base + "64/security", conf);
    const auto names = host.list(base);
    if (!names) continue;
    for (const std::string& name : *names) {
      // The multiarch directories: x86_64-linux-gnu, arm-linux-gnueabihf.
      if (contains(name, "-linux-")) add_modules_of(host, fmt::format("{}/{}/security", base, name), conf);
    }
  }
}

/// "$ISA" in a path is libpam's own word for a part of it; such a module is looked for by its name alone.
void add_missing_paths(const Host& host, PamConf& conf) {
  for (const auto& [_, service] : conf.services) {
    if (!service) continue;
    for (const PamLine& line : *service) {
      if (includes(line) || !line.module.starts_with('/') || contains(line.module, "$ISA")) continue;
      if (!host.exists(line.module)) conf.missing_paths.insert(line.module);
    }
  }
}

bool is_debian(const Host& host) {
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    const auto text = host.read(path, 64U << 10);
    if (!text) continue;
    for (const ConfigLine& line : split_lines(*text, path)) {
      const bool names = line.text.starts_with("ID=") || line.text.starts_with("ID_LIKE=");
      if (names && (contains(line.text, "debian") || contains(line.text, "ubuntu"))) return true;
    }
    return false;
  }
  return false;
}

}  // namespace

PamConf collect_pam(const Host& host) {
  PamConf conf;
  bool any_directory = false;
  for (const char* directory : kDirectories) {
    add_directory(host, directory, conf);
    any_directory = any_directory || host.list(directory).has_value();
  }
  if (!any_directory) add_pam_conf(host, conf);
  add_included(host, conf);
  conf.includes_from_etc_only = is_debian(host);
  add_modules(host, conf);
  if (conf.modules_known) add_missing_paths(host, conf);
  return conf;
}

}  // namespace pindown
