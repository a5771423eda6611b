# SPDX-License-Identifier: Apache-2.0
# A binary file is no log: undetermined, and its bytes stay out of the terminal.
cp "$(command -v bash)" program
expect 2 "$PINDOWN" check program
clean out
