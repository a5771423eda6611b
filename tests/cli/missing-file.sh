# SPDX-License-Identifier: Apache-2.0
# A missing input is named and undetermined; the others are still judged, and a fault outranks it.
expect 2 "$PINDOWN" check nowhere.log
cat out err > both
has both nowhere.log
expect 2 "$PINDOWN" check --format json nowhere.log "$HEALTHY"
json 'len(r["inputs"]) == 2 and r["verdict"] == "undetermined"'
expect 1 "$PINDOWN" check --format json nowhere.log "$FAULT"
json 'r["findings"][0]["code"] == "PD301"'
