# SPDX-License-Identifier: Apache-2.0
# A directory of logs: each file below it is an input, and nested ones are found; an empty one is undetermined.
mkdir -p job/rank1 empty
cp "$HEALTHY" job/rank0.log
cp "$FAULT" job/rank1/stderr.log
expect 1 "$PINDOWN" check --format json job
json 'r["findings"][0]["code"] == "PD301" and any("rank1/stderr.log" in i["path"] for i in r["inputs"])'
# A file in which nothing is known is named as passed over, and is no reason to call the job undetermined.
echo "shopping list: milk" > job/notes.txt
expect 1 "$PINDOWN" check --format json job
json '[i["kind"] for i in r["inputs"] if i["path"].endswith("notes.txt")] == ["passed-over"]'
expect 1 "$PINDOWN" check job
has out 'passed over, nothing in 1 file is known to pindown'
expect 2 "$PINDOWN" check empty
