// SPDX-License-Identifier: Apache-2.0
// The declarations of a step function: its outputs, its inputs, and the variables that checkpoints save.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <crochet/base/bfloat16.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hook/due_probes.hpp>
#include <crochet/hook/pack.hpp>

namespace crochet {

/// A named, typed output of a step function: `output<double, "residual">`. For large values use views, which are cheap.
template <class T, class N>
struct Output {
  static_assert(std::is_object_v<T> && !std::is_const_v<T>,
                "crochet: output<T, \"name\">: T is the type of a value, neither const nor a reference");
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
  static_assert(!std::is_const_v<Element>,
                "crochet: variable<\"u\">(u): u is const, so a checkpoint could not be restored into it");
  static_assert(
      NumberElement<std::remove_const_t<Element>>,
      "crochet: variable<\"u\">(u) takes a number or a contiguous range of numbers; of structs, give it their "
      "members as a std::span of numbers, or an array for each member");

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
template <NumberElement T, std::size_t Rank, class N>
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

template <FixedString Text, NumberElement T>
constexpr auto variable(T& object) {
  return StateVariable<T, 0, Name<Text>>{object};
}
template <FixedString Text, class Range>
requires requires(Range& r) { std::data(r); }
constexpr auto variable(Range& range) { return StateVariable<Range, 0, Name<Text>>{range, {}}; }
template <FixedString Text, class Range, std::size_t Rank>
requires requires(Range& r) { std::data(r); }
constexpr auto variable(Range& range, const std::int64_t (&shape)[Rank]) {
  return StateVariable<Range, Rank, Name<Text>>{range, std::to_array(shape)};
}

namespace detail {

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

}  // namespace crochet
