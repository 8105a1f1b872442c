// SPDX-License-Identifier: Apache-2.0
// The laws of hooks, and the options of their trials.
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
///   copies       a copy, also one made in the middle of a session, behaves like the original; they share nothing
///   moves        a moved-to hook behaves like the original, and the moved-from one does nothing more
///   begin        begin resets: the same object's second session is like its first, and so is the state that is saved
///                after begin; of a hook without state that has ==, the members
///   state        a fresh hook that loads the saved state continues like the saved one; saving changes nothing; a
///                checkpoint without the hook's keys is a fresh start; the keys and the types of their values are the
///                same at any time, and load_state reads all of them
///   reads        requests of before_run are listed in the static `fetches`, if there is one; only these are read, and
///                only in runs for which the hook requested them
///   events       no exception, so that the hooks behind it handle every event: a stop is requested, not thrown. A
///                PhaseSpy inside a decorator has its phases called in order
///   end          work at the end is done in `end`, once: the destructor does nothing more. Decorators call `end` once
///   allocations  a steady step does not allocate. Only checked with LawOptions::allocations
inline constexpr std::array<std::string_view, 8> hook_laws{"copies", "moves",  "begin", "state",
                                                           "reads",  "events", "end",   "allocations"};

/// Options of the trials. All have defaults.
struct LawOptions {
  /// Maximum number of steps of a session; the hook may stop it earlier.
  int steps = 12;
  /// Number of steps after which the hook is copied, moved, and its state saved; by default in the middle. For a hook
  /// whose interval restarts with each session, independent of its saved state: a step where it restarts anyway.
  std::optional<int> interrupt_after{};
  /// Laws that this hook breaks by design: `.except = {"begin"}`.
  std::vector<std::string_view> except{};
  /// All output of the hook so far, as text: `[&] { return sink.text(); }`. Without it only requests, reads, feeds and
  /// stops are compared. It must not contain times of the real clock: give the hook a ManualClock.
  std::function<std::string()> says{};
  /// Called before begin with the first step, and before each step with its number, from 0. Trials run one after
  /// another and each needs the same times: `[&](int step) { clock.set(step); }`.
  std::function<void(int step)> before_step{};
  /// Number of allocations of the program so far, for the law of that name. crochet/testing/counting_new.hpp has one:
  /// `.allocations = allocations`. Exempt are steps 0 and 1, and steps in which the hook writes output, makes a run of
  /// its own, stops, or fetches a value that it does not fetch in every step.
  std::function<std::size_t()> allocations{};
};

}  // namespace crochet::testing
