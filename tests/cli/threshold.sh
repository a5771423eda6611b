# SPDX-License-Identifier: Apache-2.0
# --threshold decides from which severity on a finding is a fault; it never hides one.
expect 0 "$PINDOWN" check --threshold error "$DEGRADED"
expect 1 "$PINDOWN" check --threshold warning --format json "$DEGRADED"
json 'r["verdict"] == "fault" and r["findings"]'
expect 0 "$PINDOWN" check --threshold warning "$HEALTHY"
