// SPDX-License-Identifier: Apache-2.0
// A run of the executor with probes: its steps are launched one by one, or together if no probe needs more.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <crochet/executor/cuda/executor.hpp>
#include <crochet/executor/cuda/launch_times.hpp>
#include <crochet/executor/cuda/rank_exchanges.hpp>
#include <crochet/executor/cuda/step_times.hpp>
#include <crochet/executor/plan/probe_failure.hpp>
#include <crochet/executor/plan/probed_run.hpp>
#include <crochet/executor/plan/step_facts.hpp>
#include <crochet/kernels/aligned_bytes.hpp>

namespace crochet::cuda {

/// The steps of one run, launched for probes. One by one nothing waits for a step, except for a value that a probe
/// takes, which is copied to the host behind the step that completes it.
template <class Device, class Model, class... Extensions>
template <class Plan, class Plain, class Watch, class D>
class Executor<Device, Model, Extensions...>::ProbedSteps {
  using Shown = cpu::ProbedRunOf<T, Executor, Plan, Plain, Watch, D>;
  static constexpr std::size_t count = Plan::plan.step_count;
  static constexpr bool exchanges = cpu::ExchangesOf<T, Plan>::any;
  static constexpr bool watches = Watch::nodes.size() + Watch::sources.size() > 0;

 public:
  ProbedSteps(Executor& self, Memory& memory, const Runs& run) : self_(self), memory_(memory), run_(run) {
    frame_.dims = run.dims;
    frame_.variables = self.variables_.host().data();
    frame_.placeholders.fill(nullptr);
    for (std::size_t k = 0, node = 0; node < T::graph.nodes.size(); ++node) {
      if (!T::is_placeholder(node)) continue;
      if (run.layout.places[k].kind == FeedKind::copied) {
        frame_.placeholders[node] = memory.feeds.host_data(0, run.layout, k);
      } else if (on_device(k) && watches) {
        fed_[k].reserve(feed_bytes(node) + 1, "copies of watched values");
        frame_.placeholders[node] = fed_[k].data();
      }
      ++k;
    }
    if constexpr (Watch::nodes.size() > 0) make_mirror();
  }

  template <class Probes, class Feeds>
  void show(const Probes& probes, Feeds feeds) {
    Shown shown(frame_, self_.variables_.host());
    const auto facts = cpu::StepFacts<T, Plan>::at(frame_.dims);  // valid until on_run_end returns
    const std::string name = self_.device_->name();
    const auto begin = [&] {
      shown.begin(probes, facts, {1, memory_.bytes(), {name, self_.device_->number(), task()}}, feeds, Copies{*this});
    };
    try {
      Launch launch =
          PlanLaunch<Device, T, Plan, D>::prepare(self_.device_, self_.variables_, run_, self_.settings_.exchange);
      if constexpr (exchanges) {
        launch_with_ranks(launch, shown, probes, begin);
      } else {
        begin();
        launch_alone(launch, shown, probes);
      }
    } catch (...) {
      self_.counted_.forget();  // the run has been counted, and may not have happened
      memory_.feeds.end(*self_.device_);
      throw;
    }
    shown.end(probes, Copies{*this});
  }

 private:
  [[nodiscard]] int task() const { return self_.settings_.exchange == nullptr ? -1 : self_.settings_.exchange->task(); }
  struct Frame {
    std::byte* variables;
    std::array<std::byte*, Plan::plan.slot_count> slots;
    std::array<const void*, T::graph.nodes.size()> placeholders;
    Dims dims;
  };
  /// Copies the values that probes take to the host.
  struct Copies {
    ProbedSteps& steps;
    void feed(std::size_t node, std::size_t bytes) const {
      const std::size_t k = T::placeholder_number(static_cast<int>(node));
      if (!steps.on_device(k)) return;
      steps.self_.device_->download(steps.fed_[k].data(), steps.memory_.feeds.device_data(0, k), bytes);
    }
    void variable(std::size_t index) const { steps.self_.variables_.read(*steps.self_.device_, index); }
    void slot(std::size_t index, std::size_t bytes) const {
      steps.self_.device_->download(steps.frame_.slots[index], steps.memory_.workspace.data() + steps.offsets_[index],
                                    bytes);
    }
  };

  /// Whether no due probe needs anything between two steps.
  template <class... P>
  static bool fit_one_launch(const DueProbes<P...>& probes) {
    bool fit = true;
    probes.each([&]<class Q>(Q&) {
      using namespace crochet::detail;
      fit = fit && !Watches<Q> && (takes_device_times<Q> || !sees_steps<Q>);
    });
    return fit;
  }
  template <class Probes>
  void launch_together(Launch& launch, const Probes& probes) {
    LaunchTimes<Device, count> times(self_.device_, self_.step_times_, probes);
    times.begin(launch);
    probes.each([](auto& probe) { crochet::detail::show_launch_begin(probe); });
    self_.device_->template launch<PlanCode<Plan>>(launch);
    probes.each([](auto& probe) { crochet::detail::show_launch_end(probe); });
    memory_.feeds.end(*self_.device_);
    times.template show<cpu::StepFacts<T, Plan>::names>(probes);
  }
  template <class Probes>
  void launch_alone(Launch& launch, const Shown& shown, const Probes& probes) {
    if (self_.settings_.mode == CudaMode::steps_per_launch && fit_one_launch(probes)) {
      return launch_together(launch, probes);
    }
    cpu::ProbeFailure failure;
    StepTimes<Device, count> times(*self_.device_, probes);
    launch_one_by_one(Launches{*self_.device_, launch}, shown, probes, times, failure);
    memory_.feeds.end(*self_.device_);
    failure.rethrow();
    times.template show<cpu::StepFacts<T, Plan>::names>(probes);
  }
  /// On one of several ranks. The others run these steps, so this one does, too, whatever its probes throw.
  template <class Probes, class Begin>
  void launch_with_ranks(Launch& launch, const Shown& shown, const Probes& probes, const Begin& begin) {
    Ranks ranks(self_.device_, *self_.settings_.exchange, self_.variables_.data(), memory_, *run_.plan);
    ranks.template begin<Plain>(launch, frame_.dims);
    cpu::ProbeFailure failure;
    std::optional<StepTimes<Device, count>> times;
    failure.guard_begin(probes, begin);
    failure.guard([&] { times.emplace(*self_.device_, probes); });
    ranks.guard([&] {
      if (!times) times.emplace(*self_.device_, DueProbes<>{probes.request()});
      launch_one_by_one(ExchangesAndLaunches{ranks, {*self_.device_, launch}}, shown, probes, *times, failure);
    });
    memory_.feeds.end(*self_.device_);
    failure.rethrow();
    times->template show<cpu::StepFacts<T, Plan>::names>(probes);
  }
  template <class Steps, class Probes>
  void launch_one_by_one(Steps steps, const Shown& shown, const Probes& probes, StepTimes<Device, count>& times,
                         cpu::ProbeFailure& failure) {
    [&]<std::size_t... S>(std::index_sequence<S...>) {
      [[maybe_unused]] const bool done[] = {
          true, (step<S>(steps, probes, times), behind<S>(shown, probes, failure), true)...};
    }
    (std::make_index_sequence<count>{});
  }

  /// Whether only the device has the feed.
  bool on_device(std::size_t placeholder) const {
    const FeedKind kind = run_.layout.places[placeholder].kind;
    return kind == FeedKind::in_place || kind == FeedKind::gathered;
  }
  std::size_t feed_bytes(std::size_t node) const {
    const Node& n = T::graph.nodes[node];
    return static_cast<std::size_t>(n.shape.size().at(frame_.dims)) * size_of(n.dtype);
  }

  /// The host's memory for copies of the slots.
  void make_mirror() {
    cpu::with_placement<Plan>(memory_.placements, run_.dims, [&](std::int64_t bytes, auto offset) {
      mirror_.reserve(static_cast<std::size_t>(bytes) + 1, "copies of watched values");
      for (std::size_t k = 0; k < frame_.slots.size(); ++k) {
        offsets_[k] = offset(k);
        frame_.slots[k] = mirror_.data() + offsets_[k];
      }
    });
  }

  using Ranks = RankExchanges<Device, T, Plan>;
  /// Launches single steps.
  struct Launches {
    Device& device;
    Launch& launch;

    template <std::size_t S>
    void step() {
      launch.first_step = static_cast<std::int32_t>(S);
      launch.end_step = static_cast<std::int32_t>(S + 1);
      device.template launch<PlanCode<Plan>>(launch);
    }
  };
  /// The same on one of several ranks.
  struct ExchangesAndLaunches {
    Ranks& ranks;
    Launches others;

    template <std::size_t S>
    void step() {
      if constexpr (cpu::ExchangesOf<T, Plan>::is_part(Plan::plan.steps[S])) {
        ranks.template step<S>();
      } else {
        others.template step<S>();
      }
    }
  };

  template <std::size_t S, class Steps, class Probes, class Times>
  void step(Steps& steps, const Probes& probes, Times& times) {
    constexpr auto node = static_cast<std::size_t>(cpu::StepFacts<T, Plan>::names[S]);
    probes.each([&](auto& probe) { crochet::detail::show_node_begin<node>(probe, 0); });
    times.begin(S);
    steps.template step<S>();
    times.end(S);
    probes.each([&](auto& probe) { crochet::detail::show_node_end<node>(probe, 0); });
  }
  template <std::size_t S, class Probes>
  void behind(const Shown& shown, const Probes& probes, cpu::ProbeFailure& failure) {
    if constexpr (Shown::template any<S>) {
      failure.guard([&] { shown.template behind<S>(probes, Copies{*this}); });
    }
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
