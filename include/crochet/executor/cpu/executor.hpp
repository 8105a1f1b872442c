// SPDX-License-Identifier: Apache-2.0
// The CPU executor: variables, threads, and straight-line code for every demand.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/executor/cpu/chosen_team.hpp>
#include <crochet/executor/cpu/kernels.hpp>
#include <crochet/executor/cpu/lower.hpp>
#include <crochet/executor/cpu/probed_steps.hpp>
#include <crochet/executor/cpu/run_memory.hpp>
#include <crochet/executor/cpu/shard_memory.hpp>
#include <crochet/executor/cpu/shard_steps.hpp>
#include <crochet/executor/cpu/thread_choices.hpp>
#include <crochet/executor/plan/exchanges_of.hpp>
#include <crochet/executor/plan/graph_interface.hpp>
#include <crochet/executor/plan/planned.hpp>
#include <crochet/executor/plan/probed_run.hpp>
#include <crochet/executor/plan/reads_only.hpp>
#include <crochet/executor/plan/step_facts.hpp>
#include <crochet/executor/plan/tables.hpp>
#include <crochet/executor/plan/variables.hpp>
#include <crochet/executor/plan/watched.hpp>
#include <crochet/graph/layers/layers.hpp>
#include <crochet/graph/model_check.hpp>
#include <crochet/graph/optimizers.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet::cpu {

/// Runs a model's graph.
/// - Backend: the policy for products (kernels/cpu/matrix.hpp).
/// - Extensions: hooks whose extend_graph is part of the graph.
/// - Movable. Only one thread at a time may call it; it runs its own team of threads.
template <class Backend, class Model, class... Extensions>
class Executor : public GraphInterface<Tables<DeviceTraits{.packs = Backend::packs}, Model, Extensions...>,
                                       typename KernelsFor<Backend>::type> {
  using T = Tables<DeviceTraits{.packs = Backend::packs}, Model, Extensions...>;
  using Interface = GraphInterface<T, typename KernelsFor<Backend>::type>;

 public:
  template <class N>
  using fetched_t = typename Interface::template fetched_t<N>;
  template <class N, class X>
  static constexpr bool accepts_feed =
      accepts<typename Interface::template fed_t<N>, T::template node<N>().shape.rank, X>();
  template <class N>
  static constexpr bool fetch_is_free = true;
  /// The executor of the extended graph, or one that reports the errors in the hooks' extend_graph.
  template <class... H>
  using extended_by =
      std::conditional_t<crochet::detail::Builds<Model, Extensions..., H...>,
                         Executor<Backend, Model, Extensions..., H...>,
                         UnusableExecutor<crochet::detail::BrokenExtension<Model, Extensions..., H...>>>;

  /// The memory of a run. It grows to the size of the largest run and is kept.
  class Workspace {
    friend class Executor;
    RunMemory<T> memory_;
    ThreadChoices choices_;
    struct NoShards {
      static constexpr std::size_t bytes() { return 0; }
    };
    [[no_unique_address]] std::conditional_t<kernel::in_shards<Backend>, ShardMemory<T>, NoShards> shards_;
  };

  /// Throws LogicError if the number of threads is negative, and ResourceExhaustedError if the system cannot start
  /// them.
  explicit Executor(const Settings& settings = {}) : settings_(settings), team_(settings) {}
  /// Makes the executor of the extended graph from one without the extensions.
  template <class... E>
  requires(sizeof...(E) < sizeof...(Extensions)) explicit Executor(Executor<Backend, Model, E...>&& plain)
      : Executor(plain.settings()) {}

  const Settings& settings() const { return settings_; }
  /// The limit of threads.
  int threads() const { return team_.size(); }
  /// The bytes of memory of a run, without the variables.
  std::size_t workspace_bytes(const Workspace& w) const { return w.memory_.bytes() + w.shards_.bytes(); }

  /// Gives every variable its initial value, from the seed.
  void initialize() { variables_.initialize(settings_.seed); }

  /// Computes the values of the demand. The feeds' memory is used in place.
  /// - Throws ShapeError if a feed's size does not fit, or is 0 and a mean is computed over it.
  /// - Throws UninitializedError if a variable that the run needs has no value.
  /// - Throws ResourceExhaustedError if there is no memory for the run.
  /// - Allocates nothing after the first run with the largest batch, except scratch memory of kernels while other
  ///   numbers of threads are tried.
  template <class D, class... F>
  void run(Workspace& w, const F&... feeds) {
    using P = Planned<T, D>;
    using L = Lowering<T, P, Backend>;
    Interface::template check_feeds<P, F...>();
    variables_.template settle<P>();
    const auto execute = [&](const Dims& dims, const auto& steps) {
      if constexpr (L::only_scalars) {
        team_.run_alone(steps);
      } else {
        team_.template run<P>(w.choices_, dims, steps);
      }
    };
    if constexpr (in_shards<P>) {
      const auto run = [&](const auto& shards, const auto& remember) {
        execute(shards.frames[0].dims, [&](kernel::Worker& worker) { ShardSteps<T, P, Backend>::run(shards, worker); });
        remember();
      };
      run_shards<D, P, P>(w, run, feeds...);
    } else {
      run_steps<D>(w, execute, feeds...);
    }
  }

  /// Whether runs of the demand D exchange with other ranks.
  template <class D>
  static constexpr bool exchanges = kernel::divides_batch<Backend>&& ExchangesOf<T, Planned<T, D>>::any;

  class Reader;  // runs of one thread beside those of others, in reader.hpp
  /// Why a Reader cannot run the demand D: a std::type_identity of a crochet::error.
  template <class D>
  static constexpr auto reads_only_reason() {
    return ReadsOnly<T, Planned<T, D>>::reason();
  }
  /// Whether runs of the demand D read the variable of this name.
  template <class D>
  static bool reads_variable(std::string_view name) {
    for (const auto node : Planned<T, D>::nodes_of_variables) {
      if (T::name_of(static_cast<std::size_t>(node)) == name) return true;
    }
    return false;
  }

  /// As run(), with probes (graph/probe/probe.hpp). If no probe watches tensors, the plan is that of run(), and the
  /// probes are called around its steps. Otherwise a separate plan keeps the watched nodes as values in memory. Cost:
  /// the probes' own, and a barrier of the team after each step whose values are shown.
  template <class D, class... P, class... F>
  CROCHET_COLD void run_probed(Workspace& w, const DueProbes<P...>& probes, const F&... feeds) {
    using Plain = Planned<T, D>;
    using Watch = WatchedNodes<T, Executor, Plain, P...>;
    using Plan = std::conditional_t<(Watch::nodes.size() > 0), Planned<T, D, Watch>, Plain>;
    using Steps = ProbedSteps<T, Plan, Backend, DueProbes<P...>>;
    using Shown = ProbedRunOf<T, Executor, Plan, Plain, Watch, D>;
    Interface::template check_feeds<Plan, F...>();
    variables_.template settle<Plan>();
    if constexpr (in_shards<Plan>) {  // the first of the rank's shards is shown
      const auto run = [&](const auto& shards, const auto& remember) {
        const auto steps = [&](kernel::Worker& worker, const auto& show) {
          Steps::template run_shards<Shown>(shards, worker, probes, show);
        };
        show_run<Plan, Plain, Shown, F...>(w, shards.frames[0], probes, steps, remember);
      };
      run_shards<D, Plan, Plain>(w, run, feeds...);
    } else {
      typename Lowering<T, Plan, Backend>::FrameType frame;
      bind_all<Plan>(w, frame, feeds...);
      if constexpr (kernel::divides_batch<Backend>) begin_exchange<Plain>(frame);
      const auto steps = [&](kernel::Worker& worker, const auto& show) {
        Steps::template run<Shown>(frame, worker, probes, show);
      };
      show_run<Plan, Plain, Shown, F...>(w, frame, probes, steps,
                                         [&] { w.memory_.template remember<Plan>(frame, static_cast<D*>(nullptr)); });
    }
  }

  /// A value of the last run on the workspace. A variable has its value after that run.
  template <class N>
  fetched_t<N> fetch(Workspace& w) const {
    return w.memory_.template value<N>(variables_);
  }

  /// Calls `visit(name, elements, shape)` for every variable, in the graph's order.
  /// - `name`: std::string_view; `shape`: std::span<const std::int64_t>.
  /// - `elements`: std::span of float, double, std::int32_t, std::int64_t, std::uint8_t, bool or bfloat16, always
  /// row-major.
  /// - The arguments are valid during the call only.
  /// - New elements are used from the next run on. A `visit` that returns false must not have changed them.
  /// - For a const executor the elements are const, and a variable without a value throws UninitializedError.
  template <class Visit>
  void for_each_variable(Visit&& visit) {
    variables_.for_each(visit);
  }
  template <class Visit>
  void for_each_variable(Visit&& visit) const {
    variables_.for_each(visit);
  }
  /// The memory of the elements of variable number `v`, in the order of for_each_variable; for a variable that is not
  /// stored in panels.
  std::span<std::byte> memory_of_variable(std::size_t v) {
    const VariableInfo& info = T::variables[v];
    return {variables_.data() + info.offset, static_cast<std::size_t>(info.size) * size_of(info.dtype)};
  }
  /// Whether every variable has a value, from initialize() or a write.
  bool variables_initialized() const { return variables_.initialized(); }
  /// The names of the variables without a value.
  std::vector<std::string> uninitialized_variables() const { return variables_.uninitialized(); }

  /// The variable's elements, row-major, to be read or overwritten. Valid until the next run. A variable without a
  /// value has all zeros, and counts as initialized from here on.
  template <class N>
  auto variable(N) {
    static_assert(T::template node_id<N> >= 0 && T::template node<N>().is(op::variable),
                  "crochet: the graph has no variable of this name.");
    using E = element_t<T::template node<N>().dtype>;
    constexpr std::size_t index = T::variable_index(T::template node_id<N>);
    return std::span<E>(static_cast<E*>(variables_.write(index)),
                        static_cast<std::size_t>(T::template node<N>().shape.size().factor));
  }

  std::int64_t global_step() const requires(find_node(T::graph, "global_step") >= 0) {
    constexpr std::size_t index = T::variable_index(find_node(T::graph, "global_step"));
    return *static_cast<const std::int64_t*>(variables_.read(index));
  }

 private:
  kernel::Parts parts() const { return {.most = team_.size(), .all = settings_.divides_all}; }
  /// Binds the feeds, places the values, and calls execute(dimensions, steps); steps(worker) is the work of one member.
  template <class D, class Execute, class... F>
  CROCHET_HOST_ALWAYS_INLINE void run_steps(Workspace& w, const Execute& execute, const F&... feeds) const {
    using P = Planned<T, D>;
    using L = Lowering<T, P, Backend>;
    typename L::FrameType frame;  // not cleared: the entries in use are filled
    bind_all<P>(w, frame, feeds...);
    if constexpr (kernel::divides_batch<Backend>) begin_exchange<P>(frame);
    execute(frame.dims, [&](kernel::Worker& worker) { L::run(frame, worker); });
    w.memory_.template remember<P>(frame, static_cast<D*>(nullptr));
  }

  /// Whether runs of plan P are in several shards: those that exchange.
  template <class P>
  static constexpr bool in_shards = kernel::in_shards<Backend>&& ExchangesOf<T, P>::any;

  /// As run_steps(), for each of the rank's shards: calls run(Shards, remember). `Plain`: the plan without watches.
  template <class D, class P, class Plain, class Run, class... F>
  void run_shards(Workspace& w, const Run& run, const F&... feeds) {
    typename Lowering<T, P, Backend>::FrameType whole;
    whole.variables = variables_.data();
    w.memory_.template bind_feeds<P>(whole, feeds...);
    const auto shards = w.shards_.template place<P, Backend>(whole, *settings_.exchange, team_.size());
    begin_exchange<Plain>(whole);
    w.shards_.template divide<P, typename F::name...>(shards);
    run(shards, [&] {
      std::size_t used = 0;
      const auto address_of = [&]<std::int32_t V>(std::integral_constant<std::int32_t, V>) {
        return w.shards_.template fetched<P, V>(whole, shards, used);
      };
      w.memory_.template remember_at<P>(whole.dims, static_cast<D*>(nullptr), address_of);
    });
  }

  /// Shows the run of `frame` to the probes: steps(worker, show) is the work of one member.
  template <class Plan, class Plain, class Shown, class... F, class Frame, class Probes, class Steps, class Remember>
  CROCHET_COLD void show_run(Workspace& w, Frame& frame, const Probes& probes, const Steps& steps,
                             const Remember& remember) {
    using L = Lowering<T, Plain, Backend>;
    Shown shown(frame, variables_);
    const auto facts = StepFacts<T, Plan>::at(frame.dims);
    // As many threads as plain runs have.
    const int threads = L::only_scalars ? 1 : team_.template members<Plain>(w.choices_, frame.dims);
    const int task = settings_.exchange == nullptr ? -1 : settings_.exchange->task();
    ProbeFailure failure;
    const auto begin = [&] {
      shown.begin(probes, facts,
                  {.members = threads, .workspace_bytes = workspace_bytes(w), .device = {.name = {}, .task = task}},
                  crochet::detail::List<F...>{});
    };
    // Behind begin_exchange() the other ranks run the steps, so this one does, too.
    if constexpr (kernel::divides_batch<Backend> && ExchangesOf<T, Plain>::any) {
      failure.guard(begin);
    } else {
      begin();
    }
    const auto show = [&]<class S>(S) { failure.guard([&] { shown.template behind<S::value>(probes); }); };
    const auto work = [&](kernel::Worker& worker) { steps(worker, show); };
    if constexpr (L::only_scalars) {
      team_.run_alone(work);
    } else {
      team_.run_on(threads, work);
    }
    remember();
    failure.rethrow();
    shown.end(probes);
  }

  /// The variables, feeds, sizes and values of a run of plan P.
  template <class P, class Frame, class... F>
  CROCHET_HOST_ALWAYS_INLINE void bind_all(Workspace& w, Frame& frame, const F&... feeds) const {
    frame.variables = variables_.data();
    w.memory_.template bind<P, Backend>(frame, team_.size(), feeds...);
  }

  /// On one of several ranks: a run of plan P that exchanges begins when all ranks have come to it.
  template <class P, class Frame>
  void begin_exchange(Frame& frame) const {
    using Exchanges = ExchangesOf<T, P>;
    frame.exchange = settings_.exchange;
    if constexpr (Exchanges::any) settings_.exchange->begin(Exchanges::kind, Exchanges::rows(frame.dims));
  }

  Settings settings_;
  ChosenTeam team_;
  Variables<T> variables_;
};

}  // namespace crochet::cpu

#include <crochet/executor/cpu/reader.hpp>  // its nested class
