# SPDX-License-Identifier: Apache-2.0
# On a live system of rpm's the versions come from rpm itself: its real program and a real database, seen in a mount namespace
# in which dpkg's status is hidden. A program that hangs or fails is not waited for: then the release decides.
command -v rpm > /dev/null && command -v rpmbuild > /dev/null || skip "rpm and rpmbuild are not installed"
unshare -rm true 2> /dev/null || skip "no mount namespace may be made here"

# package NAME VERSION: an empty package of that name, in the database `db`.
package() {
  printf 'Name: %s\nVersion: %s\nRelease: 1.el9\nSummary: x\nLicense: x\nBuildArch: noarch\n%%description\nx\n%%files\n' "$1" "$2" > "$1.spec"
  rpmbuild -bb --quiet --define "_topdir $PWD/build" "$1.spec" > built 2>&1 || fail "rpmbuild: $(cat built)"
  rpm --dbpath "$PWD/db" -i --justdb --nodeps "build/RPMS/noarch/$1-$2-1.el9.noarch.rpm" > built 2>&1 || fail "rpm -i: $(cat built)"
}
mkdir db empty etc-security
# Debian's rpm has its database elsewhere.
cp /usr/lib/rpm/macros macros && echo '%_dbpath /var/lib/rpm' >> macros
package pam 1.6.1
package systemd 252
printf 'ID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.4"\n' > os-release
printf '* - memlock unlimited really\nroot - memlock unlimited really\n' > etc-security/limits.conf

# here COMMAND...: on a system of rpm's.
cat > here <<'END'
mount --bind empty /var/lib/dpkg && mount --bind os-release /etc/os-release && mount --bind db /var/lib/rpm &&
mount --bind macros /usr/lib/rpm/macros &&
ulimit -l 64 && mount --bind etc-security /etc/security && mount --bind "${RPM-/usr/bin/rpm}" /usr/bin/rpm && cd / && exec "$@"
END
mkdir -p /var/lib/rpm 2> /dev/null
[ -d /var/lib/rpm ] && [ -d /etc/security ] || skip "no /var/lib/rpm or /etc/security to mount over"
here() { unshare -rm bash here "$@"; }

here "$PINDOWN" predict --via su --user root --format json > out 2> err
[ -s out ] || fail "no answer: $(cat err)"
json 'not any("was not read" in a for a in r["assumed"])'
# 1.6.1 ignores the line, 1.5.1 (what the release ships) would not, or be refused the raise: rpm was believed.
json 'r["soft"] not in (None, "unlimited") and not r["refused"]'
here "$PINDOWN" check --pid $$ > /dev/null 2> err
lacks err rpm

printf '#!/bin/sh\nexec sleep 60\n' > hang
chmod 755 hang
SECONDS=0
RPM=$PWD/hang here "$PINDOWN" predict --via su --user root --format json > out 2> err
[ $SECONDS -lt 10 ] || fail "waited $SECONDS s for a program that hangs"
json 'any("PAM 1.5.1" in a for a in r["assumed"]) and (r["refused"] or r["soft"] == "unlimited")'
printf '#!/bin/sh\nexit 1\n' > hang
RPM=$PWD/hang here "$PINDOWN" predict --via su --user root --format json > out 2> err
json 'any("PAM 1.5.1" in a for a in r["assumed"])'
