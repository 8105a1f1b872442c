// SPDX-License-Identifier: Apache-2.0
// The laws that every hook has to keep, and how they are tried.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crochet::testing {

/// The laws, by the names that broken_laws uses:
///   copies       a copy, also one made in the middle of a session, goes on as the original does; they share nothing
///   moves        so does a hook that was moved to, and what was moved from does nothing any more
///   begin        begin resets: the same object's second session is like its first, and so is the state that is saved
///                after begin; of a hook without state that has ==, the members
///   state        a fresh hook that loads the saved state goes on as the saved one does; saving changes nothing; a
///                checkpoint without the hook's keys is a fresh start; the keys and the types of their values are the
///                same at any time
///   reads        what before_run asks for is listed in the static `fetches`, if there is one; only that is read, and
///                only in runs for which the hook asked
///   events       nothing is thrown, so that the hooks behind it see every event: a wish to stop is asked for, not
///                thrown. A PhaseSpy inside a decorator sees its phases in their order
///   end          what there is to do at the end is done in `end`, once: a hook that is destroyed does nothing more. A
///                decorator passes `end` on, once
///   allocations  a steady step allocates nothing. Not looked at unless LawOptions::allocations is given
inline constexpr std::array<std::string_view, 8> hook_laws{"copies", "moves",  "begin", "state",
                                                           "reads",  "events", "end",   "allocations"};

/// How the laws are tried. Nothing has to be set.
struct LawOptions {
  /// The session ends after so many steps, or when the hook stops it.
  int steps = 12;
  /// After so many steps the hook is copied, moved, and its state saved; by default in the middle. For a hook whose
  /// rhythm begins anew with each session, which a saved state cannot change, a step where it does so anyway.
  std::optional<int> interrupt_after{};
  /// Laws that this hook breaks by design: `.except = {"begin"}`.
  std::vector<std::string_view> except{};
  /// All that the hook has said so far, as text: `[&] { return sink.text(); }`. Without it only requests, reads, feeds
  /// and stops are compared. No times of the real clock in it: give the hook a ManualClock.
  std::function<std::string()> says{};
  /// Called before begin with the step that comes first and before each step with its number, from 0. Trials are run
  /// one after the other, and each wants the same time: `[&](int step) { clock.set(step); }`.
  std::function<void(int step)> before_step{};
  /// How often the program has allocated so far, for the law of that name. crochet/testing/counting_new.hpp has one:
  /// `.allocations = allocations`. Steps 0 and 1 may allocate, and steps in which the hook says something, runs
  /// something on the side, stops, or fetches what it does not fetch in every step.
  std::function<std::size_t()> allocations{};
};

}  // namespace crochet::testing
