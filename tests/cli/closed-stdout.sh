# SPDX-License-Identifier: Apache-2.0
# A reader that goes away, or no standard output at all, never kills or hangs pindown, and a report that could not be written is no success.
timeout 20 "$PINDOWN" check "$FAULT" 2> err | head -c 0
status=${PIPESTATUS[0]}
[ "$status" -lt 124 ] || [ "$status" -eq 141 ] || fail "into a closed pipe: $status"
status=0
timeout 20 "$PINDOWN" check "$HEALTHY" >&- 2> err || status=$?
[ "$status" -ne 0 ] && [ "$status" -lt 124 ] || fail "with standard output closed: $status"
if [ -w /dev/full ]; then
  status=0
  "$PINDOWN" check "$HEALTHY" > /dev/full 2> err || status=$?
  [ "$status" -ne 0 ] && [ "$status" -lt 124 ] || fail "onto a full device: $status"
fi
