# SPDX-License-Identifier: Apache-2.0
# Two runs over the same input say the same, byte for byte; only the time in JSON differs.
for log in "$SAMPLES"/*.log; do
  "$PINDOWN" check "$log" > first 2> err
  "$PINDOWN" check "$log" > second 2> err
  cmp first second || fail "$log"
done
