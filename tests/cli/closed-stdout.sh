# SPDX-License-Identifier: Apache-2.0
# A report that cannot be written is no success: 70 and one line that says why. A reader that goes away early is none of that: the
# verdict stands.
timeout 20 "$PINDOWN" check "$FAULT" 2> err | head -c 0
status=${PIPESTATUS[0]}
[ "$status" -eq 1 ] || fail "into a closed pipe: $status"
[ ! -s err ] || fail "complains of a closed pipe: $(cat err)"

# complains STATUS: of that, in one line.
complains() {
  [ "$1" -eq 70 ] || fail "ended with $1"
  [ "$(wc -l < err)" -eq 1 ] && grep -q '^pindown: cannot write to standard output: ' err || fail "$(cat err)"
}
for arguments in "check $HEALTHY" "check --format json $HEALTHY" list "explain PD102" --help --version; do
  status=0
  timeout 20 "$PINDOWN" $arguments >&- 2> err || status=$?
  complains "$status"
  [ -w /dev/full ] || continue
  status=0
  timeout 20 "$PINDOWN" $arguments > /dev/full 2> err || status=$?
  complains "$status"
done

# Whatever is closed, no input is opened in its place and written to.
cp "$FAULT" a.log
"$PINDOWN" check a.log <&- >&- 2>&-
cmp a.log "$FAULT" || fail "the input was written to"
