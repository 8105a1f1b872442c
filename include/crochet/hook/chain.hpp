// SPDX-License-Identifier: Apache-2.0
// HookChain: hooks side by side in flat slots. Each phase is a fold over the hooks that have it; a hook without the
// phase leaves no trace in the code, a hook without state none in the object.
#pragma once

#include <cstddef>
#include <exception>
#include <tuple>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/hook/due_probes.hpp>
#include <crochet/hook/hook_request.hpp>
#include <crochet/hook/pack.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/state_key.hpp>

namespace crochet {

template <class... H>
class HookChain;

namespace detail {

template <class T>
inline constexpr bool is_chain = false;
template <class... H>
inline constexpr bool is_chain<HookChain<H...>> = true;

template <std::size_t I, class H>
struct Slot {
  CROCHET_NO_UNIQUE_ADDRESS H hook;
};

/// Some arguments look different to every hook (its own values, its own context): they have a `View<I, H>`, made by
/// `view<I, H>()`. All others are passed as they are.
template <class A>
concept HasViews = std::remove_const_t<A>::has_views;

template <class A>
struct ArgumentView {
  template <std::size_t I, class H>
  using type = A;
  template <std::size_t I, class H>
  CROCHET_HOST_ALWAYS_INLINE static constexpr A& by(A& argument) {
    return argument;
  }
};
template <HasViews A>
struct ArgumentView<A> {
  template <std::size_t I, class H>
  using type = typename A::template View<I, H>;
  template <std::size_t I, class H>
  CROCHET_HOST_ALWAYS_INLINE static constexpr type<I, H> by(A& argument) {
    return argument.template view<I, H>();
  }
};

// Free functions of one slot: their symbols do not carry the names of all the other hooks.
template <class P, std::size_t I, class H, class... A>
CROCHET_HOST_ALWAYS_INLINE constexpr void fire_one([[maybe_unused]] Slot<I, H>& slot, [[maybe_unused]] A&... args) {
  if constexpr (P::template handled<H, typename ArgumentView<A>::template type<I, H>...>) {
    P::call(slot.hook, ArgumentView<A>::template by<I, H>(args)...);
  }
}
template <class P, std::size_t I, class H, class OnThrow, class... A>
constexpr void fire_one_guarded([[maybe_unused]] Slot<I, H>& slot, [[maybe_unused]] OnThrow& on_throw,
                                [[maybe_unused]] A&... args) {
  if constexpr (P::template handled<H, typename ArgumentView<A>::template type<I, H>...>) {
    try {
      P::call(slot.hook, ArgumentView<A>::template by<I, H>(args)...);
    } catch (...) {
      on_throw(std::current_exception());
    }
  }
}

/// What ask(hook, run) returns to hook H at position I.
template <std::size_t I, class H, class Run>
using request_of =
    decltype(crochet::request(std::declval<H&>(), std::declval<typename ArgumentView<Run>::template type<I, H>>()));

// Runs that are looked into (due_probes.hpp): what hooks are asked for, and phases with a log of them.
template <std::size_t I, class H, class Run>
CROCHET_HOST_ALWAYS_INLINE constexpr auto probe_of_one([[maybe_unused]] Slot<I, H>& slot, [[maybe_unused]] Run& run) {
  if constexpr (StatesProbe<H>) {
    auto&& seen = ArgumentView<Run>::template by<I, H>(run);
    return unless_never(due_probe(slot.hook, seen));
  } else {
    return std::tuple<>{};
  }
}
template <std::size_t I, class H, class Run>
CROCHET_HOST_ALWAYS_INLINE constexpr auto log_of_one([[maybe_unused]] Slot<I, H>& slot, [[maybe_unused]] Run& run) {
  if constexpr (logs_phases<H>) {
    auto&& seen = ArgumentView<Run>::template by<I, H>(run);
    return unless_never(due_phase_log(slot.hook, seen));
  } else {
    return std::tuple<>{};
  }
}
template <std::size_t I, class H, class Logs, class Run>
auto request_one_logged(Slot<I, H>& slot, const Logs& logs, Run& run) {
  const auto requested = [&] { return crochet::request(slot.hook, ArgumentView<Run>::template by<I, H>(run)); };
  if constexpr (phase::before_run::handled<H, typename ArgumentView<Run>::template type<I, H>>) {
    return logs.template recorded<H>(phase::before_run::name, requested);
  } else {
    return requested();
  }
}
template <class P, std::size_t I, class H, class Logs, class... A>
void fire_one_logged([[maybe_unused]] Slot<I, H>& slot, [[maybe_unused]] const Logs& logs,
                     [[maybe_unused]] A&... args) {
  if constexpr (P::template handled<H, typename ArgumentView<A>::template type<I, H>...>) {
    logs.template recorded<H>(P::name, [&] { P::call(slot.hook, ArgumentView<A>::template by<I, H>(args)...); });
  }
}

template <std::size_t I, class Requested>
struct RequestSlot {
  CROCHET_NO_UNIQUE_ADDRESS Requested request;
};
template <std::size_t I, class Requested>
constexpr const Requested& request_at(const RequestSlot<I, Requested>& slot) {
  return slot.request;
}

/// What every hook of a chain asked of one run, by position.
template <class Indices, class... Requested>
struct HookRequests;
template <std::size_t... I, class... Requested>
struct HookRequests<std::index_sequence<I...>, Requested...> : RequestSlot<I, Requested>... {
  static constexpr std::size_t size = sizeof...(Requested);
};

/// A hook's state is a section of its own, under its key.
template <class H, std::size_t I, class Out>
void save_one([[maybe_unused]] const Slot<I, H>& slot, [[maybe_unused]] Out& out) {
  if constexpr (phase::save_state::handled<H, Out>) {
    out.section(state_key_of<H>(), [&] { phase::save_state::call(slot.hook, out); });
  }
}
template <class H, std::size_t I, class In>
void load_one([[maybe_unused]] Slot<I, H>& slot, [[maybe_unused]] In& in) {
  if constexpr (phase::load_state::handled<H, In>) {
    in.section(state_key_of<H>(), [&] { phase::load_state::call(slot.hook, in); });
  }
}

template <class H, std::size_t I>
constexpr H& slot_of(Slot<I, H>& slot) {
  return slot.hook;
}
template <class H, std::size_t I>
constexpr const H& slot_of(const Slot<I, H>& slot) {
  return slot.hook;
}
template <std::size_t I, class H>
constexpr H& slot_at(Slot<I, H>& slot) {
  return slot.hook;
}
template <std::size_t I, class H>
constexpr const H& slot_at(const Slot<I, H>& slot) {
  return slot.hook;
}

template <class Indices, class... H>
struct Slots;
// Arrays in place of fold expressions: a chain may be longer than what clang folds.
template <std::size_t... I, class... H>
struct Slots<std::index_sequence<I...>, H...> : Slot<I, H>... {
  /// Calls phase P of every hook that handles it, in order. An exception ends the phase.
  template <class P, class... A>
  CROCHET_HOST_ALWAYS_INLINE constexpr void fire([[maybe_unused]] A&... args) {
    [[maybe_unused]] const bool called[] = {true, (fire_one<P, I, H>(*this, args...), true)...};
  }
  /// The same, but every hook gets its turn: exceptions go to `on_throw(std::exception_ptr)`.
  template <class P, class OnThrow, class... A>
  constexpr void fire_guarded([[maybe_unused]] OnThrow& on_throw, [[maybe_unused]] A&... args) {
    [[maybe_unused]] const bool called[] = {true, (fire_one_guarded<P, I, H>(*this, on_throw, args...), true)...};
  }
  template <class Visit>
  constexpr void for_each([[maybe_unused]] Visit& visit) {
    [[maybe_unused]] const bool called[] = {true, (void(visit(Slot<I, H>::hook)), true)...};
  }
  template <class Visit>
  constexpr void for_each([[maybe_unused]] Visit& visit) const {
    [[maybe_unused]] const bool called[] = {true, (void(visit(Slot<I, H>::hook)), true)...};
  }
  template <class Out>
  void save_state([[maybe_unused]] Out& out) const {
    [[maybe_unused]] const bool called[] = {true, (save_one<H, I>(*this, out), true)...};
  }
  template <class In>
  void load_state([[maybe_unused]] In& in) {
    [[maybe_unused]] const bool called[] = {true, (load_one<H, I>(*this, in), true)...};
  }
  /// Asks every hook, in order, what it wants of the coming run. Returns their answers by position.
  template <class Run>
  CROCHET_HOST_ALWAYS_INLINE constexpr auto request([[maybe_unused]] Run& run) {
    using All = HookRequests<std::index_sequence<I...>, request_of<I, H, Run>...>;
    return All{
        {crochet::request(Slot<I, H>::hook, ArgumentView<Run>::template by<I, H>(run))}...};  // braces: in list order
  }

  /// The probes that the hooks give this run, as a tuple: a pointer for each that may.
  template <class Run>
  CROCHET_HOST_ALWAYS_INLINE constexpr auto due_probes([[maybe_unused]] Run& run) {
    return std::tuple_cat(probe_of_one<I, H>(*this, run)...);
  }
  /// The logs in which they want to see the phases of this run, the same way.
  template <class Run>
  CROCHET_HOST_ALWAYS_INLINE constexpr auto due_phase_logs([[maybe_unused]] Run& run) {
    return std::tuple_cat(log_of_one<I, H>(*this, run)...);
  }
  /// ask and fire with a record of each hook's part.
  template <class Logs, class Run>
  auto request_logged([[maybe_unused]] const Logs& logs, [[maybe_unused]] Run& run) {
    using All = HookRequests<std::index_sequence<I...>, request_of<I, H, Run>...>;
    return All{{request_one_logged<I, H>(*this, logs, run)}...};
  }
  template <class P, class Logs, class... A>
  void fire_logged([[maybe_unused]] const Logs& logs, [[maybe_unused]] A&... args) {
    [[maybe_unused]] const bool called[] = {true, (fire_one_logged<P, I, H>(*this, logs, args...), true)...};
  }
};

/// In place of slots, for a chain with a hook that cannot be moved: every member of a chain, without any hook.
template <class... H>
struct NoSlots : Slots<std::index_sequence<>> {};
template <bool Empty, class... H>
using SlotsOf = std::conditional_t<Empty, NoSlots<H...>, Slots<std::index_sequence_for<H...>, H...>>;

}  // namespace detail

/// Hooks, called strictly in list order in every phase. `HookChain{StopAtStep{...}, NanTensor<"loss">{}}`. A chain
/// among them stands for its hooks (hook/nested_chain.hpp). Cost: the sum of its hooks' bytes (empty hooks: none) and
/// of their bodies' instructions.
template <class... H>
class HookChain : private detail::SlotsOf<detail::any({!std::is_move_constructible_v<H>...}), H...> {
  static constexpr bool can_be_moved = !detail::any({!std::is_move_constructible_v<H>...});
  using Base = detail::SlotsOf<!can_be_moved, H...>;

 public:
  /// The chain itself; of a chain that was made of chains, the one of all their hooks.
  using Flat = HookChain;
  static constexpr std::size_t size = sizeof...(H);
  /// Whether each hook that saves state does so under a key of its own.
  static constexpr bool state_keys_differ = detail::clash_of_state_keys<H...>.second == 0;
  /// Whether one of them states a probe, or has a log of phases: else runs know nothing of either.
  static constexpr bool has_probes = detail::any({detail::StatesProbe<H>...});
  static constexpr bool logs_phases = detail::any({detail::logs_phases<H>...});

  constexpr HookChain() = default;
  constexpr explicit HookChain(H... hook) requires(sizeof...(H) > 0 && can_be_moved) : Base{{std::move(hook)}...} {}
  /// With a hook that cannot be moved the chain is empty. A session reports that hook.
  constexpr explicit HookChain(const H&...) requires(!can_be_moved) {}

  using Base::due_phase_logs;
  using Base::due_probes;
  using Base::fire;
  using Base::fire_guarded;
  using Base::fire_logged;
  using Base::request;
  using Base::request_logged;

  /// Writes what every hook saves, each under a key that no other has (hook/state_key.hpp). Out: a StateWriter, or what
  /// has its `put` and `section`. Throws what hooks throw; `out` is then incomplete.
  template <class Out>
  void save_state(Out& out) const {
    [[maybe_unused]] detail::keys_differ<H...> checked;
    Base::save_state(out);
  }
  /// Gives every hook what was saved under its key. In: a StateReader, or what has its `get` and `section`.
  /// ChainState::load (hook/chain_state.hpp) also says which hooks were added, removed or changed since.
  template <class In>
  void load_state(In& in) {
    [[maybe_unused]] detail::keys_differ<H...> checked;
    Base::load_state(in);
  }

  /// The hook of type Hook; it must be in the chain exactly once.
  template <class Hook>
  [[nodiscard]] constexpr Hook& get() {
    return detail::slot_of<Hook>(static_cast<Base&>(*this));
  }
  template <class Hook>
  [[nodiscard]] constexpr const Hook& get() const {
    return detail::slot_of<Hook>(static_cast<const Base&>(*this));
  }

  /// The hook at position I, counted from 0.
  template <std::size_t I>
  [[nodiscard]] constexpr auto& at() {
    return detail::slot_at<I>(static_cast<Base&>(*this));
  }
  template <std::size_t I>
  [[nodiscard]] constexpr const auto& at() const {
    return detail::slot_at<I>(static_cast<const Base&>(*this));
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
};
template <class... H>
HookChain(H...) -> HookChain<H...>;

}  // namespace crochet

#include <crochet/hook/nested_chain.hpp>
