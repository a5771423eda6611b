# SPDX-License-Identifier: Apache-2.0
# Runs in a guest, as root: for each configuration, opens real sessions of every kind and compares their limits with what
# `pindown predict` says on the same machine at the same moment. usage: bash login_matrix.sh FIRST LAST [wrong]
# FIRST and LAST number the configurations to run. With `wrong`, pindown is shown another version of PAM than the machine has.
# Each line: "ok …", or "DIFFERS …"; the last one counts.
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

if [ "$wrong" = wrong ]; then
  # The other guest's version.
  sed '/^Package: libpam-modules$/,/^$/ { s/^Version: 1\.5.*/Version: 1.7.0-5/; t; s/^Version: 1\.7.*/Version: 1.5.2-6/ }' \
    /var/lib/dpkg/status > /run/lab/status
  mount --bind /run/lab/status /var/lib/dpkg/status
fi

# limits_of COMMAND...: "SOFT HARD" in KiB as a session says them, or "refused".
limits_of() {
  local line
  line=$(timeout 60 "$@" 2>&1 < /dev/null | tr -d '\r' | sed -n 's/^LIMITS //p' | tail -n 1)
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
  for _ in $(seq 100); do [ -s /run/lab/at ] && break; sleep 0.1; done
  sed -n 's/^LIMITS //p' /run/lab/at 2> /dev/null | grep . || echo refused
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
  fi
}

sessions() {
  local ssh="ssh -q -o BatchMode=yes -o ConnectTimeout=20"
  compare ssh alice "$(limits_of $ssh alice@localhost show-limits)"
  compare ssh root "$(limits_of $ssh root@localhost show-limits)"
  compare su alice "$(limits_of su alice -c show-limits)"
  compare su-l alice "$(limits_of su - alice -c show-limits)"
  compare sudo alice "$(limits_of sudo -u alice show-limits)"
  compare sudo root "$(limits_of sudo show-limits)"
  compare sudo-i alice "$(limits_of sudo -i -u alice show-limits)"
  compare runuser alice "$(limits_of runuser -u alice -- show-limits)"
  compare runuser-l alice "$(limits_of runuser -l alice -c show-limits)"
  compare at alice "$(at_limits)"
  compare service:lab-plain alice "$(service_limits plain)"
  compare service:lab-pam alice "$(service_limits pam)"
  compare user-service alice "$(limits_of systemd-run -q --user -M alice@ --pipe --wait show-limits)"
}

# configure LIMITS USEPAM SSH-UNIT DEFAULT [EXTRA]: LIMITS are lines of limits.conf, EXTRA is a command.
configure() {
  printf '%s\n' "$1" > /etc/security/limits.conf
  rm -f /etc/security/limits.d/*
  sed -i '/^#\{0,1\}UsePAM/d' /etc/ssh/sshd_config
  [ -z "$2" ] || echo "UsePAM $2" >> /etc/ssh/sshd_config
  mkdir -p /etc/systemd/system/ssh.service.d /etc/systemd/system.conf.d
  rm -f /etc/systemd/system/ssh.service.d/* /etc/systemd/system.conf.d/* /etc/sudoers.d/lab
  [ -z "$3" ] || printf '[Service]\nLimitMEMLOCK=%s\n' "$3" > /etc/systemd/system/ssh.service.d/lab.conf
  [ -z "$4" ] || printf '[Manager]\nDefaultLimitMEMLOCK=%s\n' "$4" > /etc/systemd/system.conf.d/lab.conf
  [ -z "${5-}" ] || eval "$5"
  systemctl daemon-reload
  loginctl terminate-user alice 2> /dev/null
  systemctl stop user@1000.service 2> /dev/null
  systemctl restart ssh.service atd.service
  for _ in $(seq 100); do [ -n "$(ss -Hltn 'sport = :22')" ] && break; sleep 0.1; done
}

number=0
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
rm -f /etc/ssh/sshd_config.d/01-lab.conf
echo "login-matrix: $((agreed + differing)) cases, $agreed agree, $differing disagree, of $number configurations"
[ $differing -eq 0 ]
