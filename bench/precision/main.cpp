// SPDX-License-Identifier: Apache-2.0
// product/<rows>x<depth>x<columns>/<policy>: matrix products by Cpu, Bfloat16Cpu and Int8Cpu, one thread. items:
// multiplications and additions. A policy with "_stored": the right operand is stored as bfloat16.
#include <benchmark/benchmark.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu/bfloat16.hpp>
#include <crochet/executor/cpu/int8.hpp>

#include <string>
#include <vector>

#include "../batch.hpp"
#include "../models.hpp"

namespace {

namespace cr = crochet;

template <std::int64_t Depth, std::int64_t Columns, class W>
struct Product {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("rows"), Depth});
    g.name("y", matmul(x, g.variable<W>("w", {Depth, Columns}, cr::glorot_uniform())));
  }
};

template <std::int64_t Depth, std::int64_t Columns, class Device, class W = float>
void add(const std::string& policy, std::int64_t rows) {
  const std::string name =
      "product/" + std::to_string(rows) + 'x' + std::to_string(Depth) + 'x' + std::to_string(Columns) + '/' + policy;
  benchmark::RegisterBenchmark(name.c_str(), [rows](benchmark::State& state) {
    const std::vector<float> x(static_cast<std::size_t>(rows * Depth), 0.5F);
    cr::MonitoredSession session{Device{.threads = 1, .seed = 1}.template compile<Product<Depth, Columns, W>>(),
                                 cr::HookChain{}};
    for (auto _ : state) {
      auto [y] = session.run(cr::fetches<"y">, cr::feed<"x">(x));
      benchmark::DoNotOptimize(y);
    }
    session.close();
    state.SetItemsProcessed(state.iterations() * 2 * rows * Depth * Columns);
  });
}

template <class Model, class Device>
void add_network(const std::string& network, const std::string& policy, std::size_t size) {
  const std::string name = "inference/" + network + '/' + std::to_string(size) + '/' + policy;
  benchmark::RegisterBenchmark(name.c_str(), [size](benchmark::State& state) {
    const bench::Batch batch(size);
    cr::MonitoredSession session{Device{.threads = 1, .seed = 1}.template compile<Model>(), cr::HookChain{}};
    for (auto _ : state) {
      auto [logits] = session.run(cr::fetches<"logits">, cr::feed<"images">(batch.images));
      benchmark::DoNotOptimize(logits);
    }
    session.close();
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(size));
  });
}

template <class Device>
void add_all(const std::string& policy) {
  add<1024, 1024, Device>(policy, 1024);
  add<512, 512, Device>(policy, 512);
  add<784, 128, Device>(policy, 128);
  add<128, 512, Device>(policy, 4096);
  for (const std::size_t size : {32U, 128U, 1024U}) {
    add_network<bench::Mlp<cr::SGD>, Device>("mlp", policy, size);
    add_network<bench::WideMlp<cr::SGD>, Device>("wide_mlp", policy, size);
  }
  for (const std::size_t size : {1U, 32U, 128U}) add_network<bench::Cnn<cr::SGD>, Device>("cnn", policy, size);
}

/// Products of few rows, whose time is that of reading the right operand.
template <class Device, class W>
void add_stored(const std::string& policy) {
  for (const std::int64_t rows : {1, 2, 4, 8, 16, 64}) {
    add<512, 512, Device, W>(policy, rows);
    add<2048, 2048, Device, W>(policy, rows);
    add<4096, 4096, Device, W>(policy, rows);
  }
}

}  // namespace

int main(int count, char** words) {
  add_all<cr::Cpu>("float");
  add_all<cr::ExactCpu>("exact");
  add_all<cr::Bfloat16Cpu>("bfloat16");
  add_all<cr::Int8Cpu>("int8");
  add_stored<cr::Cpu, float>("float");
  add_stored<cr::Cpu, cr::bfloat16>("float_stored");
  add_stored<cr::Bfloat16Cpu, cr::bfloat16>("bfloat16_stored");
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
