# SPDX-License-Identifier: Apache-2.0
# A fault ends with status 1, in text and in JSON, and the first line says so.
expect 1 "$PINDOWN" check "$FAULT"
head -n 1 out | grep -q fault || fail "first line: $(head -n 1 out)"
expect 1 "$PINDOWN" check --format json "$FAULT"
json 'r["verdict"] == "fault" and r["findings"][0]["code"] == "PD301"'
