# SPDX-License-Identifier: Apache-2.0
# guest: bookworm trixie
# files: mr.c
# The kernel refuses at exactly the soft limit; pindown, looking at the living client, says so and shows what is pinned.
kib=1024

expect 0 limited $((64 * kib)) alice mr 64
expect 1 limited $((64 * kib)) alice mr 68
has out "68 KiB: Cannot allocate memory"

# hold LIMIT SIZE...: a client of alice's that stays, with what it could register.
hold() {
  local limit=$1
  shift
  EXEC=exec limited "$limit" alice mr --hold "$@" > said &
  client=$!
  await 30 grep -q "^${!#} KiB" said
}

hold $((64 * kib)) 64 68
has said "64 KiB: registered"
has said "68 KiB: Cannot allocate memory"
expect 1 pindown check --pid $client
grep -qE 'PD1[0-9]{2}' out || fail "no memlock fault is named: $(cat out)"
has out "VmPin 64"
kill $client

# The same client with no limit is healthy.
hold unlimited 64 68 65536
lacks said "Cannot"
pindown check --pid $client > out 2> err
status=$?
[ $status -eq 0 ] || fail "an unlimited client is not healthy ($status): $(cat out err)"
head -n 1 out | grep -q healthy || fail "an unlimited client is not healthy: $(cat out)"
has out "VmPin 64.1 MiB"
kill $client
