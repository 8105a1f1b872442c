#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Runs the fuzz targets one after the other, with their seeds and the inputs of earlier runs. Prints a line for each:
#   target, executions, seconds, crashes
#     sh tests/fuzz/run_long.sh [EXECUTIONS] [SECONDS]    per target; defaults: 10,000,000 executions, 600 seconds
# A target ends at the first of the two limits.
# Needs the preset `fuzz`: cmake --preset fuzz && cmake --build build/fuzz --target crochet_fuzzers
# CROCHET_FUZZ_BUILD selects another build folder. Crashing inputs are kept in <build folder>/tests/fuzz/long. The exit
# status is 1 if there are any.
set -eu
executions=${1:-10000000}
seconds=${2:-600}
here=$(cd "$(dirname "$0")" && pwd)
build=${CROCHET_FUZZ_BUILD:-$here/../../build/fuzz}/tests/fuzz
if ! ls "$build"/fuzz_*_fuzzer >/dev/null 2>&1; then
  echo "run_long.sh: there are no fuzz targets in $build; build the preset fuzz first" >&2
  exit 2
fi
mkdir -p "$build/long"
status=0
for fuzzer in "$build"/fuzz_*_fuzzer; do
  target=${fuzzer##*/fuzz_}
  target=${target%_fuzzer}
  corpus=$build/corpus/$target
  log=$build/long/$target.log
  mkdir -p "$corpus"
  rm -f "$build/long/$target-crash-"* "$build/long/$target-oom-"* "$build/long/$target-timeout-"* "$build/long/$target-leak-"*
  begin=$(date +%s)
  "$fuzzer" -runs="$executions" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="$build/long/$target-" "$corpus" "$here/seeds/$target" >"$log" 2>&1 || status=1
  took=$(($(date +%s) - begin))
  ran=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
  crashes=$(find "$build/long" -name "$target-crash-*" -o -name "$target-oom-*" -o -name "$target-timeout-*" \
    -o -name "$target-leak-*" | wc -l)
  echo "$target: ${ran:-no} executions, $took seconds, $crashes crashes"
done
exit $status
