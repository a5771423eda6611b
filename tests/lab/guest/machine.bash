# SPDX-License-Identifier: Apache-2.0
# The guest's hardware, sourced by scripts/lab. A saved state only starts on the very machine it was saved on, so this file is
# part of an image's hash. Names are relative to the image's folder; $vm is the folder of this run.

# 2 GiB: PID 1's own memlock limit is an eighth of it, and tests know that number.
machine=(
  -nodefaults -no-user-config -display none -no-reboot
  -machine pc,hpet=off -accel tcg,thread=multi -cpu max -smp 2 -m 2G
  -kernel vmlinuz -initrd initrd
  -append "root=/dev/vda rw console=ttyS0 quiet loglevel=4 panic=-1 nokaslr mitigations=off audit=0 apparmor=0 tsc=reliable
    no_timer_check random.trust_cpu=on cryptomgr.notests systemd.show_status=0"
  -drive "if=none,id=root,file=root.img,format=raw,cache=unsafe,snapshot=$snapshot" -device virtio-blk-pci,drive=root
  -drive "if=none,id=job,file=$vm/job.img,format=raw,readonly=on" -device virtio-blk-pci,drive=job
  -serial "${serial:-file:$vm/console}" -device virtio-serial-pci
  -chardev "file,id=output,path=$vm/output,append=on" -device virtserialport,chardev=output,name=lab.output
  -chardev "file,id=status,path=$vm/status" -device virtserialport,chardev=status,name=lab.status
)
