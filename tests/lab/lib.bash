# SPDX-License-Identifier: Apache-2.0
# Words the scripts of tests/lab share; bash reads it before each of them. They run as root in the guest, in a folder of their own.

unset BASH_ENV
fail() { echo "$*"; exit 1; }
skip() { echo "$*"; exit 77; }

# has FILE TEXT: the text stands in the file, literally. lacks FILE TEXT: it does not.
has() { grep -aqF -e "$2" "$1" || fail "'$2' is not in $1: $(head -c 3000 "$1")"; }
lacks() { ! grep -aqF -e "$2" "$1" || fail "'$2' is in $1: $(head -c 3000 "$1")"; }

# expect STATUS COMMAND...: keeps what it printed in ./out and ./err.
expect() {
  local want=$1 status=0
  shift
  "$@" > out 2> err || status=$?
  [ "$status" -eq "$want" ] || fail "$* ended with $status, should be $want: $(head -c 3000 out err)"
}

# await SECONDS COMMAND...: until it succeeds, quietly.
await() {
  local end=$((SECONDS + $1))
  shift
  until "$@" 2> /dev/null; do
    [ $SECONDS -lt $end ] || fail "still not so after a while: $*"
    sleep 0.1
  done
}

# limited LIMIT USER COMMAND...: with LIMIT (bytes or unlimited; SOFT:HARD) of locked memory, without a session or any capability.
# In the background, $! is the command itself.
limited() {
  local limit=$1 user=$2
  shift 2
  ${EXEC-} prlimit --memlock="$limit" setpriv --reuid="$user" --regid="$user" --init-groups --inh-caps=-all "$@"
}
