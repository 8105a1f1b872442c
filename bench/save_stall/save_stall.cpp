// SPDX-License-Identifier: Apache-2.0
// The time of a step with a checkpoint: saved synchronously, and in the background, where the loop pays for a copy. For
// comparison the step without a save, and a plain copy of the same bytes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <vector>

#include <crochet/checkpoint/async_saver.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/session/run_session.hpp>

namespace {

namespace cr = crochet;

/// Seconds that `work` takes.
template <class Work>
double seconds(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

struct Folder {
  Folder() { std::filesystem::remove_all(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "crochet_bench_save_stall";
};

/// Variables of the given MB (10^6 bytes), and a step with almost no work.
struct Machine {
  explicit Machine(std::int64_t megabytes) : w(static_cast<std::size_t>(megabytes) * 1'000'000 / sizeof(float), 0.5F) {}
  auto executor() {
    return cr::StepExecutor{[this](auto&) { w[0] += 1; }, cr::variable<"w">(w)};
  }
  std::vector<float> w;
};

void set_counters(benchmark::State& state, double longest) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations()) * state.range(0) * 1'000'000);
  state.counters["longest_ms"] = 1e3 * longest;
}

/// Each iteration is one step with a save; the wait for the writer is between the steps.
template <class SaverType>
void save(benchmark::State& state, SaverType saver) {
  Machine machine(state.range(0));
  cr::MonitoredSession session{machine.executor(), cr::HookChain{cr::CheckpointSaver{saver, {.save_steps = 1}}}};
  double longest = 0;
  for (auto _ : state) {
    if constexpr (requires { saver.wait(); }) saver.wait();
    const double stall = seconds([&] { session.run(); });
    longest = std::max(longest, stall);
    state.SetIterationTime(stall);
  }
  session.close();
  set_counters(state, longest);
}
void in_place(benchmark::State& state) {
  const Folder folder;
  save(state, cr::Saver{folder.path, {.max_to_keep = 1}});
}
void in_the_background(benchmark::State& state) {
  const Folder folder;
  save(state, cr::AsyncSaver{cr::Saver{folder.path, {.max_to_keep = 1}}});
}
void without(benchmark::State& state) {
  Machine machine(state.range(0));
  cr::MonitoredSession session{machine.executor(), cr::HookChain{}};
  for (auto _ : state) session.run();
  session.close();
}
void plain_copy(benchmark::State& state) {
  const Machine machine(state.range(0));
  std::vector<float> copy(machine.w.size());
  double longest = 0;
  for (auto _ : state) {
    const double stall = seconds([&] {
      std::memcpy(copy.data(), machine.w.data(), copy.size() * sizeof(float));
      benchmark::ClobberMemory();
    });
    longest = std::max(longest, stall);
    state.SetIterationTime(stall);
  }
  set_counters(state, longest);
}

void sizes(benchmark::internal::Benchmark* b) { b->ArgName("MB")->Arg(1)->Arg(10)->Arg(100); }
BENCHMARK(in_place)->Name("save_stall/in_place")->Apply(sizes)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(in_the_background)
    ->Name("save_stall/in_the_background")
    ->Apply(sizes)
    ->UseManualTime()
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(plain_copy)->Name("save_stall/plain_copy")->Apply(sizes)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(without)->Name("save_stall/without")->Arg(1)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
