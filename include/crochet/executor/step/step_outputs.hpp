// SPDX-License-Identifier: Apache-2.0
// StepOutputs: the argument of a step function, through which it sets outputs and reads inputs.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <crochet/executor/step/step_names.hpp>
#include <crochet/executor/step/step_ports.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/demand.hpp>

namespace crochet {

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

/// Stores a value that is assigned to the output N in the workspace if the run fetches it (Due); otherwise discards it.
template <class N, class T, bool Due>
class OutputRef {
  template <class U>
  using Reason = std::conditional_t<std::is_assignable_v<T&, U>, error::none,
                                    error::sets_an_output_to_a_value_of_the_wrong_type<
                                        spelt<N>, error::given<std::remove_cvref_t<U>>, error::wanted<T>>>;

 public:
  constexpr explicit OutputRef(T& target) : target_(target) {}
  template <class U>
  constexpr void operator=(U&& value) const {  // NOLINT(misc-unconventional-assign-operator): nothing to chain
    judge<Reason<U>>();
    if constexpr (Due && std::is_assignable_v<T&, U>) target_ = std::forward<U>(value);
  }

 private:
  T& target_;
};

}  // namespace detail

namespace detail {

/// The ranks of a step function on one machine. On several: RanksOfStep (ranks/ranks_of_step.hpp).
struct OneRank {
  template <class T>
  static constexpr T sum(T x) {
    return x;
  }
  template <class T>
  static constexpr void sum(std::span<T> /*values*/) {}
  template <class T>
  static constexpr T min(T x) {
    return x;
  }
  template <class T>
  static constexpr T max(T x) {
    return x;
  }
};

template <class T>
concept Summable = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= sizeof(std::uint64_t);

}  // namespace detail

/// The argument of a step function. `out["residual"_n] = r` sets an output; an output that the run does not fetch is
/// discarded. D: the Demand of the run, F: the types of its feeds; both are resolved at compile time. Values:
/// OutputValues, on several ranks with `over_ranks()`.
template <class D, class Values, class... F>
class StepOutputs {
 public:
  constexpr explicit StepOutputs(Values& values, const F&... fed) : values_(values), fed_(fed...) {}

  /// Whether this run fetches the output. Test it before computing an expensive output.
  template <class N>
  [[nodiscard]] static constexpr bool due(N) {
    detail::judge<OutputReason<N>>();
    return D::template fetches<N>;
  }

  /// Write-only; assign to it.
  template <class N>
  [[nodiscard]] constexpr auto operator[](N) const {
    detail::judge<OutputReason<N>>();
    if constexpr (call_is_usable<OutputReason<N>>) {
      auto& target = detail::output_slot<N>(values_);
      return detail::OutputRef<N, std::remove_reference_t<decltype(target)>, D::template fetches<N>>{target};
    } else {
      return detail::NoOutput{};
    }
  }

  /// The value fed to the input N in this run; `otherwise` if it is not fed.
  template <class N, class T>
  [[nodiscard]] constexpr T input(N, T otherwise) const {
    detail::judge<InputReason<N>>();
    if constexpr ((std::is_same_v<N, typename F::name> || ...)) {
      return static_cast<T>(std::get<position<N>()>(fed_).value);
    } else {
      return otherwise;
    }
  }

  /// The sum, the smallest or the largest of the `x` of all ranks (docs/ranks.md); on one machine x. All ranks get the
  /// same bits, and so does each repetition. NaN if an `x` is NaN. All ranks make the same calls in the same order.
  /// - Cost: a roll call of 32 bytes a rank, in which the numbers are sent.
  /// - Throws PeerFailedError, PeerPreemptedError, RanksDisagreeError or StopIteration if a rank does not come: its
  /// step
  ///   has thrown, for example.
  template <detail::Summable T>
  [[nodiscard]] constexpr T sum_over_ranks(T x) const {
    return over_ranks().sum(x);
  }
  template <detail::Summable T>
  [[nodiscard]] constexpr T min_over_ranks(T x) const {
    return over_ranks().min(x);
  }
  template <detail::Summable T>
  [[nodiscard]] constexpr T max_over_ranks(T x) const {
    return over_ranks().max(x);
  }
  /// Replaces each of the values by its sum over the ranks, which have equal numbers of them. Cost: a roll call and the
  /// exchange of OrderedSum.
  template <detail::Summable T>
  constexpr void sum_over_ranks(std::span<T> values) const {
    over_ranks().sum(values);
  }

 private:
  [[nodiscard]] constexpr auto over_ranks() const {
    if constexpr (requires { values_.over_ranks(); }) {
      return values_.over_ranks();
    } else {
      return detail::OneRank{};
    }
  }

  // Functions, so that only an error makes a hint.
  template <class N>
  static constexpr auto output_reason() {
    if constexpr (!detail::AnyName<N>) {
      return std::type_identity<detail::name_reason<N>>{};
    } else if constexpr (detail::contains(Values::outputs, N::view())) {
      return std::type_identity<error::none>{};
    } else {
      return std::type_identity<
          error::a_step_function_does_not_declare_this_output<detail::spelt<N>, detail::hint<N, Values::outputs>>>{};
    }
  }
  template <class N>
  static constexpr auto input_reason() {
    if constexpr (!detail::AnyName<N>) {
      return std::type_identity<detail::name_reason<N>>{};
    } else if constexpr (detail::contains(Values::inputs, N::view())) {
      return std::type_identity<error::none>{};
    } else {
      return std::type_identity<
          error::a_step_function_does_not_declare_this_input<detail::spelt<N>, detail::hint<N, Values::inputs>>>{};
    }
  }
  template <class N>
  using OutputReason = typename decltype(output_reason<N>())::type;
  template <class N>
  using InputReason = typename decltype(input_reason<N>())::type;
  template <class N>
  static constexpr std::size_t position() {
    return detail::position_in<N>(detail::List<typename F::name...>{});
  }

  Values& values_;
  std::tuple<const F&...> fed_;
};

}  // namespace crochet
