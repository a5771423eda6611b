# SPDX-License-Identifier: Apache-2.0
# Names that begin with a dash are inputs after `--`.
cp "$FAULT" ./-x.log
expect 1 "$PINDOWN" check -- -x.log
expect 1 "$PINDOWN" check ./-x.log
