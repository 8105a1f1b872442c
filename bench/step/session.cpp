// SPDX-License-Identifier: Apache-2.0
// The same step by the bare executor, under a session without hooks, and under one with eight. Two models: one whose
// step is a few instructions, so that every additional instruction is measurable, and the smallest step of the MLP.
#include <crochet/executor/cpu.hpp>

#include <string>
#include <type_traits>

#include "steps.hpp"

namespace bench {
namespace {

/// w <- w - 0.1 * 2 (w - 3).
struct OneWeight {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto w = g.variable<float>("w", {}, crochet::zeros());
    const auto distance = w - 3;
    const auto loss = g.name("loss", distance * distance);
    g.name("train", minimize(loss, crochet::SGD{.learning_rate = 0.1}));
  }
};

/// A hook that reads the loss after every step. Each number is a distinct type.
template <int Number>
struct Watch {
  static constexpr auto fetches = crochet::fetches<"loss">;
  float sum = 0;

  void after_run(auto&, const auto& values) {
    using namespace crochet::literals;
    sum += values["loss"_n];
  }
};
using Eight = crochet::HookChain<Watch<0>, Watch<1>, Watch<2>, Watch<3>, Watch<4>, Watch<5>, Watch<6>, Watch<7>>;

template <class Model, class... F>
void bare(benchmark::State& state, const F&... feeds) {
  using Loss = crochet::Name<"loss">;
  using Step = crochet::Demand<crochet::Names<Loss>, crochet::Names<crochet::Name<"train">>>;
  auto executor = crochet::Cpu{.threads = 1, .seed = 1}.template compile<Model>();
  typename decltype(executor)::Workspace workspace;
  executor.initialize();
  for (auto _ : state) {
    executor.template run<Step>(workspace, feeds...);
    benchmark::DoNotOptimize(executor.template fetch<Loss>(workspace));
  }
}

template <class Model, class Chain, class... F>
void hooked(benchmark::State& state, const F&... feeds) {
  crochet::MonitoredSession session{crochet::Cpu{.threads = 1, .seed = 1}.template compile<Model>(), Chain{}};
  for (auto _ : state) {
    auto [loss] = session.run(crochet::fetches<"loss">, crochet::targets<"train">, feeds...);
    benchmark::DoNotOptimize(loss);
  }
  benchmark::DoNotOptimize(session.hooks());
  session.close();
}

template <class Model, class... F>
void add_overhead(const std::string& model, const F&... feeds) {
  const std::string name = "step/session_overhead/" + model;
  using benchmark::RegisterBenchmark;
  using benchmark::State;
  RegisterBenchmark((name + "/bare").c_str(), [=](State& state) { bare<Model>(state, feeds...); });
  RegisterBenchmark((name + "/hooks:0").c_str(),
                    [=](State& state) { hooked<Model, crochet::HookChain<>>(state, feeds...); });
  RegisterBenchmark((name + "/hooks:8").c_str(), [=](State& state) { hooked<Model, Eight>(state, feeds...); });
}

}  // namespace

void add_session_overhead() {
  static const Batch one(1);
  add_overhead<OneWeight>("scalar");
  add_overhead<Mlp<crochet::SGD>>("mlp", crochet::feed<"images">(one.images), crochet::feed<"labels">(one.labels));
}

}  // namespace bench
