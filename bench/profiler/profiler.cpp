// SPDX-License-Identifier: Apache-2.0
// The cost of a ProfilerHook in the training of a CNN of batch 128: in the recorded step, and in those between. Two
// sessions of the same model alternate, one without hooks, one with the hook. In each iteration they make eight steps,
// the last one recorded. The time of a benchmark is the median of such steps; `ratio` is that over the median of the
// plain session's steps, so that both have the same background load. The hook's thread writes the files into a folder
// in memory if there is one.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/io/profiler_hook.hpp>

#include "../batch.hpp"
#include "../models.hpp"

namespace {

namespace cr = crochet;
using namespace cr::literals;
using Model = bench::Cnn<cr::Adam, 128>;
using Seconds = std::vector<double>;

constexpr int steps = 8;

struct Folder {
  Folder() { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  const std::filesystem::path path = (std::filesystem::exists("/dev/shm") ? std::filesystem::path("/dev/shm")
                                                                          : std::filesystem::temp_directory_path()) /
                                     "crochet_bench_profiler";
};

double median(Seconds& all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end());
  return *middle;
}

template <class Session>
double seconds_of_a_step(Session& session, const bench::Batch& batch) {
  const auto start = std::chrono::steady_clock::now();
  session.run("train"_n, cr::feed<"images">(batch.images), cr::feed<"labels">(batch.labels));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// `recorded`: measures the recorded step, else the others. The work of the step after a record, which passes it to the
/// thread, counts as part of the recorded one.
void cnn(benchmark::State& state, bool recorded) {
  const Folder folder;
  const bench::Batch batch(128);
  cr::MonitoredSession plain{cr::Cpu{.threads = 1}.compile<Model>(), cr::HookChain{}};
  cr::MonitoredSession hooked{
      cr::Cpu{.threads = 1}.compile<Model>(),
      cr::HookChain{cr::ProfilerHook{{.save_steps = steps, .output_dir = folder.path, .event_file = false}}}};
  seconds_of_a_step(plain, batch);
  seconds_of_a_step(hooked, batch);  // starts the interval
  Seconds plain_steps, between, recorded_steps, handing_on;
  for (auto _ : state) {
    for (int i = 1; i <= steps; ++i) {
      plain_steps.push_back(seconds_of_a_step(plain, batch));
      const double taken = seconds_of_a_step(hooked, batch);
      (i == steps ? recorded_steps : i == 1 ? handing_on : between).push_back(taken);
    }
    state.SetIterationTime(recorded ? recorded_steps.back() : between.back());
  }
  const double plain_median = median(plain_steps);
  const double time =
      recorded ? median(recorded_steps) + std::max(0.0, median(handing_on) - plain_median) : median(between);
  state.counters["plain_us"] = 1e6 * plain_median;
  state.counters["us"] = 1e6 * time;
  state.counters["ratio"] = time / plain_median;
  hooked.close();
  plain.close();
}

BENCHMARK_CAPTURE(cnn, recorded, true)->Name("profiler/recorded_step")->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(cnn, between, false)->Name("profiler/step_between")->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
