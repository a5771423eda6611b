# SPDX-License-Identifier: Apache-2.0
# An input that may not be read is undetermined and says so; it is not "not found".
cp "$FAULT" secret.log
chmod 000 secret.log
chmod 755 .
expect 2 as_user "$PINDOWN" check secret.log
cat out err > both
has both secret.log
grep -qi 'permission denied' both || fail "does not say that permission was denied"
