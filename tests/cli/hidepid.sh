# SPDX-License-Identifier: Apache-2.0
# Where /proc hides the processes of others, that is said: what nobody saw is not healthy.
[ "$(id -u)" -eq 0 ] || skip "needs root: a /proc with hidepid is mounted"
cp "$PINDOWN" ./readable && chmod 755 . ./readable
unshare --mount sh -c 'mount -t proc -o hidepid=2 proc /proc && [ "$(setpriv --reuid=65534 --regid=65534 --clear-groups ls -d /proc/1 2> /dev/null)" = "" ]' ||
  skip "no /proc with hidepid can be mounted here"
ask() { unshare --mount sh -c "mount -t proc -o hidepid=$1 proc /proc; shift; exec \"\$@\"" sh "$@" > out 2> err || true; }
ask 2 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all ./readable check --format json
json 'any("hidepid" in m for u in r["unknown"] for m in u["missing"])'
ask 1 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all ./readable check --format json
json 'any("open files or maps of" in m for u in r["unknown"] for m in u["missing"])'
