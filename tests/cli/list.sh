# SPDX-License-Identifier: Apache-2.0
# The catalogue as text and JSON.
expect 0 "$PINDOWN" list
has out "memlock-too-low"
expect 0 "$PINDOWN" list --format json
json 'all({"code","slug","severity","title","recognised"} <= set(c) for c in r) and len(r) >= 72'
json 'all(type(c["recognised"]) is bool and c["severity"] in ("note","warning","error") for c in r)'
