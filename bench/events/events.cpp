// SPDX-License-Identifier: Apache-2.0
// The cost of event files: events per second that reach the file, and the time of a step that adds some.
#include <benchmark/benchmark.h>

#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>
#include <crochet/io/event_writer.hpp>
#include <crochet/storage/histogram.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <span>
#include <vector>

namespace {

namespace cr = crochet;
using namespace cr::literals;

/// A writer into a temporary folder.
struct Written {
  explicit Written(std::size_t queue) {
    std::filesystem::remove_all(folder);
    cr::io::EventWriterOptions options;
    options.queue = queue;
    options.queue_wait_seconds = 1e6;
    events = cr::io::EventWriter(folder, options);
  }
  ~Written() {
    events.close();
    std::filesystem::remove_all(folder);
  }
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "crochet_bench_events";
  cr::io::EventWriter events;
};

/// Scalars at the maximum rate of one thread. The time includes the writer's thread, because the queue is bounded.
void scalars(benchmark::State& state) {
  Written written(static_cast<std::size_t>(state.range(0)));
  std::int64_t step = 0;
  for (auto _ : state) written.events.add_scalar("loss", 0.5, ++step);
  written.events.flush();
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(scalars)->Name("events/scalars")->ArgName("queue")->Arg(10)->Arg(1000)->UseRealTime();

std::vector<float> weights(std::int64_t n) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.05F);
  std::vector<float> w(static_cast<std::size_t>(n));
  for (float& x : w) x = normal(random);
  return w;
}

/// Histograms of that many values, counted by the writer's thread.
void histograms(benchmark::State& state) {
  Written written(10);
  const std::vector<float> w = weights(state.range(0));
  std::int64_t step = 0;
  for (auto _ : state) written.events.add_histogram("w", std::span<const float>(w), ++step);
  written.events.flush();
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(histograms)->Name("events/histograms")->ArgName("values")->Arg(1000)->Arg(100000)->UseRealTime();

/// The cost of a histogram in the writer's thread.
void count_values(benchmark::State& state) {
  const std::vector<float> w = weights(state.range(0));
  for (auto _ : state) {
    cr::io::Histogram h;
    h.add(std::span<const float>(w));
    benchmark::DoNotOptimize(h.num());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(count_values)->Name("events/count_values")->ArgName("values")->Arg(100000);

/// A step of about 7 us that saves the loss at an interval of steps; 0: without a writer.
void steps(benchmark::State& state) {
  Written written(10);
  double loss = 1;
  cr::StepExecutor step{[&](auto& out) {
                          double x = loss;
                          for (int i = 0; i < 4000; ++i) x = x * 0.999 + 1e-9;
                          out["loss"_n] = loss = x;
                        },
                        cr::output<double, "loss">};
  const std::int64_t every = state.range(0);
  cr::SummarySaver<cr::summary::Scalar<"loss">> saver{.every_steps = every == 0 ? 1 : every};
  if (every != 0) saver.summaries = written.events;
  cr::MonitoredSession session{step, cr::HookChain{saver}};
  for (auto _ : state) session.run();
  session.close();
}
BENCHMARK(steps)->Name("events/steps")->ArgName("every")->Arg(0)->Arg(1)->Arg(10)->Arg(100)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
