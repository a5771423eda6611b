// SPDX-License-Identifier: Apache-2.0
// Fuzzes logs/shape: the input's lines go through one Shaper. Beyond not crashing: text never grows out of its bounds,
// no line comes from the future, and a second Shaper fed the same says the same.
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "fuzz.h"
#include "logs/shape.h"

namespace {

using pindown::fuzz::require;

using pindown::logs::ShapedLine;

void check(const std::vector<ShapedLine>& lines, std::uint64_t last_line) {
  require(lines.size() <= 1024);
  for (const ShapedLine& line : lines) {
    require(line.line >= 1 && line.line <= last_line);
    require(line.raw.size() <= 4096);
    require(line.shape.text.size() <= 64 * 1024);
    require(line.shape.wrapper.size() <= 64 * 1024);
    require(line.shape.host.size() <= 253);
    require(!line.shape.rank || *line.shape.rank >= 0);
    require(!(line.shape.nccl_prefix && line.shape.ucx_prefix));
  }
}

std::size_t shape_all(std::string_view rest) {
  pindown::logs::Shaper shaper;
  std::uint64_t number = 0;
  std::size_t count = 0;
  std::string_view line;
  while (pindown::next_line(rest, line)) {
    const auto shaped = shaper.feed(++number, line);
    check(shaped, number);
    count += shaped.size();
  }
  const auto last = shaper.finish();
  require(last.empty() || number > 0);
  require(shaper.finish().empty());
  return count + last.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  require(shape_all(input) == shape_all(input));
  for (const std::string_view name : {input.substr(0, 64), input.substr(0, 12)}) {
    pindown::logs::looks_like_pod(name);
    pindown::logs::looks_like_docker_id(name);
  }
  return 0;
}
