# SPDX-License-Identifier: Apache-2.0
# --version and --help succeed and print to standard output.
expect 0 "$PINDOWN" --version
grep -qE '^pindown [0-9]+\.[0-9]+\.[0-9]+' out || fail "$(cat out)"
for command in "" check explain list; do
  expect 0 "$PINDOWN" $command --help
  [ -s out ] || fail "no help for $command"
done
