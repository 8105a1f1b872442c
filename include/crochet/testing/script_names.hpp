// SPDX-License-Identifier: Apache-2.0
// ScriptNames: the names and types of an executor whose values are given.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <crochet/hook/run_args.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/testing/scripted_value.hpp>

namespace crochet::testing {

/// The base of ScriptedExecutor and ReplayExecutor: the names that an executor declares, and their types.
template <class PlaceholderList, class TargetList, class ValueList>
class ScriptNames;
template <class... P, class... T, class... V>
class ScriptNames<detail::List<P...>, detail::List<T...>, detail::List<V...>> {
  template <class N, class Entry>
  using type_if =
      std::conditional_t<std::is_same_v<N, typename Entry::name>, detail::List<typename Entry::type>, detail::List<>>;

 public:
  static constexpr std::array<std::string_view, sizeof...(V)> fetchable{V::name::view()...};
  static constexpr std::array<std::string_view, sizeof...(P)> feedable{P::name::view()...};
  static constexpr std::array<std::string_view, sizeof...(T)> targets{T::view()...};

  template <class N>
  using fetched_t = typename crochet::detail::SoleType<decltype((detail::List<>{} + ... + type_if<N, V>{}))>::type;
  template <class N>
  using fed_t = typename crochet::detail::SoleType<decltype((detail::List<>{} + ... + type_if<N, P>{}))>::type;
  template <class N, class X>
  static constexpr bool accepts_feed = std::is_same_v<fed_t<N>, X>;
};

}  // namespace crochet::testing
