# SPDX-License-Identifier: Apache-2.0
# The first line is a verdict by itself in at most 80 columns, also in a long path and with long names.
long=$(printf 'x%.0s' $(seq 200)).log
sed "s/5f3c9a7d10be/$(printf 'n%.0s' $(seq 200))/" "$FAULT" > "$long"
for log in "$long" "$FAULT" "$DEGRADED" "$HEALTHY" /dev/null "$SAMPLES"/*.log; do
  "$PINDOWN" check "$log" > out 2> err
  python3 -c 'import re, sys
line = open("out", encoding="utf-8").readline().rstrip("\n")
sys.exit(0 if len(line) <= 80 and re.search("fault|degraded|undetermined|healthy", line) else line)' || fail "$log"
done
