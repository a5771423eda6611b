// SPDX-License-Identifier: Apache-2.0
// See utf16.h. Half a unit or half a pair at the end of a chunk waits for the next one; what is no pair becomes U+FFFD.
#include "host/utf16.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

namespace pindown {
namespace {

constexpr std::uint32_t kReplacement = 0xfffd;

void append_utf8(std::uint32_t code, std::string& out) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(static_cast<unsigned char>(byte)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xc0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
  }
  put(0x80 | (code & 0x3f));
}

class Decoder {
 public:
  explicit Decoder(bool big_endian) : big_endian_(big_endian) {}

  void feed(std::string_view bytes, std::string& out) {
    for (const char c : bytes) {
      const auto byte = static_cast<unsigned char>(c);
      if (!half_) {
        half_ = byte;
        continue;
      }
      const std::uint32_t unit = big_endian_ ? *half_ << 8 | byte : byte << 8 | *half_;
      half_.reset();
      take(unit, out);
    }
  }
  void finish(std::string& out) {
    if (high_ || half_) append_utf8(kReplacement, out);
    high_.reset();
    half_.reset();
  }

 private:
  void take(std::uint32_t unit, std::string& out) {
    const bool low = unit >= 0xdc00 && unit < 0xe000;
    if (high_ && low) {
      append_utf8(0x10000 + ((*high_ - 0xd800) << 10) + (unit - 0xdc00), out);
      high_.reset();
      return;
    }
    if (high_) append_utf8(kReplacement, out);
    high_.reset();
    if (unit >= 0xd800 && unit < 0xdc00) {
      high_ = unit;
    } else {
      append_utf8(low ? kReplacement : unit, out);
    }
  }

  bool big_endian_;
  std::optional<std::uint32_t> half_, high_;
};

class Utf8Stream final : public InputStream {
 public:
  explicit Utf8Stream(std::unique_ptr<InputStream> inner) : inner_(std::move(inner)) {}

  std::expected<std::size_t, HostError> read(char* buffer, std::size_t size) override {
    if (!started_) {
      if (const auto begun = start(); !begun) return begun;
    }
    while (ready_.size() == given_) {
      if (!decoder_ && ended_) return 0;
      if (!decoder_) return inner_->read(buffer, size);
      if (ended_) return 0;
      if (const auto more = decode_more(); !more) return more;
    }
    const std::size_t n = std::min(size, ready_.size() - given_);
    std::memcpy(buffer, ready_.data() + given_, n);
    given_ += n;
    return n;
  }
  bool seek(std::uint64_t) override { return false; }
  std::uint64_t size_hint() const override { return 0; }

 private:
  std::expected<std::size_t, HostError> start() {
    started_ = true;
    std::string head(6, '\0');
    std::size_t have = 0;
    while (have < head.size()) {
      const auto n = inner_->read(head.data() + have, head.size() - have);
      if (!n) return n;
      ended_ = *n == 0;
      if (ended_) break;
      have += *n;
    }
    head.resize(have);
    if (has_utf16_mark(head)) {
      decoder_.emplace(head[0] == '\xfe');
      decoder_->feed(std::string_view(head).substr(2), ready_);
      if (ended_) decoder_->finish(ready_);
    } else {
      ready_ = head;
    }
    return have;
  }
  std::expected<std::size_t, HostError> decode_more() {
    std::array<char, std::size_t{32} << 10> chunk;
    const auto n = inner_->read(chunk.data(), chunk.size());
    if (!n) return n;
    ready_.clear();
    given_ = 0;
    ended_ = *n == 0;
    decoder_->feed(std::string_view(chunk.data(), *n), ready_);
    if (ended_) decoder_->finish(ready_);
    return n;
  }

  std::unique_ptr<InputStream> inner_;
  std::optional<Decoder> decoder_;
  std::string ready_;  // decoded, or the first bytes of what is no UTF-16
  std::size_t given_ = 0;
  bool started_ = false, ended_ = false;
};

}  // namespace

bool has_utf16_mark(std::string_view head) {
  const bool little = head.starts_with("\xff\xfe");
  if (!little && !head.starts_with("\xfe\xff")) return false;
  // Text has ASCII at its start, so every second byte is 0; other bytes behind the mark are somebody's garbage.
  for (std::size_t i = 2; i + 1 < head.size(); i += 2) {
    if (head[little ? i + 1 : i] == '\0') return true;
  }
  return false;
}

std::unique_ptr<InputStream> as_utf8(std::unique_ptr<InputStream> inner) {
  return std::make_unique<Utf8Stream>(std::move(inner));
}

}  // namespace pindown
