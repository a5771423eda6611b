# SPDX-License-Identifier: Apache-2.0
# A compressed log that ends too soon, or is garbage behind its magic, is judged by what could be read and never crashes.
for i in $(seq 3000); do cat "$HEALTHY"; done > long.log
gzip -k long.log
head -c 2000 long.log.gz > cut.gz
printf '\x1f\x8b\x08garbage' > garbage.gz
printf '\x28\xb5\x2f\xfdgarbage' > garbage.zst
for name in cut.gz garbage.gz garbage.zst; do
  expect 2 "$PINDOWN" check --format json "$name"
  json 'r["verdict"] == "undetermined"'
done
