# SPDX-License-Identifier: Apache-2.0
# A FIFO that nobody writes to does not hang; process substitution is read like a file.
mkfifo pipe
expect 2 timeout 20 "$PINDOWN" check pipe
expect 1 timeout 20 "$PINDOWN" check <(sleep 0.3; cat "$FAULT")
