# SPDX-License-Identifier: Apache-2.0
# Another user's process: the limit is world-readable, the rest is unknown and named, and nothing crashes.
[ "$(id -u)" -eq 0 ] || skip "needs root, to own a process that another user looks at"
sleep 60 &
pid=$!
as_user "$PINDOWN" check --format json --pid "$pid" > out 2> err
status=$?
kill "$pid"
[ "$status" -le 2 ] || fail "status $status: $(cat err)"
json "any(l['pid'] == $pid and l['soft'] is not None for t in r['trails'] for l in t['links'])"
