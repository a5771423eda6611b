# SPDX-License-Identifier: Apache-2.0
# --need takes sizes people write and a live process is judged by it: more than any finite limit is never enough.
[ "$(ulimit -Sl)" != unlimited ] || ulimit -Sl 8192
EXEC=exec as_user sleep 60 &
pid=$!
sleep 0.3
expect 1 "$PINDOWN" check --need 4P --pid "$pid"
kill "$pid"
for size in 4G 64MiB 1048576 unlimited; do
  "$PINDOWN" check --need "$size" "$HEALTHY" > out 2> err
  [ $? -le 2 ] || fail "--need $size"
done
