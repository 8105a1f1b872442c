// SPDX-License-Identifier: Apache-2.0
// HookChain: hooks side by side in flat slots. Each phase is a fold over the hooks that have it. A hook without the
// phase generates no code; a hook without state occupies no bytes.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/base/unusable.hpp>
#include <crochet/hook/due_probes.hpp>
#include <crochet/hook/hook_slots.hpp>
#include <crochet/hook/is_chain.hpp>
#include <crochet/hook/pack.hpp>
#include <crochet/hook/state_key.hpp>

namespace crochet {

namespace detail {

/// Stands for a hook that is not in a chain, behind the error that says so. Has no definition.
template <class H>
H& absent_hook();

}  // namespace detail

/// Hooks that are called strictly in list order in every phase: `HookChain{StopAtStep{...}, NanTensor<"loss">{}}`. A
/// nested chain is replaced by its hooks (hook/nested_chain.hpp). Cost: the sum of its hooks' bytes (empty hooks: none)
/// and of their bodies' instructions.
template <class... H>
class HookChain : private detail::HookSlotsOf<detail::any({!std::is_move_constructible_v<H>...}), H...> {
  static constexpr bool can_be_moved = !detail::any({!std::is_move_constructible_v<H>...});
  using Base = detail::HookSlotsOf<!can_be_moved, H...>;

 public:
  /// The chain itself. For a chain made of chains: the flat chain of all their hooks.
  using Flat = HookChain;
  static constexpr std::size_t size = sizeof...(H);
  /// Whether the state keys of all hooks that save state are distinct.
  static constexpr bool state_keys_differ = detail::clash_of_state_keys<H...>.second == 0;
  /// Whether at least one hook declares a probe, or has a phase log. If not, runs contain no code for them.
  static constexpr bool has_probes = detail::any({detail::StatesProbe<H>...});
  static constexpr bool logs_phases = detail::any({detail::logs_phases<H>...});

  constexpr HookChain() = default;
  constexpr explicit HookChain(H... hook) requires(sizeof...(H) > 0 && can_be_moved) : Base{{std::move(hook)}...} {}
  /// If a hook cannot be moved, the chain is empty. A session reports that hook.
  constexpr explicit HookChain(const H&...) requires(!can_be_moved) {}

  using Base::due_phase_logs;
  using Base::due_probes;
  using Base::fire;
  using Base::fire_guarded;
  using Base::fire_logged;
  using Base::request;
  using Base::request_logged;

  /// Writes the state of every hook, each under its unique key (hook/state_key.hpp). Out: a StateWriter, or a type with
  /// the same `put` and `section`. Exceptions of the hooks propagate; `out` is then incomplete.
  template <class Out>
  void save_state(Out& out) const {
    [[maybe_unused]] detail::keys_differ<H...> checked;
    Base::save_state(out);
  }
  /// Passes each hook the state that was saved under its key. In: a StateReader, or a type with the same `get` and
  /// `section`. ChainState::load (hook/chain_state.hpp) also reports which hooks were added, removed or changed.
  template <class In>
  void load_state(In& in) {
    [[maybe_unused]] detail::keys_differ<H...> checked;
    Base::load_state(in);
  }

  /// The hook of type Hook; it must be in the chain exactly once.
  template <class Hook>
  [[nodiscard]] constexpr Hook& get() {
    return find<Hook>(*this);
  }
  template <class Hook>
  [[nodiscard]] constexpr const Hook& get() const {
    return find<Hook>(*this);
  }

  /// The hook at position I, counted from 0.
  template <std::size_t I>
  [[nodiscard]] constexpr auto& at() {
    return at<I>(*this);
  }
  template <std::size_t I>
  [[nodiscard]] constexpr const auto& at() const {
    return at<I>(*this);
  }

  /// Calls `visit(hook)` for each hook in order.
  template <class Visit>
  constexpr void for_each(Visit&& visit) {
    Base::for_each(visit);
  }
  template <class Visit>
  constexpr void for_each(Visit&& visit) const {
    Base::for_each(visit);
  }

 private:
  template <class Hook, class Chain>
  static constexpr auto& find(Chain& chain) {
    constexpr bool once = (std::size_t{std::is_same_v<Hook, H>} + ... + 0) == 1;
    static_assert(
        call_is_usable<std::conditional_t<once, error::none,
                                          error::is_not_in_this_chain_exactly_once<Hook, error::given<HookChain>>>>,
        "crochet: crochet::error says why");
    if constexpr (once) {
      return detail::slot_of<Hook>(chain);
    } else {
      return detail::absent_hook<Hook>();
    }
  }
  template <std::size_t I, class Chain>
  static constexpr auto& at(Chain& chain) {
    constexpr bool there = I < sizeof...(H);
    static_assert(
        call_is_usable<std::conditional_t<
            there, error::none,
            error::is_not_in_this_chain_exactly_once<std::integral_constant<std::size_t, I>, error::given<HookChain>>>>,
        "crochet: crochet::error says why");
    if constexpr (there) {
      return detail::slot_at<I>(chain);
    } else {
      return detail::absent_hook<detail::Unusable>();
    }
  }
};
template <class... H>
HookChain(H...) -> HookChain<H...>;

}  // namespace crochet

#include <crochet/hook/nested_chain.hpp>
