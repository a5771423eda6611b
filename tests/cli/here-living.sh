# SPDX-License-Identifier: Apache-2.0
# A log of this machine whose process still lives is judged by that process too; a pid that something else has now is not believed.
[ "$(ulimit -Sl)" != unlimited ] || ulimit -Sl 8192
head -c 4096 /dev/zero > libnccl.so.2
python3 -c 'import mmap, sys
file = open("libnccl.so.2", "rb")
keep = mmap.mmap(file.fileno(), 4096, access=mmap.ACCESS_READ)
print("ready", flush=True); sys.stdin.read()' < <(sleep 60) > said &
pid=$!
until [ -s said ]; do kill -0 "$pid" || fail "it did not start"; sleep 0.05; done
write_log() {
  echo "$(hostname):$1:$1 [0] NCCL INFO NET/IB : Using [0]mlx5_0:1/RoCE [RO]; OOB eno1:10.0.0.7<0>"
  echo "$(hostname):$1:$1 [0] misc/ibvwrap.cc:169 NCCL WARN Call to ibv_reg_mr_iova2 failed with error Cannot allocate memory"
}
write_log "$pid" > living.log
write_log $$ > other.log
"$PINDOWN" check --here --format json living.log > out 2> err
json "r['verdict'] in ('fault', 'undetermined')"
has out "/proc/$pid/"
"$PINDOWN" check --here --format json other.log > out 2> err
lacks out "/proc/$$/"
kill "$pid"
