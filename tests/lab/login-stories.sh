# SPDX-License-Identifier: Apache-2.0
# guest: bookworm trixie
# files: mr.c
# limit: 1700
# The common stories, each made for real: a session of the kind that fails, a verbs client in it that is refused, and pindown
# looking at that client. The code must name the link, the evidence the line; where the story has a cure, the cure must help.
# What `predict` says of such a session is held against the limits that the client really has, and against the line that decided.
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
  (await "${patience-60}" grep -q KiB: said) || fail "the client says nothing: $(cat said; journalctl -q -n 20 -o cat)"
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

# hosted TITLE CODE: check of the whole machine names it, too.
hosted() {
  pindown check > report 2> err
  grep -q "$2" report && echo "ok check of the machine, $1: $2" && return
  wrong=$((wrong + 1))
  echo "WRONG check of the machine, $1: $2 is not named:"
  head -n 40 report err
}

# limits_of_client: "SOFT HARD" of $pid, in bytes or unlimited.
limits_of_client() { awk '/^Max locked memory/ { print $4, $5 }' "/proc/$pid/limits"; }

# predicted TITLE SOURCE LIMITS OPTION...: predict's deciding source contains SOURCE, its limits are LIMITS ("SOFT HARD"; as: the
# client's own).
predicted() {
  local title=$1 source=$2 limits=$3 said
  shift 3
  [ "$limits" != as ] || limits=$(limits_of_client)
  pindown predict --format json "$@" > prediction 2> err
  said=$(python3 -c 'import json
p = json.load(open("prediction"))
print(p["decided_by"]["source"], p["soft"], p["hard"])')
  [[ $said == *"$source"*" $limits" ]] && echo "ok predict, $title: $said" && return
  wrong=$((wrong + 1))
  echo "WRONG predict, $title: '$said' should be '...$source... $limits'"
  cat prediction err
}

everybody='* - memlock unlimited'
usepam() { echo "/etc/ssh/sshd_config:$(grep -n '^UsePAM' /etc/ssh/sshd_config | cut -d: -f1)"; }

configure "$everybody" no
client $ssh alice@localhost "mr --hold $((16 * mib))"
told "UsePAM no" PD102 "UsePAM no"
hosted "UsePAM no" PD102
predicted "UsePAM no" "$(usepam)" as --via ssh --user alice
configure "$everybody" yes
client $ssh alice@localhost "mr --hold $((16 * mib))"
healthy "UsePAM yes"
predicted "UsePAM yes" /etc/security/limits.conf:1 as --via ssh --user alice

cp /etc/pam.d/sshd sshd.kept
sed -i '/pam_limits/d' /etc/pam.d/sshd
client $ssh alice@localhost "mr --hold $((16 * mib))"
told "pam_limits not in the stack" PD103 "/etc/pam.d/sshd"
predicted "pam_limits not in the stack" /etc/pam.d/sshd as --via ssh --user alice
cp sshd.kept /etc/pam.d/sshd

configure '* - memlock 64G' yes
client $ssh alice@localhost "mr --hold $((16 * mib))"
told "64G is 64 KiB" PD104 "/etc/security/limits.conf:1"
predicted "64G is 64 KiB" /etc/security/limits.conf:1 "65536 65536" --via ssh --user alice

configure "$everybody" yes
client $ssh root@localhost "capsh --drop=cap_ipc_lock -- -c 'mr --hold $((300 * mib))'"
told "root is not in *" PD105 "/etc/security/limits.conf:1" --need 4G
predicted "root is not in *" "$([ "$debian" = 12 ] && echo /proc/1/limits || echo ssh.service)" as --via ssh --user root

configure "$(printf 'alice - memlock 1024\n* - memlock unlimited')" yes
client $ssh alice@localhost "mr --hold $((16 * mib))"
told "a user's line beats *" PD106 "/etc/security/limits.conf:1"
predicted "a user's line beats *" /etc/security/limits.conf:1 "1048576 1048576" --via ssh --user alice

configure "$(printf '* hard memlock unlimited\n* soft memlock 1024')" yes
client $ssh alice@localhost "mr --hold $((16 * mib))"
told "soft below hard" PD107
predicted "soft below hard" /etc/security/limits.conf:2 "1048576 unlimited" --via ssh --user alice

if [ "$debian" = 12 ]; then
  configure '' yes infinity
  client $ssh alice@localhost "mr --hold $((300 * mib))"
  told "PAM resets to PID 1's" PD108 "" --need 4G
  predicted "PAM resets to PID 1's" /proc/1/limits as --via ssh --user alice
else
  configure '' yes
  client $ssh alice@localhost "mr --hold $((16 * mib))"
  told "nobody set anything" PD112
  predicted "nobody set anything" ssh.service "8388608 8388608" --via ssh --user alice
fi

configure '* - memlock 4096' yes
client $ssh alice@localhost "mr --hold $((16 * mib))"
printf '%s\n' "$everybody" > /etc/security/limits.conf
told "older than the fix" PD109 "/etc/security/limits.conf:1"
hosted "older than the fix" PD109
predicted "older than the fix" /etc/security/limits.conf:1 "unlimited unlimited" --via ssh --user alice

configure '* - memlock 0x100' yes
client $ssh alice@localhost "mr --hold 4"
told "a limit of 0" PD110
predicted "a limit of 0" /etc/security/limits.conf:1 "0 0" --via ssh --user alice

configure "$everybody" yes
client $ssh alice@localhost "ulimit -l 64; mr --hold 68; true"
told "lowered in the session" PD113
predicted "lowered in the session" /etc/security/limits.conf:1 "unlimited unlimited" --via ssh --user alice

client systemd-run -q --wait --pipe --unit lab-job -p User=alice mr --hold $((16 * mib))
told "a service without a limit" PD201 "lab-job.service"
hosted "a service without a limit" PD201
predicted "a service without a limit" lab-job.service "8388608 8388608" --via service:lab-job

client $ssh alice@localhost "ulimit -l 64; unshare -Ur mr --hold 68; true"
told "root of a user namespace" PD306
predicted "root of a user namespace" /etc/security/limits.conf:1 "unlimited unlimited" --via ssh --user alice

# --- su, sudo and cron: their own stacks, and who calls them ---

# called OPTION... -- COMMAND...: a client of a service with these properties.
called() {
  calls=$((${calls-0} + 1))
  client systemd-run -q --wait --pipe --collect --unit lab-call-$calls "$@"
}

configure "$everybody" yes
cp /etc/pam.d/su su.kept
sed -i '/pam_limits/d' /etc/pam.d/su
called su alice -c "mr --hold $((16 * mib)); true"
told "pam_limits not in su's stack" PD103 /etc/pam.d/su
predicted "pam_limits not in su's stack" /etc/pam.d/su "8388608 8388608" --via su --user alice --from service
cp su.kept /etc/pam.d/su
called su alice -c "mr --hold $((16 * mib)); true"
healthy "su with pam_limits"
predicted "su with pam_limits" /etc/security/limits.conf:1 as --via su --user alice --from service

configure '' yes
for via in su sudo; do
  [ $via = su ] && call=(sh -c "su alice -c 'mr --hold $((300 * mib)); true'; true") || call=(sudo -u alice mr --hold $((300 * mib)))
  called -p LimitMEMLOCK=infinity "${call[@]}"
  if [ "$debian" = 12 ]; then
    told "$via resets to PID 1's" PD108 /proc/1/limits --need 4G
    predicted "$via resets to PID 1's" /proc/1/limits as --via $via --user alice --from service
  else
    healthy "$via keeps what calls it has"
  fi
done

configure '* - memlock 4096' yes
called su alice -c "mr --hold $((16 * mib)); true"
printf '%s\n' "$everybody" > /etc/security/limits.conf
told "su: older than the fix" PD109 /etc/security/limits.conf:1

# by_cron KIB: a client of alice's crontab; cron starts it within a minute.
by_cron() {
  patience=150 client bash -c "echo '* * * * * alice pgrep -x mr || /usr/local/bin/mr --hold $1 > $PWD/said 2>&1' > /etc/cron.d/lab; chmod 666 $PWD/said; chmod 755 $PWD; exec cat"
  rm /etc/cron.d/lab
}
configure '* - memlock 4096' yes
by_cron $((16 * mib))
predicted "cron" /etc/security/limits.conf:1 as --via cron --user alice
printf '%s\n' "$everybody" > /etc/security/limits.conf
told "cron: older than the fix" PD109 /etc/security/limits.conf:1

cp /etc/pam.d/cron cron.kept
sed -i '/pam_limits/d' /etc/pam.d/cron
by_cron $((16 * mib))
told "pam_limits not in cron's stack" PD103 /etc/pam.d/cron
predicted "pam_limits not in cron's stack" /etc/pam.d/cron as --via cron --user alice
cp cron.kept /etc/pam.d/cron

# --- services: older than their unit's edit, lowered by what they run, allowed nothing ---

# service TEXT: a unit lab-unit.service of its own.
service() {
  printf '[Service]\nUser=alice\nStandardOutput=file:%s/said\nStandardError=inherit\n%s\n' "$PWD" "$1" > /etc/systemd/system/lab-unit.service
  rm -rf /etc/systemd/system/lab-unit.service.d
  systemctl daemon-reload
  client systemctl restart lab-unit.service
}
service "ExecStart=/lab/mr --hold $((16 * mib))"
told "a unit without a limit" PD201 lab-unit.service
mkdir -p /etc/systemd/system/lab-unit.service.d
printf '[Service]\nLimitMEMLOCK=infinity\n' > /etc/systemd/system/lab-unit.service.d/lab.conf
systemctl daemon-reload
told "older than its unit's edit" PD109 /etc/systemd/system/lab-unit.service.d/lab.conf:2
hosted "older than its unit's edit" PD109
client systemctl restart lab-unit.service
healthy "restarted"
predicted "restarted" /etc/systemd/system/lab-unit.service.d/lab.conf:2 as --via service:lab-unit

service "ExecStart=/lab/mr --hold $((16 * mib))"
mkdir -p /etc/systemd/system.conf.d
printf '[Manager]\nDefaultLimitMEMLOCK=infinity\n' > /etc/systemd/system.conf.d/lab.conf
systemctl daemon-reload
told "older than the default's edit" PD109 /etc/systemd/system.conf.d/lab.conf:2
client systemctl restart lab-unit.service
healthy "restarted with the new default"
predicted "restarted with the new default" /etc/systemd/system.conf.d/lab.conf:2 as --via service:lab-unit
rm /etc/systemd/system.conf.d/lab.conf

service "LimitMEMLOCK=infinity
ExecStart=/bin/sh -c 'ulimit -l 64; /lab/mr --hold 68; true'"
told "a service's program lowers it" PD113 /etc/systemd/system/lab-unit.service:5
service "LimitMEMLOCK=infinity
ExecStart=/bin/sh -c 'ulimit -l 64; exec /lab/mr --hold 68'"
told "a service lowers its own" PD113 /etc/systemd/system/lab-unit.service:5
service "LimitMEMLOCK=0
ExecStart=/lab/mr --hold 4"
told "a service that may lock nothing" PD110 ""
predicted "a service that may lock nothing" /etc/systemd/system/lab-unit.service:5 "0 0" --via service:lab-unit
systemctl stop lab-unit.service

# --- systemd listens for sshd and starts a service for each connection: that one's unit counts ---
configure "$everybody" no 12M
systemctl cat ssh@.service > /dev/null 2>&1 ||
  printf '[Service]\nExecStart=-/usr/sbin/sshd -i\nStandardInput=socket\nRuntimeDirectory=sshd\nRuntimeDirectoryPreserve=yes\n' > /etc/systemd/system/ssh@.service
mkdir -p /etc/systemd/system/ssh.socket.d /etc/systemd/system/ssh@.service.d
printf '[Socket]\nAccept=yes\n' > /etc/systemd/system/ssh.socket.d/lab.conf
printf '[Service]\nLimitMEMLOCK=14M\n' > /etc/systemd/system/ssh@.service.d/lab.conf
systemctl disable -q --now ssh.service
systemctl daemon-reload
systemctl enable -q --now ssh.socket || fail "ssh.socket: $(systemctl status ssh.socket)"
await 20 listening
client $ssh alice@localhost "mr --hold $((16 * mib))"
[ "$(limits_of_client)" = "14680064 14680064" ] || fail "the client has $(limits_of_client)"
predicted "a service for each connection" "$(usepam)" as --via ssh --user alice
told "a service for each connection, UsePAM no" PD102 "UsePAM no"
sed -i 's/^UsePAM.*/UsePAM yes/' /etc/ssh/sshd_config
client $ssh alice@localhost "mr --hold $((16 * mib))"
healthy "a service for each connection, UsePAM yes"
predicted "a service for each connection, UsePAM yes" /etc/security/limits.conf:1 as --via ssh --user alice

pkill -x mr
[ $wrong -eq 0 ] || fail "$wrong stories told wrongly"
