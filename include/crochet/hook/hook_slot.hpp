// SPDX-License-Identifier: Apache-2.0
// HookSlot: a hook at its position in a chain, and what a phase does with one hook.
#pragma once

#include <cstddef>
#include <exception>
#include <tuple>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/hook/due_probes.hpp>
#include <crochet/hook/hook_request.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/state_key.hpp>

namespace crochet::detail {

template <std::size_t I, class H>
struct HookSlot {
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
CROCHET_HOST_ALWAYS_INLINE constexpr void fire_one([[maybe_unused]] HookSlot<I, H>& slot, [[maybe_unused]] A&... args) {
  if constexpr (P::template handled<H, typename ArgumentView<A>::template type<I, H>...>) {
    P::call(slot.hook, ArgumentView<A>::template by<I, H>(args)...);
  }
}
template <class P, std::size_t I, class H, class OnThrow, class... A>
constexpr void fire_one_guarded([[maybe_unused]] HookSlot<I, H>& slot, [[maybe_unused]] OnThrow& on_throw,
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
CROCHET_HOST_ALWAYS_INLINE constexpr auto probe_of_one([[maybe_unused]] HookSlot<I, H>& slot,
                                                       [[maybe_unused]] Run& run) {
  if constexpr (StatesProbe<H>) {
    auto&& seen = ArgumentView<Run>::template by<I, H>(run);
    return unless_never(due_probe(slot.hook, seen));
  } else {
    return std::tuple<>{};
  }
}
template <std::size_t I, class H, class Run>
CROCHET_HOST_ALWAYS_INLINE constexpr auto log_of_one([[maybe_unused]] HookSlot<I, H>& slot, [[maybe_unused]] Run& run) {
  if constexpr (logs_phases<H>) {
    auto&& seen = ArgumentView<Run>::template by<I, H>(run);
    return unless_never(due_phase_log(slot.hook, seen));
  } else {
    return std::tuple<>{};
  }
}
template <std::size_t I, class H, class Logs, class Run>
auto request_one_logged(HookSlot<I, H>& slot, const Logs& logs, Run& run) {
  const auto requested = [&] { return crochet::request(slot.hook, ArgumentView<Run>::template by<I, H>(run)); };
  if constexpr (phase::before_run::handled<H, typename ArgumentView<Run>::template type<I, H>>) {
    return logs.template recorded<H>(phase::before_run::name, requested);
  } else {
    return requested();
  }
}
template <class P, std::size_t I, class H, class Logs, class... A>
void fire_one_logged([[maybe_unused]] HookSlot<I, H>& slot, [[maybe_unused]] const Logs& logs,
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
void save_one([[maybe_unused]] const HookSlot<I, H>& slot, [[maybe_unused]] Out& out) {
  if constexpr (phase::save_state::handled<H, Out>) {
    out.section(state_key_of<H>(), [&] { phase::save_state::call(slot.hook, out); });
  }
}
template <class H, std::size_t I, class In>
void load_one([[maybe_unused]] HookSlot<I, H>& slot, [[maybe_unused]] In& in) {
  if constexpr (phase::load_state::handled<H, In>) {
    in.section(state_key_of<H>(), [&] { phase::load_state::call(slot.hook, in); });
  }
}

template <class H, std::size_t I>
constexpr H& slot_of(HookSlot<I, H>& slot) {
  return slot.hook;
}
template <class H, std::size_t I>
constexpr const H& slot_of(const HookSlot<I, H>& slot) {
  return slot.hook;
}
template <std::size_t I, class H>
constexpr H& slot_at(HookSlot<I, H>& slot) {
  return slot.hook;
}
template <std::size_t I, class H>
constexpr const H& slot_at(const HookSlot<I, H>& slot) {
  return slot.hook;
}

}  // namespace crochet::detail
