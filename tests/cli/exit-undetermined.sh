# SPDX-License-Identifier: Apache-2.0
# Nothing recognised is never healthy: status 2, PD901.
printf 'hello\nthis is not a log of anything known\n' > note.txt
expect 2 "$PINDOWN" check --format json note.txt
json 'r["verdict"] == "undetermined" and any(f["code"] == "PD901" for f in r["findings"] + r["candidates"] + r["unknown"])'
