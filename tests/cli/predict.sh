# SPDX-License-Identifier: Apache-2.0
# predict reads a directory laid out as a machine: the limits, the line that decides, a refused session, what is unknown.
mkdir -p root/etc/security/limits.d root/etc/pam.d root/etc/ssh root/usr/lib/systemd/system root/var/lib/dpkg root/proc/1 \
  root/proc/sys/kernel root/usr/lib/x86_64-linux-gnu/security
printf 'ID=debian\nVERSION_ID="13"\n' > root/etc/os-release
printf 'Package: libpam-modules\nStatus: install ok installed\nVersion: 1.7.0-5\n\nPackage: systemd\nStatus: install ok installed\nVersion: 257.8-1\n\n' \
  > root/var/lib/dpkg/status
printf 'Limit                     Soft Limit           Hard Limit           Units\nMax locked memory         264241152            264241152            bytes\n' \
  > root/proc/1/limits
echo 6.12.0-1-amd64 > root/proc/sys/kernel/osrelease
printf 'root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/sh\n' > root/etc/passwd
printf 'root:x:0:\nalice:x:1000:\n' > root/etc/group
printf '[Service]\nExecStart=/usr/sbin/sshd -D\n' > root/usr/lib/systemd/system/ssh.service
printf 'session required pam_limits.so\n' | tee root/etc/pam.d/sshd > root/etc/pam.d/su
touch root/usr/lib/x86_64-linux-gnu/security/pam_limits.so
printf '* - memlock unlimited\n' > root/etc/security/limits.conf
printf 'UsePAM no\n' > root/etc/ssh/sshd_config

ask() { local status=$1; shift; expect "$status" "$PINDOWN" predict --root root --format json "$@"; }

ask 0 --via ssh --user alice
json 'r["schema"] == "pindown.predict/1" and r["entry"] == "ssh" and r["user"] == "alice"'
json 'r["soft"] == 8388608 and r["hard"] == 8388608 and r["cap_ipc_lock"] is False and r["refused"] is False'
json 'r["decided_by"] == {"source": "/etc/ssh/sshd_config:1", "text": "UsePAM no"} and r["links"][0]["name"] == "ssh.service"'
expect 0 "$PINDOWN" predict --root root --via ssh --user alice
has out 'decided by  /etc/ssh/sshd_config:1'

printf 'UsePAM yes\n' > root/etc/ssh/sshd_config
ask 0 --via ssh --user alice
json 'r["soft"] == "unlimited" and r["decided_by"]["source"] == "/etc/security/limits.conf:1"'
# On Debian `*` is not for root, and this version of PAM starts from what sshd has.
ask 0 --via ssh
json 'r["user"] == "root" and r["soft"] == 8388608 and r["cap_ipc_lock"] is True'
ask 0 --via su --user root --from ssh:alice
json 'r["soft"] == "unlimited"'

# Who calls su is not in a directory, and what it has would matter.
printf '' > root/etc/security/limits.conf
ask 2 --via su --user alice
json 'r["soft"] is None and r["unknown"]'
ask 0 --via su --user alice --from service
json 'r["soft"] == 8388608'

printf 'alice - maxlogins 0\n' > root/etc/security/limits.conf
ask 1 --via ssh --user alice
json 'r["refused"] is True and r["soft"] is None'
ask 2 --via ssh --user nobody-here
json 'r["unknown"]'
ask 2 --via service:no-such-unit
rm root/var/lib/dpkg/status
ask 2 --via ssh --user alice

expect 64 "$PINDOWN" predict
expect 64 "$PINDOWN" predict --via telnet
has err 'no entry point is called telnet'
expect 64 "$PINDOWN" predict --via service
expect 64 "$PINDOWN" predict --via 'service:../../etc'
expect 64 "$PINDOWN" predict --via su --from telnet
expect 64 "$PINDOWN" predict --via ssh --root /no/such/folder
# On this machine: whatever it says, it says so in one of its ways.
"$PINDOWN" predict --via ssh > out 2> err
[ $? -le 2 ] || fail "$(cat err)"
clean out
