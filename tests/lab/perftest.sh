# SPDX-License-Identifier: Apache-2.0
# guest: bookworm trixie
# What ib_write_bw prints when its user's limit is too low is explained; with no limit it works on the same device.
kib=1024

# bandwidth LIMIT: a server and a client, both of bob's; their output in ./server and ./client.
bandwidth() {
  local server status=0
  EXEC=exec limited "$1" bob ib_write_bw -d rxe0 -s 1048576 -n 10 -F > server 2>&1 &
  server=$!
  # A server that was refused ends before it listens.
  for _ in $(seq 300); do
    [ -z "$(ss -Hltn 'sport = :18515')" ] && kill -0 $server 2> /dev/null || break
    sleep 0.1
  done
  limited "$1" bob timeout 60 ib_write_bw -d rxe0 -s 1048576 -n 10 -F 127.0.0.1 > client 2>&1 || status=$?
  # It has its own last words, in its own time.
  for _ in $(seq 100); do
    kill -0 $server 2> /dev/null || break
    sleep 0.1
  done
  kill $server 2> /dev/null
  wait $server
  return $status
}

bandwidth unlimited || fail "it does not work without a limit: $(cat server client)"
has client "1048576"

bandwidth $((64 * kib)) && fail "it works with 64 KiB: $(cat server client)"
has server "failed to create mr"
# The log names no limit, so the cause may be a candidate; with the limit beside it, it must be found.
pindown check - < server > out 2> err
grep -q PD101 out || fail "PD101 is not among what may be: $(cat server out err)"
{ cat server; echo "max locked memory       (kbytes, -l) 64"; } | pindown check - > out 2> err
[ $? -eq 1 ] || fail "with the limit it is no fault: $(cat out err)"
grep -q PD101 out || fail "PD101 is not found: $(cat out err)"
