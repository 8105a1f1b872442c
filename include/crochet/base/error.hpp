// SPDX-License-Identifier: Apache-2.0
// Why a program does not compile: the reasons that an error names, incomplete types spelt as sentences, each with cause
// and cure. The exceptions of a running program are in exceptions.hpp, which this header includes.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/exceptions.hpp>
#include <crochet/base/name.hpp>

namespace crochet::error {

// ---- Why a hook cannot be used -----------------------------------------------------------------------------------
// Read them in a message as: hook_is_usable<position in the chain, reason<Hook, ...>>. Positions count from 0.

/// Nothing is wrong.
struct none;

/// Cause: the hook has a member with the name of a phase, but the session cannot call it: wrong number or type of
/// parameters, private, or not const where the phase needs it (save_state).
/// Cure: make it public and give it the parameters of the phase, which `Expected` shows; `auto&` takes any session, run
/// or coordinator, `const auto&` any values.
template <class Hook, class Phase, class Expected>
struct has_this_member_but_the_session_cannot_call_it;

/// The call that a session makes of a phase: `called_as<void(any_run&, const any_values&)>`. The types whose names
/// begin with `any_` are templates; a hook has `auto` in their place.
template <class Function>
struct called_as;
struct any_session;
struct any_coordinator;
struct any_run;
struct any_values;

/// Cause: the body of the hook's before_run does not compile; the compiler reports that at its line.
template <class Hook>
struct has_a_before_run_that_does_not_compile;

/// Cause: a session and a chain move hooks, and this one cannot be moved: it has a mutex, an atomic or a deleted move
/// constructor.
/// Cure: hold such members by std::unique_ptr, or give the hook a reference to them.
template <class Hook>
struct cannot_be_moved;

/// Cause: the hook's `fetches` is no list of names, but a string, a container or a function.
/// Cure: write `static constexpr auto fetches = crochet::fetches<"loss">;`.
template <class Hook, class Given>
struct has_fetches_that_are_not_a_list_of_names;

/// Cause: the condition of `When<condition, H>` is neither a bool nor something that can be called.
/// Cure: give it a constant of type bool, a function, or a function object.
template <class Hook, class Given>
struct has_a_condition_that_is_neither_a_bool_nor_a_function;

/// Cause: `Member` of the hook is spelt almost like a phase, so the session would silently never call it.
/// Cure: correct the name; or, if the name is meant, say which phases the hook handles: `using handles = Phases<...>`.
template <class Hook, class Phase, class Member>
struct has_a_member_spelt_almost_like_this_phase;

/// Cause: the hook is a final class or a union. The compiler cannot search such a class for members that are misspelt
/// or have a wrong signature. Cure: list the phases that it handles, `using handles = Phases<phase::after_run>`, or
/// make it a class that is not final.
template <class Hook>
struct is_final_or_a_union_and_does_not_list_its_phases;

/// Cause: the hook saves state that it never loads, so a resumed run would begin with its initial state.
/// Cure: add `void load_state(auto& in)`, or remove save_state.
template <class Hook>
struct has_save_state_but_no_load_state;

/// Cause: the hook loads state that it never saves.
/// Cure: add `void save_state(auto& out) const`, or remove load_state.
template <class Hook>
struct has_load_state_but_no_save_state;

/// Cause: a phase returns something that the session would ignore; before_run returns something that is not a request.
/// Cure: return void; from before_run void, RunArgs<...> or std::optional<RunArgs<...>>.
template <class Hook, class Phase, class Returned>
struct returns_the_wrong_type;

/// Cause: the hook has no member with the name of any phase.
/// Cure: add one, or leave the hook out of the chain.
template <class Hook>
struct handles_no_phase_at_all;

/// Cause: `using handles = Phases<...>` lists a phase for which the hook has no member that the session can call.
/// Cure: correct the member's name, or take the phase out of the list.
template <class Hook, class Phase>
struct lists_this_phase_but_does_not_handle_it;

/// Cause: the hook handles a phase that its `using handles = Phases<...>` leaves out.
/// Cure: add the phase to the list.
template <class Hook, class Phase>
struct handles_this_phase_but_does_not_list_it;

/// Cause: a phase asks for a GraphBuilder, but the graph is final before the program starts; or extend_graph is not
/// static, so that it could not run in the compiler.
/// Cure: do it in `static constexpr void extend_graph(GraphBuilder&)`.
template <class Hook, class Phase>
struct extends_the_graph_after_it_is_frozen;

/// Cause: the hook wants the value of a name that the executor cannot give.
/// Cure: correct the name, or give the node a name in the model.
template <class Hook, class Missing, class Hint>
struct fetches_a_name_that_is_not_in_the_graph;

/// Cause: the hook wants to run a target that the executor does not have.
/// Cure: correct the name, or name the node in the model.
template <class Hook, class Missing, class Hint>
struct runs_a_target_that_is_not_in_the_graph;

/// Cause: the hook feeds a name that is no placeholder of the graph.
/// Cure: correct the name; only placeholders (of a StepExecutor: inputs) can be fed.
template <class Hook, class Missing, class Hint>
struct feeds_a_name_that_is_not_a_placeholder;

/// Cause: the element type of the value is not the element type of the placeholder.
/// Cure: convert the value before it is fed; nothing is converted silently.
template <class Hook, class Fed, class Given, class Wanted>
struct feeds_a_value_of_the_wrong_type;

/// Cause: two hooks of the chain feed the same name, and only one value can be right.
/// Cure: take one of them out, or let one hook do both.
template <class Hook, class EarlierHook, class Fed>
struct feeds_a_name_that_another_hook_feeds_too;

/// Cause: one request feeds the same name twice.
/// Cure: feed it once.
template <class Hook, class Fed>
struct feeds_the_same_name_twice;

/// Cause: the caller of run feeds a name that a hook of the chain feeds in this run.
/// Cure: leave it to one of them.
template <class Hook, class Fed>
struct the_caller_feeds_a_name_that_this_hook_feeds;

/// Cause: the hook belongs to a plan (OnlyIn<"...">) that the executor does not have as a target.
/// Cure: correct the name.
template <class Hook, class Missing, class Hint>
struct belongs_to_a_plan_that_is_not_in_the_graph;

/// Cause: the hook reads a value that it did not ask for, so it would not have been computed.
/// Cure: add the name to the hook's `fetches`.
template <class Hook, class Missing>
struct reads_a_value_that_it_does_not_list;

/// Cause: the hook's `using after` (or the other's `using before`) asks for the opposite of the order in the chain.
/// Cure: change the order of the two in the chain.
template <class Hook, class MustComeFirst>
struct is_listed_before_a_hook_that_must_come_first;

/// Cause: `using after` or `using before` of the hook names the hook itself.
/// Cure: name another hook.
template <class Hook>
struct is_ordered_relative_to_itself;

/// Cause: `using after` or `using before` of the hook is not a list of hooks.
/// Cure: write `using after = Hooks<Other>`.
template <class Hook, class Given, class Expected>
struct states_its_order_by_something_that_is_not_a_list_of_hooks;

/// Cause: the hook saves the state of all hooks after each run, but this one, listed behind it, has not seen the run
/// yet when it does. What is saved would not be what a resumed run needs. Cure: list the hook that saves
/// (CheckpointSaver) behind all hooks that have save_state.
template <class Saver, class Stateful>
struct saves_the_state_of_a_hook_that_is_listed_behind_it;

/// Cause: the hook states a probe, which looks into the executor's step, but this executor lets nobody look.
/// Cure: take an executor that does (Cpu, StepExecutor; session/executor.hpp says what one needs), or leave the hook
/// out.
template <class Hook>
struct states_a_probe_but_this_executor_takes_none;

/// Cause: the hook watches nodes by a pattern, and no node of this model that makes a tensor fits it: it would watch
/// nothing. Cure: correct the pattern, `Pattern` here. DidYouMean: the nearest name that can be fetched.
template <class Hook, class Pattern, class DidYouMean>
struct watches_no_node_of_this_model;

/// Cause: the hook states `using probe = P;`, but has no `P* due_probe()`, so the session could not ask for it.
/// Cure: write that member; it returns nullptr when the coming run is not to be looked into.
template <class Hook>
struct states_a_probe_but_has_no_due_probe;

/// Cause: `after` and `before` of the two hooks ask for both orders at once.
/// Cure: take one of the two wishes back.
template <class Hook, class Other>
struct must_come_both_before_and_after;

/// Cause: both hooks save state, and both would save it under the same key.
/// Cure: give one of them a key of its own: `Keyed<"second", Hook>`, or `static constexpr std::string_view state_key`
/// in it.
template <class Hook, class Other>
struct has_the_state_key_of_another_hook;

/// Cause: what this run is asked for needs a placeholder that neither the caller nor a hook feeds.
/// Cure: feed it, or do not ask for what depends on it.
template <class Placeholder>
struct needs_a_placeholder_that_nobody_feeds;

/// Cause: what this run is asked for has a dynamic dimension, and no feed of the run says how large it is.
/// Cure: feed a placeholder that has the dimension.
template <class Dimension>
struct needs_the_size_of_a_dimension_that_no_feed_has;

/// Cause: the run of a model names no target and fetches nothing, so it would compute nothing, and train nothing.
/// Cure: name what it is to run, `session.run("train"_n, feeds)`, or fetch a value.
template <class Caller, class Hint>
struct names_no_target_and_fetches_nothing;

/// Cause: the function given to run_step_fn cannot be called with a StepContext& alone.
/// Cure: give it one parameter, `auto& context`, and let it capture what else it needs.
template <class Function>
struct the_step_function_does_not_take_one_step_context;

/// Cause: the session creator has no `create_session(session, coordinator)` for this executor.
/// Cure: write that member; crochet/session/session_creator.hpp says what it must do.
template <class Creator, class Executor>
struct the_creator_cannot_create_a_session_of_this_executor;

/// Cause: the last argument of a session is no SessionOptions.
/// Cure: the order is executor, chain, creator, options. What a creator is to do is said to the creator:
/// `ChiefSessionCreator{Scaffold{}, {.checkpoint_dir = "run"}}`.
template <class Given>
struct the_last_argument_of_this_session_is_no_session_options;

/// Cause: the first argument of a session creator is no Scaffold.
/// Cure: put one in front of the other arguments: `ChiefSessionCreator{Scaffold{}, {.checkpoint_dir = "run"}}`.
template <class Given>
struct the_first_argument_of_this_creator_is_no_scaffold;

/// Cause: the type that is to be a model has no `define` that can be called with a GraphBuilder&: it is missing,
/// misspelt or private. Cure: give it `static constexpr void define(crochet::GraphBuilder& g)`.
template <class Model>
struct this_model_has_no_define;

/// Cause: the model's `define` needs an object of the model.
/// Cure: declare it `static constexpr void define(crochet::GraphBuilder& g)`.
template <class Model>
struct the_define_of_this_model_is_not_static;

/// Cause: the model's `define` takes a GraphBuilder; it would build a copy, and a GraphBuilder cannot be copied.
/// Cure: take it by reference: `static constexpr void define(crochet::GraphBuilder& g)`.
template <class Model>
struct the_define_of_this_model_takes_its_builder_by_value;

/// Cause: the session is given an executor that is const, and a run changes the executor.
/// Cure: declare it without const.
template <class Executor>
struct this_executor_is_const;

/// Cause: a model stands where the executor belongs.
/// Cure: compile it for a device: `Cpu{}.compile<Model>()`.
template <class Model>
struct this_model_is_not_compiled;

/// Cause: a device stands where the executor belongs.
/// Cure: compile a model for it: `Cpu{}.compile<Model>()`.
template <class Device>
struct this_device_is_given_no_model;

/// Cause: the first argument of a session or of `run` is no executor.
/// Cure: the order is executor, chain, then creator or data. A step function becomes an executor by
/// `StepExecutor{function, output<float, "loss">}`; crochet/session/executor.hpp says what one of your own needs.
template <class Argument>
struct this_is_no_executor;

/// Cause: the second argument of a session or of `run` is no HookChain.
/// Cure: `HookChain{hook, another}`, also for a single hook.
template <class Argument>
struct this_is_no_chain;

/// Cause: the hook has extend_graph, but the executor is no model's (a StepExecutor), so there is no graph.
/// Cure: leave the hook out.
template <class Hook>
struct extends_the_graph_of_an_executor_that_has_none;

/// Cause: the hook extends the graph, for which the session makes another executor out of the one that it is given; but
/// that one is given by name, so the session only borrows it.
/// Cure: `std::move(executor)`, or give what `compile` returns.
template <class Hook>
struct extends_the_graph_of_a_borrowed_executor;

/// Cause: two outputs, two inputs or two variables of a StepExecutor have the same name. Cure: rename one of them.
template <class Repeated>
struct a_step_function_declares_this_name_twice;

/// Cause: the step function uses an output that its StepExecutor does not declare.
/// Cure: correct the name, or declare `output<T, "name">`.
template <class Missing, class Hint>
struct a_step_function_does_not_declare_this_output;

/// The same for an input: declare `input<T, "name">`.
template <class Missing, class Hint>
struct a_step_function_does_not_declare_this_input;

/// Stands for the caller of `run` where a reason names a hook.
struct the_caller;

/// Stands for the loop of `run` and `train` where a reason names a hook: it runs the target "train".
/// Cure: name what `minimize` returns in the model: `g.name("train", minimize(loss, ...))`. For another target give
/// `run` or `train` data that name it, `RunArgs{targets<"other">, feeds}`, or write the loop: `session.run("other"_n)`.
struct the_training_loop;

/// What the writer probably meant.
template <class Meant>
struct did_you_mean;
/// No known name is near.
struct no_similar_name;

/// The type of the value that was given, and the element type that is wanted.
template <class T>
struct given;
template <class T>
struct wanted;
/// What should have been written.
template <class T>
struct expected;

/// A name, letter by letter (clang prints a string in a template argument as numbers).
template <char... Letters>
struct name;

}  // namespace crochet::error

namespace crochet {

namespace detail {
/// Reasons that the compiler has reported at another line: there is nothing to add.
template <class Reason>
inline constexpr bool is_reported_elsewhere = false;
template <class Hook>
inline constexpr bool is_reported_elsewhere<error::has_a_before_run_that_does_not_compile<Hook>> = true;
template <std::size_t Position, class Reason>
inline constexpr bool usable_hook = std::is_same_v<Reason, error::none> || is_reported_elsewhere<Reason>;
}  // namespace detail

/// The one error of a bad hook. Position and reason are template arguments, so that every compiler prints them.
template <std::size_t Position, class Reason>
struct hook_is_usable {
  static_assert(detail::usable_hook<Position, Reason>,
                "crochet: this hook cannot be used; the crochet::error type in this message says why.");
};

/// The condition of the one error of a hook that reads what it does not list, where it reads it.
template <std::size_t Position, class Reason>
inline constexpr bool hook_reads_what_it_lists = std::is_same_v<Reason, error::none>;

/// The condition of the one error of a bad call of `run`. A static_assert at each such call and no class: compilers
/// print the reason once.
template <class Reason>
inline constexpr bool call_is_usable = std::is_same_v<Reason, error::none>;

/// The same of a type that is no model. What is wrong inside of `define` is reported at its own line instead.
template <class Reason>
inline constexpr bool model_is_usable = std::is_same_v<Reason, error::none>;

}  // namespace crochet

namespace crochet::detail {

#if CROCHET_NAMES_AS_LETTERS
template <class N, class Indices = std::make_index_sequence<N::view().size()>>
struct Spelt;
template <class N, std::size_t... I>
struct Spelt<N, std::index_sequence<I...>> {
  using type = error::name<N::view()[I]...>;
};
/// The form of a name that the compiler at hand prints readably.
template <class N>
using spelt = typename Spelt<N>::type;
#else
template <class N>
using spelt = N;
#endif

template <class N, const auto& Candidates>
struct Hint {
  static constexpr std::string_view found = closest(N::view(), Candidates);
  static auto type() {
    if constexpr (found.empty()) {
      return std::type_identity<error::no_similar_name>{};
    } else {
      return std::type_identity<error::did_you_mean<spelt<Name<FixedString<found.size() + 1>{found}>>>>{};
    }
  }
};
/// did_you_mean<the candidate nearest to N>, or no_similar_name.
template <class N, const auto& Candidates>
using hint = typename decltype(Hint<N, Candidates>::type())::type;

}  // namespace crochet::detail
