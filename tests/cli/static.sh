# SPDX-License-Identifier: Apache-2.0
# The release binary is one file that needs no library of the machine, not even a loader.
case $PINDOWN in */release/*) ;; *) skip "only the release build is static" ;; esac
readelf -d "$PINDOWN" | grep NEEDED && fail "it needs shared libraries"
readelf -l "$PINDOWN" | grep 'program interpreter' && fail "it needs a loader"
mkdir root
cp "$PINDOWN" "$FAULT" root/
if [ "$(id -u)" -eq 0 ]; then
  expect 1 chroot root /pindown check "/$(basename "$FAULT")"
fi
