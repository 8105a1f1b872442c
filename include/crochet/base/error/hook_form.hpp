// SPDX-License-Identifier: Apache-2.0
// Why a class is not a hook: its members, its phases and its state.
// A message contains hook_is_usable<position in the chain, reason<Hook, ...>>. Positions count from 0.
#pragma once

namespace crochet::error {

/// Cause: the hook has a member with the name of a phase, but the session cannot call it: wrong number or type of
/// parameters, private, or not const where the phase requires it (save_state).
/// Fix: make it public and give it the parameters of the phase, which `Expected` shows. `auto&` accepts every session,
/// run or coordinator, `const auto&` every type of values.
template <class Hook, class Phase, class Expected>
struct has_this_member_but_the_session_cannot_call_it;

/// Cause: the body of the hook's before_run does not compile. The compiler reports the error at its line.
template <class Hook>
struct has_a_before_run_that_does_not_compile;

/// Cause: sessions and chains move hooks, and this hook cannot be moved: it has a mutex, an atomic or a deleted move
/// constructor.
/// Fix: hold such members by std::unique_ptr, or give the hook a reference to them.
template <class Hook>
struct cannot_be_moved;

/// Cause: the hook is a class derived from a HookChain. A session would not call the hooks of that chain.
/// Fix: make the chain a member and list it, or name its type: `using Mine = HookChain<...>`.
template <class Hook, class Chain>
struct derives_from_a_chain;

/// Cause: the hook's `fetches` is a string, a container or a function instead of a list of names.
/// Fix: write `static constexpr auto fetches = crochet::fetches<"loss">;`.
template <class Hook, class Given>
struct has_fetches_that_are_not_a_list_of_names;

/// Cause: the condition of `When<condition, H>` is neither a bool nor callable.
/// Fix: give it a constant of type bool, a function, or a function object.
template <class Hook, class Given>
struct has_a_condition_that_is_neither_a_bool_nor_a_function;

/// Cause: the name of the hook's `Member` is almost that of a phase, so the session would silently never call it.
/// Fix: correct the name. If the name is intended, list the handled phases: `using handles = Phases<...>`.
template <class Hook, class Phase, class Member>
struct has_a_member_spelt_almost_like_this_phase;

/// Cause: the hook is a final class or a union. The compiler cannot search such a class for members with a misspelt
/// name or a wrong signature.
/// Fix: list the phases that it handles, `using handles = Phases<phase::after_run>`, or make it a class that is not
/// final.
template <class Hook>
struct is_final_or_a_union_and_does_not_list_its_phases;

/// Cause: the hook saves state that it never loads, so a resumed run would begin with its initial state.
/// Fix: add `void load_state(auto& in)`, or remove save_state.
template <class Hook>
struct has_save_state_but_no_load_state;

/// Cause: the hook loads state that it never saves.
/// Fix: add `void save_state(auto& out) const`, or remove load_state.
template <class Hook>
struct has_load_state_but_no_save_state;

/// Cause: a phase returns a value that the session would ignore, or before_run returns something that is not a request.
/// Fix: return void; before_run may also return RunArgs<...> or std::optional<RunArgs<...>>.
template <class Hook, class Phase, class Returned>
struct returns_the_wrong_type;

/// Cause: the hook has no member with the name of any phase.
/// Fix: add one, or leave the hook out of the chain.
template <class Hook>
struct handles_no_phase_at_all;

/// Cause: `using handles = Phases<...>` lists a phase for which the hook has no member that the session can call.
/// Fix: correct the member's name, or take the phase out of the list.
template <class Hook, class Phase>
struct lists_this_phase_but_does_not_handle_it;

/// Cause: the hook handles a phase that its `using handles = Phases<...>` leaves out.
/// Fix: add the phase to the list.
template <class Hook, class Phase>
struct handles_this_phase_but_does_not_list_it;

/// Cause: a phase takes a GraphBuilder, but the graph is final before the program starts; or extend_graph is not
/// static, so it cannot run at compile time.
/// Fix: extend the graph in `static constexpr void extend_graph(GraphBuilder&)`.
template <class Hook, class Phase>
struct extends_the_graph_after_it_is_frozen;

/// Cause: the hook has `using probe = P;` but no `P* due_probe()`, so the session cannot get the probe.
/// Fix: write that member. It returns nullptr if the next run is not to be probed.
template <class Hook>
struct states_a_probe_but_has_no_due_probe;

}  // namespace crochet::error
