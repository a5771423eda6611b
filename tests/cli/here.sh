# SPDX-License-Identifier: Apache-2.0
# A log is judged without this machine's own state, unless --here joins it.
kernel=$(uname -r)
expect 1 "$PINDOWN" check --format json "$FAULT"
lacks out "\"$kernel\""
"$PINDOWN" check --here --format json "$FAULT" > out 2> err
[ $? -le 2 ] || fail "--here: $(cat err)"
json "r['facts'].get('kernel') == '$kernel'"
