# SPDX-License-Identifier: Apache-2.0
# Colour only where asked for: none when piped or with NO_COLOR, some with --color always, none with never.
esc=$(printf '\033[')
expect 1 "$PINDOWN" check "$FAULT"
lacks out "$esc"
expect 1 "$PINDOWN" check --color always "$FAULT"
has out "$esc"
expect 1 "$PINDOWN" check --color never "$FAULT"
lacks out "$esc"
TERM=xterm script -qec "'$PINDOWN' check '$FAULT'" typescript > out 2> err || true
has out "$esc"
TERM=xterm NO_COLOR=1 script -qec "'$PINDOWN' check '$FAULT'" typescript > out 2> err || true
lacks out "$esc"
