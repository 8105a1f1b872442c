// SPDX-License-Identifier: Apache-2.0
// The key under which a hook's state is saved. It is a constant, so that two hooks with one key do not compile.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/hook/diagnose.hpp>
#include <crochet/hook/pack.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/state.hpp>
#include <crochet/hook/type_name.hpp>

namespace crochet {

namespace detail {

template <class H>
concept SaysStateKey = requires {
  std::string_view(H::state_key);
};

template <class H>
constexpr bool has_own_state_key() {
  if constexpr (SaysStateKey<H>) {
    return true;
  } else if constexpr (Decorates<H>) {
    return has_own_state_key<typename H::decorates>();
  } else {
    return false;
  }
}
template <class H>
constexpr std::string_view own_state_key() {
  if constexpr (SaysStateKey<H>) {
    return H::state_key;
  } else {
    return own_state_key<typename H::decorates>();
  }
}

}  // namespace detail

/// The hook's state key:
/// - its `static constexpr std::string_view state_key`;
/// - for a decorator without one: that of the hook inside, if that states one;
/// - otherwise the type of the hook or decorator in its source spelling, `EarlyStopping<"val_loss">`. A lambda is
/// spelled `lambda`,
///   independent of where it is written: hooks that differ only by a lambda have one key.
/// g++ and clang give one name to templates of types and strings, and to EveryN. They differ for a type like `long`,
/// and in other templates for a string of more than nine characters, which clang shortens. A hook with such arguments
/// needs a key, or Keyed<"key", Hook>, if its checkpoints move between compilers.
template <class H>
constexpr std::string_view state_key_of() {
  if constexpr (detail::has_own_state_key<H>()) {
    return detail::own_state_key<H>();
  } else {
    return detail::readable_name<H>.view();
  }
}

namespace detail {

template <class H>
inline constexpr bool saves_state = phase::save_state::handled<H, StateWriter>;

/// Two hooks with the same state key; none if `second` is 0.
struct StateKeyClash {
  std::size_t first = 0;
  std::size_t second = 0;
};
/// `keys`: by position in the chain, empty for hooks that save nothing.
template <std::size_t N>
constexpr StateKeyClash state_key_clash(const std::array<std::string_view, N>& keys) {
  for (std::size_t second = 1; second < N; ++second) {
    for (std::size_t first = 0; first < second; ++first) {
      if (!keys[second].empty() && keys[first] == keys[second]) return {first, second};
    }
  }
  return {};
}

template <class H>
constexpr std::string_view saved_state_key() {
  if constexpr (saves_state<H>) {
    return state_key_of<H>();
  } else {
    return {};
  }
}

template <class... H>
inline constexpr StateKeyClash clash_of_state_keys = state_key_clash(std::array<std::string_view, sizeof...(H)>{
    saved_state_key<H>()...});
/// Whether this hook, or the one inside it, saves the state of all hooks. Declared by `saves_hook_state`.
template <class H>
constexpr bool saves_hook_state() {
  if constexpr (requires { H::saves_hook_state; }) {
    return H::saves_hook_state;
  } else if constexpr (Decorates<H>) {
    return saves_hook_state<typename H::decorates>();
  } else {
    return false;
  }
}

/// The first hook that saves all hooks' state, and the last hook that has state. If there is none: the chain's length
/// and 0.
struct StateOrder {
  std::size_t saver;
  std::size_t stateful;
};
template <class... H>
inline constexpr StateOrder state_order = [] {
  StateOrder order{sizeof...(H), 0};
  std::size_t i = 0;
  [[maybe_unused]] const auto look = [&](bool saver, bool stateful) {
    if (saver && order.saver == sizeof...(H)) order.saver = i;
    if (stateful) order.stateful = i;
    ++i;
  };
  [[maybe_unused]] const bool looked[] = {true, (look(saves_hook_state<H>(), saves_state<H>), true)...};
  return order;
}();

template <class... H>
constexpr auto state_key_reason() {
  constexpr StateKeyClash clash = clash_of_state_keys<H...>;
  if constexpr (clash.second == 0) {
    return Ok{};
  } else {
    return std::type_identity<
        error::has_the_state_key_of_another_hook<type_at<clash.second, H...>, type_at<clash.first, H...>>>{};
  }
}

/// The only error for a chain in which two hooks have the same key.
template <class... H>
using keys_differ = hook_is_usable<clash_of_state_keys<H...>.second, typename decltype(state_key_reason<H...>())::type>;

}  // namespace detail

}  // namespace crochet
