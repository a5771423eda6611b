// SPDX-License-Identifier: Apache-2.0
// Fuzzes the whole way of a log: bytes → read_log → derive_incidents → diagnose_logs → JSON and text. Beyond not
// crashing: no control character of the input reaches the reports, the JSON parses, and the numbers are possible.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "checks/diagnose.h"
#include "finding/report_json.h"
#include "fuzz.h"
#include "host/input.h"
#include "logs/incident.h"
#include "model/read_log.h"
#include "render/report_text.h"

namespace {

using pindown::fuzz::has_control;
using pindown::fuzz::require;

/// The first byte decides how many bytes a read gives and whether the stream can seek.
class MemoryStream final : public pindown::InputStream {
 public:
  MemoryStream(std::string_view bytes, std::size_t chunk, bool seekable)
      : bytes_(bytes), chunk_(chunk), seekable_(seekable) {}

  std::expected<std::size_t, pindown::HostError> read(char* buffer, std::size_t size) override {
    const std::size_t n = std::min({size, chunk_, bytes_.size() - at_});
    bytes_.copy(buffer, n, at_);
    at_ += n;
    return n;
  }
  bool seek(std::uint64_t offset) override {
    if (seekable_) at_ = std::min<std::size_t>(offset, bytes_.size());
    return seekable_;
  }
  std::uint64_t size_hint() const override { return seekable_ ? bytes_.size() : 0; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t chunk_;
  bool seekable_;
};

void check_incidents(const pindown::LogInput& log) {
  const auto found = pindown::logs::derive_incidents(log.events);
  for (const auto& incident : found.incidents) {
    require(incident.occurrences >= 1 && incident.rank_count() >= 1);
    require(incident.same.size() <= 64 && incident.echoes.size() <= 64);
    require(incident.first.line >= 1);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const unsigned how = data[0];
  MemoryStream stream({reinterpret_cast<const char*>(data) + 1, size - 1}, 1 + (how & 127U) * 37, (how & 128U) != 0);
  std::vector<pindown::LogInput> logs;
  logs.push_back(pindown::read_log(stream, "fuzz.log"));
  check_incidents(logs.front());
  const pindown::Report report = pindown::diagnose_logs(std::move(logs), std::nullopt, {});
  const std::string json = pindown::dump(pindown::to_json(report));
  require(!has_control(json) && pindown::Json::accept(json));
  for (const bool utf8 : {false, true}) {
    pindown::Style style;
    style.utf8 = utf8;
    style.verbose = utf8;
    style.width = 80;
    require(!has_control(pindown::render_text(report, style)));
  }
  return 0;
}
