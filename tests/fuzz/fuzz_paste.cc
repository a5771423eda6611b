// SPDX-License-Identifier: Apache-2.0
// Feeds arbitrary lines to the reader of pasted text. The first byte of a line chooses its wrapper, so that blocks of
// several streams mix. Checks that what it keeps stays bounded.
#include <cstdint>
#include <string>
#include <string_view>

#include "base/text.h"
#include "facts/paste.h"
#include "fuzz.h"

namespace {

using pindown::fuzz::require;

pindown::logs::ShapedLine shaped(std::string_view text, std::uint64_t number) {
  pindown::logs::ShapedLine line;
  line.line = number;
  const unsigned char first = text.empty() ? '\0' : static_cast<unsigned char>(text[0]);
  if (first >= 0x80) {
    line.shape.rank = first & 7;
    line.shape.launcher = first & 8 ? "srun" : "mpirun";
    if (first & 16) line.shape.host = "node1";
    text.remove_prefix(1);
  }
  line.shape.text = text;
  line.raw = text.substr(0, 4096);
  return line;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  pindown::Facts facts;
  pindown::PasteReader reader(facts, "fuzz");
  std::string_view line;
  std::uint64_t number = 0;
  while (pindown::next_line(rest, line)) {
    reader.feed(shaped(line, ++number));
    if (line == "--") reader.end_block();
  }
  reader.end_block();
  require(facts.processes.size() <= 4096);
  require(facts.gpus.size() <= 64);
  require(facts.devices.size() <= 256);
  for (const auto& [name, fact] : facts.env) require(fact.known() && fact.value->size() <= 256 && !name.empty());
  for (const auto& process : facts.processes) {
    if (process.memlock.known()) require(process.memlock->soft || process.memlock->hard);
    if (process.memlock.known()) require(process.memlock.source.path.starts_with("fuzz:"));
  }
  return 0;
}
