// SPDX-License-Identifier: Apache-2.0
// HookChain: hooks side by side in flat slots. Each phase is a fold over the hooks that have it. A hook without the
// phase generates no code; a hook without state occupies no bytes.
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

/// True for an argument whose type depends on the hook (its own values, its own context). Such an argument has a
/// `View<I, H>`, made by `view<I, H>()`. All others are passed unchanged.
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

// Free functions of one slot. Their symbols do not contain the names of the other hooks.
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

/// The return type of request(hook, run) for hook H at position I.
template <std::size_t I, class H, class Run>
using request_of =
    decltype(crochet::request(std::declval<H&>(), std::declval<typename ArgumentView<Run>::template type<I, H>>()));

// Functions for instrumented runs (due_probes.hpp): the due probes and logs of one hook, and phases recorded in a log.
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

/// The requests of all hooks of a chain for one run, by position.
template <class Indices, class... Requested>
struct HookRequests;
template <std::size_t... I, class... Requested>
struct HookRequests<std::index_sequence<I...>, Requested...> : RequestSlot<I, Requested>... {
  static constexpr std::size_t size = sizeof...(Requested);
};

/// A hook's state is a separate section, under its key.
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
// Arrays replace fold expressions: a chain may be longer than clang's limit on fold operands.
template <std::size_t... I, class... H>
struct Slots<std::index_sequence<I...>, H...> : Slot<I, H>... {
  /// Calls phase P of every hook that handles it, in list order. An exception ends the phase.
  template <class P, class... A>
  CROCHET_HOST_ALWAYS_INLINE constexpr void fire([[maybe_unused]] A&... args) {
    [[maybe_unused]] const bool called[] = {true, (fire_one<P, I, H>(*this, args...), true)...};
  }
  /// Like fire(), but an exception does not end the phase: it goes to `on_throw(std::exception_ptr)`.
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
  /// Collects the request of every hook for the next run, in list order. Returns the requests by position.
  template <class Run>
  CROCHET_HOST_ALWAYS_INLINE constexpr auto request([[maybe_unused]] Run& run) {
    using All = HookRequests<std::index_sequence<I...>, request_of<I, H, Run>...>;
    return All{
        {crochet::request(Slot<I, H>::hook, ArgumentView<Run>::template by<I, H>(run))}...};  // braces: in list order
  }

  /// The due probes of this run, as a tuple with one pointer for each hook that may return a probe.
  template <class Run>
  CROCHET_HOST_ALWAYS_INLINE constexpr auto due_probes([[maybe_unused]] Run& run) {
    return std::tuple_cat(probe_of_one<I, H>(*this, run)...);
  }
  /// The due phase logs of this run, as a tuple with one pointer for each hook that may return a log.
  template <class Run>
  CROCHET_HOST_ALWAYS_INLINE constexpr auto due_phase_logs([[maybe_unused]] Run& run) {
    return std::tuple_cat(log_of_one<I, H>(*this, run)...);
  }
  /// request() and fire(); the logs record each hook's part.
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

/// Replaces the slots of a chain with a hook that cannot be moved. It has all members of a chain and no hooks.
template <class... H>
struct NoSlots : Slots<std::index_sequence<>> {};
template <bool Empty, class... H>
using SlotsOf = std::conditional_t<Empty, NoSlots<H...>, Slots<std::index_sequence_for<H...>, H...>>;

}  // namespace detail

/// Hooks that are called strictly in list order in every phase: `HookChain{StopAtStep{...}, NanTensor<"loss">{}}`. A
/// nested chain is replaced by its hooks (hook/nested_chain.hpp). Cost: the sum of its hooks' bytes (empty hooks: none)
/// and of their bodies' instructions.
template <class... H>
class HookChain : private detail::SlotsOf<detail::any({!std::is_move_constructible_v<H>...}), H...> {
  static constexpr bool can_be_moved = !detail::any({!std::is_move_constructible_v<H>...});
  using Base = detail::SlotsOf<!can_be_moved, H...>;

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
