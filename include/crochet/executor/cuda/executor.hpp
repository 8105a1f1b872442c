// SPDX-License-Identifier: Apache-2.0
// The executor for a device: runs are queued and launched several at a time; values are copied when they are read.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <crochet/executor/cuda/counted_steps.hpp>
#include <crochet/executor/cuda/device_variables.hpp>
#include <crochet/executor/cuda/step_code.hpp>
#include <crochet/executor/cuda/workspace.hpp>
#include <crochet/executor/plan/feed_check.hpp>
#include <crochet/executor/plan/feeds.hpp>
#include <crochet/executor/plan/probe_failure.hpp>
#include <crochet/executor/plan/probed_run.hpp>
#include <crochet/executor/plan/sizes.hpp>
#include <crochet/executor/plan/step_facts.hpp>
#include <crochet/executor/plan/tables.hpp>
#include <crochet/executor/plan/watched.hpp>
#include <crochet/graph/model_check.hpp>
#include <crochet/graph/probe/watch_fits.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet::cuda {

struct Settings {
  int steps_per_launch = 32;  ///< the most runs of one launch
  std::uint64_t seed = 0;
};

namespace detail {
template <DType D, std::size_t Rank>
struct FetchedType {
  using type = TensorView<element_t<D>, Rank>;
};
template <DType D>
struct FetchedType<D, 0> {
  using type = element_t<D>;
};
}  // namespace detail

/// Runs a model's graph on a device.
/// - Device: a GPU's driver (device.hpp), or a device in software.
/// - Extensions: hooks whose extend_graph is part of the graph.
/// - Movable. Only one thread at a time may call it.
template <class Device, class Model, class... Extensions>
class Executor {
  using T = cpu::Tables<cpu::DeviceTraits{.packs = false, .by_items = false}, Model, Extensions...>;
  using Variables = DeviceVariables<Device, T>;
  using Memory = WorkspaceMemory<Device, T::fetchable.size()>;
  using Placeholders = std::array<std::int64_t, T::placeholder_count>;
  static constexpr int step_node = find_node(T::graph, "global_step");

 public:
  static constexpr const auto& graph = T::graph;
  static constexpr const auto& fetchable = T::fetchable;
  static constexpr const auto& feedable = T::feedable;
  static constexpr const auto& targets = T::targets;

  template <class N>
  using fetched_t = typename detail::FetchedType<T::template node<N>().dtype, T::template node<N>().shape.rank>::type;
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
    return cpu::FeedCheck<T, cpu::Planned<T, D>>::reason(fed);
  }

  /// The memory of a run. It grows to the size of the largest run and is kept.
  class Workspace {
    friend class Executor;
    std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
  };

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

  /// Queues a run of the demand, and launches the queue if it is full. The feeds are copied.
  /// - Throws ShapeError if a feed's size does not fit, or is 0 and a mean is computed over it.
  /// - Throws UninitializedError if a variable that the run needs has no value.
  /// - Throws DeviceMemoryError if the device has no memory for the run, and errors of earlier runs.
  template <class D, class... F>
  void run(Workspace& workspace, const F&... feeds) {
    enqueue<cpu::Planned<T, D>, D>(workspace, feeds...);
    if (queue_.times == queue_.most) flush();
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

  std::int64_t global_step() const requires(step_node >= 0) {
    auto& self = const_cast<Executor&>(*this);
    if (!counted_) {
      self.flush();
      constexpr std::size_t index = T::variable_index(step_node);
      counted_ = *static_cast<const std::int64_t*>(self.variables_.read(*device_).read(index));
    }
    return *counted_;
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

  /// A feed: its bytes on the host, and its placeholder.
  struct FedBytes {
    const void* data;
    std::size_t bytes, placeholder;
  };
  /// The places of the feeds in the copy of a run.
  struct FeedLayout {
    Placeholders offsets{};
    std::size_t bytes = 0;
    friend bool operator==(const FeedLayout&, const FeedLayout&) = default;
  };
  /// Runs of one plan at one size that wait for their launch.
  struct Queue {
    void (*launch)(Executor&, Memory&, const Queue&) = nullptr;
    std::shared_ptr<Memory> memory;
    BoundPlan<Device>* plan = nullptr;
    Dims dims{};
    FeedLayout layout;
    int times = 0, most = 0;
  };

  template <class P, class... F>
  static constexpr void check_feeds() {
    using Reason = typename decltype(cpu::FeedCheck<T, P>::reason(Names<typename F::name...>{}))::type;
    static_assert(call_is_usable<Reason>, "crochet: crochet::error says why");
  }
  template <class N, class X>
  static FedBytes bind_feed(const Feed<N, X>& feed, Dims& dims) {
    constexpr auto node = static_cast<std::size_t>(T::template node_id<N>);
    static constexpr Shape shape = T::graph.nodes[node].shape;
    return {cpu::bind(feed.value, {N::view(), shape, T::symbols}, dims), 0,
            T::placeholder_number(static_cast<int>(node))};
  }
  template <class... F, std::size_t N>
  static FeedLayout layout_of(std::array<FedBytes, N>& fed, const Dims& dims) {
    constexpr std::size_t line = 256;
    FeedLayout layout;
    layout.offsets.fill(-1);
    std::size_t k = 0;
    [[maybe_unused]] const auto place = [&](const Extent& elements, std::size_t element_bytes) {
      FedBytes& f = fed[k++];
      f.bytes = static_cast<std::size_t>(elements.at(dims)) * element_bytes;
      layout.offsets[f.placeholder] = static_cast<std::int64_t>(layout.bytes);
      layout.bytes += (f.bytes + line - 1) / line * line;
    };
    (place(T::template node<typename F::name>().shape.size(), size_of(T::template node<typename F::name>().dtype)),
     ...);
    return layout;
  }

  /// Adds a run of plan P to the queue.
  template <class P, class D, class... F>
  void enqueue(Workspace& workspace, const F&... feeds) {
    check_feeds<P, F...>();
    variables_.host().template settle<P>();
    Dims dims;
    dims.fill(cpu::unknown_dim);
    std::array<FedBytes, sizeof...(F)> fed{bind_feed(feeds, dims)...};
    Memory& memory = *workspace.memory_;
    cpu::check_dims<T, P>(dims, memory.dims);
    const FeedLayout layout = layout_of<F...>(fed, dims);
    if (!fits_queue(&PlanRun<P>::launch, workspace, dims, layout)) start_queue<P>(workspace, dims, layout);
    std::byte* const to = memory.feeds.host() + static_cast<std::size_t>(queue_.times) * layout.bytes;
    for (std::size_t k = 0; k < sizeof...(F); ++k) {
      if (fed[k].bytes > 0) std::memcpy(to + layout.offsets[fed[k].placeholder], fed[k].data, fed[k].bytes);
    }
    ++queue_.times;
    count_step(step_change<T, P>);
    memory.dims = dims;
    remember<P>(memory, static_cast<D*>(nullptr));
  }

  bool fits_queue(decltype(Queue::launch) launch, const Workspace& workspace, const Dims& dims,
                  const FeedLayout& layout) const {
    return queue_.times > 0 && queue_.launch == launch && queue_.memory == workspace.memory_ && queue_.dims == dims &&
           queue_.layout == layout;
  }
  template <class P>
  void start_queue(Workspace& workspace, const Dims& dims, const FeedLayout& layout) {
    flush();
    Memory& memory = *workspace.memory_;
    BoundPlan<Device>& plan = memory.template bind<T, P>(device_, dims);
    memory.reserve(device_, plan);
    constexpr std::size_t most_bytes = std::size_t{64} << 20;
    const std::size_t fitting = layout.bytes == 0 ? most_bytes : most_bytes / layout.bytes;
    int most = settings_.steps_per_launch < 1 ? 1 : settings_.steps_per_launch;
    if (fitting < static_cast<std::size_t>(most)) most = fitting == 0 ? 1 : static_cast<int>(fitting);
    memory.feeds.begin(device_, layout.bytes, static_cast<std::size_t>(most));
    queue_ = {&PlanRun<P>::launch, workspace.memory_, &plan, dims, layout, 0, most};
  }

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

/// The steps of one run, launched one by one for probes.
template <class Device, class Model, class... Extensions>
template <class Plan, class Plain, class Watch, class D>
class Executor<Device, Model, Extensions...>::ProbedSteps {
  using Shown = cpu::ProbedRunOf<T, Executor, Plan, Plain, Watch, D>;
  static constexpr std::size_t count = Plan::plan.step_count;

 public:
  ProbedSteps(Executor& self, Memory& memory, const Queue& run) : self_(self), memory_(memory), run_(run) {
    frame_.dims = run.dims;
    frame_.variables = self.variables_.host().data();
    frame_.placeholders.fill(nullptr);
    for (std::size_t k = 0, node = 0; node < T::graph.nodes.size(); ++node) {
      if (!T::is_placeholder(node)) continue;
      if (run.layout.offsets[k] >= 0) frame_.placeholders[node] = memory.feeds.host() + run.layout.offsets[k];
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
    Launch launch = PlanRun<Plan>::prepare(self_, memory_, run_);
    if constexpr (Watch::sources.size() > 0) self_.variables_.read(*self_.device_);
    Shown shown(frame_, self_.variables_.host());
    const auto facts = cpu::StepFacts<T, Plan>::at(frame_.dims);
    shown.begin(probes, facts, 1, memory_.workspace.capacity() + memory_.scratch.capacity(), feeds);
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
  const Queue& run_;
  Frame frame_;
  std::array<std::int64_t, Plan::plan.slot_count> offsets_{};
  kernel::AlignedBytes mirror_;
};

}  // namespace crochet::cuda
