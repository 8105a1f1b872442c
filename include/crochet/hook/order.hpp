// SPDX-License-Identifier: Apache-2.0
// Order as types: a hook may say which hooks it must follow (`using after = Hooks<...>`) or precede (`using before`).
// The chain keeps the order in which hooks are listed, and rejects one that contradicts a hook's wish.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <crochet/error.hpp>
#include <crochet/hook/diagnose.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet::detail {

template <class H>
concept SaysAfter = requires {
  typename H::after;
};
template <class H>
concept SaysBefore = requires {
  typename H::before;
};

/// Is H the hook Wanted, or a decorator around it?
template <class H, class Wanted>
constexpr bool is_or_decorates() {
  if constexpr (std::is_same_v<H, Wanted>) {
    return true;
  } else if constexpr (Decorates<H>) {
    return is_or_decorates<typename H::decorates, Wanted>();
  } else {
    return false;
  }
}

template <class Other, class... W>
constexpr bool names_one(Hooks<W...>) {
  return (is_or_decorates<Other, W>() || ...);
}

/// Does H want to come after (before) Other?
template <class H, class Other>
constexpr bool wants_after() {
  if constexpr (SaysAfter<H>) {
    return names_one<Other>(typename H::after{});
  } else {
    return false;
  }
}
template <class H, class Other>
constexpr bool wants_before() {
  if constexpr (SaysBefore<H>) {
    return names_one<Other>(typename H::before{});
  } else {
    return false;
  }
}

/// Judges `Early`, listed before `Late`.
template <class Early, class Late>
constexpr auto order_reason() {
  constexpr bool late_first = wants_after<Early, Late>() || wants_before<Late, Early>();
  constexpr bool early_first = wants_before<Early, Late>() || wants_after<Late, Early>();
  if constexpr (late_first && early_first) {
    return std::type_identity<error::must_come_both_before_and_after<Early, Late>>{};
  } else if constexpr (late_first) {
    return std::type_identity<error::is_listed_before_a_hook_that_must_come_first<Early, Late>>{};
  } else {
    return Fine{};
  }
}

template <std::size_t I, std::size_t J, class H, class Other>
constexpr auto order_reason_at() {
  if constexpr (I < J) {
    return order_reason<H, Other>();
  } else {
    return Fine{};
  }
}

template <class... H>
inline constexpr bool has_order = ((SaysAfter<H> || SaysBefore<H>) || ...);

/// What is wrong with the place of hook H, at position I of the chain, before the later ones.
template <std::size_t I, class H, std::size_t... J, class... Other>
constexpr auto order_reason_among(std::index_sequence<J...>, List<Other...>) {
  return first_reason(order_reason_at<I, J, H, Other>()...);
}

}  // namespace crochet::detail
