// SPDX-License-Identifier: Apache-2.0
// Training steps of whole networks, for every batch size: the common part of both backends.
#pragma once
#include <benchmark/benchmark.h>
#include <crochet/crochet.hpp>

#include <string>
#include <utility>

#include "../batch.hpp"
#include "../models.hpp"
#include "parts.hpp"

namespace bench {

/// One training step of the Model: the loss is fetched, under an empty chain.
template <class Model, class Device>
void train(benchmark::State& state, const Device& device, std::size_t size) {
  const Batch batch(size);
  crochet::MonitoredSession session{device.template compile<Model>(), crochet::HookChain{}};
  for (auto _ : state) {
    auto [loss] = session.run(crochet::fetches<"loss">, crochet::targets<"train">,
                              crochet::feed<"images">(batch.images), crochet::feed<"labels">(batch.labels));
    benchmark::DoNotOptimize(loss);
  }
  session.close();
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(size));
}

/// step/<network>/<batch>/<backend>/threads:<n>. One thread: processor time, which is less sensitive to background
/// load. Several: wall-clock time.
template <class Model, class Device>
void add(const std::string& network, const std::string& backend, const Device& device, std::size_t size) {
  const std::string name = "step/" + network + '/' + std::to_string(size) + '/' + backend;
  auto* step = benchmark::RegisterBenchmark((name + "/threads:" + std::to_string(device.threads)).c_str(),
                                            [=](benchmark::State& state) { train<Model>(state, device, size); });
  if (device.threads > 1) step->UseRealTime();
}

template <class Device>
void add_networks(const std::string& backend, Device device) {
  for (const int threads : {1, 2}) {
    device.threads = threads;
    for (const std::size_t size : {1U, 32U, 128U, 1024U}) add<Mlp<crochet::SGD>>("mlp", backend, device, size);
    for (const std::size_t size : {1U, 32U, 128U}) add<Cnn<crochet::Adam>>("cnn", backend, device, size);
  }
}

}  // namespace bench
