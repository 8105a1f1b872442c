#!/bin/sh
# sh bench/run.sh BUILD OUT [Google Benchmark's options]
# Runs every benchmark program of the build, one after another, and writes its results to OUT/<program>.json. Without
# options it then runs the other benchmarks, bench/*/run.sh BUILD OUT. Generates docs/benchmarks.md from OUT.
set -eu

build=$1 out=$2
shift 2
here=$(dirname "$0")
mkdir -p "$out"

for program in "$build"/bench/programs/*; do
  [ -x "$program" ] || continue
  name=$(basename "$program")
  echo "bench: $name"
  "$program" --benchmark_min_time=0.1 --benchmark_repetitions=5 --benchmark_enable_random_interleaving=true \
    --benchmark_display_aggregates_only=true --benchmark_out="$out/$name.json.new" --benchmark_out_format=json "$@"
  # An interrupted run keeps the last complete results, and so does a filter without a match.
  if [ -s "$out/$name.json.new" ]; then mv "$out/$name.json.new" "$out/$name.json"; else rm "$out/$name.json.new"; fi
done
for script in "$here"/*/run.sh; do
  [ -e "$script" ] && [ $# -eq 0 ] || continue
  echo "bench: $(basename "$(dirname "$script")")"
  sh "$script" "$build" "$out"
done
echo "bench: results are in $out"
if [ -e "$here/report.py" ]; then
  python3 "$here/report.py" "$out" docs/benchmarks.md
  echo "bench: table is in docs/benchmarks.md"
fi
