# SPDX-License-Identifier: Apache-2.0
# guest: bookworm trixie
# The guest is what the other tests take for granted: it booted well, has a working verbs device, users who can log in, and tools.
echo "kernel $(uname -r), $(systemctl --version | head -n 1), $(ssh -V 2>&1)"
dpkg-query -W -f='${Package} ${Version}\n' libpam-modules slurmd docker.io containerd podman crun runc perftest libibverbs1 \
  ucx-utils openmpi-bin | paste -sd, || fail "a package is missing"
modinfo -n siw 2> /dev/null || echo "this kernel has no siw"
[ "$(systemctl is-system-running)" = running ] || fail "not all started: $(systemctl --failed --no-legend)"

rdma link show rxe0/1 > link
has link "state ACTIVE"
ibv_devinfo -d rxe0 > info
has info "PORT_ACTIVE"

id -nG alice | grep -qw hpc || fail "alice is not in hpc"
id -nG bob | grep -qw gpu || fail "bob is not in gpu"
[ "$(ssh -o BatchMode=yes alice@localhost id -un)" = alice ] || fail "nobody logs in as alice"
[ "$(ssh -o BatchMode=yes root@localhost id -un)" = root ] || fail "nobody logs in as root"
[ "$(runuser -u alice -- sudo -n id -un)" = root ] || fail "alice may not use sudo"
for program in su crontab at expect strace slurmd slurmctld munged docker containerd podman crun runc ib_write_bw ucx_perftest mpirun; do
  command -v $program > /dev/null || fail "$program is missing"
done
for unit in docker containerd slurmd slurmctld munge; do
  [ "$(systemctl is-active $unit)" = inactive ] || fail "$unit runs already"
done
pindown version > out || fail "pindown does not run here"
