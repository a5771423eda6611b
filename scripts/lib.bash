# SPDX-License-Identifier: Apache-2.0
# Shared by quickstart, test and bench: a step with its elapsed time, and packages installed only when missing.
# Sourced with the working directory at the top of the tree. Must not: print anything but progress and errors.

step_number=0
steps_total=0
step_log=build/step.log     # every step's output, one after the other
step_output=build/step.out  # the last step's alone

say() { printf '%s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

# step TITLE COMMAND...: runs it with its output in $step_log; shows the last lines of that if it fails.
# On a terminal the line is live, with ninja's own count; elsewhere it is written at start and completed at the end.
step() {
  local title=$1 start=$SECONDS count status=0 pid
  shift
  step_number=$((step_number + 1))
  : > "$step_output"
  if [ -t 1 ]; then
    "$@" > "$step_output" 2>&1 < /dev/null &
    pid=$!
    while kill -0 "$pid" 2> /dev/null; do
      count=$(grep -o '^\[[0-9]*/[0-9]*\]' "$step_output" | tail -n 1)
      printf '\r\033[K[%d/%d] %s %s ... %d s' "$step_number" "$steps_total" "$title" "$count" $((SECONDS - start))
      sleep 0.5
    done
    wait "$pid" || status=$?
    printf '\r\033[K[%d/%d] %s ... %d s' "$step_number" "$steps_total" "$title" $((SECONDS - start))
  else
    printf '[%d/%d] %s ... ' "$step_number" "$steps_total" "$title"
    "$@" > "$step_output" 2>&1 < /dev/null || status=$?
    printf '%d s' $((SECONDS - start))
  fi
  { printf '== %s\n' "$title"; cat "$step_output"; } >> "$step_log"
  if [ "$status" -ne 0 ]; then
    say ', failed'
    tail -n 20 "$step_output"
    say "(all of it: $step_log)"
  else
    say
  fi
  return "$status"
}

# missing_packages LIST...: names that dpkg does not know as installed.
missing_packages() {
  local names
  names=$(scripts/packages "$@")
  { dpkg-query -W -f='${Package} ${db:Status-Abbrev}\n' $names 2> /dev/null | sed -n 's/ ii *$//p'; printf '%s\n' $names; } |
    sort | uniq -c | awk '$1 == 1 { print $2 }'
}

# as_root COMMAND...: directly as root, else through sudo.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; else sudo "$@"; fi
}

# install_packages NAMES...: the package index is only refreshed when the one at hand does not do.
install_packages() {
  local get="env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300"
  as_root $get install -y --no-install-recommends "$@" && return
  as_root $get update && as_root $get install -y --no-install-recommends "$@"
}

# ensure_packages LIST...: installs what is missing, or says in one line why it cannot.
ensure_packages() {
  local missing
  if ! command -v apt-get > /dev/null || ! command -v dpkg-query > /dev/null; then
    die "this needs Debian 12 or newer (there is no apt-get here). Elsewhere install the counterparts of: $(scripts/packages "$@" | paste -sd' ')," \
      "then run: cmake --preset release && cmake --build --preset release"
  fi
  missing=$(missing_packages "$@" | paste -sd' ')
  if [ -z "$missing" ]; then
    step "packages are all there" true
  elif [ "$(id -u)" -ne 0 ] && ! command -v sudo > /dev/null; then
    die "you are not root and there is no sudo: as root, run: apt-get update && apt-get install -y --no-install-recommends $missing"
  else
    # sudo may ask for a password: let it do so before its output goes to a file.
    [ "$(id -u)" -eq 0 ] || sudo -v || die "sudo was refused, so these cannot be installed: $missing"
    step "installing $(wc -w <<< "$missing") packages" install_packages $missing
  fi
}

# build_preset PRESET [TARGET...]: configures once, then builds; ninja re-runs cmake by itself when a CMake file changed.
build_preset() {
  local preset=$1
  shift
  [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" || return
  cmake --build --preset "$preset" ${1:+--target "$@"}
}

# fuzz_seeds TARGET: where the recorded inputs of a target are.
fuzz_seeds() { if [ -d "tests/fuzz/corpus/$1" ]; then echo "tests/fuzz/corpus/$1"; else echo tests/cases; fi; }

# each_fuzz_target FOLDER FUNCTION: FUNCTION PROGRAM for every target built there, as many at once as there are processors; it says
# "ok NAME: ..." or "FAILED NAME: ...". Ends in "N passed, N failed, N skipped".
each_fuzz_target() {
  export -f say fuzz_seeds "$2"
  local out bad total
  out=$(find "$1" -maxdepth 1 -name 'fuzz_*' -type f -executable | sort | xargs -r -P "$(nproc)" -I{} bash -c "$2 {}")
  printf '%s\n' "$out"
  bad=$(grep -c '^FAILED' <<< "$out") total=$(ls tests/fuzz/fuzz_*.cc | wc -l)
  # A target that printed nothing did not run.
  [ $((bad + $(grep -c '^ok' <<< "$out"))) -eq "$total" ] || bad=$((bad + 1))
  say "$((total - bad)) passed, $bad failed, 0 skipped"
  [ "$bad" -eq 0 ]
}
