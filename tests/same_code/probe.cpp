// SPDX-License-Identifier: Apache-2.0
// A plain step of a model on the CPU. With CROCHET_PROBED the program also has probed runs of the same executor: the
// code of `step` must not change. And a step under a hook with a probe, next to a step under the same hook without one.
#include <cstddef>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/graph/probe/probe.hpp>
#include <crochet/model.hpp>

#include "same_code.hpp"

namespace cr = crochet;
using namespace cr::literals;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {32});
    const auto w = g.variable<float>("w", {32}, cr::uniform(-1, 1));
    const auto loss = g.name("loss", reduce_sum(square(x * w)));
    g.name("train", minimize(loss, cr::SGD{.learning_rate = 0.1}));
  }
};
using Cpu = cr::cpu::Executor<cr::kernel::Tiles, Model>;
using Demand = cr::Demand<cr::Names<cr::Name<"loss">>, cr::Names<cr::Name<"train">>>;
using Fed = cr::Feed<cr::Name<"x">, cr::TensorView<float, 1>>;

/// Flattened: the code of the whole step is inlined here.
[[gnu::flatten]] void step(Cpu& executor, Cpu::Workspace& workspace, const Fed& feed) {
  executor.run<Demand>(workspace, feed);
}

/// Opaque to the compiler.
void note(std::size_t node);
struct Probe {
  using watches = cr::WatchEverything;
  template <std::size_t I>
  void on_node_begin(int) {
    note(I);
  }
  template <std::size_t I>
  void on_node_end(const cr::ProbedTensor&) {
    note(I);
  }
};
#ifdef CROCHET_PROBED
void probed_step(Cpu& executor, Cpu::Workspace& workspace, Probe& probe, const Fed& feed) {
  executor.run_probed<Demand>(workspace, cr::DueProbes<Probe>({}, &probe), feed);
}
#endif

// Steps under a chain.
inline auto function = [](auto& out) { out["loss"_n] = compute_loss(); };
using Function = cr::StepExecutor<decltype(function), cr::Output<float, cr::Name<"loss">>>;

struct Largest {
  static constexpr auto fetches = cr::fetches<"loss">;
  void after_run(auto& run, const auto& values) {
    if (values["loss"_n] > too_large) run.request_stop("the loss is too large");
  }
  bool due = false;
  Probe looks{};
};
struct LargestWithProbe : Largest {
  using probe = Probe;
  Probe* due_probe() { return due ? &looks : nullptr; }
};

void plain_chain(cr::MonitoredSession<Function, cr::HookChain<Largest>>& session) { session.run(); }
void probing_chain(cr::MonitoredSession<Function, cr::HookChain<LargestWithProbe>>& session) { session.run(); }
