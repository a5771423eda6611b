# SPDX-License-Identifier: Apache-2.0
# predict reads a directory laid out as a machine: the limits, the line that decides, a refused session, what is unknown.
debian_13_root root
cp root/etc/pam.d/sshd root/etc/pam.d/su
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
: > root/etc/security/limits.conf
printf 'account required pam_limits.so\nsession required pam_limits.so\n' > root/etc/pam.d/sshd
cp root/etc/pam.d/sshd root/etc/pam.d/runuser
ask 1 --via ssh --user alice
json 'r["refused"] is True and r["refused_why"] == "pam_limits.so has no part for accounts"'
json 'r["decided_by"]["source"] == "/etc/pam.d/sshd:1"'
ask 0 --via runuser --user alice --from service
json 'r["refused"] is False'
printf 'account required pam_permit.so\nsession required pam_limits.so\n' > root/etc/pam.d/sshd

# A group of LDAP's may be hers; a directory cannot be asked.
printf 'passwd: files sss\ngroup: files sss\n' > root/etc/nsswitch.conf
printf '@hpc - memlock unlimited\n' > root/etc/security/limits.conf
ask 0 --via ssh --user alice
json 'r["soft"] == 8388608 and len(r["assumed"]) == 1 and "hpc (/etc/security/limits.conf:1)" in r["assumed"][0] and "sss" in r["assumed"][0]'
printf 'alice - memlock 64\n' >> root/etc/security/limits.conf
ask 0 --via ssh --user alice
json 'r["soft"] == 65536 and r["assumed"] == []'
rm root/etc/nsswitch.conf
: > root/etc/security/limits.conf

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
