# SPDX-License-Identifier: Apache-2.0
# guest: bookworm trixie
# files: mr.c
# limit: 900
# The common stories, each made for real: a session of the kind that fails, a verbs client in it that is refused, and pindown
# looking at that client. The code must name the link, the evidence the line; where the story has a cure, the cure must help.
export HOME=/root
debian=$(sed -n 's/^VERSION_ID="\(.*\)"/\1/p' /etc/os-release)
mib=1024
ssh="ssh -q -o BatchMode=yes -o ConnectTimeout=20"
wrong=0

# configure LIMITS USEPAM [SSH-UNIT]
configure() {
  printf '%s\n' "$1" > /etc/security/limits.conf
  rm -f /etc/security/limits.d/* /etc/systemd/system/ssh.service.d/*
  sed -i '/^#\{0,1\}UsePAM/d' /etc/ssh/sshd_config
  echo "UsePAM $2" >> /etc/ssh/sshd_config
  mkdir -p /etc/systemd/system/ssh.service.d
  [ -z "${3-}" ] || printf '[Service]\nLimitMEMLOCK=%s\n' "$3" > /etc/systemd/system/ssh.service.d/lab.conf
  systemctl daemon-reload
  systemctl restart ssh.service
  await 20 listening
}
listening() { [ -n "$(ss -Hltn 'sport = :22')" ]; }

# client COMMAND...: COMMAND starts `mr --hold`; its pid in $pid once it has said what it got.
client() {
  pkill -x mr && await 10 no_client
  : > said
  "$@" > said 2>&1 < /dev/null &
  await 60 grep -q KiB: said
  pid=$(pgrep -x mr | tail -n 1)
  [ -n "$pid" ] || fail "there is no client: $(cat said)"
}
no_client() { ! pgrep -x mr > /dev/null; }

# told TITLE CODE [EVIDENCE] [OPTION...]: check --pid of the client names CODE first.
told() {
  local title=$1 code=$2 evidence=${3-} first
  shift 3 2> /dev/null || shift $#
  pindown check --pid "$pid" "$@" > report 2> err
  first=$(sed -n '1s/.*\(PD[0-9]*\) .*/\1/p' report)
  if [ "$first" != "$code" ] || ! grep -qF -e "$evidence" report; then
    wrong=$((wrong + 1))
    echo "WRONG $title: should be $code with '$evidence':"
    head -n 40 report err
  else
    echo "ok $title: $(head -n 1 report)"
  fi
}
healthy() {
  pindown check --pid "$pid" > report 2> err && grep -q '^✓ healthy' report && grep -q registered said && return
  wrong=$((wrong + 1))
  echo "WRONG $1: should be healthy: $(cat said)"
  head -n 30 report err
}

everybody='* - memlock unlimited'

configure "$everybody" no
client $ssh alice@localhost "mr --hold $((16 * mib))"
told "UsePAM no" PD102 "UsePAM no"
pindown predict --via ssh --user alice > predicted
has predicted "decided by"
grep -A1 "decided by" predicted | grep -q "UsePAM no" || { wrong=$((wrong + 1)); echo "WRONG predict of UsePAM no: $(cat predicted)"; }
configure "$everybody" yes
client $ssh alice@localhost "mr --hold $((16 * mib))"
healthy "UsePAM yes"

cp /etc/pam.d/sshd sshd.kept
sed -i '/pam_limits/d' /etc/pam.d/sshd
client $ssh alice@localhost "mr --hold $((16 * mib))"
told "pam_limits not in the stack" PD103 "/etc/pam.d/sshd"
cp sshd.kept /etc/pam.d/sshd

configure '* - memlock 64G' yes
client $ssh alice@localhost "mr --hold $((16 * mib))"
told "64G is 64 KiB" PD104 "/etc/security/limits.conf:1"

configure "$everybody" yes
client $ssh root@localhost "capsh --drop=cap_ipc_lock -- -c 'mr --hold $((300 * mib))'"
told "root is not in *" PD105 "/etc/security/limits.conf:1" --need 4G

configure "$(printf 'alice - memlock 1024\n* - memlock unlimited')" yes
client $ssh alice@localhost "mr --hold $((16 * mib))"
told "a user's line beats *" PD106 "/etc/security/limits.conf:1"

configure "$(printf '* hard memlock unlimited\n* soft memlock 1024')" yes
client $ssh alice@localhost "mr --hold $((16 * mib))"
told "soft below hard" PD107

if [ "$debian" = 12 ]; then
  configure '' yes infinity
  client $ssh alice@localhost "mr --hold $((300 * mib))"
  told "PAM resets to PID 1's" PD108 "" --need 4G
else
  configure '' yes
  client $ssh alice@localhost "mr --hold $((16 * mib))"
  told "nobody set anything" PD112
fi

configure '* - memlock 4096' yes
client $ssh alice@localhost "mr --hold $((16 * mib))"
printf '%s\n' "$everybody" > /etc/security/limits.conf
told "older than the fix" PD109 "/etc/security/limits.conf:1"

configure '* - memlock 0x100' yes
client $ssh alice@localhost "mr --hold 4"
told "a limit of 0" PD110

configure "$everybody" yes
client $ssh alice@localhost "ulimit -l 64; mr --hold 68; true"
told "lowered in the session" PD113

client systemd-run -q --wait --pipe --unit lab-job -p User=alice mr --hold $((16 * mib))
told "a service without a limit" PD201 "lab-job.service"

client $ssh alice@localhost "ulimit -l 64; unshare -Ur mr --hold 68; true"
told "root of a user namespace" PD306

pkill -x mr
[ $wrong -eq 0 ] || fail "$wrong stories told wrongly"
