// SPDX-License-Identifier: Apache-2.0
// See sieve.h.
#include "logs/sieve.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace pindown::logs {
namespace {

/// Bytes of job logs, the most frequent first; those not named are rarer still. Only speed depends on it.
constexpr std::string_view kFrequent =
    " 0123456789etaonisrldcpmuhgfbyw:.-/_,=[]INFOCLkvEATRSDPx()GBMUKHWV\"'jqzXYZJQ><+;*%#@!?&|{}~$^`\\";

/// What most lines of most logs look like: probes are chosen, and put together, so that few places of this pass. Only
/// speed depends on it.
constexpr std::string_view kOrdinary =
    "node03:2183:2790 [5] NCCL INFO Channel 04/0 : 12[4] -> 13[5] [send] via P2P/IPC/read via NET/IB/0/GDRDMA\n"
    "gpu-17:99:1045 [0] NCCL INFO AllReduce: opCount 1f sendbuff 0x7fa2bc recvbuff 0x7edc9f count 256 datatype 7 op 0 "
    "root 0 comm 0x55d0fe [nranks=8] stream 0x56ab Trees [0] 1/-1/-1->0->-1 Connected all rings, comm Init COMPLETE\n"
    "opCount a sendbuff 0x7f3c recvbuff 0x7f49e2bd count 64 opCount b sendbuff 0x7fd recvbuff 0x7f1a count 8 opCount c "
    "sendbuff 0x7fe recvbuff 0x7f8b count 5 opCount d sendbuff 0x7fdf recvbuff 0x7fec count 1 opCount e sendbuff 0x7f\n"
    "[default2]:[rank7]: 2026-03-11 09:41:27,805 INFO trainer.py:214 - rank 7 saved checkpoint shard 3 in 0.51 s\n"
    "step 1200/50000 | loss 2.4071 | lr 3.0e-04 | grad_norm 0.85 | tokens/s 41023 | mem 61.2GB | iteration time (ms)\n"
    "Epoch 3: 45%|####5     | 451/1000 [03:12<03:54, 2.34it/s, train_loss=0.318, accuracy=0.94, batch size: 512]\n"
    "WARNING: UserWarning: the default value of this parameter will change in a future release; see documentation\n"
    "slurm job started on 8 nodes with 64 processes, using device cuda:0, python version 3.11, loading data files\n"
    "rank 3 rank 5 Rank 0: initialized model with 7.0B parameters, world size 64, local rank 0, on host node03; path "
    "/data/run/a.pt\n"
    "time=\"2026-03-11T09:41:27Z\" level=info msg=\"request completed\" method=GET path=/metrics status=200 "
    "duration=3ms\n"
    "Mar 11 09:41:27 node03 systemd[1]: Started Session 42 of user alice. kernel: CPU memory usage below threshold\n"
    "   1048576        262144     float     sum      -1    112.3    9.34   16.34      0    113.0    9.28   16.24     "
    "0\n";

double frequency(char c) {
  const auto rank = kFrequent.find(c);
  return 1.0 / static_cast<double>((rank == std::string_view::npos ? kFrequent.size() : rank) + 3);
}

double rarity(char c) {
  return -std::log(frequency(c));
}

std::uint32_t word_at(const char* text) {
  std::uint32_t word = 0;
  std::memcpy(&word, text, sizeof(word));
  return word;
}

/// Each four bytes of kOrdinary, and how often.
const std::vector<std::pair<std::uint32_t, double>>& ordinary_places() {
  static const auto places = [] {
    std::map<std::uint32_t, double> counted;
    for (std::size_t at = 0; at + 4 <= kOrdinary.size(); ++at) ++counted[word_at(kOrdinary.data() + at)];
    return std::vector<std::pair<std::uint32_t, double>>(counted.begin(), counted.end());
  }();
  return places;
}

constexpr auto kPlace = &std::pair<std::uint32_t, double>::first;

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

/// The places in a literal where a probe of `size` bytes may stand, those rarest in logs first.
std::vector<std::uint32_t> windows_of(std::string_view literal, std::size_t size) {
  std::vector<std::pair<double, std::uint32_t>> rated;
  for (std::uint32_t at = 0; at + size <= literal.size(); ++at) {
    const std::string_view window = literal.substr(at, size);
    double sum = 0;
    for (const char c : window) sum += rarity(c);
    const std::uint32_t word = word_at(literal.data() + at);
    if (std::ranges::binary_search(ordinary_places(), word, {}, kPlace)) sum /= 8;
    if (!is_ascii(window)) sum = 0;
    rated.emplace_back(-sum, at);
  }
  std::ranges::sort(rated);
  std::vector<std::uint32_t> windows;
  windows.reserve(rated.size());
  for (const auto& [sum, at] : rated) windows.push_back(at);
  return windows;
}

}  // namespace

Sieve::Sieve(const std::vector<std::string_view>& literals)
    : literals_(literals), first_(std::size_t{1} << kHashBits, kNone) {
  std::vector<std::uint32_t> order(literals_.size());
  std::iota(order.begin(), order.end(), 0U);
  // The shortest have the least choice.
  std::ranges::stable_sort(order, {}, [this](std::uint32_t id) { return literals_[id].size(); });
  for (const std::uint32_t id : order) add(id);
  std::ranges::sort(probes_, {}, [](const Probe& probe) { return std::tuple(hash(probe.word), probe.word, probe.id); });
  for (std::size_t i = probes_.size(); i > 0; --i)
    first_[hash(probes_[i - 1].word)] = static_cast<std::uint16_t>(i - 1);
}

/// Takes of the literal the window that lets the least more of ordinary text through; nothing more, if another literal
/// is looked for by the same bytes.
void Sieve::add(std::uint32_t id) {
  const std::string_view literal = literals_[id];
  const std::vector<std::uint32_t> windows = windows_of(literal, kProbe);
  const auto word_of = [literal](std::uint32_t at) { return word_at(literal.data() + at); };
  const auto is_open = [&](std::uint32_t at) {
    return std::ranges::find(probes_, word_of(at), &Probe::word) != probes_.end();
  };
  const auto known = std::ranges::find_if(windows, is_open);
  std::uint32_t best = known == windows.end() ? windows.front() : *known;
  if (known == windows.end()) {
    double least = std::numeric_limits<double>::infinity();
    std::size_t bucket = 0;
    for (const std::uint32_t at : windows) {
      const auto [more, where] = best_bucket(word_of(at));
      if (more < least) least = more, bucket = where, best = at;
      if (least < 1) break;  // none
    }
    join(word_of(best), bucket);
  }
  ascii_ = ascii_ && is_ascii(literal.substr(best, kProbe));
  probes_.push_back({word_of(best), id, best});
}

/// How much gets through each bucket with one more word: places of ordinary text, and, to tell equals apart, the share
/// of all four bytes there are.
std::array<double, Sieve::kBuckets> Sieve::passing_with(std::uint32_t word) const {
  Tables low = low_;
  Tables high = high_;
  for (std::size_t k = 0; k < kProbe; ++k) {
    const unsigned byte = word >> (8 * k) & 0xFFU;
    low[k][byte & 15U] = high[k][byte >> 4] = 0xFF;
  }
  std::array<double, kBuckets> passing{};
  for (const auto& [place, times] : ordinary_places()) {
    unsigned open = 0xFF;
    for (std::size_t k = 0; k < kProbe && open != 0; ++k) {
      const unsigned byte = place >> (8 * k) & 0xFFU;
      open &= static_cast<unsigned>(low[k][byte & 15U] & high[k][byte >> 4]);
    }
    for (; open != 0; open &= open - 1) passing[static_cast<std::size_t>(std::countr_zero(open))] += times;
  }
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    const auto entries = [bucket](const std::array<std::uint8_t, 16>& table) {
      return static_cast<double>(
          std::ranges::count_if(table, [bucket](unsigned bits) { return (bits >> bucket & 1U) != 0; }));
    };
    double share = 1;
    for (std::size_t k = 0; k < kProbe; ++k) share *= entries(low[k]) * entries(high[k]) / 256;
    passing[bucket] += share;
  }
  return passing;
}

/// Where the word lets the least more through, and how much that is.
std::pair<double, std::size_t> Sieve::best_bucket(std::uint32_t word) const {
  const std::array<double, kBuckets> passing = passing_with(word);
  std::pair best{std::numeric_limits<double>::infinity(), std::size_t{0}};
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    best = std::min(best, std::pair{passing[bucket] - passes_[bucket], bucket});
  }
  return best;
}

void Sieve::join(std::uint32_t word, std::size_t bucket) {
  passes_[bucket] = passing_with(word)[bucket];
  const auto bit = static_cast<std::uint8_t>(1U << bucket);
  for (std::size_t k = 0; k < kProbe; ++k) {
    const unsigned byte = word >> (8 * k) & 0xFFU;
    low_[k][byte & 15U] |= bit;
    high_[k][byte >> 4] |= bit;
    whole_[k][byte & 0x7FU] |= bit;
  }
}

void Sieve::verify(std::string_view text, std::size_t at, Hits& hits) const {
  const std::uint32_t word = word_at(text.data() + at);
  const std::uint32_t h = hash(word);
  if (first_[h] == kNone) return;
  for (auto probe = probes_.begin() + first_[h]; probe != probes_.end() && hash(probe->word) == h; ++probe) {
    if (probe->word != word || probe->at > at) continue;
    if (text.substr(at - probe->at).starts_with(literals_[probe->id])) hits.emplace_back(at - probe->at, probe->id);
  }
}

#if defined(__x86_64__)

Sieve::Width Sieve::widest() {
  static const Width widest = __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw")
                                  ? Width::kAvx512
                              : __builtin_cpu_supports("avx2") ? Width::kAvx2
                                                               : Width::kOne;
  return widest;
}

namespace {

struct WideTables {
  __m256i low[4];
  __m256i high[4];
};

[[gnu::target("avx2"), gnu::always_inline]] inline __m256i wide(const std::uint8_t* table) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table)));
}

/// The buckets whose probes may stand at each of the 32 places from `text` on. A shuffle takes the lower half of an
/// index by itself, and gives 0 for a byte from 0x80 on: no probe has one.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i open_at(const WideTables& tables, const char* text) {
  const __m256i half = _mm256_set1_epi8(15);
  __m256i open = _mm256_set1_epi8(-1);
#pragma GCC unroll 4
  for (std::size_t k = 0; k < 4; ++k) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + k));
    const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
    const __m256i low = _mm256_shuffle_epi8(tables.low[k], bytes);
    open = _mm256_and_si256(open, _mm256_and_si256(low, _mm256_shuffle_epi8(tables.high[k], upper)));
  }
  return open;
}

[[gnu::target("avx2"), gnu::always_inline]] inline std::uint32_t places_of(__m256i open) {
  return ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(open, _mm256_setzero_si256())));
}

}  // namespace

/// Returns how many positions were looked at; the rest is too short to load from.
[[gnu::target("avx2")]] std::size_t Sieve::find_avx2(std::string_view text, Hits& hits) const {
  constexpr std::size_t kStep = 64;
  WideTables tables;
  for (std::size_t k = 0; k < kProbe; ++k) {
    tables.low[k] = wide(low_[k].data());
    tables.high[k] = wide(high_[k].data());
  }
  std::size_t at = 0;
  for (; at + kStep + kProbe <= text.size(); at += kStep) {
    const __m256i first = open_at(tables, text.data() + at);
    const __m256i second = open_at(tables, text.data() + at + kStep / 2);
    const __m256i any = _mm256_or_si256(first, second);
    if (_mm256_testz_si256(any, any) != 0) continue;
    auto places = places_of(first) | std::uint64_t{places_of(second)} << 32;
    for (; places != 0; places &= places - 1)
      verify(text, at + static_cast<std::size_t>(std::countr_zero(places)), hits);
  }
  return at;
}

/// As find_avx2, with one look-up a byte. A byte from 0x80 on counts as the one without that bit: verify() sorts it
/// out.
[[gnu::target("avx512bw,avx512vbmi")]] std::size_t Sieve::find_avx512(std::string_view text, Hits& hits) const {
  constexpr std::size_t kStep = 64;
  __m512i lower[kProbe];
  __m512i upper[kProbe];
  for (std::size_t k = 0; k < kProbe; ++k) {
    lower[k] = _mm512_loadu_si512(whole_[k].data());
    upper[k] = _mm512_loadu_si512(whole_[k].data() + kStep);
  }
  std::size_t at = 0;
  for (; at + kStep + kProbe <= text.size(); at += kStep) {
    __m512i open = _mm512_set1_epi8(-1);
#pragma GCC unroll 4
    for (std::size_t k = 0; k < kProbe; ++k) {
      const __m512i bytes = _mm512_loadu_si512(text.data() + at + k);
      open = _mm512_and_si512(open, _mm512_permutex2var_epi8(lower[k], bytes, upper[k]));
    }
    for (std::uint64_t places = _mm512_test_epi8_mask(open, open); places != 0; places &= places - 1)
      verify(text, at + static_cast<std::size_t>(std::countr_zero(places)), hits);
  }
  return at;
}

#else

Sieve::Width Sieve::widest() {
  return Width::kOne;
}

std::size_t Sieve::find_avx2(std::string_view, Hits&) const {
  return 0;
}

std::size_t Sieve::find_avx512(std::string_view, Hits&) const {
  return 0;
}

#endif

void Sieve::find(std::string_view text, Hits& hits, Width width) const {
  std::size_t at = 0;
  if (width == Width::kAvx512 && ascii_) at = find_avx512(text, hits);
  if (width == Width::kAvx2 && ascii_) at = find_avx2(text, hits);
  for (; at + kProbe <= text.size(); ++at) verify(text, at, hits);
}

}  // namespace pindown::logs
