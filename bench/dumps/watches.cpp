// SPDX-License-Identifier: Apache-2.0
// The cost of watches in a training step: of a hook that is not due, and of one that buffers each run in memory until
// the loss is known to be finite. Nothing is written.
#include <benchmark/benchmark.h>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/io/dumping_debug.hpp>

#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "../models.hpp"

namespace {

namespace cr = crochet;
using namespace cr::literals;

constexpr std::int64_t batch = 32;

template <class... H>
void step(benchmark::State& state, H... hook) {
  const std::vector<float> images(batch * 784, 0.5F);
  const std::vector<std::int32_t> labels(batch, 1);
  cr::MonitoredSession session{cr::Cpu{.threads = 1}.compile<bench::Mlp<cr::SGD, batch>>(),
                               cr::HookChain{std::move(hook)...}};
  for (auto _ : state) {
    session.run("train"_n, cr::feed<"images">(cr::TensorView<const float, 2>(images.data(), {batch, 784})),
                cr::feed<"labels">(labels));
  }
  session.close();
}
std::filesystem::path root(const char* name) {
  return std::filesystem::current_path() / "crochet_bench_watches" / name;
}

void plain(benchmark::State& state) { step(state); }
/// Due in the first step only.
void not_due(benchmark::State& state) {
  step(state, cr::EveryN<1'000'000'000, cr::DumpingDebugHook<cr::Watch<"loss|hidden/bias$">>>{{root("not_due")}});
}
void two_nodes(benchmark::State& state) {
  step(state, cr::DumpingDebugHook{root("two_nodes"), cr::Watch<"loss|hidden/bias$">{}, cr::when_not_finite<"loss">});
}
void all_nodes(benchmark::State& state) {
  step(state, cr::DumpingDebugHook{root("all_nodes"), cr::when_not_finite<"loss">});
}
void remove_root(const benchmark::State& /*state*/) {
  std::filesystem::remove_all(std::filesystem::current_path() / "crochet_bench_watches");
}

#define CROCHET_WATCHES(function)  \
  BENCHMARK(function)              \
      ->Name("watches/" #function) \
      ->Setup(remove_root)         \
      ->Teardown(remove_root)      \
      ->Unit(benchmark::kMicrosecond)
CROCHET_WATCHES(plain);
CROCHET_WATCHES(not_due);
CROCHET_WATCHES(two_nodes);
CROCHET_WATCHES(all_nodes);

}  // namespace

BENCHMARK_MAIN();
