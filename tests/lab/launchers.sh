# SPDX-License-Identifier: Apache-2.0
# guest: bookworm trixie
# What starts jobs on such machines works here: sshd, cron's at, systemd, Docker, podman, runc, crun and Slurm each run one.
says() { local what=$1; shift; "$@" > out 2>&1 < /dev/null; has out "$what"; }

says alice ssh -o BatchMode=yes alice@localhost id -un
says alice su - alice -c 'id -un'
says alice sudo -u alice id -un
says alice runuser -u alice -- id -un
says alice systemd-run -q --pipe --wait -p User=alice id -un
says alice systemd-run -q --user -M alice@ --pipe --wait id -un
echo "id -un > /tmp/at.out" | runuser -u alice -- at now
await 60 grep -qs alice /tmp/at.out

# An image made of busybox alone.
mkdir -p root/bin
cp /bin/busybox root/bin/
ln -s busybox root/bin/sh
tar -c -C root . > image.tar
systemctl start docker
says sha256 docker import image.tar lab
says "inside 0" docker run --rm --network none lab /bin/sh -c 'echo inside $(/bin/busybox id -u)'
podman import -q image.tar lab > /dev/null 2>&1
says "inside 0" podman run --rm --network none localhost/lab /bin/sh -c 'echo inside $(/bin/busybox id -u)'
for runtime in runc crun; do
  rm -f config.json
  $runtime spec
  sed -i 's/"terminal": true/"terminal": false/; s/"rootfs"/"root"/; s/"sh"/"sh", "-c", "echo inside"/' config.json
  mkdir -p root/proc root/dev root/sys
  says inside $runtime run job
done

cat > /etc/slurm/slurm.conf << 'END'
ClusterName=lab
SlurmctldHost=lab
SlurmUser=slurm
ProctrackType=proctrack/pgid
TaskPlugin=task/none
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
ReturnToService=2
NodeName=lab CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=lab Nodes=ALL Default=YES State=UP
END
mkdir -p /var/spool/slurmctld /var/spool/slurmd
chown slurm: /var/spool/slurmctld
systemctl start munge slurmctld slurmd || fail "Slurm does not start: $(journalctl -b -u slurmctld -u slurmd --no-pager | tail -n 20)"
await 60 sh -c 'sinfo -h -o %t | grep -qx idle'
says alice runuser -u alice -- srun id -un
