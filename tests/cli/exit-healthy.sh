# SPDX-License-Identifier: Apache-2.0
# A run that completed initialisation without a failure is healthy: status 0, nothing found above a note.
expect 0 "$PINDOWN" check --format json "$HEALTHY"
json 'r["verdict"] == "healthy" and not [f for f in r["findings"] if f["severity"] != "note"]'
