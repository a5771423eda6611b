# SPDX-License-Identifier: Apache-2.0
# Escape sequences, C1 controls, bidirectional overrides and HTML in a log reach neither the terminal nor JSON raw.
esc=$(printf '\033]0;owned\007\033[2J\302\233 1m\342\200\256gpj.exe<script>alert(1)</script>')
sed "s|5f3c9a7d10be|h${esc//&/\\&}|; s|Cannot allocate memory|Cannot allocate memory ${esc//&/\\&}|" "$FAULT" > evil.log
cat "$FAULT" >> evil.log
for name in evil.log "$(printf 'ev\033[31mil\n.log')"; do
  [ -e "$name" ] || cp evil.log "$name"
  expect 1 "$PINDOWN" check "$name"
  clean out
  expect 1 "$PINDOWN" check --color always "$name"
  lacks out "$(printf '\033]0;')"
  lacks out "$(printf '\033[2J')"
  expect 1 "$PINDOWN" check --format json "$name"
  LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' out && fail "raw control character in JSON"
  json 'r["verdict"] == "fault"'
done
"$PINDOWN" check "$(printf 'no\033[31msuch')" > out 2> err
clean out
clean err
