# SPDX-License-Identifier: Apache-2.0
# Symbolic links inside a directory cannot lead in circles or out of it.
mkdir -p job/sub
cp "$HEALTHY" job/a.log
ln -s .. job/sub/up
ln -s loop job/loop
ln -s /dev/zero job/zero
mkfifo job/fifo
expect 0 timeout 20 "$PINDOWN" check --format json job
json 'r["verdict"] == "healthy"'
