# SPDX-License-Identifier: Apache-2.0
# Several inputs that cannot be read or say nothing, and one that shows a fault: a fault; each of the others has one line on standard
# error and a place in the report. With a healthy one instead, it is undetermined.
gzip -c "$HEALTHY" | head -c 100 > cut.gz
echo 'just some notes' > notes.txt
expect 1 "$PINDOWN" check --format json nowhere.log "$FAULT" missing/too.log cut.gz notes.txt
json 'r["verdict"] == "fault" and r["findings"][0]["code"] == "PD301" and len(r["inputs"]) == 5'
[ "$(wc -l < err)" -eq 4 ] && [ "$(grep -c '^pindown: ' err)" -eq 4 ] || fail "standard error: $(cat err)"
for name in nowhere.log missing/too.log cut.gz notes.txt; do has err "$name"; done
expect 1 "$PINDOWN" check nowhere.log "$FAULT" missing/too.log cut.gz notes.txt
for name in nowhere.log missing/too.log cut.gz notes.txt; do has out "$name"; done
expect 2 "$PINDOWN" check --format json notes.txt "$HEALTHY"
json 'r["verdict"] == "undetermined" and any("notes.txt" == i["path"] and i["problem"] for i in r["inputs"])'
