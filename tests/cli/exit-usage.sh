# SPDX-License-Identifier: Apache-2.0
# Usage errors end with 64, say what is wrong on standard error and leave standard output empty.
for arguments in "--no-such-option" "check --format yaml x" "check --pid notanumber" "check --pid -1" "check --need much x" \
  "check --threshold fatal x" "check --color blue x" "explain" "explain PD102 PD103 --format yaml" "frobnicate --x"; do
  expect 64 "$PINDOWN" $arguments
  [ ! -s out ] || fail "$arguments: standard output is not empty"
  [ -s err ] || fail "$arguments: nothing on standard error"
done
