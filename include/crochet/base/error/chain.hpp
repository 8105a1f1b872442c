// SPDX-License-Identifier: Apache-2.0
// Why hooks do not fit together in a chain: their order, their feeds and the keys of their state.
#pragma once

namespace crochet::error {

/// Cause: the hook's `using after` (or the other's `using before`) requires the opposite of the order in the chain.
/// Fix: swap the two in the chain.
template <class Hook, class MustComeFirst>
struct is_listed_before_a_hook_that_must_come_first;

/// Cause: `using after` or `using before` of the hook names the hook itself.
/// Fix: name another hook.
template <class Hook>
struct is_ordered_relative_to_itself;

/// Cause: `using after` or `using before` of the hook is not a list of hooks.
/// Fix: write `using after = Hooks<Other>`.
template <class Hook, class Given, class Expected>
struct states_its_order_by_something_that_is_not_a_list_of_hooks;

/// Cause: `after` and `before` of the two hooks contradict each other.
/// Fix: remove one of the two.
template <class Hook, class Other>
struct must_come_both_before_and_after;

/// Cause: the hook saves the state of all hooks after each run, but the stateful hook comes after it in the chain and
/// has not processed the run yet. The saved state would not be the one that a resumed run needs.
/// Fix: put the hook that saves (CheckpointSaver) after all hooks that have save_state.
template <class Saver, class Stateful>
struct saves_the_state_of_a_hook_that_is_listed_behind_it;

/// Cause: `get<Hook>()` of a chain that has no such hook, or more than one, or `at<Position>()` behind its last hook.
/// Fix: name the whole type, `get<StopWhen<"loss">>()`, or the position, `at<1>()`, counted from 0.
template <class Hook, class Chain>
struct is_not_in_this_chain_exactly_once;

/// Cause: two hooks save state under the same key. Hooks that differ only by a lambda do.
/// Fix: give one of them its own key: `Keyed<"second", Hook>`, or a `static constexpr std::string_view state_key`.
template <class Hook, class Other>
struct has_the_state_key_of_another_hook;

/// Cause: two hooks of the chain feed the same name; only one value can be used.
/// Fix: remove one of them, or let one hook do both.
template <class Hook, class EarlierHook, class Fed>
struct feeds_a_name_that_another_hook_feeds_too;

}  // namespace crochet::error
