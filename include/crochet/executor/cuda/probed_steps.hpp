// SPDX-License-Identifier: Apache-2.0
// A run of the executor with probes: its steps are launched one by one.
#pragma once
#include <array>
#include <cstddef>
#include <utility>

#include <crochet/executor/cuda/executor.hpp>
#include <crochet/executor/plan/probe_failure.hpp>
#include <crochet/executor/plan/probed_run.hpp>
#include <crochet/executor/plan/step_facts.hpp>
#include <crochet/kernels/aligned_bytes.hpp>

namespace crochet::cuda {

/// The steps of one run, launched one by one for probes.
template <class Device, class Model, class... Extensions>
template <class Plan, class Plain, class Watch, class D>
class Executor<Device, Model, Extensions...>::ProbedSteps {
  using Shown = cpu::ProbedRunOf<T, Executor, Plan, Plain, Watch, D>;
  static constexpr std::size_t count = Plan::plan.step_count;

 public:
  ProbedSteps(Executor& self, Memory& memory, const Runs& run) : self_(self), memory_(memory), run_(run) {
    frame_.dims = run.dims;
    frame_.variables = self.variables_.host().data();
    frame_.placeholders.fill(nullptr);
    for (std::size_t k = 0, node = 0; node < T::graph.nodes.size(); ++node) {
      if (!T::is_placeholder(node)) continue;
      if (run.layout.places[k].kind == FeedKind::copied) {
        frame_.placeholders[node] = memory.feeds.host_data(0, run.layout, k);
      }
      ++k;
    }
    cpu::with_placement<Plan>(memory.placements, run.dims, [&](std::int64_t bytes, auto offset) {
      mirror_.reserve(static_cast<std::size_t>(bytes) + 1, "copies of watched values");
      for (std::size_t k = 0; k < frame_.slots.size(); ++k) {
        offsets_[k] = offset(k);
        frame_.slots[k] = mirror_.data() + offsets_[k];
      }
    });
  }

  template <class Probes, class Feeds>
  void show(const Probes& probes, Feeds feeds) {
    Launch launch = PlanLaunch<Device, T, Plan, D>::prepare(self_.device_, self_.variables_, run_);
    if constexpr (Watch::sources.size() > 0) {
      self_.variables_.read(*self_.device_);
      copy_fed(std::make_index_sequence<T::graph.nodes.size()>{});
    }
    Shown shown(frame_, self_.variables_.host());
    const auto facts = cpu::StepFacts<T, Plan>::at(frame_.dims);
    shown.begin(probes, facts, 1, memory_.bytes(), feeds);
    cpu::ProbeFailure failure;
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      [[maybe_unused]] const bool done[] = {true, (step<S>(launch, probes, shown, failure), true)...};
    }
    (std::make_index_sequence<count>{});
    memory_.feeds.end(*self_.device_);
    failure.rethrow();
    copy_values<static_cast<int>(count)>();
    shown.end(probes);
  }

 private:
  struct Frame {
    std::byte* variables;
    std::array<std::byte*, Plan::plan.slot_count> slots;
    std::array<const void*, T::graph.nodes.size()> placeholders;
    Dims dims;
  };

  template <std::size_t S, class Probes>
  void step(Launch& launch, const Probes& probes, const Shown& shown, cpu::ProbeFailure& failure) {
    constexpr auto node = static_cast<std::size_t>(cpu::StepFacts<T, Plan>::names[S]);
    launch.first_step = static_cast<std::int32_t>(S);
    launch.end_step = static_cast<std::int32_t>(S + 1);
    self_.variables_.settle_device(self_.device_);
    probes.each([&](auto& probe) { crochet::detail::show_node_begin<node>(probe, 0); });
    self_.device_->template launch<PlanCode<Plan>>(launch);
    self_.device_->synchronize();
    probes.each([&](auto& probe) { crochet::detail::show_node_end<node>(probe, 0); });
    if constexpr (Shown::template any<S>) {
      copy_values<static_cast<int>(S)>();
      failure.guard([&] { shown.template behind<S>(probes); });
    }
  }

  /// Copies feeds that are on the device only.
  template <std::size_t... Node>
  void copy_fed(std::index_sequence<Node...>) {
    [[maybe_unused]] const bool done[] = {true, (copy_fed_node<Node>(), true)...};
  }
  template <std::size_t Node>
  void copy_fed_node() {
    if constexpr (T::is_placeholder(Node)) {
      constexpr std::size_t k = T::placeholder_number(static_cast<int>(Node));
      static constexpr Extent elements = T::graph.nodes[Node].shape.size();
      const FeedKind kind = run_.layout.places[k].kind;
      if (kind != FeedKind::in_place && kind != FeedKind::gathered) return;
      const std::size_t bytes =
          static_cast<std::size_t>(elements.at(frame_.dims)) * size_of(T::graph.nodes[Node].dtype);
      fed_[k].reserve(bytes + 1, "copies of watched values");
      self_.device_->download(fed_[k].data(), memory_.feeds.device_data(0, k), bytes);
      frame_.placeholders[Node] = fed_[k].data();
    }
  }
  /// Copies the values that are shown behind a step.
  template <int Step>
  void copy_values() {
    Shown::template each_value<Step>([&](const Value& v) {
      if (v.space == AddressSpace::variable) self_.variables_.read(*self_.device_);
      if (v.space != AddressSpace::arena) return;
      const auto bytes = static_cast<std::size_t>(v.shape.size().at(frame_.dims)) * size_of(v.dtype);
      const auto slot = static_cast<std::size_t>(v.index);
      self_.device_->download(frame_.slots[slot], memory_.workspace.data() + offsets_[slot], bytes);
    });
  }

  Executor& self_;
  Memory& memory_;
  const Runs& run_;
  Frame frame_;
  std::array<std::int64_t, Plan::plan.slot_count> offsets_{};
  kernel::AlignedBytes mirror_;
  std::array<kernel::AlignedBytes, T::placeholder_count> fed_;
};

}  // namespace crochet::cuda
