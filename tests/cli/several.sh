# SPDX-License-Identifier: Apache-2.0
# Several logs make one report; the order of the arguments does not change the cause.
expect 1 "$PINDOWN" check --format json "$HEALTHY" "$FAULT"
json 'len(r["inputs"]) == 2 and r["findings"][0]["code"] == "PD301"'
expect 1 "$PINDOWN" check --format json "$FAULT" "$HEALTHY"
json 'len(r["inputs"]) == 2 and r["findings"][0]["code"] == "PD301"'
