// SPDX-License-Identifier: Apache-2.0
// Reads nvidia-smi: the table, -L, -q and --query-gpu. Entry points: read_*. Keeps product names, the driver's version
// and BAR1, through which peers reach GPU memory.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "facts/paste_internal.h"

namespace pindown::paste {
namespace {

constexpr int kMaxGpus = 64;                 // of one machine
constexpr std::size_t kMostGpus = 1024;      // of all
constexpr std::uint64_t kDetailLines = 400;  // nvidia-smi -q prints a few hundred lines per GPU

Gpu* gpu_at(const Context& c, int index) {
  if (index < 0 || index >= kMaxGpus) return nullptr;
  c.stream.gpu = index;
  c.stream.detail_lines = kDetailLines;
  auto& gpus = c.facts.gpus;
  const std::string host = c.source().host;
  const auto known =
      std::ranges::find_if(gpus, [&](const Gpu& each) { return each.index == index && each.host == host; });
  if (known != gpus.end()) return &*known;
  if (gpus.size() >= kMostGpus) return nullptr;
  Gpu& gpu = gpus.emplace_back();
  gpu.index = index;
  gpu.host = host;
  return &gpu;
}

Gpu* current_gpu(const Context& c) {
  return gpu_at(c, std::max(c.stream.gpu, 0));
}

void learn_product(const Context& c, int index, std::string_view name) {
  name = trim(name);
  if (name.empty() || name.size() > 80) return;
  if (Gpu* gpu = gpu_at(c, index)) c.learn(gpu->product, std::string(name));
}

void learn_driver(const Context& c, std::string_view version) {
  version = trim(version);
  version = version.substr(0, version.find_first_of(" |"));
  if (!version.empty() && is_digit(version[0])) c.learn(c.facts.versions["nvidia_driver"], std::string(version));
}

/// "| NVIDIA-SMI 535.104.05   Driver Version: 535.104.05   CUDA Version: 12.2 |".
bool read_banner(const Context& c) {
  const auto at = c.text.find("Driver Version");
  if (at == c.text.npos) return false;
  std::string_view rest = trim(c.text.substr(at + 14));
  if (!consume(rest, ":")) return false;
  learn_driver(c, rest);
  return true;
}

/// "|   0  Tesla T4            On   | 00000000:00:1E.0 Off |                    0 |": the bus address makes it a GPU
/// row.
bool read_table_row(const Context& c) {
  std::string_view text = c.text;
  if (!consume(text, "|")) return false;
  const auto cells = split(text, '|');
  if (cells.size() < 3) return false;
  const std::string_view bus = trim(cells[1]);
  if (bus.size() < 12 || std::ranges::count(bus.substr(0, 17), ':') < 2 || !contains(bus, ".")) return false;
  std::string_view cell = trim(cells[0]);
  const auto index = parse_u64(take_digits(cell));
  if (!index || *index >= kMaxGpus) return false;
  cell = trim(cell);
  for (const std::string_view persistence : {" On", " Off", " N/A", " Enabled", " Disabled"}) {
    if (cell.ends_with(persistence)) cell.remove_suffix(persistence.size());
  }
  learn_product(c, static_cast<int>(*index), cell);
  return true;
}

/// Without a UUID behind it only a maker's or product's name makes "GPU 0: …" a GPU.
bool is_product(std::string_view name) {
  static constexpr std::array<std::string_view, 20> kNames = {
      "NVIDIA", "Tesla", "GeForce", "Quadro", "GRID", "RTX",   "TITAN", "AMD",  "A10", "A30",
      "A40",    "A100",  "H100",    "H200",   "B200", "GB200", "V100",  "P100", "L40", "Instinct"};
  if (name.find_first_of("%=,:[") != name.npos || contains(name, "iB")) return false;  // a line of usage
  const auto starts = [&](std::string_view each) { return name.starts_with(each); };
  return std::ranges::any_of(kNames, starts);
}

std::optional<std::uint64_t> parse_amount(std::string_view text) {
  const auto size = parse_size(text);
  return size && !size->is_unlimited() ? std::optional(size->bytes) : std::nullopt;
}

/// "256 MiB" behind "Total" (and a colon).
std::optional<std::uint64_t> amount_behind(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  if (at == text.npos) return std::nullopt;
  const auto words = split_blanks(text.substr(at + word.size(), 60));
  std::size_t i = !words.empty() && words[0] == ":" ? 1 : 0;
  if (words.size() < i + 2) return std::nullopt;
  return parse_amount(std::string(words[i]) + std::string(words[i + 1]));
}

void learn_bar1(const Context& c, Gpu& gpu, std::string_view text) {
  if (const auto total = amount_behind(text, "Total")) c.learn(gpu.bar1_total, *total);
  if (const auto used = amount_behind(text, "Used")) c.learn(gpu.bar1_used, *used);
  if (const auto free = amount_behind(text, "Free")) c.learn(gpu.bar1_free, *free);
}

}  // namespace

namespace {

/// `nvidia-smi -q -x`: "<total>256 MiB</total>" between <bar1_memory_usage> and its end.
bool read_xml(const Context& c) {
  std::string_view text = trim(c.text);
  if (!consume(text, "<")) return false;
  const std::string_view name = text.substr(0, text.find_first_of("> "));
  if (name == "gpu") return gpu_at(c, c.stream.gpu + 1) != nullptr;
  if (name == "bar1_memory_usage") return c.stream.bar1 = current_gpu(c) != nullptr;
  const auto open = text.find('>');
  const auto close = text.rfind("</");
  if (open == text.npos || close == text.npos || close <= open) {
    c.stream.bar1 = false;  // another section, or the end of one
    return false;
  }
  const std::string_view value = text.substr(open + 1, close - open - 1);
  if (name == "product_name") return learn_product(c, std::max(c.stream.gpu, 0), value), true;
  if (name == "driver_version") return learn_driver(c, value), true;
  Gpu* gpu = c.stream.bar1 ? current_gpu(c) : nullptr;
  const auto amount = gpu ? parse_amount(value) : std::nullopt;
  if (!amount) return false;
  if (name == "total") c.learn(gpu->bar1_total, *amount);
  if (name == "used") c.learn(gpu->bar1_used, *amount);
  if (name == "free") c.learn(gpu->bar1_free, *amount);
  return name == "total" || name == "used" || name == "free";
}

}  // namespace

bool read_nvidia_smi(const Context& c) {
  return read_xml(c) || read_banner(c) || read_table_row(c) || read_gpu_line(c) || read_bar1(c) || read_gpu_field(c);
}

/// "GPU 0: Tesla T4 (UUID: GPU-…)" of -L, and "GPU 00000000:00:1E.0" which starts a GPU in -q.
bool read_gpu_line(const Context& c) {
  std::string_view text = c.text;
  if (!consume(text, "GPU ")) return false;
  const auto digits = take_digits(text);
  if (digits.empty()) return false;
  if (digits.size() >= 4 && std::ranges::count(text.substr(0, 12), ':') >= 2 && text.size() < 14) {
    c.stream.bar1 = false;
    return gpu_at(c, c.stream.gpu + 1) != nullptr;
  }
  const auto index = parse_u64(digits);
  if (!index || *index >= kMaxGpus || !consume(text, ": ")) return false;
  const auto uuid = text.find(" (UUID");
  if (uuid == text.npos && !is_product(text)) return false;
  learn_product(c, static_cast<int>(*index), text.substr(0, uuid));
  return true;
}

/// "BAR1 Memory Usage" heads three lines in -q; some tools print it in one.
bool read_bar1(const Context& c) {
  std::string_view text = c.text;
  if (!consume(text, "BAR1 Memory")) return false;
  Gpu* gpu = current_gpu(c);
  if (!gpu) return false;
  c.stream.bar1 = true;
  learn_bar1(c, *gpu, text);
  return true;
}

/// "Product Name : Tesla T4", "Total : 256 MiB" below the head of BAR1.
bool read_gpu_field(const Context& c) {
  const auto colon = c.text.find(':');
  const std::string_view name = trim(c.text.substr(0, colon));
  if (colon == c.text.npos) {
    c.stream.bar1 = false;  // the head of another section
    return false;
  }
  if (name == "Product Name" && (c.question || c.stream.gpu >= 0)) {
    learn_product(c, std::max(c.stream.gpu, 0), c.text.substr(colon + 1));
    return true;
  }
  if (name == "Driver Version") return read_banner(c);
  if (!c.stream.bar1 || (name != "Total" && name != "Used" && name != "Free")) return false;
  if (Gpu* gpu = current_gpu(c)) learn_bar1(c, *gpu, c.text);
  return true;
}

/// "Tesla T4, 535.104.05" in the order of --query-gpu=name,driver_version.
bool read_nvidia_csv(const Context& c) {
  const auto fields = split(c.question->arg, ',');
  const auto values = split(c.text, ',');
  if (fields.size() != values.size() || trim(values[0]) == trim(fields[0])) return false;
  const int next = c.stream.gpu + 1;
  if (!gpu_at(c, next)) return false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string_view field = trim(fields[i]);
    if (field == "name" || field == "gpu_name") learn_product(c, next, values[i]);
    if (field == "driver_version") learn_driver(c, values[i]);
  }
  return true;
}

}  // namespace pindown::paste
