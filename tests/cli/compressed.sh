# SPDX-License-Identifier: Apache-2.0
# Compressed logs are read as they are, whatever their name.
cp "$FAULT" a.log
gzip -k a.log; xz -k a.log; zstd -q a.log; bzip2 -k a.log
for name in a.log.gz a.log.xz a.log.zst a.log.bz2; do
  expect 1 "$PINDOWN" check --format json "$name"
  json 'r["findings"][0]["code"] == "PD301" and r["inputs"][0]["lines"] == 12'
  cp "$name" unnamed
  expect 1 "$PINDOWN" check unnamed
done
