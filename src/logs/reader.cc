// SPDX-License-Identifier: Apache-2.0
// See reader.h.
#include "logs/reader.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/errno_name.h"
#include "base/size.h"
#include "base/text.h"
#include "logs/literals.h"
#include "logs/patterns.h"

namespace pindown::logs {
namespace {

constexpr std::size_t kMaxRaw = 400;
constexpr std::size_t kMaxGroups = 12;
constexpr std::uint64_t kTracebackLines = 120;
constexpr std::uint64_t kAmendLines = 20;
constexpr std::size_t kMostEvents = 20000;  // of one input; more kinds of events than that are noise

/// The expression of a row, compiled when its literal is first seen: most runs need a handful of them.
const RE2& expression(std::size_t row) {
  static std::vector<std::unique_ptr<RE2>> compiled(patterns().size());
  if (!compiled[row]) {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_encoding(RE2::Options::EncodingLatin1);  // logs are bytes
    const std::string_view regex = patterns()[row].regex;
    compiled[row] = std::make_unique<RE2>(re2::StringPiece(regex.data(), regex.size()), options);
  }
  return *compiled[row];
}

/// Literals without repetition, and for each the rows that have it, in table order.
struct Index {
  std::vector<std::string_view> literals;
  std::size_t triggers = 0;
  std::vector<std::vector<std::uint16_t>> rows;
  std::unique_ptr<LiteralSet> set;
};

const Index& index() {
  static const Index built = [] {
    Index out;
    for (const bool want_trigger : {true, false}) {
      for (std::size_t row = 0; row < patterns().size(); ++row) {
        const Pattern& p = patterns()[row];
        if ((p.look == Look::kTrigger) != want_trigger) continue;
        auto at = std::ranges::find(out.literals, p.literal);
        if (at == out.literals.end()) {
          out.literals.push_back(p.literal);
          out.rows.emplace_back();
          at = out.literals.end() - 1;
        }
        out.rows[static_cast<std::size_t>(at - out.literals.begin())].push_back(static_cast<std::uint16_t>(row));
      }
      if (want_trigger) out.triggers = out.literals.size();
    }
    for (auto& rows : out.rows) std::ranges::sort(rows);
    out.set = std::make_unique<LiteralSet>(out.literals);
    return out;
  }();
  return built;
}

/// Rows whose literal occurs in the text, in table order, without repetition.
std::vector<std::uint16_t> candidate_rows(std::string_view text) {
  std::vector<std::uint16_t> rows;
  index().set->find(text, [&rows](std::uint32_t id, std::size_t) {
    const auto& more = index().rows[id];
    rows.insert(rows.end(), more.begin(), more.end());
    return rows.size() < 200;
  });
  std::ranges::sort(rows);
  rows.erase(std::ranges::unique(rows).begin(), rows.end());
  return rows;
}

struct Match {
  const Pattern* pattern = nullptr;
  std::size_t start = 0;
  std::size_t end = 0;
  std::map<std::string, std::string_view> groups;
};

bool match_row(std::size_t row, std::string_view text, Match& match) {
  const RE2& re = expression(row);
  if (!re.ok()) return false;
  std::array<re2::StringPiece, kMaxGroups> parts;
  const int count = std::min<int>(re.NumberOfCapturingGroups() + 1, kMaxGroups);
  const re2::StringPiece subject(text.data(), text.size());
  if (!re.Match(subject, 0, text.size(), RE2::UNANCHORED, parts.data(), count)) return false;
  match.pattern = &patterns()[row];
  match.start = static_cast<std::size_t>(parts[0].data() - text.data());
  match.end = match.start + parts[0].size();
  for (const auto& [name, number] : re.NamedCapturingGroups()) {
    const auto& part = parts[static_cast<std::size_t>(number)];
    if (number < count && part.data() != nullptr) match.groups[name] = std::string_view(part.data(), part.size());
  }
  return true;
}

std::string_view group(const Match& match, const char* name) {
  const auto at = match.groups.find(name);
  return at == match.groups.end() ? std::string_view{} : at->second;
}

/// `msg="` and `"msg":"` carry a message; a quote after a blank repeats somebody's.
bool opens_field(std::string_view before) {
  if (before.empty() || (before.back() != '"' && before.back() != '\'')) return false;
  before = trim(before.substr(0, before.size() - 1));
  return !before.empty() && (before.back() == '=' || before.back() == ':');
}

/// A message quoted in somebody's sentence is no failure of this job: a quote right before it, backticks, or, where no
/// errno stands in it either, three plain words in the same clause.
bool is_prose(std::string_view before, bool has_error) {
  if (opens_field(before)) return false;
  if (before.find('`') != std::string_view::npos) return true;
  // Inside an open quotation that is no field's.
  const auto quote = before.rfind('"');
  if (std::ranges::count(before, '"') % 2 == 1 && !opens_field(before.substr(0, quote + 1))) return true;
  if (has_error) return false;
  const auto clause = before.find_last_of(":]");
  if (clause != std::string_view::npos) before.remove_prefix(clause + 1);
  int plain = 0;
  for (const std::string_view word : split_blanks(before)) {
    const bool letters = std::ranges::all_of(word, [](char c) { return is_alpha(c) || c == ',' || c == '\''; });
    if (letters && word != "WARN" && word != "ERROR" && word != "INFO") ++plain;
  }
  return plain >= 3;
}

/// The program says itself that it tries again or does without.
bool is_survived(std::string_view text) {
  static const RE2 survived(
      R"((?i)\b(?:retry(?:ing)?|trying again|fall(?:ing|s)? ?back|instead|ignor(?:ed|ing)|optional|skipp(?:ed|ing))\b)");
  return RE2::PartialMatch(re2::StringPiece(text.substr(0, 1000)), survived);
}

/// UCX below WARN: what it tries and may fail without anybody minding.
bool is_ucx_chatter(std::string_view text) {
  for (const std::string_view level : {"DEBUG", "DIAG", "TRACE", "INFO", "REQ", "DATA", "POLL", "FUNC", "ASYNC"}) {
    const auto at = text.find("UCX  ");
    if (at != std::string_view::npos && text.substr(at + 5).starts_with(level)) return true;
  }
  return false;
}

void read_error(const Match& match, std::string_view text, Event& event) {
  std::string_view words = trim(group(match, "errno"));
  const bool free_wording = match.pattern->library.empty() || match.pattern->library == "ucx";
  if (free_wording && !errno_from_text(words)) {
    // The errno may stand anywhere in the rest of the line ("errno 12 (Cannot allocate memory)").
    std::string_view rest = match.pattern->library.empty() ? group(match, "detail") : text.substr(match.end);
    rest = rest.substr(0, 300);
    for (int tries = 0; !rest.empty() && tries < 24; ++tries) {
      if (errno_from_text(rest)) {
        words = rest;
        break;
      }
      const auto at = rest.find_first_of(" (:'\"");
      rest = at == std::string_view::npos ? std::string_view{} : rest.substr(at + 1);
    }
  }
  if (!words.empty()) {
    event.error = errno_from_text(words);
    event.error_text = std::string(words.substr(0, 120));
    event.with_errno = true;
  }
  std::string_view number = group(match, "n");
  (void)consume(number, "-");
  if (const auto n = parse_u64(number); n && *n < 4096) {
    if (!event.error) event.error = static_cast<int>(*n);
    event.with_errno = true;
  }
}

std::optional<std::uint64_t> number_after(std::string_view text, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    const auto at = text.find(name);
    if (at == std::string_view::npos) continue;
    std::string_view value = text.substr(at + name.size());
    if (value.starts_with("(nil)")) return 0;
    if (value.starts_with("0x")) {
      const auto end = value.find_first_not_of("0123456789abcdefABCDEF", 2);
      return parse_hex(value.substr(0, end));
    }
    return parse_u64(take_digits(value));
  }
  return std::nullopt;
}

void read_sizes(const Match& match, Event& event) {
  event.length = parse_u64(group(match, "len"));
  const std::string_view address = group(match, "addr");
  if (!address.empty())
    event.address = address.starts_with("(nil)") ? std::uint64_t{0} : parse_hex(address).value_or(1);
  const std::string_view args = group(match, "args");
  if (!args.empty()) {
    event.length = number_after(args, {"length=", "len=", "size="});
    event.address = number_after(args, {"address=", "addr="});
  }
  if (const std::string_view bytes = group(match, "bytes"); !bytes.empty()) {
    event.limit = bytes == "unlimited" ? std::optional(Limit::kInfinity) : parse_u64(bytes);
  }
}

/// UCX appends "(current: 64 kbytes)"; from 1.14 on only for ENOMEM without a usable CAP_IPC_LOCK
/// (uct/ib/base/ib_log.c), and then with " : Please".
void read_ucx_hint(std::string_view text, Event& event) {
  const auto at = text.find("(current: ");
  if (at == std::string_view::npos) return;
  std::string_view value = text.substr(at + 10);
  if (value.starts_with("unlimited")) event.limit = Limit::kInfinity;
  if (const auto kib = parse_u64(take_digits(value))) event.limit = Limit::of_kib(*kib).bytes;
  event.limit_hint = contains(text, " : Please set max locked memory");
}

MemoryType memory_type(std::string_view library, std::string_view word) {
  if (word == "host") return MemoryType::kHost;
  if (word.starts_with("cuda") || word.starts_with("rocm") || word == "gpu") return MemoryType::kGpu;
  if (library == "aws-ofi-nccl" && word == "1") return MemoryType::kHost;  // NCCL_PTR_HOST
  if (library == "aws-ofi-nccl" && word == "2") return MemoryType::kGpu;   // NCCL_PTR_CUDA
  return MemoryType::kUnknown;
}

/// UCX up to 1.11 prints the memory type as a bit: ucs_memory_type_t 0 is host, the others are on a GPU
/// (ucs/memory/memory_type.h).
MemoryType ucx_memory_bit(std::string_view bit) {
  return bit == "0x1" ? MemoryType::kHost : MemoryType::kGpu;
}

/// "misc/ibvwrap.cc:194 (wrap_…) NCCL WARN", "[… ib_md.c:327  UCX": the position a library prints before its message.
void read_position(std::string_view before, Event& event) {
  for (const std::string_view word : split_blanks(before)) {
    const auto colon = word.rfind(':');
    if (colon == std::string_view::npos || colon == 0) continue;
    std::string_view number = word.substr(colon + 1);
    const std::string_view file = word.substr(0, colon);
    const bool source = file.ends_with(".cc") || file.ends_with(".cu") || file.ends_with(".c") ||
                        file.ends_with(".cpp") || file.ends_with(".h");
    if (!source) continue;
    event.source_file = std::string(file);
    event.source_line = parse_u64(take_digits(number));
    if (!event.source_line) {  // "ibvwrap.c: 106"
      std::string_view rest = trim(before.substr(static_cast<std::size_t>(word.data() - before.data()) + word.size()));
      event.source_line = parse_u64(take_digits(rest));
    }
    return;
  }
}

bool is_info(std::string_view text) {
  return text.starts_with("NCCL INFO") || contains(text, " NCCL INFO ");
}

/// Where the table leaves the kind open: by the verb, by the level, by words later in the line.
Kind refine_kind(const Event& event, std::string_view text, const Match& match) {
  Kind kind = match.pattern->kind;
  const bool by_verb = kind == Kind::kRegMr || kind == Kind::kCreateQueue || kind == Kind::kOpenDevice;
  if (by_verb && !event.verb.empty() && match.pattern->library != "openmpi") kind = kind_of_verb(event.verb);
  if (contains(text, "Application is using HUGE pages")) return Kind::kForkHugepages;
  // NCCL asks for dma-buf support with a bad descriptor and says so at INFO level: a probe, not a failure.
  if (is_info(text) && kind == Kind::kRegDmabuf) return Kind::kMention;
  if ((kind == Kind::kCudaOom || kind == Kind::kCudaError) && is_survived(text)) return Kind::kMention;
  if (kind == Kind::kOtherMlock && !event.error && match.pattern->library == "vfio") return Kind::kMention;
  return kind;
}

/// "mlx5_1" of UCX's "mlx5dv_devx_alloc_uar(device=mlx5_1, flags=0x0)".
std::string device_argument(std::string_view args) {
  constexpr std::string_view kName = "device=";
  const auto at = args.find(kName);
  if (at == std::string_view::npos) return {};
  args = args.substr(at + kName.size(), 64);
  return std::string(args.substr(0, args.find_first_of(", )")));
}

Event make_event(const Match& match, const ShapedLine& line, const std::string& input) {
  const std::string_view text = line.shape.text;
  Event event;
  event.library = std::string(match.pattern->library);
  if (event.library == "nccl" && icontains(text, "rccl")) event.library = "rccl";
  event.verb = std::string(group(match, "verb"));
  event.device = std::string(group(match, "dev").substr(0, 64));
  event.detail = std::string(group(match, "detail").substr(0, 200));
  read_error(match, text, event);
  read_sizes(match, event);
  read_ucx_hint(text, event);
  event.memory = memory_type(event.library, group(match, "mem"));
  if (const std::string_view bit = group(match, "membit"); !bit.empty()) event.memory = ucx_memory_bit(bit);
  if (const std::string_view file = group(match, "file"); !file.empty()) {
    event.source_file = std::string(file);
    event.source_line = parse_u64(group(match, "line"));
  } else {
    const auto call = text.find("Call to");
    read_position(text.substr(0, std::max(match.start, call == std::string_view::npos ? 0 : call)), event);
  }
  if (event.device.empty()) event.device = device_argument(group(match, "args"));
  event.shape = line.shape;
  event.shape.text = event.shape.text.substr(0, kMaxRaw);
  if (const std::string_view host = group(match, "host"); !host.empty()) event.shape.host = host.substr(0, 253);
  if (const auto rank = parse_i64(group(match, "rank")); rank && !event.shape.rank) event.shape.rank = rank;
  event.input = input;
  event.line = line.line;
  event.raw = std::string(trim(std::string_view(line.raw).substr(0, kMaxRaw)));
  event.kind = refine_kind(event, text, match);
  event.quiet = is_failure(event.kind) && is_ucx_chatter(text);
  const std::string_view verb = group(match, "verb");
  const std::size_t start = verb.empty() || !match.pattern->library.empty()
                                ? match.start
                                : static_cast<std::size_t>(verb.data() - text.data());
  if (is_failure(event.kind) && is_prose(text.substr(0, start), event.error.has_value())) {
    event.kind = Kind::kMention;
    event.detail = "quoted";
  }
  return event;
}

std::optional<Match> match_line(std::string_view text) {
  Match match;
  for (const std::uint16_t row : candidate_rows(text)) {
    if (match_row(row, text, match)) return match;
  }
  return std::nullopt;
}

/// A table of numbers, as OSU and nccl-tests print: at least two columns, all numbers.
bool is_numeric_row(std::string_view text) {
  const auto words = split_blanks(text);
  if (words.size() < 2 || words.size() > 40) return false;
  return std::ranges::all_of(words, [](std::string_view w) {
    return is_digit(w.front()) && w.find_first_not_of("0123456789.eE+-") == std::string_view::npos;
  });
}

/// "# Size   Avg Latency(us)" (OSU), "#       size         count      type" (nccl-tests), " #bytes  #iterations"
/// (perftest).
bool is_table_header(std::string_view text) {
  text = trim(text);
  return text.starts_with('#') && (icontains(text, "size") || icontains(text, "bytes") || contains(text, "OSU MPI"));
}

/// What programs print when they have done what they were started for.
bool is_result(std::string_view text, bool in_table) {
  static const RE2 result(
      R"((?:^|\W)(?:SUCCESS(?: COMPLETE)?|Loop time of|Timing for main|Total wall time|[Tt]raining (?:complete|finished)|completed successfully)\b)");
  return (in_table && is_numeric_row(text.substr(0, 300))) ||
         RE2::PartialMatch(re2::StringPiece(text.substr(0, 300)), result);
}

/// A counter that only moves when the job does: "step 100", "Epoch 2/3", "iter: 5".
bool is_progress(std::string_view text) {
  static const RE2 counter(
      R"((?i)(?:^|[\s\[|])(?:global[_ ]?step|time step|step|iter(?:ation)?|epoch|train_step)s?\s*[:=#\[]?\s*\d+)");
  // vLLM reports its rate while it idles, too.
  static const RE2 idle(R"(Avg generation throughput: 0\.0 tokens/s)");
  static const RE2 rate(R"(\d(?:it/s|s/it| tokens/s| samples/s))");
  const re2::StringPiece piece(text.substr(0, 300));
  if (RE2::PartialMatch(piece, idle)) return false;
  return RE2::PartialMatch(piece, counter) || RE2::PartialMatch(piece, rate);
}

/// How many equal events are kept whole. Context is needed to cite, failures to count ranks.
std::uint64_t keep_limit(Kind kind) {
  if (is_failure(kind)) return 4096;
  switch (kind) {
    case Kind::kEcho:
    case Kind::kExit:
      return 512;
    case Kind::kChannel:
      return 64;
    case Kind::kBanner:
    case Kind::kMention:
      return 8;
    case Kind::kNetUsing:
    case Kind::kGdr:
      return 128;
    default:
      return 256;
  }
}

std::string signature(const Event& event) {
  const bool by_detail = event.kind == Kind::kChannel || event.kind == Kind::kTransport || event.kind == Kind::kVersion;
  return fmt::format("{}|{}|{}|{}|{}", static_cast<int>(event.kind), event.library, event.verb,
                     event.error.value_or(-1), by_detail ? event.detail.substr(0, 40) : std::string{});
}

}  // namespace

bool EventReader::add(Event event) {
  const std::string key = signature(event);
  auto& [last, count] = kept_[key];
  ++count;
  if (events_.size() >= kMostEvents && count == 1) {
    kept_.erase(key);
    return true;
  }
  const bool latest_matters = event.kind == Kind::kProgress || event.kind == Kind::kInitComplete;
  if (count > keep_limit(event.kind)) {
    if (latest_matters) {
      event.repeats = events_[last].repeats;
      events_[last] = std::move(event);
    } else {
      counted_ = true;
    }
    ++events_[last].repeats;
    latest_ = last;
    return true;
  }
  latest_ = last = events_.size();
  events_.push_back(std::move(event));
  return true;
}

/// torch names NCCL's release inside its own message.
void EventReader::add_version(const ShapedLine& line) {
  static const RE2 version(R"(NCCL version (\d+\.\d+(?:\.\d+)?))");
  Event event;
  const std::string_view text = std::string_view(line.shape.text).substr(0, 1000);
  if (!RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), version, &event.detail)) return;
  event.kind = Kind::kVersion;
  event.library = "nccl";
  event.shape = line.shape;
  event.input = input_;
  event.line = line.line;
  event.raw = std::string(trim(text.substr(0, kMaxRaw)));
  add(std::move(event));
}

bool EventReader::amend(const Event& part, const ShapedLine& line) {
  for (auto at = events_.rbegin(); at != events_.rend(); ++at) {
    if (at->line + kAmendLines < line.line) break;
    if (at->library != part.library || !is_failure(at->kind)) continue;
    if (part.error) at->error = part.error, at->error_text = part.error_text, at->with_errno = true;
    if (part.limit) at->limit = part.limit;
    if (!part.verb.empty()) at->verb = part.verb;
    if (!part.device.empty()) at->device = part.device;
    if (at->shape.host.empty()) at->shape.host = part.shape.host;
    if (!part.detail.empty()) at->detail = part.detail;
    return true;
  }
  return false;
}

/// Lines no row knows: what the newest failure's record goes on to say belongs to it.
void EventReader::follow_record(const ShapedLine& line) {
  if (const auto event = record_.continued_by(line)) OpenRecord::complete(events_[*event], line.shape.text);
}

/// Reads on after "Traceback (most recent call last)" until the exception line; true if `line` belongs to the
/// traceback.
bool EventReader::feed_traceback(const ShapedLine& line) {
  const auto open = traceback_.find(line.shape.wrapper);
  if (open == traceback_.end()) return false;
  const std::string_view text = line.shape.text;
  if (line.line > open->second + kTracebackLines) {
    traceback_.erase(open);
    return false;
  }
  static const RE2 last_line(
      R"(^(?:[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Failure|Timeout|OutOfMemory)\w*)(?::|$))");
  if (!RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), last_line)) {
    return !text.empty() && (is_blank(text.front()) || text.starts_with("Traceback"));
  }
  const std::uint64_t opened = open->second;
  traceback_.erase(open);
  if (match_line(text)) return false;  // the exception only carries on a library's message: that row speaks
  Event event;
  event.kind = Kind::kPythonException;
  event.library = "python";
  event.detail = std::string(text.substr(0, 200));
  event.error = errno_from_text(
      text.substr(std::min(text.size(), text.find("] ") == std::string_view::npos ? 0 : text.find("] ") + 2)));
  event.shape = line.shape;
  event.input = input_;
  event.line = opened;
  event.raw = std::string(trim(text.substr(0, kMaxRaw)));
  return add(std::move(event));
}

namespace {

/// "OSError: [Errno 12] …" without its traceback: the program says that it ends.
bool is_exception_line(std::string_view text) {
  static const RE2 exception(R"(^[A-Za-z_][\w.]*(?:Error|Exception): )");
  return RE2::PartialMatch(re2::StringPiece(text.substr(0, 200)), exception);
}

}  // namespace

bool EventReader::feed(const ShapedLine& line) {
  counted_ = false;
  latest_.reset();
  const std::string_view text = line.shape.text;
  if (!traceback_.empty() && feed_traceback(line)) return true;
  const auto match = match_line(text);
  if (!match) {
    follow_record(line);
    in_table_ = in_table_ || is_table_header(text);
    const bool exception = is_exception_line(text);
    const bool result = !exception && is_result(text, in_table_);
    if (!exception && !result && !is_progress(text)) return false;
    Event event;
    event.kind = exception ? Kind::kExit : Kind::kProgress;
    if (result) event.detail = "result";
    event.shape = line.shape;
    event.input = input_;
    event.line = line.line;
    event.raw = std::string(trim(text.substr(0, kMaxRaw)));
    add(std::move(event));
    return false;  // a progress line may also be a pasted table: others may read it too
  }
  Event event = make_event(*match, line, input_);
  if (event.kind == Kind::kPythonException) {
    if (traceback_.size() < 4096) traceback_[line.shape.wrapper] = line.line;
    return true;
  }
  if (event.library == "torch") add_version(line);
  record_.close();
  if (match->pattern->look == Look::kAmend && event.kind != Kind::kMemlockWarning) return amend(event, line);
  if (match->pattern->look == Look::kAmend) {
    if (amend(event, line)) return true;
    if (!event.limit || *event.limit == Limit::kInfinity) return false;
  }
  add(std::move(event));
  if (latest_ && !counted_) record_.begin(events_[*latest_], *latest_);
  return true;
}

const std::vector<std::string_view>& event_literals(std::size_t& triggers) {
  triggers = index().triggers;
  return index().literals;
}

}  // namespace pindown::logs
