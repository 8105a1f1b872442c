// SPDX-License-Identifier: Apache-2.0
// What a session of an executor on one of several ranks does together with the sessions of the other ranks. With any
// other executor these functions do nothing and generate no code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/base/nested_errors.hpp>
#include <crochet/hook/placed_chain.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/session/clean_stop.hpp>
#include <crochet/session/stop.hpp>

namespace crochet::detail {

/// An executor of one of several ranks has `ranks()` (ranks/rank_group.hpp).
template <class E>
concept HasRanks = requires(E& executor) {
  executor.ranks().any_of(std::uint64_t{});
};

/// Passes this rank to the hooks. `alone`: the chain is that of one rank, which writes its lines.
template <class E, class Chain>
void join_ranks([[maybe_unused]] E& executor, [[maybe_unused]] Chain& chain, [[maybe_unused]] bool alone = false) {
  if constexpr (HasRanks<E>) {
    chain.for_each([&](auto& hook) {
      using H = std::remove_cvref_t<decltype(hook)>;
      if constexpr (JoinsRanks<H>) hook.join_ranks(executor.ranks().rank(), executor.ranks().size());
      if constexpr (Mutes<H>) {
        if (!alone && !executor.ranks().is_chief()) hook.mute();
      }
    });
  }
}

/// Whether lines that all ranks have are written here: on the chief.
template <class E>
bool writes_lines([[maybe_unused]] E& executor) {
  if constexpr (HasRanks<E>) {
    return executor.ranks().is_chief();
  } else {
    return true;
  }
}

/// The beginning of lines that this rank writes about its own session: with its number, where there are several ranks.
template <class E>
CROCHET_COLD std::string line_start([[maybe_unused]] E& executor) {
  if constexpr (HasRanks<E>) {
    if (executor.ranks().size() > 1) return message({"crochet: rank ", executor.ranks().rank(), ": "});
  }
  return "crochet: ";
}
/// The same for a line about a lost session; empty where none is written: if another rank has lost its session, that
/// rank writes the line, and the chief.
template <class E>
CROCHET_COLD std::string line_start_of_loss(E& executor, const std::exception_ptr& error) {
  return writes_lines(executor) || !is_any_of<PeerPreemptedError>(error) ? line_start(executor) : std::string();
}

/// The conditional requests that are due on any rank: all ranks run the same plan.
template <class E>
constexpr std::uint64_t due_on_any_rank(E& executor, std::uint64_t due) {
  if constexpr (HasRanks<E>) {
    return executor.ranks().any_of(due);
  } else {
    return due;
  }
}
/// Throws if a hook feeds on another rank and not on this one. `differing`: the groups of hooks of which that is true.
inline void require_equal_feeds(std::uint64_t differing) {
  if (differing == 0) return;
  throw RanksDisagreeError(
      "crochet: a hook feeds a placeholder on some ranks and not on others; let the same steps decide on all ranks");
}

/// Prepares a new session: the chief's creator does, and all ranks get the chief's variables, step and hook state.
template <class Raw, class Creator, class Coordinator>
void create_on_all_ranks(Raw& raw, Creator& creator, Coordinator& coordinator) {
  if constexpr (HasRanks<typename Raw::Executor>) {
    raw.executor().ranks().create(raw, creator, coordinator);
  } else {
    creator.create_session(raw, coordinator);
  }
}

/// Behind a step, or the creation of a session, and its hooks: with state that differs between ranks all wait until the
/// hooks of all ranks are done, one of which may save the state.
template <class E>
CROCHET_HOST_ALWAYS_INLINE void end_step_on_all_ranks([[maybe_unused]] E& executor) {
  if constexpr (requires { requires E::state_differs_between_ranks; }) executor.ranks().end_step();
}

/// This rank's session has failed: so do all others, at what they do together next.
template <class E>
void fail_on_all_ranks(E& executor, const std::exception_ptr& error) noexcept {
  if constexpr (HasRanks<E>) {
    // A GPU of this rank that has failed leaves those of the others in exchanges that it does not come to.
    if (executor.ranks().is_on_device() && is_any_of<DeviceError>(error)) executor.ranks().abort(what_of(error));
    executor.ranks().fail(what_of(error));
  }
}
/// This rank's session is lost: all ranks create theirs anew. Not called for a loss that another rank has reported.
template <class E>
void lose_on_all_ranks(E& executor, const std::exception_ptr& error) {
  if constexpr (HasRanks<E>) {
    if (!is_any_of<PeerPreemptedError>(error)) executor.ranks().lose();
  }
}
/// Ends the loops of all ranks, and returns when they have. `stop` gets the reason if another rank has ended the loop.
/// `step`: the last one of this rank.
template <class E>
void leave_on_all_ranks(E& executor, StopState& stop, [[maybe_unused]] std::int64_t step) {
  if constexpr (HasRanks<E>) {
    auto& ranks = executor.ranks();
    ranks.leave(stop.reason());
    if constexpr (requires { requires E::may_end_in_a_step; }) ranks.end_at(step);
    const StopReason& why = ranks.end_reason();
    if (!stop.has_reason()) stop.note(why.hook, why.reason, why.kind);
  }
}
/// Whether another rank has ended the loop: its reason is then that of this session.
template <class E>
bool ended_by_another_rank(E& executor, StopState& stop) {
  if constexpr (HasRanks<E>) {
    const StopReason& why = executor.ranks().end_reason();
    if (executor.ranks().ending()) stop.note(why.hook, why.reason, why.kind);
    return executor.ranks().ending();
  } else {
    return false;
  }
}
/// After `end` of every hook: all ranks have come as far. Adds the error of another rank to `errors`.
template <class E>
void finish_on_all_ranks(E& executor, NestedErrors& errors) {
  if constexpr (HasRanks<E>) {
    if (errors.first()) return fail_on_all_ranks(executor, errors.first());
    try {
      executor.ranks().finish();
    } catch (...) {
      errors(std::current_exception());
    }
  }
}

}  // namespace crochet::detail
