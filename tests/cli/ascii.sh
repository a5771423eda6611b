# SPDX-License-Identifier: Apache-2.0
# Where the locale is not UTF-8 the report is ASCII, whatever the log holds.
sed 's/Cannot allocate/Cannot allocate/; $a naïve ünïcode ✗' "$FAULT" > utf8.log
expect 1 env LC_ALL=C "$PINDOWN" check utf8.log
LC_ALL=C grep -n '[^ -~]' out && fail "not ASCII"
expect 1 env LC_ALL=C.UTF-8 "$PINDOWN" check utf8.log
LC_ALL=C grep -q '[^ -~]' out || fail "UTF-8 report is plain ASCII"
expect 1 env -u LC_ALL LANG=de_DE.UTF-8 "$PINDOWN" check utf8.log
LC_ALL=C grep -q '[^ -~]' out || fail "a UTF-8 locale that is not installed counts by its name"
expect 0 env LC_ALL=C "$PINDOWN" explain PD102
LC_ALL=C grep -n '[^ -~]' out && fail "explain is not ASCII"
true
