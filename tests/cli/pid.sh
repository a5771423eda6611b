# SPDX-License-Identifier: Apache-2.0
# A live process: its limit is read from /proc and its ancestors are shown.
sleep 60 &
pid=$!
"$PINDOWN" check --format json --pid "$pid" > out 2> err
[ $? -le 2 ] || fail "$(cat err)"
kill "$pid"
json "r['trails'] and r['trails'][0]['links'][-1]['pid'] == $pid"
soft=$(ulimit -Sl)
[ "$soft" = unlimited ] && soft='"unlimited"' || soft=$((soft * 1024))
json "r['trails'][0]['links'][-1]['soft'] == $soft"
# An input behind --pid is an input, not a second pid.
expect 64 "$PINDOWN" check --pid $$ "$FAULT"
has err 'either inputs or --pid'
