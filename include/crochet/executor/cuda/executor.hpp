// SPDX-License-Identifier: Apache-2.0
// The executor for a device: runs are queued and launched several at a time; values are copied when they are read.
#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <crochet/base/clock.hpp>
#include <crochet/executor/cuda/counted_steps.hpp>
#include <crochet/executor/cuda/device_kernels.hpp>
#include <crochet/executor/cuda/device_variables.hpp>
#include <crochet/executor/cuda/feed_layout.hpp>
#include <crochet/executor/cuda/step_code.hpp>
#include <crochet/executor/cuda/workspace.hpp>
#include <crochet/executor/plan/fetched_type.hpp>
#include <crochet/executor/plan/kernel_check.hpp>
#include <crochet/executor/plan/sizes.hpp>
#include <crochet/executor/plan/tables.hpp>
#include <crochet/executor/plan/watched.hpp>
#include <crochet/graph/model_check.hpp>
#include <crochet/graph/probe/watch_fits.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet::cuda {

struct Settings {
  int steps_per_launch = 32;  ///< the most runs of one launch
  std::uint64_t seed = 0;
  /// The age of a queue at which the next run launches it, in seconds. Default: a queue is launched only when it is
  /// full.
  double queue_seconds = std::numeric_limits<double>::infinity();
  Clock clock{};  ///< read once a run if queue_seconds is finite
};

/// Runs a model's graph on a device.
/// - Device: a GPU's driver (device.hpp), or a device in software.
/// - Extensions: hooks whose extend_graph is part of the graph.
/// - Movable. Only one thread at a time may call it.
template <class Device, class Model, class... Extensions>
class Executor {
  using T = cpu::Tables<cpu::DeviceTraits{.packs = false, .by_items = false}, Model, Extensions...>;
  using Variables = DeviceVariables<Device, T>;
  using Memory = WorkspaceMemory<Device, T::fetchable.size()>;
  using Layout = FeedLayout<T>;
  using Kernels = DeviceKernels<Device::runs_own_operations>;
  static constexpr int step_node = find_node(T::graph, "global_step");

 public:
  static constexpr const auto& graph = T::graph;
  static constexpr const auto& fetchable = T::fetchable;
  static constexpr const auto& feedable = T::feedable;
  static constexpr const auto& targets = T::targets;

  template <class N>
  using fetched_t = typename cpu::FetchedType<T::template node<N>().dtype, T::template node<N>().shape.rank>::type;
  template <class N>
  using fed_t = element_t<T::template node<N>().dtype>;
  template <class N, class X>
  static constexpr bool accepts_feed = cpu::accepts<fed_t<N>, T::template node<N>().shape.rank, X>();
  /// A fetch may wait for the device, so hooks read only what they use.
  template <class N>
  static constexpr bool fetch_is_free = false;
  /// The executor of the extended graph, or one that reports the errors in the hooks' extend_graph.
  template <class... H>
  using extended_by =
      std::conditional_t<crochet::detail::Builds<Model, Extensions..., H...>,
                         Executor<Device, Model, Extensions..., H...>,
                         UnusableExecutor<crochet::detail::BrokenExtension<Model, Extensions..., H...>>>;
  template <class D>
  using plan_of = cpu::Planned<T, D>;
  static constexpr bool needs_target = true, checks_feeds = true;
  template <class D, class... N>
  static constexpr auto feeds_reason(Names<N...> fed) {
    return cpu::run_reason<T, cpu::Planned<T, D>, Kernels>(fed);
  }

  /// The memory of a run. It grows to the size of the largest run and is kept.
  class Workspace {
    friend class Executor;
    std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
  };

  /// The memory of the device that the runs on the workspace take, without variables.
  std::size_t workspace_bytes(const Workspace& workspace) const { return workspace.memory_->bytes(); }

  explicit Executor(std::shared_ptr<Device> device, const Settings& settings = {})
      : device_(std::move(device)), settings_(settings) {}
  /// Makes the executor of the extended graph from one without the extensions.
  template <class... E>
  requires(sizeof...(E) < sizeof...(Extensions)) explicit Executor(Executor<Device, Model, E...>&& plain)
      : Executor(plain.device(), plain.settings()) {}

  const Settings& settings() const { return settings_; }
  const std::shared_ptr<Device>& device() const { return device_; }

  /// Gives every variable its initial value, from the seed.
  void initialize() {
    drop();
    variables_.overwrite().initialize(settings_.seed);
    count_again();
  }
  /// Launches the queued runs and waits for them. Throws what they throw.
  void close() {
    flush();
    device_->synchronize();
  }

  /// Queues a run of the demand, and launches the queue if it is full or old. The feeds are copied.
  /// - Throws ShapeError if a feed's size does not fit, or is 0 and a mean is computed over it.
  /// - Throws UninitializedError if a variable that the run needs has no value.
  /// - Throws DeviceMemoryError if the device has no memory for the run, and errors of earlier runs.
  template <class D, class... F>
  void run(Workspace& workspace, const F&... feeds) {
    enqueue<cpu::Planned<T, D>, D>(workspace, feeds...);
    if (queue_.times == queue_.most || queue_is_old()) flush();
  }

  /// As run(), with probes (graph/probe/probe.hpp). The steps are launched one by one, and each is waited for; a value
  /// that a probe watches is copied to the host behind the step that completes it.
  static constexpr bool takes_probes = true;
  template <class W>
  static constexpr bool has_node_for = crochet::detail::WatchFits<crochet::detail::TableOf<T>::nodes, W>::any;
  template <class D, class... P, class... F>
  CROCHET_COLD void run_probed(Workspace& workspace, const DueProbes<P...>& probes, const F&... feeds) {
    using Plain = cpu::Planned<T, D>;
    using Watch = cpu::WatchedNodes<T, Executor, Plain, P...>;
    using Plan = std::conditional_t<(Watch::nodes.size() > 0), cpu::Planned<T, D, Watch>, Plain>;
    flush();
    enqueue<Plan, D>(workspace, feeds...);
    const Queue run = std::move(queue_);
    queue_ = {};
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
      const E* const data = static_cast<const E*>(copied<N>(memory));
      if constexpr (n.shape.rank == 0) {
        return *data;
      } else {
        static constexpr Shape shape = n.shape;
        std::array<std::int64_t, n.shape.rank> extents{};
        for (std::size_t i = 0; i < n.shape.rank; ++i) extents[i] = shape[i].at(memory.dims);
        return fetched_t<N>(data, extents);
      }
    }
  }

  /// As on the CPU: calls `visit(name, elements, shape)` for every variable. Waits for the device.
  template <class Visit>
  void for_each_variable(Visit&& visit) {
    flush();
    variables_.write(*device_).for_each(visit);
    count_again();
  }
  template <class Visit>
  void for_each_variable(Visit&& visit) const {
    auto& self = const_cast<Executor&>(*this);
    self.flush();
    const cpu::Variables<T>& values = self.variables_.read(*device_);
    values.for_each(visit);
  }
  bool variables_initialized() const { return variables_.host().initialized(); }
  std::vector<std::string> uninitialized_variables() const { return variables_.host().uninitialized(); }

  /// The variable's elements, row-major, to be read or overwritten. Valid until the next run. Waits for the device.
  template <class N>
  auto variable(N) {
    static_assert(T::template node_id<N> >= 0 && T::template node<N>().is(op::variable),
                  "crochet: the graph has no variable of this name.");
    using E = element_t<T::template node<N>().dtype>;
    constexpr std::size_t index = T::variable_index(T::template node_id<N>);
    flush();
    if constexpr (T::template node_id<N> == step_node) count_again();
    return std::span<E>(static_cast<E*>(variables_.write(*device_).write(index)),
                        static_cast<std::size_t>(T::template node<N>().shape.size().factor));
  }

  /// Counted on the host. Waits only after a plan that changes the step otherwise than by adding one.
  std::int64_t global_step() const requires(step_node >= 0) {
    if (counted_) return *counted_;
    auto& self = const_cast<Executor&>(*this);
    self.flush();
    self.variables_.read(*device_);
    if (!variables_.written()) counted_ = step_on_host();  // else the caller may still write it
    return step_on_host();
  }

  /// Launches the queued runs.
  void flush() {
    if (queue_.times == 0) return;
    const Queue runs = std::move(queue_);
    queue_ = {};
    runs.launch(*this, *runs.memory, runs);
  }

 private:
  template <class Plan, class Plain, class Watch, class D>
  class ProbedSteps;

  /// Runs of one plan at one size that wait for their launch.
  struct Queue {
    void (*launch)(Executor&, Memory&, const Queue&) = nullptr;
    std::shared_ptr<Memory> memory;
    BoundPlan<Device>* plan = nullptr;
    Dims dims{};
    Layout layout;
    int times = 0, most = 0;
    double begun = 0;  ///< on the clock
  };

  template <class P, class... F>
  static constexpr void check_feeds() {
    using Reason = typename decltype(cpu::run_reason<T, P, Kernels>(Names<typename F::name...>{}))::type;
    static_assert(call_is_usable<Reason>, "crochet: crochet::error says why");
  }
  /// Adds a run of plan P to the queue.
  template <class P, class D, class... F>
  void enqueue(Workspace& workspace, const F&... feeds) {
    check_feeds<P, F...>();
    variables_.host().template settle<P>();
    Dims dims;
    dims.fill(cpu::unknown_dim);
    std::array<FedBytes, sizeof...(F)> fed{bind_feed<T>(feeds, dims)...};
    Memory& memory = *workspace.memory_;
    cpu::check_dims<T, P>(dims, memory.dims);
    const auto layout = Layout::template of<F...>(fed, dims);
    if (!fits_queue(&PlanRun<P>::launch, workspace, dims, layout)) start_queue<P>(workspace, dims, layout);
    layout.copy(fed, memory.feeds.host() + static_cast<std::size_t>(queue_.times) * layout.bytes);
    ++queue_.times;
    if (!counted_ && variables_.written()) counted_ = step_on_host();
    count_step(step_change<T, P>);
    memory.dims = dims;
    remember<P>(memory, static_cast<D*>(nullptr));
  }

  bool fits_queue(decltype(Queue::launch) launch, const Workspace& workspace, const Dims& dims,
                  const Layout& layout) const {
    return queue_.times > 0 && queue_.launch == launch && queue_.memory == workspace.memory_ && queue_.dims == dims &&
           queue_.layout == layout;
  }
  template <class P>
  void start_queue(Workspace& workspace, const Dims& dims, const Layout& layout) {
    flush();
    Memory& memory = *workspace.memory_;
    BoundPlan<Device>& plan = memory.template bind<T, P>(device_, dims);
    memory.reserve(device_, plan);
    constexpr std::size_t most_bytes = std::size_t{64} << 20;
    const std::size_t fitting = layout.bytes == 0 ? most_bytes : most_bytes / layout.bytes;
    int most = settings_.steps_per_launch < 1 ? 1 : settings_.steps_per_launch;
    if (fitting < static_cast<std::size_t>(most)) most = fitting == 0 ? 1 : static_cast<int>(fitting);
    memory.feeds.begin(device_, layout.bytes, static_cast<std::size_t>(most));
    queue_ = {&PlanRun<P>::launch, workspace.memory_, &plan, dims, layout, 0, most, is_timed() ? settings_.clock() : 0};
  }
  bool is_timed() const { return settings_.queue_seconds < std::numeric_limits<double>::infinity(); }
  bool queue_is_old() const { return is_timed() && settings_.clock() - queue_.begun >= settings_.queue_seconds; }

  template <class P>
  struct PlanRun {
    static void launch(Executor& self, Memory& memory, const Queue& runs) {
      const Launch launch = prepare(self, memory, runs);
      self.device_->template launch<PlanCode<P>>(launch);
      memory.feeds.end(*self.device_);
    }
    /// Uploads feeds and addresses.
    static Launch prepare(Executor& self, Memory& memory, const Queue& runs) {
      Device& device = *self.device_;
      self.variables_.settle_device(self.device_);
      constexpr std::size_t others = static_cast<std::size_t>(Base::placeholders);
      std::array<BaseAddress, others + T::placeholder_count> bases{};
      bases[static_cast<std::size_t>(Base::variables)] = {reinterpret_cast<unsigned char*>(self.variables_.data()), 0};
      bases[static_cast<std::size_t>(Base::workspace)] = {reinterpret_cast<unsigned char*>(memory.workspace.data()), 0};
      for (std::size_t k = 0; k < T::placeholder_count; ++k) {
        if (runs.layout.offsets[k] < 0) continue;
        std::byte* const at = memory.feeds.device_data() + runs.layout.offsets[k];
        bases[others + k] = {reinterpret_cast<unsigned char*>(at), static_cast<std::int64_t>(runs.layout.bytes)};
      }
      memory.bases.reserve(self.device_, sizeof bases, "the addresses of a launch");
      device.upload(memory.bases.data(), bases.data(), sizeof bases);
      memory.feeds.upload(device, runs.layout.bytes * static_cast<std::size_t>(runs.times));
      Launch launch{runs.plan->tables, reinterpret_cast<const BaseAddress*>(memory.bases.data()), runs.times};
      launch.tables.scratch = reinterpret_cast<unsigned char*>(memory.scratch.data());
      launch.tables.tickets = reinterpret_cast<std::uint32_t*>(memory.tickets.data());
      return launch;
    }
  };

  template <class N>
  static constexpr std::size_t index_of() {
    return crochet::detail::index_of_name(N::view(), T::fetchable);
  }
  template <class P, class... N, class R>
  void remember(Memory& memory, Demand<Names<N...>, R>*) {
    std::size_t i = 0;
    [[maybe_unused]] const auto keep = [&](FetchedValue& value) {
      const PlannedValue& v = StoredPlan<T, P>::fetched[i];
      value = {v.base, queue_.plan->fetched[i], std::move(value.host), false};
      ++i;
      if (v.base != Base::placeholders) return;
      const std::int64_t at = queue_.layout.offsets[static_cast<std::size_t>(v.number)];
      value.offset = (queue_.times - 1) * static_cast<std::int64_t>(queue_.layout.bytes) + at;
    };
    (keep(memory.values[index_of<N>()]), ...);
  }

  template <class N>
  const void* copied(Memory& memory) {
    FetchedValue& value = memory.values[index_of<N>()];
    if (value.copied) return value.host.data();
    flush();
    constexpr const Node& n = T::template node<N>();
    static constexpr Extent elements = n.shape.size();
    const std::size_t bytes = static_cast<std::size_t>(elements.at(memory.dims)) * size_of(n.dtype);
    value.host.reserve(bytes + 1, "a fetched value");
    const std::byte* const from = value.base == Base::variables   ? variables_.data()
                                  : value.base == Base::workspace ? memory.workspace.data()
                                                                  : memory.feeds.device_data();
    device_->download(value.host.data(), from + value.offset, bytes);
    value.copied = true;
    return value.host.data();
  }

  /// The step in the host's copy of the variables.
  std::int64_t step_on_host() const {
    if constexpr (step_node < 0) {
      return 0;
    } else {
      return *static_cast<const std::int64_t*>(variables_.host().read(T::variable_index(step_node)));
    }
  }
  void count_step(StepChange change) {
    if (change == StepChange::other) counted_.reset();
    if (change == StepChange::adds_one && counted_) ++*counted_;
  }
  void count_again() { counted_.reset(); }
  /// Forgets the queued runs.
  void drop() { queue_ = {}; }

  std::shared_ptr<Device> device_;
  Settings settings_;
  Variables variables_;
  Queue queue_;
  mutable std::optional<std::int64_t> counted_;
};

}  // namespace crochet::cuda

#include <crochet/executor/cuda/probed_steps.hpp>  // its nested class
