// SPDX-License-Identifier: Apache-2.0
// The parts of a scripted run: values in place of computed ones, and placeholders.
#pragma once

#include <type_traits>
#include <utility>

#include <crochet/base/name.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/demand.hpp>

namespace crochet {

/// A value under the name N.
template <class N, class T>
struct ScriptedValue {
  using name = N;
  using type = T;

  T value;
};

/// `value<"loss">(1.0f)`: the value of the fetch "loss". Any type: `value<"grid">(TensorView<float, 2>{...})`.
template <FixedString Text, class T>
constexpr ScriptedValue<Name<Text>, std::decay_t<T>> value(T&& given) {
  return {std::forward<T>(given)};
}

/// A placeholder: `placeholder<float, "rate">`.
template <class T, class N>
struct ScriptedPlaceholder {
  using name = N;
  using type = T;
};
template <class T, FixedString Text>
inline constexpr ScriptedPlaceholder<T, Name<Text>> placeholder{};

namespace testing::detail {

template <class... T>
using List = crochet::detail::List<T...>;

template <class Part>
struct ScriptParts {  // parts of a caller's request declare nothing, except its targets
  using values = List<>;
  using placeholders = List<>;
  using targets = List<>;
};
template <class N, class T>
struct ScriptParts<ScriptedValue<N, T>> : ScriptParts<void> {
  using values = List<ScriptedValue<N, T>>;
};
template <class T, class N>
struct ScriptParts<ScriptedPlaceholder<T, N>> : ScriptParts<void> {
  using placeholders = List<ScriptedPlaceholder<T, N>>;
};
template <class... N>
struct ScriptParts<Targets<N...>> : ScriptParts<void> {
  using targets = List<N...>;
};
template <FixedString Text>
struct ScriptParts<Name<Text>> : ScriptParts<void> {
  using targets = List<Name<Text>>;
};

template <class... Part>
struct AllParts {
  using values = decltype((List<>{} + ... + typename ScriptParts<Part>::values{}));
  using placeholders = decltype((List<>{} + ... + typename ScriptParts<Part>::placeholders{}));
  using targets = decltype((List<>{} + ... + typename ScriptParts<Part>::targets{}));
};
template <class... Part>
using all_values = typename AllParts<Part...>::values;
template <class... Part>
using all_placeholders = typename AllParts<Part...>::placeholders;
template <class... Part>
using all_targets = typename AllParts<Part...>::targets;

template <class N>
constexpr bool has_value(List<>) {
  return false;
}
template <class N, class... V>
constexpr bool has_value(List<V...>) {
  return (std::is_same_v<N, typename V::name> || ...);
}

/// The values of both lists; a name in Early hides the same name in Late.
template <class Early, class... Late>
constexpr auto overridden(Early, List<Late...>) {
  return (Early{} + ... + std::conditional_t<has_value<typename Late::name>(Early{}), List<>, List<Late>>{});
}

/// The first part that is the value V.
template <class V, class First, class... Rest>
constexpr const V& pick(const First& first, const Rest&... rest) {
  if constexpr (std::is_same_v<V, First>) {
    return first;
  } else {
    return pick<V>(rest...);
  }
}

}  // namespace testing::detail

}  // namespace crochet
