#!/bin/sh
# sh bench/ranks/simulate.sh [RANKS...]     16 64 256 by default; 1024 takes 10 GB and hours
# The environment variable SECONDS_OF_A_CELL limits the time of a figure: 600 by default, else it is `-`.
# Prints tables of weak and strong scaling on simulated clusters (SimGrid's SMPI; Debian: libsimgrid-dev). The program is
# simulated.cpp. A step's kernels take the seconds that docs/benchmarks.md has for one thread; its messages cross the
# network, one switch with full bisection: 10 Gb/s with 25 us one way, and 100 Gb/s with 2 us.
set -eu
cd "$(dirname "$0")/../.."
command -v smpirun >/dev/null || { echo "simulate.sh: install SimGrid (Debian: libsimgrid-dev)" >&2; exit 1; }
[ $# -gt 0 ] || set -- 16 64 256
work=build/simulated
mkdir -p "$work"
smpicxx -std=c++20 -O2 -march=native -Iinclude -Ikernels bench/ranks/simulated.cpp -o "$work/simulated"

# cluster RANKS BANDWIDTH LATENCY: writes a platform. A message takes the latency of its sender's link, of the switch (1 us)
# and of its receiver's link.
cluster() {
  cat >"$work/cluster.xml" <<XML
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="n" suffix="" radical="0-$(($1 - 1))" speed="1Gf" bw="$2" lat="$3" bb_bw="${1}00GBps" bb_lat="1us"/>
</platform>
XML
  seq 0 $(($1 - 1)) | sed 's/^/n/' >"$work/hosts"
}

# simulated RANKS MODEL ROWS SECONDS: microseconds of a step with the way to exchange $exchange. Factors 1: bandwidth and
# latency are those of the platform.
simulated() {
  # shellcheck disable=SC2086
  timeout "${SECONDS_OF_A_CELL:-600}" smpirun -np "$1" -platform "$work/cluster.xml" -hostfile "$work/hosts" --cfg=smpi/host-speed:1Gf \
    --cfg=smpi/simulate-computation:no --cfg=smpi/bw-factor:0:1 --cfg=smpi/lat-factor:0:1 --cfg=smpi/test:1e-7 \
    --cfg=smpi/coll-selector:mpich --log=root.thres:critical "$work/simulated" "$2" "$3" "$4" 2 $exchange 2>/dev/null |
    tail -n 1
}

# table HEAD CASE...: a line for each case MODEL/NAME/FUNCTION, where FUNCTION RANKS prints the rows of a rank and the
# seconds of a step alone.
# Each cell: the share of the step that is computation, for 10 and 100 Gb/s.
table() {
  printf '\n| %s |' "$1"
  head=$1 && shift
  for ranks in $rank_counts; do printf ' %s ranks |' "$ranks"; done
  printf '\n|---|'
  for ranks in $rank_counts; do printf -- '---|'; done
  printf '\n'
  for case in "$@"; do
    model=${case%%/*} rest=${case#*/}
    printf '| %s |' "${rest%%/*}"
    for ranks in $rank_counts; do
      rows_seconds=$("${rest#*/}" "$ranks") seconds=${rows_seconds#* }
      cells=
      for network in "1.25GBps 12us" "12.5GBps 500ns"; do
        # shellcheck disable=SC2086
        cluster "$ranks" $network
        us=$(simulated "$ranks" "$model" "${rows_seconds% *}" "$seconds")
        cells="$cells $(awk -v s="$seconds" -v us="${us:-0}" 'BEGIN { if (us > 0) printf "%.2f", s * 1e6 / us; else printf "-" }')"
      done
      printf ' %s |' "$(echo $cells | sed 's, , / ,')"
    done
    printf '\n'
  done
}
rank_counts=$*

w1_128() { echo 128 0.000466; }
w1_1024() { echo 1024 0.00383; }
w3_128() { echo 128 0.0334; }
w4_8() { echo 8 0.00694; }
# A step of the whole batch on one rank, divided.
w1_16384() { awk -v n="$1" 'BEGIN { print 16384 / n, 0.0613 / n }'; }
w3_16384() { awk -v n="$1" 'BEGIN { print 16384 / n, 4.275 / n }'; }

for exchange in "blocking none" "blocking bfloat16" "overlapped none" "overlapped bfloat16"; do
  table "weak scaling, 10 / 100 Gb/s, $exchange" "mlp/W1, 128 rows a rank/w1_128" "mlp/W1, 1024 rows a rank/w1_1024" \
    "cnn/W3, 128 rows a rank/w3_128" "encoder/W4, 8 rows a rank/w4_8"
done
exchange="blocking none"
table 'strong scaling, 10 / 100 Gb/s' "mlp/W1, 16384 rows in all/w1_16384" "cnn/W3, 16384 rows in all/w3_16384"
