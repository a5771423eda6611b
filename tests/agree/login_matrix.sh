# SPDX-License-Identifier: Apache-2.0
# Runs in a guest, as root: for each configuration, opens real sessions of every kind and compares their limits with what
# `pindown predict` says on the same machine at the same moment. usage: bash login_matrix.sh FIRST LAST [wrong]
# FIRST and LAST number the configurations to run. With `wrong`, pindown is shown another version of PAM than the machine has.
# Each line: "ok …", or "DIFFERS …"; the last one counts. What a difference consists of is left in the folder `kept`.
set -u
export HOME=/root
first=$1 last=$2 wrong=${3-}
agreed=0 differing=0

printf '#!/bin/bash\necho "LIMITS $(ulimit -Sl) $(ulimit -Hl)"\n' > /usr/local/bin/show-limits
chmod 755 /usr/local/bin/show-limits
cat > /etc/systemd/system/lab-plain.service << 'END'
[Service]
Type=oneshot
User=alice
ExecStart=/bin/sh -c 'show-limits > /run/lab/plain'
END
sed 's/plain/pam/; s/^User=alice/&\nPAMName=login/' /etc/systemd/system/lab-plain.service > /etc/systemd/system/lab-pam.service
mkdir -p /run/lab && chmod 777 /run/lab
# What a row may change, as it was.
saved=/run/lab/saved
mkdir -p $saved
cp -a /etc/pam.d /etc/default/ssh /etc/sudoers /etc/ssh/sshd_config $saved/

# The terminals of this guest are no place for a getty, so that of tty1 gets a pseudo-terminal: its unit, its limits and login are real.
rm -f /etc/systemd/system/getty@tty1.service
cat > /usr/local/bin/log-in << 'END'
#!/usr/bin/python3
import os, pty, select, time
pid, terminal = pty.fork()
if pid == 0:
    os.execv("/bin/login", ["login"])
answers = [(b"login: ", b"alice\r"), (b"assword: ", b"alice\r"),
           (b"$ ", b"show-limits > /run/lab/login.new; mv /run/lab/login.new /run/lab/login; exit\r")]
seen, end = b"", time.monotonic() + 200
while time.monotonic() < end and os.waitpid(pid, os.WNOHANG)[0] == 0:
    if select.select([terminal], [], [], 0.2)[0]:
        try:
            seen += os.read(terminal, 4096)
        except OSError:  # login hangs its terminal up and opens it again
            time.sleep(0.1)
    if answers and answers[0][0] in seen:
        os.write(terminal, answers.pop(0)[1])
        seen = b""
print(seen)
END
chmod 755 /usr/local/bin/log-in
getty_as_job() {
  mkdir -p /etc/systemd/system/getty@tty1.service.d
  cat > /etc/systemd/system/getty@tty1.service.d/00-lab.conf << 'END'
[Unit]
ConditionPathExists=
[Service]
Type=oneshot
Restart=no
ExecStart=
ExecStart=/usr/local/bin/log-in
TimeoutStartSec=300
StandardInput=null
StandardOutput=null
TTYPath=
TTYReset=no
TTYVHangup=no
TTYVTDisallocate=no
END
}

if [ "$wrong" = wrong ]; then
  # The other guest's version.
  sed '/^Package: libpam-modules$/,/^$/ { s/^Version: 1\.5.*/Version: 1.7.0-5/; t; s/^Version: 1\.7.*/Version: 1.5.2-6/ }' \
    /var/lib/dpkg/status > /run/lab/status
  mount --bind /run/lab/status /var/lib/dpkg/status
fi

# limits_of COMMAND...: "SOFT HARD" in KiB as a session says them, or "refused". A guest may be slow: that is no refusal.
limits_of() {
  local line status=0
  timeout 300 "$@" > /run/lab/said 2>&1 < /dev/null || status=$?
  [ $status -ne 124 ] || { echo "no answer in time"; return; }
  line=$(tr -d '\r' < /run/lab/said | sed -n 's/^LIMITS //p' | tail -n 1)
  echo "${line:-refused}"
}

# service_limits NAME
service_limits() {
  rm -f "/run/lab/$1"
  systemctl start "lab-$1.service" 2> /dev/null
  sed -n 's/^LIMITS //p' "/run/lab/$1" 2> /dev/null | grep . || echo refused
}

at_limits() {
  rm -f /run/lab/at
  runuser -u alice -- sh -c 'echo "show-limits > /run/lab/at.new; mv /run/lab/at.new /run/lab/at" | at now' > /dev/null 2>&1
  for _ in $(seq 300); do [ -s /run/lab/at ] && break; sleep 0.1; done
  sed -n 's/^LIMITS //p' /run/lab/at 2> /dev/null | grep . || echo refused
}

# Each minute, in alice's own crontab and in root's: what cron started is read by cron_limits, after the other sessions. The
# clock is put shortly before the minute; cron runs by it.
start_cron() {
  local user
  rm -f /run/lab/cron.*
  for user in alice root; do
    echo "* * * * * /usr/local/bin/show-limits > /run/lab/new.$user; mv /run/lab/new.$user /run/lab/cron.$user" | crontab -u $user -
  done
  date -s "$(date +'%F %H:%M:54')" > /dev/null
  systemctl restart cron.service
  minute=$(($(date +%s) / 60 + 1))
}
cron_limits() {
  until [ -s "/run/lab/cron.$1" ] || [ "$(date +%s)" -gt $((minute * 60 + 30)) ]; do sleep 0.2; done
  sed -n 's/^LIMITS //p' "/run/lab/cron.$1" 2> /dev/null | grep . || echo refused
}

login_limits() {
  rm -f /run/lab/login
  systemctl start getty@tty1.service 2> /dev/null
  sed -n 's/^LIMITS //p' /run/lab/login 2> /dev/null | grep . || echo refused
}

# keep WORDS: the files of this configuration, and pindown's answer in full.
keep() {
  local to=kept/$number
  mkdir -p "$to"
  echo "$1" >> "$to/case.txt"
  cat /run/lab/predicted >> "$to/case.txt"
  tar -c --ignore-failed-read /etc/security/limits.conf /etc/security/limits.d /etc/pam.d /etc/ssh/sshd_config /etc/ssh/sshd_config.d \
    /etc/default/ssh /etc/sudoers.d /etc/systemd 2> /dev/null | tar -x -C "$to"
}

# predicted ENTRY USER: in the same words.
predicted() {
  pindown predict --format json --via "$1" --user "$2" > /run/lab/predicted 2>&1
  if grep -q '"refused": true' /run/lab/predicted; then echo refused; return; fi
  sed -n 's/^  "\(soft\|hard\)": "\{0,1\}\([a-z0-9]*\)"\{0,1\},$/\2/p' /run/lab/predicted |
    awk '{ printf "%s%s", (NR > 1 ? " " : ""), ($1 ~ /^[0-9]+$/ ? $1 / 1024 : $1) } END { print "" }' FS='\n' OFMT=%.0f CONVFMT=%.0f
}

# compare ENTRY USER REAL
compare() {
  local said
  said=$(predicted "$1" "$2")
  if [ "$said" = "$3" ]; then
    agreed=$((agreed + 1))
    echo "ok $number $1 $2: $3"
  else
    differing=$((differing + 1))
    echo "DIFFERS $number ($title) $1 $2: real $3, predicted $said"
    keep "$title: $1 $2: real $3, predicted $said"
  fi
}

# one ENTRY USER COMMAND...: unless the row is about other sessions.
one() {
  local entry=$1 user=$2
  shift 2
  [ "$entries" = all ] || [[ " $entries " == *" $entry "* ]] || return
  compare "$entry" "$user" "$("$@")"
}

sessions() {
  local ssh="ssh -q -o BatchMode=yes -o ConnectTimeout=120"
  [ "$entries" != all ] && [[ " $entries " != *" cron "* ]] || start_cron
  one ssh alice limits_of $ssh alice@localhost show-limits
  one ssh root limits_of $ssh root@localhost show-limits
  one su alice limits_of su alice -c show-limits
  one su root limits_of su root -c show-limits
  one su-l alice limits_of su - alice -c show-limits
  one sudo alice limits_of sudo -u alice show-limits
  one sudo root limits_of sudo show-limits
  one sudo-i alice limits_of sudo -i -u alice show-limits
  one runuser alice limits_of runuser -u alice -- show-limits
  one runuser-l alice limits_of runuser -l alice -c show-limits
  one at alice at_limits
  one service:lab-plain alice service_limits plain
  one service:lab-pam alice service_limits pam
  one user-service alice limits_of systemd-run -q --user -M alice@ --pipe --wait show-limits
  one login alice login_limits
  one cron alice cron_limits alice
  one cron root cron_limits root
}

# configure LIMITS USEPAM SSH-UNIT DEFAULT [EXTRA]: LIMITS are lines of limits.conf, EXTRA is a command.
configure() {
  printf '%s\n' "$1" > /etc/security/limits.conf
  rm -f /etc/security/limits.d/*
  mkdir -p /etc/systemd/system.conf.d
  rm -rf /etc/systemd/system/*.d/ /etc/systemd/{system,user}.conf.d/* /etc/sudoers.d/lab /etc/ssh/sshd_config.d/* /etc/pam.d
  cp -a $saved/pam.d /etc/
  cp -a $saved/ssh /etc/default/
  cp -a $saved/sshd_config /etc/ssh/
  sed -i '/^#\{0,1\}UsePAM/d' /etc/ssh/sshd_config
  [ -z "$2" ] || echo "UsePAM $2" >> /etc/ssh/sshd_config
  getty_as_job
  mkdir -p /etc/systemd/system/{ssh.service,cron.service,user@.service,service,sshd.service,lab-pam.service}.d /etc/systemd/user.conf.d
  [ -z "$3" ] || printf '[Service]\nLimitMEMLOCK=%s\n' "$3" > /etc/systemd/system/ssh.service.d/lab.conf
  [ -z "$4" ] || printf '[Manager]\nDefaultLimitMEMLOCK=%s\n' "$4" > /etc/systemd/system.conf.d/lab.conf
  [ -z "${5-}" ] || eval "$5"
  systemctl daemon-reload
  loginctl terminate-user alice 2> /dev/null
  systemctl stop user@1000.service 2> /dev/null
  systemctl reset-failed
  systemctl restart ssh.service atd.service 2> /dev/null
  for _ in $(seq 50); do [ -n "$(ss -Hltn 'sport = :22')" ] && break; sleep 0.1; done
}

number=0
entries=all  # which sessions the rows are about
# row TITLE ARGUMENTS OF configure...
row() {
  title=$1
  shift
  number=$((number + 1))
  [ $number -ge "$first" ] && [ $number -le "$last" ] || return
  configure "$@"
  sessions
}

unlimited='* - memlock unlimited'
units=/etc/systemd/system
row "as installed" '' yes '' ''
row "limits.conf unlimited, UsePAM no" "$unlimited" no '' ''
row "limits.conf unlimited" "$unlimited" yes '' ''
row "as installed, UsePAM no" '' no '' ''
row "ssh unit infinity, UsePAM no" '' no infinity ''
row "ssh unit infinity" '' yes infinity ''
row "limits.conf 128, ssh unit infinity" '* - memlock 128' yes infinity ''
row "limits.conf 128, ssh unit infinity, UsePAM no" '* - memlock 128' no infinity ''
row "soft unlimited only" '* soft memlock unlimited' yes '' ''
row "hard unlimited only" '* hard memlock unlimited' yes '' ''
row "manager's default infinity" '' yes '' infinity
row "manager's default infinity, ssh unit 4M" '' yes 4M infinity
row "ssh unit 4M:32M" '' yes 4M:32M ''
row "UsePAM absent" "$unlimited" '' '' ''
row "64G in limits.conf" '* - memlock 64G' yes '' ''
row "group line" "$(printf '@hpc - memlock 262144\n* - memlock 128')" yes '' ''
row "root has a line" "$(printf '* - memlock 4096\nroot - memlock 8192')" yes 2M ''
row "exempted user" "$(printf '* - memlock unlimited\nalice -')" yes '' ''
row "limits.d wins within its class" '* - memlock 128' yes '' '' "printf '* - memlock 16384\n' > /etc/security/limits.d/50-lab.conf"
row "a user line beats a later *" 'alice - memlock 1024' yes '' '' "printf '* - memlock unlimited\n' > /etc/security/limits.d/99-lab.conf"
row "sudoers sets it" "$unlimited" yes '' '' "printf 'Defaults rlimit_memlock=1048576\n' > /etc/sudoers.d/lab; chmod 440 /etc/sudoers.d/lab"
row "maxlogins 0" "$(printf '* - memlock unlimited\nalice - maxlogins 0')" yes '' ''
row "CRLF file" "$(printf '* - memlock unlimited\r\nroot - memlock 65536\r')" yes '' ''
row "limits.conf missing" '' yes '' '' "rm /etc/security/limits.conf; printf '* - memlock unlimited\n' > /etc/security/limits.d/50-lab.conf"
row "drop-ins compete" '' no '' '' "printf '[Service]\nLimitMEMLOCK=16M\n' > /etc/systemd/system/ssh.service.d/10.conf; printf '[Service]\nLimitMEMLOCK=32M\nLimitMEMLOCK=\nLimitMEMLOCK=unlimited\n' > /etc/systemd/system/ssh.service.d/20.conf"
row "an included file comes first" "$unlimited" yes '' '' "printf 'UsePAM no\n' > /etc/ssh/sshd_config.d/01-lab.conf"
row "service.d and names that replace it" '' no 10M '' "printf '[Service]\nLimitMEMLOCK=99M\n' > $units/service.d/99-all.conf; printf '[Service]\nLimitMEMLOCK=7M\n' > $units/cron.service.d/99-all.conf"
row "limits of daemons" 'alice hard memlock 6000000' yes '' '' "for u in cron user@ lab-pam getty@tty1; do printf '[Service]\nLimitMEMLOCK=5M:64M\n' > $units/\$u.service.d/lab.conf; done; printf '[Manager]\nDefaultLimitMEMLOCK=16M\n' > /etc/systemd/user.conf.d/lab.conf"

# From here on what is special concerns PAM, so the sessions whose stacks differ do.
entries="ssh su sudo runuser-l cron"
row "the group of root exempts it" "$(printf '* - memlock 4096\nroot - memlock 8192\n@root -')" yes '' ''
row "numbers" "$(printf 'alice - memlock 1e6\nroot - memlock +64')" yes '' ''
row "more numbers" "$(printf 'alice - memlock -5\nroot - memlock 18014398509481983')" yes '' ''
row "words behind" "$(printf 'alice - memlock 128 256\nroot - memlock unlimited ok')" yes '' ''
row "byte order mark" "$(printf '\357\273\277* - memlock unlimited\nroot - memlock 128')" yes '' ''
row "misspelt" "$(printf 'Alice - memlock 1\n* - memlock unlimit\n*-memlock 2\nali* - memlock 3\n0:100 - memlock 3000\n@hpc hard memlock 900000')" yes '' ''
row "0, and a range of uids" "$(printf '* - memlock 0\n1000: - memlock 512')" yes '' ''
row "nofile above what there is" "$(printf 'alice - nofile 2000000000\n* - memlock 4096')" yes '' ''
in_pam() { sed -i "s/^\(session.*\)required *pam_limits.so/$2/" $(eval "echo $1"); }
row "conf= missing, required" "$unlimited" yes 16M '' "in_pam '/etc/pam.d/{sshd,su}' '\1required pam_limits.so conf=\/etc\/none'"
row "conf= missing, optional" "$unlimited" yes 16M '' "in_pam '/etc/pam.d/{sshd,su,cron}' '\1optional pam_limits.so conf=\/etc\/none'"
row "set_all" 'alice - memlock 1234' yes infinity '' "in_pam '/etc/pam.d/{sshd,su}' '\1required pam_limits.so set_all'"
row "a typo, required" "$unlimited" yes '' '' "in_pam '/etc/pam.d/{sshd,su}' '\1required pam_limit.so'"
row "a typo, optional" "$unlimited" yes 16M '' "in_pam '/etc/pam.d/{sshd,su}' '\1optional pam_limit.so'"
row "skipped for alice" "$(printf '* - memlock 4096\nroot - memlock 8192')" yes 16M '' "in_pam '/etc/pam.d/{sshd,su}' 'session [success=1 default=ignore] pam_succeed_if.so quiet user = alice\n&'"
row "sufficient before it" "$unlimited" yes 16M '' "in_pam '/etc/pam.d/{sshd,su}' 'session sufficient pam_permit.so\n&'"
row "as account and auth" "$unlimited" yes 16M '' "in_pam '/etc/pam.d/{sshd,su}' 'account optional pam_limits.so\nauth optional pam_limits.so'"
row "odd spellings" "$unlimited" yes 16M '' "in_pam '/etc/pam.d/{sshd,su}' 'SESSION \\\\\n  Required pam_limits.so'"
# Not su: the stack that is used instead wants a password of root, too.
row "service files missing" "$unlimited" yes 16M '' "rm /etc/pam.d/{sshd,cron}"
without='sed -i /pam_limits/d /etc/pam.d/*'
row "in common-session" "$unlimited" yes 16M '' "$without; echo 'session required pam_limits.so' >> /etc/pam.d/common-session"
row "in common-session-noninteractive" "$unlimited" yes 16M '' "$without; echo 'session required pam_limits.so' >> /etc/pam.d/common-session-noninteractive"
entries="user-service service:lab-pam"
row "a stack of systemd-user's own" "$unlimited" yes '' '' "printf 'account required pam_permit.so\nsession required pam_limits.so\nsession optional pam_systemd.so\n' > /etc/pam.d/systemd-user"
entries="sudo sudo-i su"
row "sudoers: infinity" '* - memlock 128' yes '' '' "printf 'Defaults rlimit_memlock=infinity\n' > /etc/sudoers.d/lab; chmod 440 /etc/sudoers.d/lab"
row "sudoers: soft above hard" '* - memlock 128' yes '' '' "printf 'Defaults rlimit_memlock=\"1048576,524288\"\n' > /etc/sudoers.d/lab; chmod 440 /etc/sudoers.d/lab"
row "sudoers: both" '* - memlock 128' yes '' '' "printf 'Defaults rlimit_memlock=\"524288,1048576\"\n' > /etc/sudoers.d/lab; chmod 440 /etc/sudoers.d/lab"
entries=ssh
row "a Match that ends with its file" "$unlimited" no 16M '' "printf 'Match all\n' > /etc/ssh/sshd_config.d/01-lab.conf"
row "UsePAM in a Match" "$unlimited" yes 16M '' "printf 'Match all\nUsePAM no\n' >> /etc/ssh/sshd_config"
row "another file by SSHD_OPTS" "$unlimited" yes 16M '' "sed 's/^UsePAM.*/UsePAM no/' /etc/ssh/sshd_config > /etc/ssh/other; echo 'SSHD_OPTS=-f /etc/ssh/other' > /etc/default/ssh"
row "UsePAM by SSHD_OPTS" "$unlimited" yes 16M '' "echo 'SSHD_OPTS=-oUsePAM=no' > /etc/default/ssh"
row "NO" "$unlimited" NO 16M ''
row "true is no word" "$unlimited" true 16M ''
row "CRLF in sshd_config" "$unlimited" no 16M '' "sed -i 's/\$/\r/' /etc/ssh/sshd_config"
row "drop-ins of the other name" '' no 10M '' "printf '[Service]\nLimitMEMLOCK=20M\n' > $units/sshd.service.d/zz.conf"
entries="ssh su su-l runuser cron"
row "as account, required" "$unlimited" yes 16M '' "in_pam '/etc/pam.d/{sshd,su,cron,runuser}' 'account required pam_limits.so\n&'"
echo "login-matrix: $((agreed + differing)) cases, $agreed agree, $differing disagree, of $number configurations"
[ $differing -eq 0 ]
