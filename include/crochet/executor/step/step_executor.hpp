// SPDX-License-Identifier: Apache-2.0
// StepExecutor: any step function as an executor, so that your own solver or simulation can use the same hooks.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/executor/step/divided_variable.hpp>
#include <crochet/executor/step/step_names.hpp>
#include <crochet/executor/step/step_outputs.hpp>
#include <crochet/executor/step/step_ports.hpp>
#include <crochet/hook/due_probes.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/demand.hpp>

namespace crochet {

/// Wraps a callable `step(auto& out)`, with the outputs that it sets and the inputs that it reads:
///   StepExecutor step{[&](auto& out) { solver.advance(); out["residual"_n] = solver.residual(); },
///                     output<double, "residual">};
/// State for checkpoints is declared as well: `variable<"u">(u)`, among the outputs and inputs. The callable is
/// compiled once for each possible demand. Cost: that of the callable.
template <class Step, class... Ports>
class StepExecutor {
  using AllOutputs = decltype((detail::List<>{} + ... + detail::outputs_in<Ports>{}));
  using AllInputs = decltype((detail::List<>{} + ... + detail::inputs_in<Ports>{}));
  using AllVariables = decltype((detail::List<>{} + ... + detail::variables_in<Ports>{}));
  using Outputs = detail::distinct_names<AllOutputs>;
  using Inputs = detail::distinct_names<AllInputs>;
  using Repeated = decltype(detail::repeated_names<AllOutputs>{} + detail::repeated_names<AllInputs>{} +
                            detail::repeated_names<AllVariables>{});
  using State = decltype(detail::step_state(std::tuple_cat(detail::state_in(std::declval<Ports>())...)));

  template <class T>
  using handed_out = std::conditional_t<std::is_trivially_copyable_v<T>, T, const T&>;

 public:
  static constexpr bool has_state = (detail::is_state<Ports> || ...);
  /// Whether a part of the state differs between ranks.
  static constexpr bool has_divided_state = (detail::is_divided<Ports> || ...);
  /// The declared variables, a std::tuple.
  using Variables = decltype(std::tuple_cat(detail::state_in(std::declval<Ports>())...));

  using Workspace = detail::OutputValues<Outputs, Inputs>;
  static constexpr auto fetchable = detail::port_names(Outputs{});
  static constexpr auto feedable = detail::port_names(Inputs{});
  static constexpr std::array<std::string_view, 0> targets{};

  /// The type of an output; a reference if copying is not trivial.
  template <class N>
  using fetched_t = handed_out<typename decltype(detail::output_type<N>(std::declval<Workspace&>()))::type>;
  template <class N>
  static constexpr bool fetch_is_free = true;
  template <class N>
  using fed_t = typename detail::SoleType<decltype(detail::port_type<N>(Inputs{}))>::type;
  template <class N, class X>
  static constexpr bool accepts_feed = std::is_same_v<fed_t<N>, X>;

  constexpr explicit StepExecutor(Step step, Ports... ports)
      : step_(std::move(step)), state_(make_state(std::tuple_cat(detail::state_in(ports)...))) {
    detail::judge<typename detail::RepetitionReason<Repeated>::type>();
    // Compiles the step function for a run without hooks, so that a mistake in it is an error where it is constructed.
    if (false) {
      Workspace* none = nullptr;
      StepOutputs<Demand<Names<>, Names<>>, Workspace> out{*none};
      step_(out);
    }
  }

  /// Calls the step function. Throws what it throws.
  template <class D, class... F>
  CROCHET_HOST_ALWAYS_INLINE constexpr void run(Workspace& workspace, const F&... fed) {
    call<D>(workspace, fed...);
  }

  /// As run(), with probes (graph/probe/probe.hpp). The nodes are the step function, number 0, and the outputs, in the
  /// order of their declaration. An output is shown after the function has returned, if this run fetches it.
  static constexpr bool takes_probes = true;
  template <class W>
  static constexpr bool has_node_for = decltype(detail::probed_outputs(Outputs{}))::template fits<W>;
  template <class D, class... P, class... F>
  void run_probed(Workspace& workspace, const DueProbes<P...>& probes, const F&... fed) {
    probe<D>(workspace, probes, -1, static_cast<D*>(nullptr), fed...);
  }

  /// The value of the output N in the workspace. An output that the last run did not set keeps the value of an earlier
  /// run; before the first assignment it is value-initialized.
  template <class N>
  [[nodiscard]] constexpr fetched_t<N> fetch(Workspace& workspace) const {
    return detail::output_slot<N>(workspace);
  }

  /// Visits the declared state; session/variables.hpp documents the arguments of `visit`.
  template <class Visit>
  void for_each_variable(Visit&& visit) requires has_state {
    std::apply([&](const auto&... v) { (v.template show<element_of<decltype(v)>>(visit), ...); }, state_.variables);
  }
  template <class Visit>
  void for_each_variable(Visit&& visit) const requires has_state {
    std::apply([&](const auto&... v) { (v.template show<const element_of<decltype(v)>>(visit), ...); },
               state_.variables);
  }
  /// The user's objects always have values.
  [[nodiscard]] static constexpr bool variables_initialized() requires has_state { return true; }
  [[nodiscard]] static std::initializer_list<std::string> uninitialized_variables() requires has_state { return {}; }

 protected:
  // For executors of one of several ranks, which are derived from this one. Values: Workspace, or derived from it.
  template <class D, class Values, class... F>
  CROCHET_HOST_ALWAYS_INLINE constexpr void call(Values& values, const F&... fed) {
    StepOutputs<D, Values, F...> out{values, fed...};
    step_(out);
  }
  template <class D, class Values, class... F, class Probes, class... N, class T>
  void probe(Values& values, const Probes& probes, int task, Demand<Names<N...>, T>*, const F&... fed) {
    using Shown = decltype(detail::probed_outputs(Outputs{}));
    static constexpr std::array<std::string_view, sizeof...(N)> fetches{N::view()...};
    static constexpr std::array<std::string_view, sizeof...(F)> feeds{F::name::view()...};
    Shown::template run<D>(
        probes, fetches, feeds, [&] { call<D>(values, fed...); },
        [&]<class Wanted>(Wanted) -> const auto& { return detail::output_slot<Wanted>(values); }, task);
  }

  /// The declared variables, a StepState.
  [[nodiscard]] const auto& state() const { return state_; }

  template <class V>
  using element_of = typename std::remove_cvref_t<V>::Element;

 private:
  template <class... V>
  static constexpr State make_state(std::tuple<V...> variables) {
    if constexpr (sizeof...(V) == 0) {
      return {};
    } else {
      return {std::move(variables)};
    }
  }

  CROCHET_NO_UNIQUE_ADDRESS Step step_;
  CROCHET_NO_UNIQUE_ADDRESS State state_;
};
template <class Step, class... Ports>
StepExecutor(Step, Ports...) -> StepExecutor<Step, Ports...>;

}  // namespace crochet
