# SPDX-License-Identifier: Apache-2.0
# The first line is a verdict by itself in at most 80 columns: with a long path, with long names, with characters that take two
# columns, and where signs become ASCII.
long=$(printf 'x%.0s' $(seq 200)).log
sed "s/5f3c9a7d10be/$(printf 'n%.0s' $(seq 200))/" "$FAULT" > "$long"
sed "s/5f3c9a7d10be/$(printf '節点%.0s' $(seq 40))/" "$FAULT" > wide.log
sed "s/5f3c9a7d10be/$(printf '\302\205\342\200\256%.0s' $(seq 40))/" "$FAULT" > control.log
for log in "$long" wide.log control.log "$FAULT" "$DEGRADED" "$HEALTHY" /dev/null "$SAMPLES"/*.log; do
  for locale in C.UTF-8 C; do
    LC_ALL=$locale "$PINDOWN" check "$log" > out 2> err
    python3 -c 'import re, sys, unicodedata
line = open("out", encoding="utf-8").readline().rstrip("\n")
width = sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)
sys.exit(0 if width <= 80 and re.search("fault|degraded|undetermined|healthy", line) else line)' || fail "$log in $locale"
  done
done
