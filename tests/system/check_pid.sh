#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Real processes in many states of RLIMIT_MEMLOCK and CAP_IPC_LOCK: what `pindown check --pid` says must agree with what the
# kernel lets that very process lock. PINDOWN=the program; TARGET=the helper target (built here with g++ if unset).
# Prints "ok NAME", "FAIL NAME: why" or "skip NAME: why" a state; the last line is the tally.
set -u
here=$(cd "$(dirname "$0")" && pwd)
passed=0 failed=0 skipped=0

ok() { passed=$((passed + 1)); echo "ok $1"; }
fail() { failed=$((failed + 1)); echo "FAIL $1: $2"; }
skip() { skipped=$((skipped + 1)); echo "skip $1: $2"; }
finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ "$failed" -eq 0 ]
  exit
}

pindown=${PINDOWN:-$here/../../build/release/pindown}
for need in "$pindown" jq setpriv unshare bash; do
  command -v "$need" >/dev/null || { fail setup "no $need"; finish; }
done
if [ "$(id -u)" -ne 0 ]; then
  skip all "needs root to make the states"
  finish
fi

# A directory that everybody may enter, with a copy of the program that everybody may run.
dir=$(mktemp -d /tmp/pindown-system-XXXXXX)
trap 'exec {hold}>&-; rm -rf "$dir"' EXIT
chmod 755 "$dir"
cp "$pindown" "$dir/pindown" && chmod 755 "$dir/pindown"
if [ -n "${TARGET:-}" ]; then
  cp "$TARGET" "$dir/target"
else
  ${CXX:-g++} -O1 -o "$dir/target" "$here/target.cc" || { fail setup "cannot build target.cc"; finish; }
fi
chmod 755 "$dir/target"
head -c 4096 /dev/zero >"$dir/libnccl.so.2"
chmod 644 "$dir/libnccl.so.2"
# Targets live while this is open: their standard input ends with it.
mkfifo "$dir/stdin"
exec {hold}<>"$dir/stdin"

# 8 MiB everywhere, so that the states do not depend on the machine; where it is more, this very shell lowers it.
if ! ulimit -Hl 8192 2>/dev/null || ! ulimit -Sl 8192 2>/dev/null; then
  skip all "the hard limit is below 8 MiB and cannot be raised"
  finish
fi
# Codes that say "the limit is too low", whoever set it: that depends on where this script was started.
too_low='PD101|PD112|PD201|PD202|PD203|PD204|PD301|PD304'
# This shell or one above it may have lowered it.
soft_of() { awk '/^Max locked memory/ {print $4}' "/proc/$1/limits"; }
[ "$(soft_of 1)" = "$(soft_of $$)" ] || too_low="$too_low|PD113"
mib=1048576

# start NAME COMMAND...: runs COMMAND, which must end in the target; its answers are then in $dir/NAME.
start() {
  local name=$1 i
  shift
  "$@" <"$dir/stdin" >"$dir/$name" 2>"$dir/$name.err" {hold}>&- &
  for i in $(seq 200); do
    grep -qs '^ready$' "$dir/$name" && return 0
    kill -0 $! 2>/dev/null || break
    sleep 0.05
  done
  skip "$name" "cannot be made here: $(tail -n 1 "$dir/$name.err" | cut -c 1-120)"
  return 1
}

answer() { sed -n "s/^$2=//p" "$dir/$1"; }
said() { jq -r "$2" "$dir/$1.json" 2>/dev/null; }

# ask NAME PID ARGUMENT...: the report into $dir/NAME.json. Runs as $as where that is set.
as=()
ask() {
  local name=$1 pid=$2
  shift 2
  "${as[@]}" "$dir/pindown" check --pid "$pid" --format json "$@" >"$dir/$name.json" 2>"$dir/$name.err"
  status=$?
}

exit_of() { case $1 in fault) echo 1 ;; undetermined) echo 2 ;; healthy | degraded) echo 0 ;; *) echo none ;; esac; }

# report_problem NAME VERDICTS: the report is JSON, has one of these verdicts (a|b), and the exit status that goes with it.
report_problem() {
  local verdict
  verdict=$(said "$1" .verdict)
  [ "$(said "$1" .schema)" = pindown.report/1 ] || { echo "no report (exit $status): $(head -c 200 "$dir/$1.err")"; return; }
  [[ $verdict =~ ^($2)$ ]] || { echo "verdict $verdict, not $2: $(said "$1" .headline)"; return; }
  [ "$status" = "$(exit_of "$verdict")" ] || echo "exit $status with verdict $verdict"
}

# limit_problem NAME PID: soft and hard of the last link are those of getrlimit(2) in the process.
limit_problem() {
  local last='.trails[] | select(.subject.pid == '$2') | .links[-1]'
  local have real
  have="$(said "$1" "$last | .pid") $(said "$1" "$last | .soft") $(said "$1" "$last | .hard")"
  real="$2 $(answer "$1" soft) $(answer "$1" hard)"
  [ "$have" = "$real" ] || echo "trail ends in pid/soft/hard '$have', the process has '$real'"
}

# capability_problem NAME: where the trail's summary speaks of the capability, it is usable just if mlock passed the limit.
capability_problem() {
  local summary
  summary=$(said "$1" '.trails[0].summary // ""')
  case "$summary $(answer "$1" over)" in
    *"CAP_IPC_LOCK yes OK" | *"CAP_IPC_LOCK no ENOMEM" | *"CAP_IPC_LOCK no EPERM") ;;
    *"CAP_IPC_LOCK void in its user namespace ENOMEM" | *unknown*) ;;
    *CAP_IPC_LOCK*) echo "'$summary', but mlock over the limit says $(answer "$1" over)" ;;
  esac
}

# judge NAME MLOCK VERDICTS CODES ARGUMENT...: MLOCK is what the kernel must have answered over the limit, else the state was
# not reached. CODES (a|b) must be among the errors and warnings; "none" means no error at all; "any" anything.
judge() {
  local name=$1 over=$2 verdicts=$3 codes=$4 pid problem found
  shift 4
  pid=$(answer "$name" pid)
  if [ "$(answer "$name" over)" != "$over" ]; then
    skip "$name" "mlock over the limit answered $(answer "$name" over), not $over: not that state"
    return
  fi
  ask "$name" "$pid" "$@"
  problem=$(report_problem "$name" "$verdicts")
  [ -n "$problem" ] || problem=$(limit_problem "$name" "$pid")
  [ -n "$problem" ] || problem=$(capability_problem "$name")
  found=$(said "$name" '[.findings[] | select(.severity != "note") | .code] | join(" ")')
  case $codes in
    any) ;;
    none) [ -z "$(said "$name" '.findings[] | select(.severity == "error") | .code')" ] || problem=${problem:-"findings: $found"} ;;
    *) [[ " $found " =~ \ ($codes)\  ]] || problem=${problem:-"none of $codes among: $found"} ;;
  esac
  if [ -n "$problem" ]; then fail "$name" "$problem"; else ok "$name"; fi
}

# never NAME CODE: the last report of NAME does not have it.
never() {
  if said "$1" '.findings[].code' | grep -qx "$2"; then fail "$1-without-$2" "it was found"; else ok "$1-without-$2"; fi
}

# The first pid and user namespace, and PID 1's mounts: no container.
on_the_machine() {
  [ "$(readlink /proc/self/ns/pid /proc/self/ns/user | xargs)" = "pid:[4026531836] user:[4026531837]" ] &&
    [[ $(readlink /proc/self/ns/mnt) =~ ^($(readlink /proc/1/ns/mnt | sed 's/[][]/\\&/g')|mnt:\[4026531832\])$ ]]
}

job=("$dir/target" --map "$dir/libnccl.so.2")
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
no_cap=(setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock)

capability_states() {
  start root-with-capability "${job[@]}" && judge root-with-capability OK healthy none
  start root-without-capability "${no_cap[@]}" "${job[@]}" && judge root-without-capability ENOMEM fault "$too_low"
  # Every user's bounding set has the capability; that somebody granted it can only be said in a container.
  if start non-root-bounding-only "${nobody[@]}" "${job[@]}"; then
    judge non-root-bounding-only ENOMEM fault "PD305|$too_low"
    ! on_the_machine || never non-root-bounding-only PD305
  fi
  if start non-root-without-capability "${nobody[@]}" --bounding-set -ipc_lock "${job[@]}"; then
    judge non-root-without-capability ENOMEM fault "$too_low"
    never non-root-without-capability PD305
  fi
  start non-root-ambient "${nobody[@]}" --inh-caps +ipc_lock --ambient-caps +ipc_lock "${job[@]}" &&
    judge non-root-ambient OK healthy none
  start user-namespace-root unshare -U -r "${job[@]}" && judge user-namespace-root ENOMEM fault PD306
}

file_capability_states() {
  local name
  cp "$dir/target" "$dir/capable"
  if ! setcap cap_ipc_lock+ep "$dir/capable" 2>/dev/null; then
    for name in file-capability file-capability-no-new-privs; do skip "$name" "setcap does not work in $dir"; done
    return
  fi
  start file-capability "${nobody[@]}" "$dir/capable" --map "$dir/libnccl.so.2" && judge file-capability OK healthy none
  # setpriv itself keeps its permitted set over the change of uid; only a program started by it has none left to pass on.
  start file-capability-no-new-privs "${nobody[@]}" --no-new-privs bash -c '"$@"; :' no-privileges \
    "$dir/capable" --map "$dir/libnccl.so.2" &&
    judge file-capability-no-new-privs ENOMEM fault any
}

limit_states() {
  start limit-zero "${no_cap[@]}" "${job[@]}" --soft 0 && judge limit-zero EPERM fault PD110
  start limit-zero-with-capability "${job[@]}" --soft 0 && judge limit-zero-with-capability OK healthy none
  if start soft-below-hard "${no_cap[@]}" "${job[@]}" --soft $mib; then
    judge soft-below-hard ENOMEM fault PD107 --need 4M
    never soft-below-hard PD305
  fi
  start soft-below-hard-default-need "${no_cap[@]}" "${job[@]}" --soft $mib &&
    judge soft-below-hard-default-need ENOMEM fault any
  start need-is-met "${no_cap[@]}" "${job[@]}" && judge need-is-met ENOMEM healthy none --need 4M
  start odd-limit "${no_cap[@]}" "${job[@]}" --soft 1000001 && judge odd-limit ENOMEM fault any
  # mlock and registrations count apart (mm->locked_vm, mm->pinned_vm), each against the whole limit.
  start mlocked-memory-is-not-pinned "${no_cap[@]}" "${job[@]}" --hold $((6 * mib)) &&
    judge mlocked-memory-is-not-pinned ENOMEM healthy none --need 4M
}

# Everything a shell lowers stays lowered below it; the trail must name that shell.
ancestor_state() {
  local name=lowered-by-a-shell shell set_by
  # "; :" keeps the shell: it must not exec its last command.
  start $name bash -c 'ulimit -l 1024; "$@"; :' lowering-shell "${no_cap[@]}" "${job[@]}" || return
  judge $name ENOMEM fault PD113
  shell=$(answer $name ppid)
  set_by=$(said $name '[.trails[0].links[] | select(.set_here) | .pid][-1]')
  if [ "$set_by" = "$shell" ]; then ok $name-names-it; else fail $name-names-it "set by pid $set_by, not $shell"; fi
}

# Somebody else's eyes: limits and capabilities are public, maps, environ and descriptors are not.
foreign_eyes() {
  local name problem
  as=("${nobody[@]}" --inh-caps -all)
  for name in root-with-capability root-without-capability; do
    [ -f "$dir/$name.json" ] || continue
    ask "$name" "$(answer "$name" pid)"
    # What nobody may not read is unknown: never the opposite of the truth.
    if [ "$name" = root-with-capability ]; then problem=$(report_problem $name 'healthy|undetermined'); else
      problem=$(report_problem $name 'fault|undetermined')
    fi
    [ -n "$problem" ] || problem=$(limit_problem "$name" "$(answer "$name" pid)")
    if [ -n "$problem" ]; then fail "$name-seen-by-nobody" "$problem"; else ok "$name-seen-by-nobody"; fi
  done
  as=()
}

ended_states() {
  local pid problem i
  sleep 0 &
  pid=$!
  wait $pid
  ask ended $pid
  problem=$(report_problem ended undetermined)
  if [ -n "$problem" ]; then fail ended "$problem"; else ok ended; fi

  # The child of a program that never waits stays a zombie; it must end after the exec, for the shell does wait.
  bash -c 'sleep 0.2 & echo $! >"$0"; exec cat' "$dir/zombie" <"$dir/stdin" >/dev/null {hold}>&- &
  for i in $(seq 100); do
    pid=$(cat "$dir/zombie" 2>/dev/null)
    grep -qs '^State:.Z' "/proc/$pid/status" && break
    sleep 0.05
  done
  ask zombie "$pid"
  problem=$(report_problem zombie undetermined)
  if [ -n "$problem" ]; then fail zombie "$problem"; else ok zombie; fi

  problem=
  for i in $(seq 40); do
    sleep "0.00$((i % 10))" &
    ask dying $!
    [ -n "$problem" ] || problem=$(report_problem dying 'healthy|degraded|undetermined|fault')
  done
  if [ -n "$problem" ]; then fail dying "$problem"; else ok dying; fi
}

capability_states
file_capability_states
limit_states
ancestor_state
foreign_eyes
ended_states
finish
