#!/bin/sh
# sh bench/run.sh BUILD OUT [Google Benchmark's options]
# Runs every benchmark program of the build, one after the other, and keeps its results as OUT/<program>.json. Then,
# unless there are options, runs what is no Google Benchmark program, bench/*/run.sh BUILD OUT. Makes docs/benchmarks.md
# out of all that lies in OUT.
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
  # A run that was broken off leaves the last whole one, and so does a filter that fits nothing.
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
