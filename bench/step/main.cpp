// SPDX-License-Identifier: Apache-2.0
// step/mlp/<batch>/..., step/cnn/<batch>/...: the time of a training step of a whole network.
// step/session_overhead/...: the overhead of a session and its hooks over the executor's own time.
#include <benchmark/benchmark.h>

#include "parts.hpp"

int main(int count, char** words) {
  bench::add_steps_with_tiles();
  bench::add_steps_with_eigen();
  bench::add_steps_with_bfloat16();
  bench::add_session_overhead();
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
