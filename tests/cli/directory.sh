# SPDX-License-Identifier: Apache-2.0
# A directory of logs: each file below it is an input, and nested ones are found; an empty one is undetermined.
mkdir -p job/rank1 empty
cp "$HEALTHY" job/rank0.log
cp "$FAULT" job/rank1/stderr.log
expect 1 "$PINDOWN" check --format json job
json 'r["findings"][0]["code"] == "PD301" and any("rank1/stderr.log" in i["path"] for i in r["inputs"])'
expect 2 "$PINDOWN" check empty
