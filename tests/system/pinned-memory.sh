# SPDX-License-Identifier: Apache-2.0
# What is pinned already counts against the need: 6 MiB pinned of 8 MiB leaves room for 1 MiB and not for 4.
as_user bash -c 'ulimit -Sl 8192' || skip "the hard limit here is below 8 MiB"
cp "$HELPERS/pin_memory" .
mkfifo hold
# io_uring also counts per user and gives back late: what an earlier run pinned may still stand against this one.
for _ in $(seq 20); do
  EXEC=exec as_user bash -c 'ulimit -Sl 8192; exec ./pin_memory 6291456' < hold > said &
  pid=$!
  exec 9> hold
  until [ -s said ]; do sleep 0.05; done
  grep -q 'Cannot allocate' said || break
  exec 9>&-
  sleep 0.5
done
grep -q io_uring_setup said && skip "$(cat said)"
grep -q pinned said || fail "nothing was pinned: $(cat said)"
grep -q '^VmPin:[[:space:]]*6[0-9]\{3\} kB' "/proc/$pid/status" || skip "this kernel does not charge io_uring to VmPin"
expect 1 "$PINDOWN" check --need 4M --pid "$pid"
has out "VmPin 6"
"$PINDOWN" check --need 1M --pid "$pid" > out 2> err
[ $? -ne 1 ] || fail "1 MiB would fit: $(cat out)"
exec 9>&-
