// SPDX-License-Identifier: Apache-2.0
// What the model (model/charge.h) says of the registrations that register.c asks the kernel for: one answer a line, "0"
// or an errno's number, or "unknown". usage: say_charge [--wrong] KERNEL < CASES   (KERNEL: 6.1.0-…)
// --wrong spoils the model on purpose (capabilities count in any user namespace, the hard limit is what counts): then
// the comparison must find disagreements.
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "model/charge.h"

namespace {

struct Case {
  std::uint64_t soft = 0, hard = 0, pinned = 0, times = 0, other = 0, offset = 0, size = 0;
  int uid = 0;
  bool userns = false;
  std::string cap, kind, access;

  bool asks_for(char what) const { return pindown::contains(access, std::string_view(&what, 1)); }
  /// ib_access_writable(): local write, remote write, remote atomic (include/rdma/ib_verbs.h).
  bool writes() const { return asks_for('l') || asks_for('w') || asks_for('a'); }
};

/// Where the memory is, as far as it matters; mmap gives whole pages.
std::uint64_t base_of(const Case& c) {
  if (c.kind == "top") return 0ULL - 3 * 4096;
  return c.kind == "kernel" ? 0xffff888000000000ULL : 0x10000000ULL;
}

/// Whether pinning fails, when it comes to that. ib_umem_get() of 6.1 asks for reading with FOLL_WRITE | FOLL_FORCE,
/// that of 6.12 without either: a private mapping is forced, a shared one is not (mm/gup.c check_vma_flags). In 6.12,
/// and not in 6.1, long-term pins may not write to a file that has to know of it, as on a disk (mm/gup.c
/// writable_file_mapping_allowed).
bool unreachable(const Case& c, bool forces, bool writes_to_files) {
  const auto one_of = [&c](std::initializer_list<std::string_view> kinds) {
    return std::ranges::find(kinds, c.kind) != kinds.end();
  };
  if (one_of({"anon", "shared", "memory", "huge"})) return false;
  if (one_of({"unmapped", "half", "hole", "kernel", "top"})) return true;
  if (c.writes()) return c.kind != "disk" || !writes_to_files;
  if (c.kind == "none") return !forces;
  if (c.kind == "readonly") return false;
  if (c.kind == "disk") return false;
  return forces;  // sharedro, diskro, memoryro
}

std::string answer(const Case& c, bool wrong, std::pair<int, int> kernel) {
  const std::uint64_t address = base_of(c) + c.offset;
  pindown::ChargeInput in;
  in.soft = pindown::Limit{wrong ? c.hard : c.soft};
  in.cap_effective = c.cap == "effective";
  in.initial_userns = wrong || !c.userns;
  in.pinned = pindown::spanned(0, c.pinned) * c.times;
  in.pinned_at_failure = true;
  in.request = pindown::spanned(address, c.size);
  // include/rdma/ib_verbs.h ib_check_mr_access().
  in.invalid = pindown::wraps(address, c.size) || ((c.asks_for('w') || c.asks_for('a')) && !c.asks_for('l'));
  in.unreachable = unreachable(c, kernel < std::pair(6, 2), kernel < std::pair(6, 5));
  const pindown::ChargeResult result = pindown::charge(in);
  if (result.answer == pindown::ChargeResult::Answer::kUnknown) return "unknown";
  return std::to_string(result.error);
}

}  // namespace

int main(int argc, char** argv) {
  const bool wrong = argc > 1 && std::strcmp(argv[1], "--wrong") == 0;
  std::pair<int, int> kernel;
  char dot = 0;
  std::istringstream version(argc > 1 ? argv[argc - 1] : "");
  if (!(version >> kernel.first >> dot >> kernel.second)) {
    std::cerr << "say_charge: which kernel?\n";
    return 2;
  }
  std::string line;
  while (std::getline(std::cin, line)) {
    Case c;
    std::istringstream words(line);
    words >> c.soft >> c.hard >> c.uid >> c.cap >> c.userns >> c.pinned >> c.times >> c.other >> c.offset >> c.size >>
        c.kind >> c.access;
    std::cout << (words ? answer(c, wrong, kernel) : "cannot read the case") << '\n';
  }
}
