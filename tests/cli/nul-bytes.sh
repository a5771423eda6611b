# SPDX-License-Identifier: Apache-2.0
# NUL bytes in a line do not end it or the log.
{ printf 'a\0b\0\n\0\0\0\n'; cat "$FAULT"; printf '\0'; } > nul.log
expect 1 "$PINDOWN" check nul.log
has out PD301
clean out
