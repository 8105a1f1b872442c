// SPDX-License-Identifier: Apache-2.0
// An exported header against the executor, one example at a time on one thread.
#include <benchmark/benchmark.h>

#include <array>

#include <crochet/executor/cpu.hpp>
#include <crochet/session/raw_session.hpp>

#include "cnn.hpp"
#include "mlp.hpp"
#include "network.hpp"

namespace {

std::array<float, 784> pixels() {
  std::array<float, 784> x{};
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 17) / 17;
  return x;
}

template <class Exported>
void header(benchmark::State& state) {
  static Exported model;
  const auto x = pixels();
  std::array<float, 10> logits{};
  for (auto _ : state) {
    model.predict(x.data(), logits.data());
    benchmark::DoNotOptimize(logits);
  }
  state.counters["workspace_bytes"] = static_cast<double>(Exported::workspace_size);
}
template <class Model>
void executor(benchmark::State& state) {
  auto cpu = crochet::Cpu{.threads = 1}.compile<Model>();
  cpu.initialize();
  crochet::RawSession session{cpu};
  const auto x = pixels();
  for (auto _ : state) {
    const auto [logits] = session.run(crochet::fetches<"logits">, crochet::feed<"x">(x));
    benchmark::DoNotOptimize(logits(0, 0));
  }
}
BENCHMARK(header<Mlp>);
BENCHMARK(executor<bench::Mlp>);
BENCHMARK(header<Cnn>);
BENCHMARK(executor<bench::Cnn>);

}  // namespace

BENCHMARK_MAIN();
