// SPDX-License-Identifier: Apache-2.0
// The CPU executor: what sessions and programs call.
#pragma once
#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/executor/cpu/kernels.hpp>
#include <crochet/executor/cpu/sums_keep_their_order.hpp>
#include <crochet/executor/cpu/team_runs.hpp>
#include <crochet/executor/plan/exchanges_of.hpp>
#include <crochet/executor/plan/graph_interface.hpp>
#include <crochet/executor/plan/planned.hpp>
#include <crochet/executor/plan/probed_run.hpp>
#include <crochet/executor/plan/reads_only.hpp>
#include <crochet/executor/plan/tables.hpp>
#include <crochet/executor/plan/variable_reason.hpp>
#include <crochet/executor/plan/variables.hpp>
#include <crochet/executor/plan/watched.hpp>
#include <crochet/graph/layers/layers.hpp>
#include <crochet/graph/model_check.hpp>
#include <crochet/graph/optimizers.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// Runs a model's graph.
/// - Backend: the policy for products (kernels/cpu/matrix.hpp).
/// - Extensions: hooks whose extend_graph is part of the graph.
/// - Movable. Only one thread at a time may call it; it runs its own team of threads.
template <class Backend, class Model, class... Extensions>
class Executor : public GraphInterface<Tables<DeviceTraits{.packs = Backend::packs}, Model, Extensions...>,
                                       typename KernelsFor<Backend>::type>,
                 public TeamRuns<Backend, Tables<DeviceTraits{.packs = Backend::packs}, Model, Extensions...>> {
  using T = Tables<DeviceTraits{.packs = Backend::packs}, Model, Extensions...>;
  using Interface = GraphInterface<T, typename KernelsFor<Backend>::type>;
  using Runs = TeamRuns<Backend, T>;
  using Runs::settings_, Runs::variables_;

 public:
  using typename Runs::Workspace;
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

  /// Throws LogicError if the number of threads is negative or the file is compiled with -funsafe-math-optimizations,
  /// and ResourceExhaustedError if the system cannot start the threads.
  explicit Executor(const Settings& settings = {}) : Runs(settings) { sums_keep_their_order<Executor>(); }
  /// Makes the executor of the extended graph from one without the extensions.
  template <class... E>
  requires(sizeof...(E) < sizeof...(Extensions)) explicit Executor(Executor<Backend, Model, E...>&& plain)
      : Executor(plain.settings()) {}

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
    Interface::template check_feeds<P, F...>();
    Runs::template run_plan<P, D>(w, feeds...);
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
    using Shown = ProbedRunOf<T, Executor, Plan, Plain, Watch, D>;
    Interface::template check_feeds<Plan, F...>();
    Runs::template run_probed_plan<Plan, Plain, Shown, D>(w, probes, feeds...);
  }

  /// A value of the last run on the workspace. A variable has its value after that run.
  template <class N>
  fetched_t<N> fetch(Workspace& w) const {
    return Runs::template value<N>(w);
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
    using Reason = typename decltype(variable_reason<T, N>())::type;
    static_assert(call_is_usable<Reason>, "crochet: crochet::error says why");
    if constexpr (std::is_same_v<Reason, error::none>) {
      using E = element_t<T::template node<N>().dtype>;
      constexpr std::size_t index = T::variable_index(T::template node_id<N>);
      return std::span<E>(static_cast<E*>(variables_.write(index)),
                          static_cast<std::size_t>(T::template node<N>().shape.size().factor));
    } else {
      return std::span<float>{};  // no second error where the elements are used
    }
  }

  std::int64_t global_step() const requires(find_node(T::graph, "global_step") >= 0) {
    constexpr std::size_t index = T::variable_index(find_node(T::graph, "global_step"));
    return *static_cast<const std::int64_t*>(variables_.read(index));
  }
};

}  // namespace crochet::cpu::CROCHET_ISA

#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/cpu/reader.hpp>  // its nested class
