// SPDX-License-Identifier: Apache-2.0
// StepExecutor: any step function as an executor, so that a solver or simulation of your own gets the same hooks.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <crochet/config.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/name.hpp>
#include <crochet/session/demand.hpp>

namespace crochet {

/// A named, typed output of a step function: `output<double, "residual">`. Views are cheap outputs of large things.
template <class T, class N>
struct Output {
  using type = T;
  using name = N;
};
template <class T, FixedString Text>
inline constexpr Output<T, Name<Text>> output{};

/// A named, typed input of a step function, which hooks or the caller may feed: `input<double, "dt">`.
template <class T, class N>
struct Input {
  using type = T;
  using name = N;
};
template <class T, FixedString Text>
inline constexpr Input<T, Name<Text>> input{};

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

/// The outputs of one run.
template <class... O>
struct OutputValues : OutputSlot<typename O::name, typename O::type>... {};

/// Takes an assignment into the workspace if anybody wants the value in this run, and drops it if nobody does.
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

template <class Port>
using outputs_in = std::conditional_t<is_output<Port>, List<Port>, List<>>;
template <class Port>
using inputs_in = std::conditional_t<is_input<Port>, List<Port>, List<>>;

template <class... P>
constexpr auto port_names(List<P...>) {
  return std::array<std::string_view, sizeof...(P)>{P::name::view()...};
}
template <class N, class... P>
constexpr auto port_type(List<P...>) {
  return (List<>{} + ... + std::conditional_t<std::is_same_v<N, typename P::name>, List<typename P::type>, List<>>{});
}

}  // namespace detail

/// What a step function is given. `out["residual"_n] = r` sets an output; one that nobody wants in this run is dropped.
/// `D` is the Demand of the run, `F` the types of its feeds: both questions below are answered in the compiler.
template <class D, class Values, class... F>
class StepOutputs {
 public:
  constexpr explicit StepOutputs(Values& values, const F&... fed) : values_(values), fed_(fed...) {}

  /// Does anybody want this output in this run? Worth asking before one that is costly to make.
  template <class N>
  [[nodiscard]] static constexpr bool due(N) {
    return D::template fetches<N>;
  }

  /// Write-only: assign to it.
  template <class N>
  [[nodiscard]] constexpr auto operator[](N) const {
    auto& target = detail::output_slot<N>(values_);
    return detail::OutputRef<std::remove_reference_t<decltype(target)>, D::template fetches<N>>{target};
  }

  /// What was fed to the input N in this run, or `otherwise`.
  template <class N, class T>
  [[nodiscard]] constexpr T input(N, T otherwise) const {
    if constexpr ((std::is_same_v<N, typename F::name> || ...)) {
      return static_cast<T>(std::get<position<N>()>(fed_).value);
    } else {
      return otherwise;
    }
  }

 private:
  template <class N>
  static constexpr std::size_t position() {
    return detail::position_in<N>(detail::List<typename F::name...>{});
  }

  Values& values_;
  std::tuple<const F&...> fed_;
};

/// Wraps a callable `step(auto& out)`, with the outputs it sets and the inputs it reads:
///   StepExecutor step{[&](auto& out) { solver.advance(); out["residual"_n] = solver.residual(); },
///                     output<double, "residual">};
/// The callable is compiled once for every demand that can occur. Cost: the callable's own.
template <class Step, class... Ports>
class StepExecutor {
  using Outputs = decltype((detail::List<>{} + ... + detail::outputs_in<Ports>{}));
  using Inputs = decltype((detail::List<>{} + ... + detail::inputs_in<Ports>{}));

  template <class... O>
  static detail::OutputValues<O...> values_of(detail::List<O...>);
  template <class T>
  using handed_out = std::conditional_t<std::is_trivially_copyable_v<T>, T, const T&>;

 public:
  using Workspace = decltype(values_of(Outputs{}));
  static constexpr auto fetchable = detail::port_names(Outputs{});
  static constexpr auto feedable = detail::port_names(Inputs{});
  static constexpr std::array<std::string_view, 0> targets{};

  /// The output's type; by reference when copying it is not free.
  template <class N>
  using fetched_t = handed_out<typename decltype(detail::output_type<N>(std::declval<Workspace&>()))::type>;
  template <class N>
  static constexpr bool fetch_is_free = true;
  template <class N>
  using fed_t = typename detail::SoleType<decltype(detail::port_type<N>(Inputs{}))>::type;
  template <class N, class X>
  static constexpr bool accepts_feed = std::is_same_v<fed_t<N>, X>;

  constexpr explicit StepExecutor(Step step, Ports...) : step_(std::move(step)) {}

  /// Calls the step function. Throws what it throws.
  template <class D, class... F>
  CROCHET_HOST_ALWAYS_INLINE constexpr void run(Workspace& workspace, const F&... fed) {
    StepOutputs<D, Workspace, F...> out{workspace, fed...};
    step_(out);
  }

  /// What the last run on the workspace set; value-initialized if it did not set it.
  template <class N>
  [[nodiscard]] constexpr fetched_t<N> fetch(Workspace& workspace) const {
    return detail::output_slot<N>(workspace);
  }

 private:
  CROCHET_NO_UNIQUE_ADDRESS Step step_;
};
template <class Step, class... Ports>
StepExecutor(Step, Ports...) -> StepExecutor<Step, Ports...>;

}  // namespace crochet
