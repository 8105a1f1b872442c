#!/bin/sh
# end_to_end.sh CROCHET-DEBUGD CROCHET-DUMP DEBUGGED-SOLVER
# A solver whose fourth step produces a NaN sends its runs to crochet-debugd over a Unix socket, with a token.
# crochet-dump finds the NaN in the files.
set -eu
debugd=$1 dump=$2 solver=$3
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2>/dev/null; rm -rf "$folder"' EXIT
fail() {
  echo "end_to_end: $*" >&2
  exit 1
}
expect() { # expect TEXT FILE
  grep -qF -- "$1" "$2" || fail "no \"$1\" in: $(cat "$2")"
}

echo 'open sesame' | tr ' ' - >"$folder/token"
"$debugd" --listen "unix:$folder/socket" --token "$folder/token" --dump "$folder/dumps" --runs 5 \
  >"$folder/lines" 2>"$folder/errors" </dev/null &
server=$!
tries=0
until grep -q '^listening on unix:' "$folder/lines" 2>/dev/null; do # it prints this line when it listens
  kill -0 "$server" 2>/dev/null || fail "the server did not start: $(cat "$folder/errors")"
  tries=$((tries + 1))
  [ "$tries" -lt 600 ] || fail "the server does not listen"
  sleep 0.1
done
"$solver" "unix:$folder/socket" open-sesame >"$folder/solver" || fail "the solver: $(cat "$folder/solver" "$folder/errors")"
wait "$server" || fail "the server ended with $?: $(cat "$folder/lines" "$folder/errors")"
server=

[ "$(grep -c ' tensors, ' "$folder/lines")" -eq 5 ] || fail "not five runs: $(cat "$folder/lines")"
[ "$(grep -c 'first NaN in solver/ratio:0:DebugIdentity' "$folder/lines")" -eq 1 ] || fail "$(cat "$folder/lines")"
cat "$folder/lines"

"$dump" find "$folder/dumps" --nan >"$folder/found" || fail "crochet-dump found no NaN"
expect solver/ratio:0 "$folder/found"
"$dump" cat "$folder/dumps" solver/norm:0 --run=-1 >"$folder/norm" || fail "crochet-dump cat: $(cat "$folder/norm")"
expect 3 "$folder/norm"
"$dump" ls "$folder/dumps" --run=0 >"$folder/list"
for node in solver/pivot:0 solver/ratio:0 solver/norm:0; do expect "$node" "$folder/list"; done
cat "$folder/found" "$folder/norm"

# The command line.
status=0
"$debugd" --no-such-option >/dev/null 2>&1 || status=$?
[ "$status" -eq 2 ] || fail "a wrong option: status $status"
status=0
"$debugd" --listen 0.0.0.0:0 >/dev/null 2>"$folder/errors" || status=$?
[ "$status" -eq 2 ] || fail "an address of others: status $status"
expect --insecure-remote "$folder/errors"
status=0
"$debugd" --dump /dev/null/x --listen "unix:$folder/socket" >/dev/null 2>&1 || status=$?
[ "$status" -eq 1 ] || fail "no directory: status $status"
printf 'watch net/a\nlist\nquit\n' | "$debugd" --listen "unix:$folder/socket" --json >"$folder/lines"
expect '{"event":"list","keys":[{"key":"net/a:0:DebugIdentity","state":"on"}]}' "$folder/lines"
# Started without standard input and output, as by some supervisors: a signal still ends it.
"$debugd" --listen "unix:$folder/daemon" <&- >&- 2>/dev/null &
server=$!
tries=0
until [ -S "$folder/daemon" ] || [ "$tries" -ge 100 ]; do tries=$((tries + 1)); sleep 0.1; done
kill -TERM "$server"
tries=0
while kill -0 "$server" 2>/dev/null; do
  tries=$((tries + 1))
  [ "$tries" -lt 200 ] || { kill -KILL "$server"; fail "a server without standard streams does not end"; }
  sleep 0.1
done
wait "$server" || true
server=
# The last command may have no line end.
printf 'list\nquit' | "$debugd" --listen "unix:$folder/socket" --json >"$folder/lines"
expect '"event":"list"' "$folder/lines"
"$debugd" --help >/dev/null
echo "end_to_end: all is well"
