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
#include <crochet/executor/step/step_names.hpp>
#include <crochet/hook/due_probes.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/demand.hpp>

namespace crochet {

/// A named, typed output of a step function: `output<double, "residual">`. For large values use views, which are cheap.
template <class T, class N>
struct Output {
  using type = T;
  using name = N;
};
template <class T, FixedString Text>
inline constexpr Output<T, Name<Text>> output{};

/// A named, typed input of a step function, fed by hooks or the caller: `input<double, "dt">`.
template <class T, class N>
struct Input {
  using type = T;
  using name = N;
};
template <class T, FixedString Text>
inline constexpr Input<T, Name<Text>> input{};

/// A named part of a step function's state that checkpoints save and restore: `variable<"u">(u)`.
/// - u: an arithmetic object or a contiguous range of them. It must outlive the executor.
/// - A range is one-dimensional unless a shape is given: `variable<"u">(u, {rows, columns})`.
/// - The size of a range may change from step to step, its given shape may not.
template <class Object, std::size_t Rank, class N>
class StateVariable {
 public:
  using name = N;
  using Element = std::remove_reference_t<decltype(*std::data(std::declval<Object&>()))>;

  constexpr StateVariable(Object& object, std::array<std::int64_t, Rank> shape) : object_(&object), shape_(shape) {}

  /// Calls `visit(name, elements, shape)`.
  template <class T, class Visit>
  void show(Visit& visit) const {
    const std::span<T> elements(std::data(*object_), std::size(*object_));
    if constexpr (Rank == 0) {
      const std::int64_t extent = static_cast<std::int64_t>(elements.size());
      visit(N::view(), elements, std::span<const std::int64_t>(&extent, 1));
    } else {
      check(static_cast<std::int64_t>(elements.size()));
      visit(N::view(), elements, std::span<const std::int64_t>(shape_));
    }
  }

 private:
  void check(std::int64_t size) const {
    std::int64_t product = 1;
    for (const std::int64_t extent : shape_) product *= extent;
    if (product == size) return;
    throw ShapeError("crochet: the variable \"" + std::string(N::view()) + "\" has " + std::to_string(size) +
                     " elements, but the extents of its shape make " + std::to_string(product));
  }

  Object* object_;
  std::array<std::int64_t, Rank> shape_;
};
template <class T, std::size_t Rank, class N>
requires std::is_arithmetic_v<T>
class StateVariable<T, Rank, N> {
 public:
  using name = N;
  using Element = T;

  constexpr explicit StateVariable(T& object) : object_(&object) {}

  template <class X, class Visit>
  void show(Visit& visit) const {
    visit(N::view(), std::span<X>(object_, 1), std::span<const std::int64_t>());
  }

 private:
  T* object_;
};

template <FixedString Text, class T>
requires std::is_arithmetic_v<T>
constexpr auto variable(T& object) { return StateVariable<T, 0, Name<Text>>{object}; }
template <FixedString Text, class Range>
requires requires(Range& r) { std::data(r); }
constexpr auto variable(Range& range) { return StateVariable<Range, 0, Name<Text>>{range, {}}; }
template <FixedString Text, class Range, std::size_t Rank>
requires requires(Range& r) { std::data(r); }
constexpr auto variable(Range& range, const std::int64_t (&shape)[Rank]) {
  return StateVariable<Range, Rank, Name<Text>>{range, std::to_array(shape)};
}

namespace detail {

template <class N, class T>
struct OutputSlot {
  T value{};
};
template <class N, class T>
constexpr T& output_slot(OutputSlot<N, T>& slot) {
  return slot.value;
}
template <class N, class T>
std::type_identity<T> output_type(const OutputSlot<N, T>&);

/// The outputs of one run, and the names that the step function declares.
template <class Outputs, class Inputs>
struct OutputValues;
template <class... O, class Inputs>
struct OutputValues<List<O...>, Inputs> : OutputSlot<typename O::name, typename O::type>... {
  static constexpr const auto& outputs = Declared<O...>::names;
  static constexpr const auto& inputs = DeclaredIn<Inputs>::names;
};

/// Stores an assigned value in the workspace if the run fetches it (Due); otherwise discards it.
template <class T, bool Due>
class OutputRef {
 public:
  constexpr explicit OutputRef(T& target) : target_(target) {}
  template <class U>
  requires(std::is_assignable_v<T&, U>) constexpr void operator=(
      U&& value) const {  // NOLINT(misc-unconventional-assign-operator): nothing to chain
    if constexpr (Due) target_ = std::forward<U>(value);
  }

 private:
  T& target_;
};

template <class O>
inline constexpr bool is_output = false;
template <class T, class N>
inline constexpr bool is_output<Output<T, N>> = true;
template <class I>
inline constexpr bool is_input = false;
template <class T, class N>
inline constexpr bool is_input<Input<T, N>> = true;

template <class V>
inline constexpr bool is_state = false;
template <class T, std::size_t Rank, class N>
inline constexpr bool is_state<StateVariable<T, Rank, N>> = true;

/// The variables of a step function; takes no memory if there are none.
template <class... V>
struct StepState {
  std::tuple<V...> variables;
};
template <>
struct StepState<> {};
template <class Port>
constexpr auto state_in(Port port) {
  if constexpr (is_state<Port>) {
    return std::tuple<Port>{port};
  } else {
    return std::tuple<>{};
  }
}
template <class... V>
StepState<V...> step_state(std::tuple<V...>);

template <class Port>
using outputs_in = std::conditional_t<is_output<Port>, List<Port>, List<>>;
template <class Port>
using variables_in = std::conditional_t<is_state<Port>, List<Port>, List<>>;
template <class Port>
using inputs_in = std::conditional_t<is_input<Port>, List<Port>, List<>>;

template <class... P>
constexpr auto port_names(List<P...>) {
  return std::array<std::string_view, sizeof...(P)>{P::name::view()...};
}
template <class... O>
ProbedOutputs<ShownOutput<typename O::name, typename O::type>...> probed_outputs(List<O...>);
template <class N, class... P>
constexpr auto port_type(List<P...>) {
  return (List<>{} + ... + std::conditional_t<std::is_same_v<N, typename P::name>, List<typename P::type>, List<>>{});
}

}  // namespace detail

/// The argument of a step function. `out["residual"_n] = r` sets an output; an output that the run does not fetch is
/// discarded. D: the Demand of the run, F: the types of its feeds; both are resolved at compile time.
template <class D, class Values, class... F>
class StepOutputs {
 public:
  constexpr explicit StepOutputs(Values& values, const F&... fed) : values_(values), fed_(fed...) {}

  /// Whether this run fetches the output. Test it before computing an expensive output.
  template <class N>
  [[nodiscard]] static constexpr bool due(N) {
    detail::judge_step<OutputReason<N>>();
    return D::template fetches<N>;
  }

  /// Write-only; assign to it.
  template <class N>
  [[nodiscard]] constexpr auto operator[](N) const {
    detail::judge_step<OutputReason<N>>();
    if constexpr (call_is_usable<OutputReason<N>>) {
      auto& target = detail::output_slot<N>(values_);
      return detail::OutputRef<std::remove_reference_t<decltype(target)>, D::template fetches<N>>{target};
    } else {
      return detail::NoOutput{};
    }
  }

  /// The value fed to the input N in this run; `otherwise` if it is not fed.
  template <class N, class T>
  [[nodiscard]] constexpr T input(N, T otherwise) const {
    detail::judge_step<InputReason<N>>();
    if constexpr ((std::is_same_v<N, typename F::name> || ...)) {
      return static_cast<T>(std::get<position<N>()>(fed_).value);
    } else {
      return otherwise;
    }
  }

 private:
  template <class N>
  using OutputReason = std::conditional_t<
      detail::contains(Values::outputs, N::view()), error::none,
      error::a_step_function_does_not_declare_this_output<detail::spelt<N>, detail::hint<N, Values::outputs>>>;
  template <class N>
  using InputReason = std::conditional_t<
      detail::contains(Values::inputs, N::view()), error::none,
      error::a_step_function_does_not_declare_this_input<detail::spelt<N>, detail::hint<N, Values::inputs>>>;
  template <class N>
  static constexpr std::size_t position() {
    return detail::position_in<N>(detail::List<typename F::name...>{});
  }

  Values& values_;
  std::tuple<const F&...> fed_;
};

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
  static constexpr bool has_state = (detail::is_state<Ports> || ...);

  template <class T>
  using handed_out = std::conditional_t<std::is_trivially_copyable_v<T>, T, const T&>;

 public:
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
    detail::judge_step<typename detail::RepetitionReason<Repeated>::type>();
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
    StepOutputs<D, Workspace, F...> out{workspace, fed...};
    step_(out);
  }

  /// As run(), with probes (graph/probe/probe.hpp). The nodes are the step function, number 0, and the outputs, in the
  /// order of their declaration. An output is shown after the function has returned, if this run fetches it.
  static constexpr bool takes_probes = true;
  template <class W>
  static constexpr bool has_node_for = decltype(detail::probed_outputs(Outputs{}))::template fits<W>;
  template <class D, class... P, class... F>
  void run_probed(Workspace& workspace, const DueProbes<P...>& probes, const F&... fed) {
    probe<D, F...>(workspace, probes, static_cast<D*>(nullptr), Outputs{}, fed...);
  }

  /// The value that the last run on the workspace set; value-initialized if it did not set it.
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

 private:
  template <class D, class... F, class Probes, class... N, class T, class... O>
  void probe(Workspace& workspace, const Probes& probes, Demand<Names<N...>, T>*, detail::List<O...>, const F&... fed) {
    using Shown = decltype(detail::probed_outputs(Outputs{}));
    static constexpr std::array<std::string_view, sizeof...(N)> fetches{N::view()...};
    static constexpr std::array<std::string_view, sizeof...(F)> feeds{F::name::view()...};
    Shown::template run<D>(
        probes, fetches, feeds, [&] { run<D>(workspace, fed...); },
        [&]<class Wanted>(Wanted) -> const auto& { return detail::output_slot<Wanted>(workspace); });
  }

  template <class V>
  using element_of = typename std::remove_cvref_t<V>::Element;
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
