# SPDX-License-Identifier: Apache-2.0
# What a Slurm job will get: from slurm.conf, slurmd's unit, --propagate and the limit of the shell that submits.
debian_13_root root
mkdir -p root/etc/slurm
printf "UsePAM yes\n" > root/etc/ssh/sshd_config
: > root/etc/security/limits.conf
printf 'ClusterName=c\nSlurmctldHost=h\nNodeName=n[1-512] CPUs=64\n' > root/etc/slurm/slurm.conf
printf '[Service]\nExecStart=/usr/sbin/slurmd -D\nLimitMEMLOCK=infinity\n' > root/usr/lib/systemd/system/slurmd.service
ask() { local status=$1; shift; expect "$status" "$PINDOWN" predict --root root --format json --via slurm --user alice "$@"; }

ask 0 --submit-limit 64KiB
json 'r["entry"] == "slurm" and r["soft"] == 65536 and r["hard"] == "unlimited" and r["cap_ipc_lock"] is False'
json 'r["decided_by"] == {"source": "--submit-limit", "text": "64KiB"} and r["links"][1]["name"] == "slurmstepd"'
ask 0 --submit-limit 64KiB --propagate=NONE
json 'r["soft"] == "unlimited" and r["decided_by"]["source"].endswith("slurmd.service:3")'
ask 0 --submit-limit 64KiB --propagate
json 'r["soft"] == 65536'
# A directory has no shell that submits.
ask 2
json 'r["soft"] is None and r["hard"] == "unlimited" and any("--submit-limit" in u for u in r["unknown"])'
ask 0 --from ssh:alice
json 'r["soft"] == 8388608 and r["decided_by"]["source"].endswith("ssh.service")'
SLURM_RLIMIT_MEMLOCK=U4096 ask 2
expect 0 "$PINDOWN" predict --root root --via slurm --user alice --submit-limit 64KiB
has out 'slurm · alice · memlock 64 KiB (hard unlimited) · CAP_IPC_LOCK no'

printf 'PropagateResourceLimitsExcept=MEMLOCK\n' >> root/etc/slurm/slurm.conf
ask 0 --submit-limit 64KiB
json 'r["soft"] == "unlimited" and r["links"][1]["source"] == "/etc/slurm/slurm.conf:4"'

# Broken and hostile files are named, and nothing is guessed.
printf 'PropagateResourceLimits=memlock\n' >> root/etc/slurm/slurm.conf
ask 1 --submit-limit 64KiB
json 'r["refused"] and r["refused_why"] == "Slurm does not accept /etc/slurm/slurm.conf: Bad rlimit name: memlock"'
json 'r["decided_by"]["source"] == "/etc/slurm/slurm.conf:5"'
printf 'include slurm.conf\n' > root/etc/slurm/slurm.conf
ask 1 --submit-limit 64KiB
json '"without end" in r["refused_why"]'
ln -sf /etc/passwd root/etc/slurm/slurm.conf
expect 1 "$PINDOWN" predict --root root --format json --via slurm --user alice --submit-limit 64KiB
json 'r["decided_by"]["source"] == "/etc/slurm/slurm.conf:1"'
rm root/etc/slurm/slurm.conf
ask 2 --submit-limit 64KiB
json 'any("SLURM_CONF" in u for u in r["unknown"])'

expect 64 "$PINDOWN" predict --via ssh --submit-limit 64KiB
expect 64 "$PINDOWN" predict --via slurm --submit-limit many
