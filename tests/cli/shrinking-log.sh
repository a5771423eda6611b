# SPDX-License-Identifier: Apache-2.0
# A log that is truncated while it is read gives a report, not a crash.
{ cat "$FAULT"; yes "$(head -n 5 "$HEALTHY")" | head -c 300000000; } > shrinking.log
timeout 60 "$PINDOWN" check --format json shrinking.log > out 2> err &
pid=$!
sleep 0.03
truncate -s 5000 shrinking.log
status=0
wait "$pid" || status=$?
[ "$status" -le 2 ] || fail "status $status: $(cat err)"
json 'r["schema"] == "pindown.report/1"'
