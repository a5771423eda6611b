// SPDX-License-Identifier: Apache-2.0
// See sieve.h.
#include "logs/sieve.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

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
    "[default2]:[rank7]: 2026-03-11 09:41:27,805 INFO trainer.py:214 - rank 7 saved checkpoint shard 3 in 0.51 s\n"
    "step 1200/50000 | loss 2.4071 | lr 3.0e-04 | grad_norm 0.85 | tokens/s 41023 | mem 61.2GB | iteration time (ms)\n"
    "Epoch 3: 45%|####5     | 451/1000 [03:12<03:54, 2.34it/s, train_loss=0.318, accuracy=0.94, batch size: 512]\n"
    "WARNING: UserWarning: the default value of this parameter will change in a future release; see documentation\n"
    "slurm job started on 8 nodes with 64 processes, using device cuda:0, python version 3.11, loading data files\n"
    "Rank 0: initialized model with 7.0B parameters, world size 64, local rank 0, on host node03; path /data/run/a.pt\n"
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

std::size_t rarest_window(std::string_view literal, std::size_t size) {
  std::size_t best = 0;
  double most = -1;
  for (std::size_t at = 0; at + size <= literal.size(); ++at) {
    double sum = 0;
    for (const char c : literal.substr(at, size)) sum += rarity(c);
    if (kOrdinary.find(literal.substr(at, size)) != std::string_view::npos) sum /= 8;
    if (sum > most) most = sum, best = at;
  }
  return best;
}

}  // namespace

Sieve::Sieve(const std::vector<std::string_view>& literals) : literals_(literals) {
  std::vector<Probe> probes;
  for (std::uint32_t id = 0; id < literals_.size(); ++id) {
    const std::size_t at = rarest_window(literals_[id], kProbe);
    probes.push_back({word_at(literals_[id].data() + at), id, static_cast<std::uint32_t>(at)});
  }
  fill_buckets(std::move(probes));
}

/// The buckets, a bit each, whose tables let a byte through at place `k`, had each of them `probe` as well.
std::uint32_t Sieve::open_with(const Probe& probe, std::size_t k, char c) const {
  const auto byte = static_cast<unsigned char>(c);
  const unsigned own = probe.word >> (8 * k) & 0xFFU;
  const auto both = [k](const Tables& tables, unsigned half) {
    return static_cast<std::uint32_t>(tables[0][k][half]) | static_cast<std::uint32_t>(tables[1][k][half]) << 8;
  };
  const std::uint32_t low = (byte & 15U) == (own & 15U) ? 0xFFFF : both(low_, byte & 15U);
  return low & (byte >> 4 == own >> 4 ? 0xFFFF : both(high_, byte >> 4));
}

/// How much gets through each bucket with one more probe: places of ordinary text, and, to tell equals apart, what its
/// bytes' frequency alone lets expect.
std::array<double, Sieve::kBuckets> Sieve::passing_with(const Probe& probe) const {
  std::array<double, kBuckets> passing;
  passing.fill(1);
  const auto add = [](std::array<double, kBuckets>& to, std::uint32_t buckets, double what) {
    for (; buckets != 0; buckets &= buckets - 1) to[static_cast<std::size_t>(std::countr_zero(buckets))] += what;
  };
  for (std::size_t k = 0; k < kProbe; ++k) {
    std::array<double, kBuckets> sum{};
    for (const char c : kFrequent) add(sum, open_with(probe, k, c), frequency(c));
    for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) passing[bucket] *= sum[bucket];
  }
  for (std::size_t at = 0; at + kProbe <= kOrdinary.size(); ++at) {
    std::uint32_t open = 0xFFFF;
    for (std::size_t k = 0; k < kProbe && open != 0; ++k) open &= open_with(probe, k, kOrdinary[at + k]);
    add(passing, open, 1);
  }
  return passing;
}

/// Each probe joins the bucket that lets the least through for it; equal probes share one.
void Sieve::fill_buckets(std::vector<Probe> probes) {
  std::ranges::sort(probes, {}, &Probe::word);
  std::size_t bucket = 0;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    if (i == 0 || probes[i].word != probes[i - 1].word) bucket = best_bucket(probes[i]);
    buckets_[bucket].push_back(probes[i]);
    const auto bit = static_cast<std::uint8_t>(1U << (bucket % 8));
    for (std::size_t k = 0; k < kProbe; ++k) {
      const unsigned byte = probes[i].word >> (8 * k) & 0xFFU;
      low_[bucket / 8][k][byte & 15U] |= bit;
      high_[bucket / 8][k][byte >> 4] |= bit;
    }
  }
}

std::size_t Sieve::best_bucket(const Probe& probe) {
  const std::array<double, kBuckets> passing = passing_with(probe);
  std::size_t best = 0;
  for (std::size_t bucket = 1; bucket < kBuckets; ++bucket) {
    if (passing[bucket] - passes_[bucket] < passing[best] - passes_[best]) best = bucket;
  }
  passes_[best] = passing[best];
  return best;
}

std::uint32_t Sieve::buckets_at(const char* text) const {
  std::uint32_t buckets = 0xFFFF;
  for (std::size_t k = 0; k < kProbe; ++k) {
    const auto byte = static_cast<unsigned char>(text[k]);
    const auto of = [&](std::size_t group) {
      return static_cast<std::uint32_t>(low_[group][k][byte & 15U] & high_[group][k][byte >> 4]);
    };
    buckets &= of(0) | of(1) << 8;
  }
  return buckets;
}

void Sieve::verify(std::string_view text, std::size_t at, std::uint32_t buckets,
                   std::vector<std::pair<std::size_t, std::uint32_t>>& hits) const {
  const std::uint32_t word = word_at(text.data() + at);
  for (; buckets != 0; buckets &= buckets - 1) {
    for (const Probe& probe : buckets_[static_cast<std::size_t>(std::countr_zero(buckets))]) {
      if (probe.word != word || probe.at > at) continue;
      if (text.substr(at - probe.at).starts_with(literals_[probe.id])) hits.emplace_back(at - probe.at, probe.id);
    }
  }
}

#if defined(__x86_64__)

bool Sieve::usable() {
  static const bool usable = __builtin_cpu_supports("avx2");
  return usable;
}

/// Returns how many positions were looked at; the rest is too short to load from.
[[gnu::target("avx2")]] std::size_t Sieve::find_wide(std::string_view text,
                                                     std::vector<std::pair<std::size_t, std::uint32_t>>& hits) const {
  constexpr std::size_t kStep = 32;
  __m256i low[2][kProbe];
  __m256i high[2][kProbe];
  for (std::size_t group = 0; group < 2; ++group) {
    for (std::size_t k = 0; k < kProbe; ++k) {
      low[group][k] =
          _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(low_[group][k].data())));
      high[group][k] =
          _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(high_[group][k].data())));
    }
  }
  const __m256i half = _mm256_set1_epi8(15);
  std::size_t at = 0;
  for (; at + kStep + kProbe <= text.size(); at += kStep) {
    __m256i pass[2] = {_mm256_set1_epi8(-1), _mm256_set1_epi8(-1)};
#pragma GCC unroll 4
    for (std::size_t k = 0; k < kProbe; ++k) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text.data() + at + k));
      const __m256i lower = _mm256_and_si256(bytes, half);
      const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
#pragma GCC unroll 2
      for (std::size_t group = 0; group < 2; ++group) {
        const __m256i both =
            _mm256_and_si256(_mm256_shuffle_epi8(low[group][k], lower), _mm256_shuffle_epi8(high[group][k], upper));
        pass[group] = _mm256_and_si256(pass[group], both);
      }
    }
    const __m256i any = _mm256_or_si256(pass[0], pass[1]);
    if (_mm256_testz_si256(any, any) != 0) continue;
    alignas(32) std::uint8_t bits[2][kStep];
    _mm256_store_si256(reinterpret_cast<__m256i*>(bits[0]), pass[0]);
    _mm256_store_si256(reinterpret_cast<__m256i*>(bits[1]), pass[1]);
    auto places = ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(any, _mm256_setzero_si256())));
    for (; places != 0; places &= places - 1) {
      const auto place = static_cast<std::size_t>(std::countr_zero(places));
      verify(text, at + place, bits[0][place] | static_cast<std::uint32_t>(bits[1][place]) << 8, hits);
    }
  }
  return at;
}

#else

bool Sieve::usable() {
  return false;
}

std::size_t Sieve::find_wide(std::string_view, std::vector<std::pair<std::size_t, std::uint32_t>>&) const {
  return 0;
}

#endif

void Sieve::find(std::string_view text, std::vector<std::pair<std::size_t, std::uint32_t>>& hits) const {
  for (std::size_t at = usable() ? find_wide(text, hits) : 0; at + kProbe <= text.size(); ++at) {
    if (const std::uint32_t buckets = buckets_at(text.data() + at); buckets != 0) verify(text, at, buckets, hits);
  }
}

}  // namespace pindown::logs
