# SPDX-License-Identifier: Apache-2.0
# An empty log says nothing: undetermined.
: > empty.log
expect 2 "$PINDOWN" check --format json empty.log
json 'r["verdict"] == "undetermined"'
expect 2 "$PINDOWN" check /dev/null
