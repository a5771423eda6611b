// SPDX-License-Identifier: Apache-2.0
// See nccl_version.h. Line numbers were read in ibvwrap.cu/.cc of each tagged release.
#include "logs/nccl_version.h"

#include <array>

#include "base/text.h"

namespace pindown::logs {
namespace {

/// Line of each message; negative: printed without errno; 0: the verb is not wrapped in that release.
struct Row {
  std::string_view versions;
  int open_device, alloc_pd, reg_mr, reg_mr_iova2, reg_dmabuf_mr, create_cq, create_qp, modify_qp;
};

constexpr Row kRows[] = {
    {"2.3.5-2.11.4", -212, -244, -252, 0, 0, -268, -280, 284},
    {"2.12.7-2.12.12", -222, -254, -262, -278, 0, -286, -298, 302},
    {"2.13.4", -227, -259, 267, 283, 288, -303, -315, 319},
    {"2.14.3-2.17.1", -222, 254, 262, 278, 283, 299, 311, 315},
    {"2.18.1-2.18.6", -94, 126, 134, 150, 155, 171, 183, 187},
    {"2.19.1-2.23.4", -113, 145, 153, 169, 174, 190, 202, 206},
    {"2.24.3-2.26.6", -122, 154, 162, 178, 183, 199, 211, 291},
    {"2.27.3-2.27.5", -126, 158, 166, 182, 187, 203, 215, 295},
    {"2.27.6-2.27.7", -126, 164, 172, 188, 193, 209, 221, 301},
    {"2.28.3", -127, 165, 173, 189, 194, 210, 222, 302},
    {"2.28.7-2.29.3", -127, 170, 178, 194, 199, 215, 227, 307},
    {"2.29.7-2.30.4", -130, 173, 181, 197, 202, 218, 230, 309},
    {"2.30.7", -131, 185, 194, 212, 219, 240, 254, 376},
};

int line_of(const Row& row, std::string_view verb) {
  if (verb == "ibv_open_device") return row.open_device;
  if (verb == "ibv_alloc_pd") return row.alloc_pd;
  if (verb == "ibv_reg_mr") return row.reg_mr;
  if (verb == "ibv_reg_mr_iova2") return row.reg_mr_iova2;
  if (verb == "ibv_reg_dmabuf_mr") return row.reg_dmabuf_mr;
  if (verb == "ibv_create_cq") return row.create_cq;
  if (verb == "ibv_create_qp") return row.create_qp;
  if (verb == "ibv_modify_qp") return row.modify_qp;
  return 0;
}

}  // namespace

std::string nccl_version_hint(const Event& event) {
  const bool ibvwrap = event.source_file.ends_with("ibvwrap.cc") || event.source_file.ends_with("ibvwrap.cu");
  if (!ibvwrap || !event.source_line) return {};
  const int line = static_cast<int>(*event.source_line) * (event.with_errno ? 1 : -1);
  std::string hint;
  for (const Row& row : kRows) {
    if (line_of(row, event.verb) != line) continue;
    hint += hint.empty() ? "" : " or ";
    hint += row.versions;
  }
  return hint;
}

int compare_versions(std::string_view a, std::string_view b) {
  while (!a.empty() || !b.empty()) {
    const std::uint64_t x = parse_u64(take_digits(a)).value_or(0);
    const std::uint64_t y = parse_u64(take_digits(b)).value_or(0);
    if (x != y) return x < y ? -1 : 1;
    if (!consume(a, ".")) a = {};
    if (!consume(b, ".")) b = {};
  }
  return 0;
}

}  // namespace pindown::logs
