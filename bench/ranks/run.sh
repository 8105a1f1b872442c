#!/bin/sh
# sh bench/ranks/run.sh [RANKS]     2 ranks by default
# Builds the benchmarks of ranks (preset release, Open MPI) and prints their tables.
set -eu
cd "$(dirname "$0")/../.."
ranks=${1:-2}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 # a container's user is root
cmake --preset release >/dev/null
cmake --build build/release --target bench_ranks_exchange bench_ranks_weak_scaling >/dev/null
for name in exchange weak_scaling; do
  printf '\n%s, %s ranks, %s\n\n' "$name" "$ranks" "$(mpirun --version | head -n 1)"
  mpirun --oversubscribe -n "$ranks" "build/release/bench/programs/bench_ranks_$name"
done
