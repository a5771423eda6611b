# SPDX-License-Identifier: Apache-2.0
# A log that never stops growing is read up to where it ended, not for ever.
cp "$HEALTHY" growing.log
( while :; do cat "$HEALTHY" >> growing.log; done ) &
writer=$!
status=0
timeout 30 "$PINDOWN" check growing.log > out 2> err || status=$?
kill "$writer"
wait "$writer" 2> /dev/null
[ "$status" -eq 0 ] || fail "status $status"
