# SPDX-License-Identifier: Apache-2.0
# `-` reads standard input, plain or compressed; a closed standard input is an unreadable one.
expect 1 "$PINDOWN" check - < "$FAULT"
gzip -c "$FAULT" > a.gz
expect 1 "$PINDOWN" check - < a.gz
cat "$FAULT" | expect 1 "$PINDOWN" check --format json -
expect 2 "$PINDOWN" check - < /dev/null
expect 2 "$PINDOWN" check - <&-
