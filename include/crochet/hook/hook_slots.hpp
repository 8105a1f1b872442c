// SPDX-License-Identifier: Apache-2.0
// HookSlots: the slots of all hooks of a chain, and the phases as folds over them.
#pragma once

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/hook/hook_slot.hpp>

namespace crochet::detail {

template <class Indices, class... H>
struct HookSlots;
// Arrays replace fold expressions: a chain may be longer than clang's limit on fold operands.
template <std::size_t... I, class... H>
struct HookSlots<std::index_sequence<I...>, H...> : HookSlot<I, H>... {
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
    [[maybe_unused]] const bool called[] = {true, (void(visit(HookSlot<I, H>::hook)), true)...};
  }
  template <class Visit>
  constexpr void for_each([[maybe_unused]] Visit& visit) const {
    [[maybe_unused]] const bool called[] = {true, (void(visit(HookSlot<I, H>::hook)), true)...};
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
    return All{{crochet::request(HookSlot<I, H>::hook,
                                 ArgumentView<Run>::template by<I, H>(run))}...};  // braces: in list order
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
struct NoHookSlots : HookSlots<std::index_sequence<>> {};
template <bool Empty, class... H>
using HookSlotsOf = std::conditional_t<Empty, NoHookSlots<H...>, HookSlots<std::index_sequence_for<H...>, H...>>;

}  // namespace crochet::detail
