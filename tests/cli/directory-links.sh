# SPDX-License-Identifier: Apache-2.0
# Links and files that say nothing do not spoil the verdict of a directory; a log in it that may not be read does.
mkdir job
cp "$HEALTHY" job/a.log
cp "$FAULT" secret.log
chmod 000 secret.log
ln -s nowhere job/dangling
ln -s ../secret.log job/denied
printf 'just some notes\n' > job/notes.txt
: > job/empty
chmod 755 . job
chmod 644 job/a.log
expect 0 as_user "$PINDOWN" check --format json job
json 'r["verdict"] == "healthy" and not any(i.get("problem") for i in r["inputs"])'
[ ! -s err ] || fail "complains: $(cat err)"
mv secret.log job/secret.log
expect 2 as_user "$PINDOWN" check --format json job
json 'r["verdict"] == "undetermined"'
has err 'pindown: '
has err secret.log
[ "$(wc -l < err)" -eq 1 ] || fail "more than one line: $(cat err)"
