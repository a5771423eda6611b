// SPDX-License-Identifier: Apache-2.0
// What the model (model/charge.h) says of the registrations that register.c asks the kernel for: one answer a line, "0"
// or an errno's number, or "unknown". usage: say_charge [--wrong] < CASES
// --wrong spoils the model on purpose (capabilities count in any user namespace, the hard limit is what counts): then
// the comparison must find disagreements.
#include <cerrno>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string>

#include "model/charge.h"

namespace {

struct Case {
  std::uint64_t soft = 0, hard = 0, pinned = 0, offset = 0, size = 0;
  int uid = 0;
  bool userns = false;
  std::string cap, kind;
};

constexpr std::uint64_t kPage = 4096;

/// Memory that the kernel reaches only after it has charged it: EFAULT, if the charge passes.
int fault_of(const std::string& kind) {
  return kind == "anon" ? 0 : EFAULT;
}

std::string answer(const Case& c, bool wrong) {
  pindown::ChargeInput in;
  in.soft = pindown::Limit{wrong ? c.hard : c.soft};
  in.cap_effective = c.cap == "effective";
  in.initial_userns = wrong || !c.userns;
  in.pinned = (c.pinned + kPage - 1) / kPage * kPage;
  in.pinned_at_failure = true;
  const std::uint64_t span = c.offset % kPage + c.size;
  in.request = (span + kPage - 1) / kPage * kPage;
  const pindown::ChargeResult result = pindown::charge(in);
  switch (result.answer) {
    case pindown::ChargeResult::Answer::kRefused:
      return std::to_string(result.error);
    case pindown::ChargeResult::Answer::kAllowed:
      return std::to_string(fault_of(c.kind));
    case pindown::ChargeResult::Answer::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace

int main(int argc, char** argv) {
  const bool wrong = argc > 1 && std::strcmp(argv[1], "--wrong") == 0;
  std::string line;
  while (std::getline(std::cin, line)) {
    Case c;
    std::istringstream words(line);
    words >> c.soft >> c.hard >> c.uid >> c.cap >> c.userns >> c.pinned >> c.offset >> c.size >> c.kind;
    std::cout << (words ? answer(c, wrong) : "cannot read the case") << '\n';
  }
}
