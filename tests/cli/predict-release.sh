# SPDX-License-Identifier: Apache-2.0
# Where no package database can be read, the release says which PAM and systemd a system has: predict answers for Red Hat's,
# SUSE's and Amazon's families, and says so where another version would answer otherwise.

# machine NAME ID ID_LIKE VERSION: a root with sshd, PAM and nothing configured.
machine() {
  rm -rf root
  mkdir -p root/etc/security/limits.d root/etc/pam.d root/etc/ssh root/usr/lib/systemd/system root/usr/lib64/security
  printf 'NAME="%s"\nID="%s"\nID_LIKE="%s"\nVERSION_ID="%s"\n' "$1" "$2" "$3" "$4" > root/etc/os-release
  printf 'root:x:0:0::/root:/bin/sh\nalice:x:1000:1000::/home/alice:/bin/sh\n' > root/etc/passwd
  printf 'root:x:0:\nalice:x:1000:\n' > root/etc/group
  printf '[Service]\nExecStart=/usr/sbin/sshd -D\n' > root/usr/lib/systemd/system/sshd.service
  printf 'account include password-auth\nsession include password-auth\n' > root/etc/pam.d/sshd
  printf 'account required pam_unix.so\nsession required pam_limits.so\nsession required pam_unix.so\n' > root/etc/pam.d/password-auth
  touch root/usr/lib64/security/pam_limits.so root/usr/lib64/security/pam_unix.so
  printf 'UsePAM yes\n' > root/etc/ssh/sshd_config
  : > root/etc/security/limits.conf
}
ask() { local status=$1; shift; expect "$status" "$PINDOWN" predict --root root --via ssh --format json "$@"; }

machine "Rocky Linux" rocky "rhel centos fedora" 9.4
ask 0 --user alice
json 'r["soft"] == 8388608 and r["decided_by"]["source"].endswith("sshd.service")'
json 'len(r["assumed"]) == 1 and "systemd 252" in r["assumed"][0] and "RHEL 9" in r["assumed"][0]'
expect 0 "$PINDOWN" predict --root root --via ssh --user alice
has out 'likely memlock 8 MiB'
has out 'the package was not read'

# What no version reads differently is no assumption.
printf '* - memlock unlimited\n' > root/etc/security/limits.conf
ask 0 --user alice
json 'r["soft"] == "unlimited" and r["hard"] == "unlimited" and r["decided_by"]["source"] == "/etc/security/limits.conf:1"'
json 'r["assumed"] == [] and r["unknown"] == []'
# Upstream: * covers root.
ask 0 --user root
json 'r["soft"] == "unlimited"'

# 1.5.1 takes one word, 1.6.1 the rest of the line.
printf '* - memlock unlimited  # for RDMA\n* - memlock 64 KB\n' > root/etc/security/limits.conf
ask 0 --user alice
json 'r["soft"] == 65536'
printf '* - memlock unlimited really\n' > root/etc/security/limits.conf
ask 0 --user alice
json 'r["soft"] == "unlimited" and any("PAM 1.5.1" in a for a in r["assumed"])'
sed -i 's/9.4/10.0/' root/etc/os-release
ask 0 --user alice
json 'r["soft"] == 8388608 and any("PAM 1.6.1" in a for a in r["assumed"])'

# Without limits.conf 1.5.1 refuses the session; from 1.5.3 on the vendor directory of Red Hat is looked into.
machine "AlmaLinux" almalinux "rhel centos fedora" 9.5
rm root/etc/security/limits.conf
ask 1 --user alice
json 'r["refused"] and r["assumed"]'
machine "Fedora Linux" fedora "" 41
rm root/etc/security/limits.conf
mkdir -p root/usr/share/security
printf '* - memlock 4096\n' > root/usr/share/security/limits.conf
ask 0 --user alice
json 'r["soft"] == 4194304 and r["decided_by"]["source"] == "/usr/share/security/limits.conf:1"'

# systemd before 251 passes the kernel's default on; the release says which kernel, the running one goes before it.
machine "Oracle Linux Server" ol fedora 8.9
ask 0 --user alice
json 'r["soft"] == 65536 and "systemd 239" in r["assumed"][0]'
mkdir -p root/proc/sys/kernel
echo 6.12.0-1.uek > root/proc/sys/kernel/osrelease
ask 0 --user alice
json 'r["soft"] == 8388608'
machine "Amazon Linux" amzn "centos rhel fedora" 2
ask 0 --user alice
json 'r["soft"] == 65536 and "Amazon Linux 2:" not in r["assumed"][0] and "systemd 219" in r["assumed"][0]'
machine "Amazon Linux" amzn fedora 2023
ask 0 --user alice
json 'r["soft"] == 8388608'

machine "SLES" sles suse 15.5
ask 0 --user alice
json 'r["soft"] == 65536 and "systemd 249" in r["assumed"][0] and "SP4, SP5" in r["assumed"][0]'
sed -i 's/15.5/15.6/' root/etc/os-release
ask 0 --user alice
json 'r["soft"] == 8388608 and "systemd 254" in r["assumed"][0]'
printf '* soft memlock 128\n' > root/etc/security/limits.d/a.conf
ask 0 --user alice
json 'r["soft"] == 131072 and r["decided_by"]["source"] == "/etc/security/limits.d/a.conf:1"'
machine "openSUSE Leap" opensuse-leap "suse opensuse" 15.6
printf '@alice - memlock unlimited\n' > root/etc/security/limits.conf
ask 0 --user alice
json 'r["soft"] == "unlimited" and r["assumed"] == []'

# A release nobody knows: what all versions agree on is said, the rest is unknown.
machine "Something" something "" 7
ask 2 --user alice
json 'r["soft"] is None and r["unknown"]'
printf '* - memlock unlimited\n' > root/etc/security/limits.conf
ask 0 --user alice
json 'r["soft"] == "unlimited"'
printf '* - memlock unlimited really\n' > root/etc/security/limits.conf
ask 2 --user alice
json 'r["soft"] is None and any("version of PAM" in u for u in r["unknown"])'
