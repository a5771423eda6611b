# SPDX-License-Identifier: Apache-2.0
# pindown-probe runs where an old C library is: it asks for no symbol newer than glibc 2.17, and needs libc and libdl only.
probe=$(dirname "$PINDOWN")/pindown-probe
[ -x "$probe" ] || fail "$probe is not built"
command -v readelf > /dev/null || skip "readelf is not installed"
newest=2.17

# newer FILE: the glibc versions it needs that are newer.
newer() {
  readelf -V --wide "$1" | grep -o 'GLIBC_[0-9.]*' | sort -u | while read -r symbol; do
    oldest=$(printf '%s\n%s\n' "${symbol#GLIBC_}" $newest | sort -V | tail -n 1)
    [ "$oldest" = $newest ] || echo "$symbol"
  done
}
readelf -V --wide "$probe" | grep -q GLIBC_ || fail "no version of a symbol is found in it: is it static?"
[ -z "$(newer "$probe")" ] || fail "newer than $newest: $(newer "$probe")"
libraries=$(readelf -d --wide "$probe" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | xargs)
case $libraries in
  "libc.so.6" | "libc.so.6 libdl.so.2" | "libdl.so.2") ;;
  *) fail "it needs $libraries" ;;
esac
! readelf --sections --wide "$probe" | grep -qE '\.relr\.dyn' || fail "an old loader does not know RELR relocations"
# The test can fail: this shell is newer than that.
newer "$(readlink -f /proc/$$/exe)" | grep -q GLIBC_ || skip "nothing newer than $newest here to try it on"
