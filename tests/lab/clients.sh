# SPDX-License-Identifier: Apache-2.0
# guest: bookworm trixie
# files: mpi.c
# limit: 900
# What UCX and Open MPI print when their user's limit is too low is explained by the log alone; what they print with no limit never
# blames one. Over rxe UCX's connections need its own unreliable datagrams, which rxe does not carry: there its jobs fail with no
# limit, too, for another reason, and single transports stand for what works. Open MPI's openib and ofi do not take rxe at all.
kib=1024
wrong=0
# Debian 13's is built with MPI, and takes itself for a job of that unless told.
alone=()
! ucx_perftest -h 2>&1 | grep -q 'MPI mode' || alone=(-P 0)

# pair LIMIT TLS ARGUMENT...: ucx_perftest's server and client, both of bob's; their output in ./server and ./client.
pair() {
  local limit=$1 tls=$2 server status=0 patience=60
  shift 2
  # What has no limit and gets no answer would wait for ever.
  [ "$limit" != unlimited ] || patience=20
  # One that UCX aborts takes its time over its last words, and keeps the port meanwhile.
  await 30 port_free
  EXEC=exec limited "$limit" bob env UCX_TLS="$tls" UCX_NET_DEVICES=rxe0:1 timeout -k 2 $patience ucx_perftest "${alone[@]}" "$@" > server 2>&1 &
  server=$!
  for _ in $(seq 300); do
    [ -z "$(ss -Hltn 'sport = :13337')" ] && kill -0 $server 2> /dev/null || break
    sleep 0.1
  done
  limited "$limit" bob env UCX_TLS="$tls" UCX_NET_DEVICES=rxe0:1 timeout -k 2 $patience ucx_perftest 127.0.0.1 "${alone[@]}" "$@" > client 2>&1 || status=$?
  kill $server 2> /dev/null
  wait $server 2> /dev/null
  return $status
}

port_free() { ! pgrep -x ucx_perftest > /dev/null && [ -z "$(ss -Htan 'sport = :13337' state listening)" ]; }

# mpi LIMIT OPTION...: a job of two ranks of bob's; its output in ./client.
mpi() {
  local limit=$1 patience=40
  shift
  [ "$limit" != unlimited ] || patience=20
  limited "$limit" bob env HOME=/tmp timeout -k 5 $patience mpirun -np 2 --oversubscribe "$@" /lab/mpi $((4 << 20)) > client 2>&1
}

# explained TITLE CODE STATUS [ADDED]: check of ./client (with a line more, as a user would paste it) names CODE first and ends so.
explained() {
  local title=$1 code=$2 want=$3 status=0 first
  { cat client; [ -z "${4-}" ] || echo "$4"; } | pindown check - > out 2> err || status=$?
  first=$(grep -o 'PD[0-9]*' out | head -n 1)
  if [ "$first" = "$code" ] && [ $status -eq "$want" ]; then echo "ok $title: $(head -n 1 out)"; return; fi
  wrong=$((wrong + 1))
  echo "WRONG $title: should be $code with status $want, is $first with $status:"
  head -n 40 client | cut -c1-300
  head -n 30 out err
}
# unblamed TITLE: check of ./client does not find that a limit did it.
unblamed() {
  pindown check - < client > out 2> err
  if ! sed -n 1p out | grep -qE 'PD1[01]'; then echo "ok $1, no limit: $(head -n 1 out)"; return; fi
  wrong=$((wrong + 1))
  echo "WRONG $1: a limit is blamed, and there is none:"
  head -n 40 client | cut -c1-300
  head -n 30 out err
}

# --- UCX ---
for tls in rc_verbs ud_verbs; do
  test=(-d rxe0:1 -x $tls -D zcopy -n 10 -w 1)
  [ $tls = rc_verbs ] && test+=(-t put_bw -s 65536) || test+=(-t am_bw -s 1024)
  pair unlimited $tls "${test[@]}" && echo "ok $tls works with no limit" || echo "$tls by itself, no limit: $(tail -n 3 client)"
  unblamed "$tls by itself"
  pair unlimited $tls,ud_verbs -t tag_bw -s 1048576 -n 10 -w 1
  unblamed "UCX over $tls"
  pair $((64 * kib)) $tls,ud_verbs -t tag_bw -s 1048576 -n 10 -w 1 && fail "$tls works with 64 KiB: $(cat client)"
  explained "UCX over $tls, 64 KiB" PD101 1
  # EPERM alone says 0 or another refusal; the library's warning names the limit.
  pair 0 $tls,ud_verbs -t tag_bw -s 1048576 -n 10 -w 1 && fail "$tls works with 0: $(cat client)"
  explained "UCX over $tls, 0" PD110 1
done

# --- Open MPI ---
ucx=(--mca pml ucx -x UCX_TLS=rc_verbs,ud_verbs,self -x UCX_NET_DEVICES=rxe0:1)
mpi unlimited "${ucx[@]}"
unblamed "Open MPI over UCX"
for limit in 64 4096; do
  mpi $((limit * kib)) "${ucx[@]}" && fail "it works with $limit KiB: $(cat client)"
  explained "Open MPI over UCX, $limit KiB" PD101 1
done
mpi 0 "${ucx[@]}" && fail "it works with 0: $(cat client)"
explained "Open MPI over UCX, 0" PD110 1

# Neither takes the device, whatever the limit: the limit is not to blame.
mpi $((64 * kib)) --mca pml cm --mca mtl ofi -x FI_PROVIDER=verbs
unblamed "Open MPI over ofi"
if ompi_info 2> /dev/null | grep -q 'MCA btl: openib'; then
  mpi $((64 * kib)) --mca pml ob1 --mca btl openib,self --mca btl_openib_allow_ib 1
  unblamed "Open MPI over openib"
fi
[ $wrong -eq 0 ] || fail "$wrong told wrongly"
