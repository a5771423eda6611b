# SPDX-License-Identifier: Apache-2.0
# A process that is gone is undetermined, never healthy.
sleep 0 &
pid=$!
wait "$pid"
expect 2 "$PINDOWN" check --format json --pid "$pid"
json 'r["verdict"] == "undetermined"'
cat out err > both
has both "$pid"
has out 'does not exist'
