// SPDX-License-Identifier: Apache-2.0
// The order in which the feeds of a run are bound. The length of a range determines at most one dynamic dimension, so
// a range for [batch, time] is bound after a feed that determines one of the two.
#pragma once
#include <array>
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/graph/core/graph.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet::cpu::CROCHET_ISA {

namespace detail {

/// Whether a known value of `e` determines its dynamic dimensions that are not in the bit mask `known`, to which they
/// are added.
constexpr bool determines(const Extent& e, unsigned& known) {
  unsigned open = 0;
  for (std::size_t s = 0; s < max_symbols; ++s) {
    if (e.power(s) == 0 || ((known >> s) & 1U) != 0) continue;
    if (open != 0 || e.power(s) != 1) return false;
    open = 1U << s;
  }
  known |= open;
  return true;
}

/// A feed for the order: its placeholder's shape, and whether only the number of its elements is known.
struct FeedSize {
  Shape shape;
  bool is_range = false;

  constexpr bool is_determined(unsigned& known) const {
    unsigned all = known;
    if (is_range) {
      if (!determines(shape.size(), all)) return false;
    } else {
      for (std::size_t i = 0; i < shape.rank; ++i) {
        if (!determines(shape[i], all)) return false;
      }
    }
    known = all;
    return true;
  }
};

/// The given order, except that a feed comes after those that determine its dimensions. A feed whose dimensions no
/// other one determines keeps its place among the rest: binding it is an error that names it.
template <std::size_t N>
constexpr std::array<std::size_t, N> order_of(const std::array<FeedSize, N>& feeds) {
  std::array<std::size_t, N> order{};
  std::array<bool, N> is_bound{};
  unsigned known = 0;
  for (std::size_t& next : order) {
    next = N;
    for (std::size_t i = 0; i < N && next == N; ++i) {
      if (!is_bound[i] && feeds[i].is_determined(known)) next = i;
    }
    for (std::size_t i = 0; i < N && next == N; ++i) {
      if (!is_bound[i]) next = i;
    }
    is_bound[next] = true;
  }
  return order;
}

/// T: the tables of the graph. X: the types of the values, N: the names of the placeholders.
template <class T, class... N, class... X>
constexpr auto order_of_feeds(std::type_identity<Feed<N, X>>... /*feeds*/) {
  return order_of<sizeof...(N)>(
      {FeedSize{T::template node<N>().shape, !is_tensor_view<std::remove_cvref_t<X>> &&
                                                 crochet::detail::ContiguousRange<std::remove_cvref_t<X>>}...});
}

}  // namespace detail

/// Calls bind(std::integral_constant<std::size_t, I>, feed I) for each feed, first for those that determine dynamic
/// dimensions which others need. T: the tables of the graph.
template <class T, class Bind, class... F>
CROCHET_HOST_ALWAYS_INLINE void bind_in_order([[maybe_unused]] const Bind& bind, const F&... feeds) {
  [[maybe_unused]] static constexpr auto order = detail::order_of_feeds<T>(std::type_identity<F>{}...);
  [[maybe_unused]] const std::tuple<const F&...> all(feeds...);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (bind(std::integral_constant<std::size_t, order[I]>{}, std::get<order[I]>(all)), ...);
  }
  (std::make_index_sequence<sizeof...(F)>{});
}

}  // namespace crochet::cpu::CROCHET_ISA
