// SPDX-License-Identifier: Apache-2.0
// Order as types: a hook may declare the hooks that it must follow or precede: `using after = Hooks<...>` and
// `using before = Hooks<...>`. The chain keeps the listed order and rejects an order that contradicts a declaration.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/hook/diagnose.hpp>
#include <crochet/hook/pack.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet::detail {

/// The `after` of H. For a decorator that declares none: that of the hook inside.
template <class H>
struct AfterOf {
  using type = Hooks<>;
};
template <Decorates H>
struct AfterOf<H> : AfterOf<typename H::decorates> {};
template <class H>
requires requires { typename H::after; }
struct AfterOf<H> {
  using type = typename H::after;
};
/// The same for `before`.
template <class H>
struct BeforeOf {
  using type = Hooks<>;
};
template <Decorates H>
struct BeforeOf<H> : BeforeOf<typename H::decorates> {};
template <class H>
requires requires { typename H::before; }
struct BeforeOf<H> {
  using type = typename H::before;
};

/// Whether H is the hook Wanted, derived from it, or a decorator around such a hook.
template <class H, class Wanted>
constexpr bool is_or_decorates() {
  if constexpr (std::is_same_v<H, Wanted> || std::is_base_of_v<Wanted, H>) {
    return true;
  } else if constexpr (Decorates<H>) {
    return is_or_decorates<typename H::decorates, Wanted>();
  } else {
    return false;
  }
}

/// Whether H is the hook Wanted, or a decorator around it.
template <class H, class Wanted>
inline constexpr bool is_itself = std::is_same_v<H, Wanted>;
template <Decorates H, class Wanted>
inline constexpr bool is_itself<H, Wanted> = std::is_same_v<H, Wanted> || is_itself<typename H::decorates, Wanted>;
template <class H, class Stated>
inline constexpr bool names_itself = false;
template <class H, class... W>
inline constexpr bool names_itself<H, Hooks<W...>> = any({is_itself<H, W>...});

/// Whether the list contains the hook Other. A type that is not a list of hooks contains none.
template <class Other, class Stated>
inline constexpr bool names_one = false;
template <class Other, class... W>
inline constexpr bool names_one<Other, Hooks<W...>> = any({is_or_decorates<Other, W>()...});

template <class T>
inline constexpr bool is_list_of_hooks = false;
template <class... H>
inline constexpr bool is_list_of_hooks<Hooks<H...>> = true;

/// The fault in an `after` or `before` of H by itself, without regard to the other hooks of the chain.
template <class H, class Stated>
constexpr auto stated_order_reason() {
  if constexpr (!is_list_of_hooks<Stated>) {
    using Expected = error::expected<Hooks<Stated>>;
    return std::type_identity<error::states_its_order_by_something_that_is_not_a_list_of_hooks<H, Stated, Expected>>{};
  } else if constexpr (names_itself<H, Stated>) {
    return std::type_identity<error::is_ordered_relative_to_itself<H>>{};
  } else {
    return Ok{};
  }
}

/// The fault in the order of `Early`, listed first, and `Late`, listed later.
template <class Early, class Late>
constexpr auto order_reason() {
  constexpr bool late_first =
      names_one<Late, typename AfterOf<Early>::type> || names_one<Early, typename BeforeOf<Late>::type>;
  constexpr bool early_first =
      names_one<Late, typename BeforeOf<Early>::type> || names_one<Early, typename AfterOf<Late>::type>;
  if constexpr (late_first && early_first) {
    return std::type_identity<error::must_come_both_before_and_after<Early, Late>>{};
  } else if constexpr (late_first) {
    return std::type_identity<error::is_listed_before_a_hook_that_must_come_first<Early, Late>>{};
  } else {
    return Ok{};
  }
}

template <std::size_t I, std::size_t J, class H, class Other>
constexpr auto order_reason_at() {
  if constexpr (I < J) {
    return order_reason<H, Other>();
  } else {
    return Ok{};
  }
}

template <class H>
inline constexpr bool states_order =
    !std::is_same_v<typename AfterOf<H>::type, Hooks<>> || !std::is_same_v<typename BeforeOf<H>::type, Hooks<>>;
template <class... H>
inline constexpr bool has_order = any({states_order<H>...});

/// The fault in the order of hook H, at position I of the chain, and the hooks after it.
template <std::size_t I, class H, std::size_t... J, class... Other>
constexpr auto order_reason_among(std::index_sequence<J...>, List<Other...>) {
  return first_reason(stated_order_reason<H, typename AfterOf<H>::type>(),
                      stated_order_reason<H, typename BeforeOf<H>::type>(), order_reason_at<I, J, H, Other>()...);
}

}  // namespace crochet::detail
