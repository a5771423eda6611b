# SPDX-License-Identifier: Apache-2.0
# Words the scripts of tests/cli and tests/system share; bash reads it before each of them. The working directory is empty.

FAULT=$SAMPLES/03-docker-ucx-64k.log
DEGRADED=$SAMPLES/37-open-device-socket-fallback.log
HEALTHY=$SAMPLES/54-healthy-nccl-run.log

fail() { echo "$*"; exit 1; }
skip() { echo "$*"; exit 77; }

# expect STATUS COMMAND...: keeps what it printed in ./out and ./err.
expect() {
  local want=$1 status=0
  shift
  "$@" > out 2> err || status=$?
  [ "$status" -eq "$want" ] || fail "$* ended with $status, should be $want: $(head -c 1500 out err)"
  # No sanitizer or runtime report may hide behind a right status.
  ! grep -E 'runtime error:|AddressSanitizer|terminate called|Assertion' err || fail "$* reported the above"
}

# has FILE TEXT: the text stands in the file, literally. lacks FILE TEXT: it does not.
has() { grep -aqF -e "$2" "$1" || fail "'$2' is not in $1: $(head -c 1500 "$1")"; }
lacks() { ! grep -aqF -e "$2" "$1" || fail "'$2' is in $1: $(head -c 1500 "$1")"; }

# json PYTHON: evaluates an expression about the report `r` read from ./out.
json() { python3 -c "import json,sys; r=json.load(open('out')); sys.exit(0 if ($1) else 1)" || fail "not so: $1: $(head -c 1500 out)"; }

# clean FILE: nothing a terminal would act on: newline is the only control character; no C1, no bidirectional override.
clean() {
  python3 - "$1" << 'END' || fail "raw control characters in $1"
import sys, unicodedata
text = open(sys.argv[1], "rb").read().decode("utf-8")  # raises if invalid
bad = [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")]
sys.exit(f"{bad[:5]!r}" if bad else 0)
END
}

# as_user COMMAND...: as an unprivileged user without any capability. The tree may be below a folder that user may not enter,
# so pindown runs as a copy here.
as_user() {
  [ "$1" != "$PINDOWN" ] || { cp "$PINDOWN" pindown-copy; chmod 755 pindown-copy .; shift; set -- ./pindown-copy "$@"; }
  # In the background, `EXEC=exec as_user COMMAND &` makes $! the command itself.
  if [ "$(id -u)" -ne 0 ]; then
    ${EXEC-} "$@"
  else
    ${EXEC-} setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all "$@"
  fi
}

# debian_13_root DIR: what predict reads of a Debian 13 with users root and alice; no limits.conf, no sshd_config.
debian_13_root() {
  mkdir -p "$1"/etc/security/limits.d "$1"/etc/pam.d "$1"/etc/ssh/sshd_config.d "$1"/etc/systemd/system \
    "$1"/usr/lib/systemd/system "$1"/var/lib/dpkg "$1"/proc/1 "$1"/proc/sys/kernel "$1"/usr/lib/x86_64-linux-gnu/security
  printf 'ID=debian\nVERSION_ID="13"\n' > "$1"/etc/os-release
  printf 'Package: libpam-modules\nStatus: install ok installed\nVersion: 1.7.0-5\n\nPackage: systemd\nStatus: install ok installed\nVersion: 257.8-1\n\n' \
    > "$1"/var/lib/dpkg/status
  printf 'Limit                     Soft Limit           Hard Limit           Units\nMax locked memory         264241152            264241152            bytes\n' \
    > "$1"/proc/1/limits
  echo 6.12.0-1-amd64 > "$1"/proc/sys/kernel/osrelease
  printf 'root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/sh\n' > "$1"/etc/passwd
  printf 'root:x:0:\nalice:x:1000:\n' > "$1"/etc/group
  printf '[Service]\nExecStart=/usr/sbin/sshd -D\n' > "$1"/usr/lib/systemd/system/ssh.service
  printf 'account required pam_permit.so\nsession required pam_limits.so\n' > "$1"/etc/pam.d/sshd
  touch "$1"/usr/lib/x86_64-linux-gnu/security/pam_{limits,permit}.so
}
