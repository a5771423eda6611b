// SPDX-License-Identifier: Apache-2.0
// The loop behind peel(): state of one run and one method per wrapper. Private to shape_peel*.cc. Each method returns
// true if it took something off the front, and leaves everything as it was otherwise.
#pragma once

#include <array>

#include "logs/shape_parts.h"

namespace pindown::logs {

constexpr std::size_t kMaxHeader = 320;  // longest wrapper that is believed

class Peeler {
 public:
  Peeler(std::string_view text, Frame& frame, Words& words) : rest_(text), frame_(frame), words_(words) {}
  Peeled run();

 private:
  bool one();
  /// Takes `n` bytes that name the stream.
  bool take(std::size_t n);
  /// Takes `n` bytes that change from line to line.
  bool skip(std::size_t n);
  bool skip_stamp(const Stamp& stamp, TimeSource source);
  std::string_view after(std::size_t n) const;
  std::string_view after_blanks(std::size_t n) const;
  bool known(std::string_view word) const;
  /// Something only a program of interest, a launcher or a shell prints starts here.
  bool message_ahead(std::string_view text) const;
  bool json();
  bool bare_colour();
  bool bracket();
  bool mpi_tag();
  bool role_tag();
  /// "[pod/name/container] " of kubectl logs --prefix.
  bool kubectl_prefix();
  void set_pod(std::string_view name);
  /// "[91177.300112] ", "[    5.123456] ", "[    5.123456][  T77] ", "[Thu Jan 22 10:11:12 2026] " of dmesg.
  bool kernel_stamp();
  /// "[3] " of MPICH and Intel MPI, first on the line; "[3] NCCL" is NCCL's device with the rest of its prefix lost.
  bool bare_rank();
  bool stamp_in_brackets();
  /// "[anything] " right before NCCL's or UCX's own prefix (kubetail, home-made launchers).
  bool named_bracket();
  bool actor();
  /// "<13>1 2026-…", "<6>[  12.300112] ", "<30>Jan 02 …" of syslog and the kernel's ring buffer.
  bool priority();
  /// RFC 5424 after its version: time, host, program, pid, message id, structured data.
  bool syslog_header(std::string_view rest);
  /// "12: ", " 3: " of srun --label.
  bool rank_label();
  /// RFC 3339 always, other stamps only before a message.
  bool stamp();
  /// Lines that start with the name of a day or month.
  bool dated();
  /// "host unit[pid]: "; `strict`: only with a pid, or of the kernel.
  bool unit(bool strict);
  bool word();
  /// "pod/name text"; kubectl's own "pod/name created" is no wrapper.
  bool pod_word();
  /// "name: " of pdsh, clush, deepspeed, and of pods.
  bool host_word(std::string_view name);
  /// "service-1  | text" of docker compose.
  bool compose(std::string_view name);
  /// "pod container text", "pod › container text", "pod › container | text" of stern.
  bool stern(std::string_view name);
  /// The program's own stamp stays in the text but still tells the time.
  void note_own_stamp();

  std::string_view rest_;
  Frame& frame_;
  Words& words_;
  Stop stop_ = Stop::kMessage;
  std::array<std::string_view, 4> names_;
  std::size_t name_count_ = 0;
};

}  // namespace pindown::logs
