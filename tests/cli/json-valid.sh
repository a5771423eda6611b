# SPDX-License-Identifier: Apache-2.0
# The JSON report has the keys of its schema, whatever the verdict.
for log in "$FAULT" "$DEGRADED" "$HEALTHY" /dev/null nowhere; do
  "$PINDOWN" check --format json "$log" > out 2> err
  json 'r["schema"] == "pindown.report/1" and r["tool"]["name"] == "pindown" and r["tool"]["version"]'
  json 'all(type(r[k]) is list for k in "findings candidates ruled_out suppressed unknown trails incidents inputs".split())'
  json 'type(r["facts"]) is dict and type(r["headline"]) is str and 0 < len(r["headline"]) <= 80'
  json 'all({"code","slug","severity","certainty","subject","summary","evidence","remedies"} <= set(f) for f in r["findings"])'
  json 'all({"source","text"} <= set(e) for f in r["findings"] for e in f["evidence"])'
  json 'all({"id","title","commands","persistent","verify"} <= set(m) for f in r["findings"] for m in f["remedies"])'
  json '__import__("datetime").datetime.strptime(r["time"], "%Y-%m-%dT%H:%M:%SZ")'
done
