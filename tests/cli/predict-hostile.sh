# SPDX-License-Identifier: Apache-2.0
# Configuration that loops, is enormous, is no file or may not be read: predict ends soon and in little memory, names the file,
# judges the rest, and its exit status is one of its own.

machine() {
  chmod -R u+rwX root 2> /dev/null
  rm -rf root
  debian_13_root root
  printf '* - memlock 4096\n' > root/etc/security/limits.conf
  printf 'UsePAM yes\n' > root/etc/ssh/sshd_config
}

# asks TITLE STATUS [ARGUMENT...]: within 20 seconds and 1 GiB; text in ./text, JSON in ./out.
asks() {
  local title=$1 want=$2 status=0
  shift 2
  [ $# -gt 0 ] || set -- --via ssh --user alice
  timeout 20 prlimit --as=1073741824 -- $AS "$PINDOWN" predict --root root "$@" > text 2> err || status=$?
  [ $status -eq "$want" ] || fail "$title: ended with $status, should be $want: $(head -c 1500 text err)"
  clean text
  ! grep -E 'runtime error:|AddressSanitizer|terminate called|Assertion' err || fail "$title: reported the above"
  timeout 20 $AS "$PINDOWN" predict --root root --format json "$@" > out 2>> err
}
AS=''
says() { tr -s ' \n' '  ' < text | grep -qF -e "$1" || fail "'$1' is not said: $(head -c 1500 text)"; }

machine
asks plain 0
json 'r["soft"] == 4194304 and r["decided_by"]["source"] == "/etc/security/limits.conf:1"'

# --- sshd: an Include that includes itself, in a circle, and a thousand times ---
machine
printf 'Include /etc/ssh/sshd_config.d/*.conf\nUsePAM yes\n' > root/etc/ssh/sshd_config
printf 'Include /etc/ssh/sshd_config.d/*.conf\n' | tee root/etc/ssh/sshd_config.d/a.conf > root/etc/ssh/sshd_config.d/b.conf
asks "Include loop" 1
says "sshd_config.d/a.conf"
for i in $(seq 2000); do echo "Include /etc/ssh/sshd_config.d/n/$i"; done > root/etc/ssh/sshd_config
echo 'UsePAM yes' >> root/etc/ssh/sshd_config
asks "2,000 Includes of nothing" 0
json 'r["soft"] == 4194304'
printf 'Include /etc/ssh/sshd_config.d/**/**/**/*a*a*a*a*a*a*a*b\nUsePAM yes\n' > root/etc/ssh/sshd_config
for i in $(seq 200); do : > "root/etc/ssh/sshd_config.d/$(printf 'a%.0s' $(seq 80))$i"; done
asks "a pattern made to take long" 0
json 'r["soft"] == 4194304'

# --- units: 10,000 drop-ins, a line of 1 MB, 100,000 lines ---
machine
mkdir root/etc/systemd/system/ssh.service.d
(cd root/etc/systemd/system/ssh.service.d && for i in $(seq -w 10000); do printf '[Service]\nLimitMEMLOCK=%d\n' "$((10#$i * 4096))" > "$i.conf"; done)
: > root/etc/security/limits.conf
asks "10,000 drop-ins" 0
json 'r["soft"] == 40960000 and r["decided_by"]["source"] == "/etc/systemd/system/ssh.service.d/10000.conf:2"'
: > root/etc/systemd/system/ssh.service.d/x.conf
printf '[Service]\nLimitMEMLOCK=infinity\n' > root/etc/systemd/system/ssh.service.d/zz.conf
asks "more drop-ins than are read" 0
says "ssh.service.d"
machine
: > root/etc/security/limits.conf
mkdir root/etc/systemd/system/ssh.service.d
python3 -c "print('[Service]\nEnvironment=' + 'x' * (1 << 20) + '\nLimitMEMLOCK=16M')" > root/etc/systemd/system/ssh.service.d/a.conf
asks "1 MB in a unit" 0
json '(r["soft"] == 16777216 and r["decided_by"]["source"].endswith("a.conf:3")) or any("a.conf" in u for u in r["unknown"])'
python3 -c "print('[Service]'); [print('Environment=A%d=1' % i) for i in range(100000)]; print('LimitMEMLOCK=16M')" > root/etc/systemd/system/ssh.service.d/a.conf
asks "100,000 lines in a unit" 0
json 'r["soft"] == 16777216 and r["decided_by"]["source"].endswith("a.conf:100002")'
python3 -c "print('[Service]\n' + 'Environment=A \\\\\n' * 100000 + 'LimitMEMLOCK=16M')" > root/etc/systemd/system/ssh.service.d/a.conf
asks "100,000 continued lines" 0
json 'r["soft"] is not None or r["unknown"]'

# --- limits.conf: a line of 1 MB, 100,000 lines, 10,000 files, NUL bytes, a file above the cap ---
machine
python3 -c "print('* - memlock 64 ' + 'x' * (1 << 20) + '\nalice - memlock 128')" > root/etc/security/limits.conf
asks "1 MB in limits.conf" 0
json 'r["soft"] == 131072 and r["decided_by"]["source"] == "/etc/security/limits.conf:2"'
python3 -c "[print('user%d - memlock %d' % (i, i)) for i in range(100000)]; print('alice - memlock 128')" > root/etc/security/limits.conf
asks "100,000 lines in limits.conf" 0
json 'r["soft"] == 131072 and r["decided_by"]["source"] == "/etc/security/limits.conf:100001"'
printf '\0\0* - memlock 1\n\0alice\0 - memlock 2\nalice - memlock 128\n\0' > root/etc/security/limits.conf
asks "NUL bytes" 0
json 'r["soft"] == 131072'
: > root/etc/security/limits.conf
(cd root/etc/security/limits.d && for i in $(seq -w 10000); do echo "alice - memlock $((10#$i))" > "$i.conf"; done)
asks "10,000 files in limits.d" 0
json 'r["soft"] == 10240000 and r["decided_by"]["source"] == "/etc/security/limits.d/10000.conf:1"'
: > root/etc/security/limits.d/z.conf
asks "more files than are read" 2
says "/etc/security/limits.d"
machine
truncate -s 1G root/etc/security/limits.d/a.conf
asks "a file of 1 GiB" 2
says "/etc/security/limits.d/a.conf"

# --- PAM: include in a circle, a file of its own, deep, many ---
machine
printf 'account required pam_permit.so\nsession include a\n' > root/etc/pam.d/sshd
printf 'session include b\n' > root/etc/pam.d/a
printf 'session include a\nsession required pam_limits.so\n' > root/etc/pam.d/b
asks "PAM include loop" 1
says "/etc/pam.d/b:1"
printf 'account required pam_permit.so\nsession substack sshd\n' > root/etc/pam.d/sshd
asks "a PAM file that includes itself" 1
says "/etc/pam.d/sshd:2"
for i in $(seq 500); do printf 'session include n%d\nsession include n%d\n' $((i + 1)) $((i + 1)) > "root/etc/pam.d/n$i"; done
printf 'account required pam_permit.so\nsession include n1\n' > root/etc/pam.d/sshd
# Not read to its end, so neither a refusal nor a limit is known.
asks "doubling includes" 2
says "more than 10000 includes in one stack"
machine
python3 -c "print('account required pam_permit.so\\nsession required pam_limits.so ' + 'x' * (1 << 19)); [print('session optional pam_limits.so conf=/etc/%d' % i) for i in range(5000)]" > root/etc/pam.d/sshd
timeout 20 "$PINDOWN" predict --root root --via ssh --user alice > text 2> err
[ $? -le 2 ] || fail "5,000 lines of pam_limits: $(head -c 500 text err)"

# --- directories, FIFOs, links in a circle, links out of the root, in place of files ---
for what in directory fifo loop outside; do
  for file in etc/security/limits.conf etc/security/limits.d/a.conf etc/pam.d/sshd etc/ssh/sshd_config \
    usr/lib/systemd/system/ssh.service etc/systemd/system/ssh.service.d/a.conf etc/passwd etc/os-release; do
    machine
    mkdir -p "$(dirname "root/$file")"
    rm -f "root/$file"
    case $what in
      directory) mkdir "root/$file" ;;
      fifo) mkfifo "root/$file" ;;
      loop) ln -s "/$file" "root/$file" ;;
      outside) ln -s ../../../../../../../../../../../etc/shadow "root/$file" ;;
    esac
    timeout 20 "$PINDOWN" predict --root root --via ssh --user alice > text 2> err
    status=$?
    [ $status -le 2 ] || fail "$what as $file: ended with $status: $(head -c 500 text err)"
    # What it is told of as unknown or refused names a file; what is answered is answered from the rest.
    [ $status -eq 0 ] || grep -qE "/|the user is not" text || fail "$what as $file is not named: $(cat text)"
    ! grep -q 'root:[*!$]' text || fail "$file led out of the root"
  done
done

# --- what may not be read ---
for file in etc/security/limits.conf etc/pam.d/sshd etc/ssh/sshd_config usr/lib/systemd/system/ssh.service; do
  machine
  chmod 000 "root/$file"
  chmod 755 . root
  if [ "$(id -u)" -eq 0 ]; then
    cp "$PINDOWN" readable && chmod 755 readable
    timeout 20 setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all ./readable predict \
      --root root --via ssh --user alice > text 2> err
  else
    timeout 20 "$PINDOWN" predict --root root --via ssh --user alice > text 2> err
  fi
  status=$?
  # What sshd has does not matter where limits.conf sets both.
  [[ $file == *ssh.service ]] && want=0 || want=2
  [ $status -eq $want ] || fail "unreadable $file: ended with $status, should be $want: $(cat text err)"
  says "/$file"
done
machine
