# SPDX-License-Identifier: Apache-2.0
# Devices and endless files are refused, not read for ever.
for path in /dev/zero /dev/urandom /dev/tty /proc/self/mem; do
  expect 2 timeout 20 "$PINDOWN" check "$path"
done
