// SPDX-License-Identifier: Apache-2.0
// The executor for a device: runs are queued and launched several at a time; values are copied when they are read.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <crochet/executor/cuda/counted_steps.hpp>
#include <crochet/executor/cuda/device_kernels.hpp>
#include <crochet/executor/cuda/device_runs.hpp>
#include <crochet/executor/cuda/device_variables.hpp>
#include <crochet/executor/cuda/memory.hpp>
#include <crochet/executor/cuda/plan_source.hpp>
#include <crochet/executor/cuda/queue.hpp>
#include <crochet/executor/cuda/settings.hpp>
#include <crochet/executor/cuda/variable_snapshot.hpp>
#include <crochet/executor/cuda/workspace.hpp>
#include <crochet/executor/plan/exchanges_of.hpp>
#include <crochet/executor/plan/graph_interface.hpp>
#include <crochet/executor/plan/sizes.hpp>
#include <crochet/executor/plan/tables.hpp>
#include <crochet/executor/plan/watched.hpp>
#include <crochet/graph/model_check.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet::cuda {

/// Runs a model's graph on a device.
/// - Device: a GPU's driver (device.hpp), or a device in software.
/// - Extensions: hooks whose extend_graph is part of the graph.
/// - Movable. Only one thread at a time may call it.
template <class Device, class Model, class... Extensions>
class Executor
    : public cpu::GraphInterface<DeviceTables<Model, Extensions...>, DeviceKernels<Device::runs_own_operations>>,
      public DeviceRuns<Device, DeviceTables<Model, Extensions...>> {
  using T = DeviceTables<Model, Extensions...>;
  using Interface = cpu::GraphInterface<T, DeviceKernels<Device::runs_own_operations>>;
  using AllRuns = DeviceRuns<Device, T>;
  using AllRuns::finish_runs, AllRuns::settle_watch, AllRuns::step_on_host;
  using AllRuns::step_node, AllRuns::device_, AllRuns::settings_, AllRuns::variables_, AllRuns::queue_, AllRuns::watch_,
      AllRuns::counted_;
  using typename AllRuns::Memory, typename AllRuns::Runs;

 public:
  template <class N>
  using fetched_t = typename Interface::template fetched_t<N>;
  template <class N, class X>
  static constexpr bool accepts_feed =
      accepts<Device, typename Interface::template fed_t<N>, T::template node<N>().shape.rank, X>();
  /// A fetch may wait for the device, so hooks read only what they use.
  template <class N>
  static constexpr bool fetch_is_free = false;
  /// The executor of the extended graph, or one that reports the errors in the hooks' extend_graph.
  template <class... H>
  using extended_by =
      std::conditional_t<crochet::detail::Builds<Model, Extensions..., H...>,
                         Executor<Device, Model, Extensions..., H...>,
                         UnusableExecutor<crochet::detail::BrokenExtension<Model, Extensions..., H...>>>;

  /// The memory of a run. It grows to the size of the largest run and is kept.
  class Workspace {
    friend class Executor;
    std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
  };

  /// The memory of the device that the runs on the workspace take, without variables.
  std::size_t workspace_bytes(const Workspace& workspace) const { return workspace.memory_->bytes(); }

  explicit Executor(std::shared_ptr<Device> device, const Settings& settings = {})
      : AllRuns(std::move(device), settings) {}
  explicit Executor(const DeviceSettings<Device>& settings) : Executor(settings.device, settings.settings) {}
  /// Makes the executor of the extended graph from one without the extensions.
  template <class... E>
  requires(sizeof...(E) < sizeof...(Extensions)) explicit Executor(Executor<Device, Model, E...>&& plain)
      : Executor(plain.device(), plain.settings()) {}

  /// Gives every variable its initial value, from the seed.
  void initialize() {
    queue_.take();
    watch_.forget(*device_);
    variables_.overwrite().initialize(settings_.seed);
    counted_.forget();
  }
  /// Launches the queued runs and waits for them. Throws what they throw. The next session begins without what the
  /// device has found in the runs of this one.
  void close() {
    finish_runs();
    device_->synchronize();
    watch_.forget(*device_);
  }

  /// Queues a run of the demand, and launches the queue if it is full or old. Feeds from the host are copied;
  /// a DeviceArray is read in place, and rows of a DeviceData are copied on the device.
  /// - Throws ShapeError if a feed's size does not fit, or is 0 and a mean is computed over it.
  /// - Throws LogicError for a feed in the memory of another device.
  /// - Throws UninitializedError if a variable that the run needs has no value.
  /// - Throws DeviceMemoryError if the device has no memory for the run, and errors of earlier runs.
  /// - On one of several ranks, a run that exchanges with the others is launched at once, in parts (RankExchanges).
  template <class D, class... F>
  void run(Workspace& workspace, const F&... feeds) {
    if constexpr (exchanges<D>) finish_runs();
    Interface::template check_feeds<cpu::Planned<T, D>, F...>();
    this->template enqueue<cpu::Planned<T, D>, D>(workspace.memory_, feeds...);
    if constexpr (exchanges<D>) {
      this->flush();
    } else if (queue_.is_due(settings_)) {
      this->flush();
    }
  }

  /// Whether runs of the demand D exchange with other ranks.
  template <class D>
  static constexpr bool exchanges = cpu::ExchangesOf<T, cpu::Planned<T, D>>::any;

  /// As run(), with probes (graph/probe/probe.hpp). If no due probe watches values or observes single launches, the
  /// run is one launch; with CudaMode::graph, and if it exchanges with other ranks, never. Else the steps are launched
  /// one by one, and a value that a probe watches is copied to the host behind the step that completes it. Neither
  /// launches steps nor calls probes behind a run that violated a rule.
  template <class D, class... P, class... F>
  CROCHET_COLD void run_probed(Workspace& workspace, const DueProbes<P...>& probes, const F&... feeds) {
    using Plain = cpu::Planned<T, D>;
    using Watch = cpu::WatchedNodes<T, Executor, Plain, P...>;
    using Plan = std::conditional_t<(Watch::nodes.size() > 0), cpu::Planned<T, D, Watch>, Plain>;
    Interface::template check_feeds<Plan, F...>();
    finish_runs();
    this->template enqueue<Plan, D>(workspace.memory_, feeds...);
    if (workspace.memory_->skipped_last) return this->flush();
    workspace.memory_->probed_last = true;
    const Runs run = queue_.take();
    ProbedSteps<Plan, Plain, Watch, D>(*this, *run.memory, run).show(probes, crochet::detail::List<F...>{});
  }

  /// A value of the last run on the workspace. A variable has its value after that run. Launches the queue, and waits
  /// for the value at the first read after a run. The global step is counted on the host where possible.
  template <class N>
  fetched_t<N> fetch(Workspace& workspace) {
    static constexpr Node n = T::template node<N>();
    using E = element_t<n.dtype>;
    if constexpr (T::template node_id<N> == step_node && n.is(op::variable)) {
      return static_cast<E>(global_step());
    } else {
      Memory& memory = *workspace.memory_;
      const void* const data = memory.values.template read<N>(
          memory.dims,
          [&](std::byte* to, const FetchedValue& value, std::size_t bytes) { copy_value(memory, to, value, bytes); });
      return as_fetched<T, N>(data, memory.dims);
    }
  }

  /// As on the CPU: calls `visit(name, elements, shape)` for every variable. Waits for the device. To read, throws
  /// NanLossError behind a run that failed by a FiniteRule.
  template <class Visit>
  void for_each_variable(Visit&& visit) {
    finish_runs();
    variables_.write(*device_).for_each(visit);
    counted_.forget();
  }
  template <class Visit>
  void for_each_variable(Visit&& visit) const {
    auto& self = const_cast<Executor&>(*this);
    self.finish_runs();
    watch_.refuse_failure();
    const cpu::Variables<T>& values = self.variables_.read(*device_);
    values.for_each(visit);
  }
  /// Calls `visit(name, elements, shape)` for every variable, with elements that have the values behind the queued runs
  /// when wait() of the result returns, which any thread may call; they are valid while the result exists. Launches the
  /// queue and waits for nothing. wait() throws DeviceError, and NanLossError behind a run that failed by a FiniteRule.
  template <class Visit>
  std::shared_ptr<const VariableSnapshot<Device, T>> snapshot_variables(Visit&& visit) const {
    auto& self = const_cast<Executor&>(*this);
    self.flush();
    if (snapshot_.use_count() != 1) self.snapshot_ = std::make_shared<VariableSnapshot<Device, T>>();
    self.snapshot_->take(self.device_, self.variables_, watch_);
    variables_.host().for_each_in(snapshot_->data(), visit);
    return snapshot_;
  }
  bool variables_initialized() const { return variables_.host().initialized(); }
  std::vector<std::string> uninitialized_variables() const { return variables_.host().uninitialized(); }

  /// The variable's elements, row-major, to be read or overwritten. Valid until the next run. Waits for the device.
  template <class N>
  auto variable(N) {
    // Not cpu::variable_reason: nvcc's front end crashes at it.
    static_assert(T::template node_id<N> >= 0 && T::template node<N>().is(op::variable),
                  "crochet: the graph has no variable of this name.");
    using E = element_t<T::template node<N>().dtype>;
    constexpr std::size_t index = T::variable_index(T::template node_id<N>);
    this->flush();
    if constexpr (T::template node_id<N> == step_node) counted_.forget();
    return std::span<E>(static_cast<E*>(variables_.write(*device_).write(index)),
                        static_cast<std::size_t>(T::template node<N>().shape.size().factor));
  }

  /// Counted on the host. Waits only after a plan that changes the step otherwise than by adding one.
  std::int64_t global_step() const requires(step_node >= 0) {
    if (counted_.value()) return *counted_.value();
    auto& self = const_cast<Executor&>(*this);
    self.flush();
    self.variables_.read(*device_);
    if (!variables_.written()) counted_.set(step_on_host());  // else the caller may still write it
    return step_on_host();
  }

  /// Whether the device can check the value by the rule. Those of bfloat16 are not: hooks fetch
  /// them in each run.
  template <class N, class Rule>
  static constexpr bool watches = crochet::detail::rule_fits<Rule, fetched_t<N>>&& T::template node<N>().dtype
                                  != DType::bfloat16;

  /// For a hook's after_run: checks the value in runs of the last run's demand, from that one on. The first run whose
  /// value violates the rule, once it is known: in the run that fills the next launch, or at an earlier wait. The runs
  /// on the workspace behind it were skipped: the variables are those of that run. Runs are executed again from here
  /// on. Rule: FiniteRule, and for a scalar of floating-point type BoundsRule. Throws LogicError if it is another one
  /// than in earlier runs.
  /// - Cost: a barrier of the device a run; the host reads a few bytes a launch.
  template <class N, class Rule>
  requires watches<N, Rule>
  auto violation(Workspace& workspace, const Rule& rule) -> std::optional<Violation<fetched_t<N>>> {
    Memory& memory = *workspace.memory_;
    watch_.template state<N>(memory, rule);
    if (watch_.skips(memory)) this->flush();  // take() lets runs be executed again
    if (auto found = watch_.template take<N>(*device_, rule, memory.runs)) return found;
    if (memory.skipped_last) return std::nullopt;
    const bool is_queued = !queue_.empty() && queue_.runs().memory == workspace.memory_;
    const bool is_watched = !memory.probed_last && watch_.template add<N>(*memory.last_plan, rule, is_queued);
    return is_watched ? std::nullopt : check_last<N>(workspace, rule);
  }
  /// Launches the queue and waits. What was found by the rule and was not reported. For a hook's end, and in place of
  /// violation(), whose errors it throws, in a run whose value the hook reads itself.
  template <class N, class Rule>
  requires watches<N, Rule>
  auto finish_watch(Workspace& workspace, const Rule& rule) -> std::optional<Violation<fetched_t<N>>> {
    watch_.template state<N>(*workspace.memory_, rule);
    finish_runs();
    return watch_.template take<N>(*device_, rule, workspace.memory_->runs);
  }
  /// The global step is that of the last run that is executed when the call returns. Launches the queue and waits if a
  /// rule is watched whose violation is no failure.
  void settle() {
    if (watch_.may_end_early()) finish_runs();
  }
  /// Whether the last run on the workspace was skipped. Calls settle().
  bool skipped(const Workspace& workspace) {
    settle();
    return workspace.memory_->skipped_last;
  }

 private:
  template <class Plan, class Plain, class Watch, class D>
  class ProbedSteps;

  void copy_value(const Memory& memory, std::byte* to, const FetchedValue& value, std::size_t bytes) {
    this->flush();
    const std::byte* const from = value.base == Base::variables   ? variables_.data() + value.offset
                                  : value.base == Base::workspace ? memory.workspace.data() + value.offset
                                                                  : value.fed;
    device_->download(to, from, bytes);
    settle_watch();
  }

  /// Of the last run, on the host.
  template <class N, class Rule>
  std::optional<Violation<fetched_t<N>>> check_last(Workspace& workspace, const Rule& rule) {
    const auto value = fetch<N>(workspace);
    if (workspace.memory_->skipped_last || crochet::detail::obeys(value, rule)) return std::nullopt;
    return Violation<fetched_t<N>>{value, std::nullopt, 0};
  }
  std::shared_ptr<VariableSnapshot<Device, T>> snapshot_;
  DeviceBytes<Device> step_times_;  ///< that a probed run's launch writes
};

}  // namespace crochet::cuda

#include <crochet/executor/cuda/probed_steps.hpp>  // its nested class
