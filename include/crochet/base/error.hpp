// SPDX-License-Identifier: Apache-2.0
// The reasons that a compile error names: incomplete types whose names are sentences, each documented with cause and
// fix. Run-time exceptions are in exceptions.hpp, which this header includes.
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
// A message contains hook_is_usable<position in the chain, reason<Hook, ...>>. Positions count from 0.

/// Nothing is wrong.
struct none;

/// Cause: the hook has a member with the name of a phase, but the session cannot call it: wrong number or type of
/// parameters, private, or not const where the phase requires it (save_state).
/// Fix: make it public and give it the parameters of the phase, which `Expected` shows. `auto&` accepts every session,
/// run or coordinator, `const auto&` every type of values.
template <class Hook, class Phase, class Expected>
struct has_this_member_but_the_session_cannot_call_it;

/// The signature that a session calls: `called_as<void(any_run&, const any_values&)>`. The types whose names begin with
/// `any_` stand for templates; write `auto` in their place.
template <class Function>
struct called_as;
struct any_session;
struct any_coordinator;
struct any_run;
struct any_values;

/// Cause: the body of the hook's before_run does not compile. The compiler reports the error at its line.
template <class Hook>
struct has_a_before_run_that_does_not_compile;

/// Cause: sessions and chains move hooks, and this hook cannot be moved: it has a mutex, an atomic or a deleted move
/// constructor.
/// Fix: hold such members by std::unique_ptr, or give the hook a reference to them.
template <class Hook>
struct cannot_be_moved;

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

/// Cause: the hook fetches a name that the executor does not have.
/// Fix: correct the name, or name the node in the model.
template <class Hook, class Missing, class Hint>
struct fetches_a_name_that_is_not_in_the_graph;

/// Cause: the hook requests a target that the executor does not have.
/// Fix: correct the name, or name the node in the model.
template <class Hook, class Missing, class Hint>
struct runs_a_target_that_is_not_in_the_graph;

/// Cause: the hook feeds a name that is not a placeholder of the graph.
/// Fix: correct the name. Only placeholders (of a StepExecutor: inputs) can be fed.
template <class Hook, class Missing, class Hint>
struct feeds_a_name_that_is_not_a_placeholder;

/// Cause: the element type of the value differs from that of the placeholder.
/// Fix: convert the value before feeding it; there are no implicit conversions.
template <class Hook, class Fed, class Given, class Wanted>
struct feeds_a_value_of_the_wrong_type;

/// Cause: two hooks of the chain feed the same name; only one value can be used.
/// Fix: remove one of them, or let one hook do both.
template <class Hook, class EarlierHook, class Fed>
struct feeds_a_name_that_another_hook_feeds_too;

/// Cause: one request feeds the same name twice.
/// Fix: feed it once.
template <class Hook, class Fed>
struct feeds_the_same_name_twice;

/// Cause: the caller of run feeds a name that a hook of the chain also feeds in this run.
/// Fix: remove one of the two feeds.
template <class Hook, class Fed>
struct the_caller_feeds_a_name_that_this_hook_feeds;

/// Cause: the hook belongs to a plan (OnlyIn<"...">) that is not a target of the executor.
/// Fix: correct the name.
template <class Hook, class Missing, class Hint>
struct belongs_to_a_plan_that_is_not_in_the_graph;

/// Cause: the hook reads a value that it does not list, so the value would not have been computed.
/// Fix: add the name to the hook's `fetches`.
template <class Hook, class Missing>
struct reads_a_value_that_it_does_not_list;

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

/// Cause: the hook saves the state of all hooks after each run, but the stateful hook comes after it in the chain and
/// has not processed the run yet. The saved state would not be the one that a resumed run needs.
/// Fix: put the hook that saves (CheckpointSaver) after all hooks that have save_state.
template <class Saver, class Stateful>
struct saves_the_state_of_a_hook_that_is_listed_behind_it;

/// Cause: the hook has a probe, which reads the values inside a step, but the executor does not support probes.
/// Fix: use an executor that does (Cpu, StepExecutor; session/executor.hpp lists the requirements), or remove the
/// hook.
template <class Hook>
struct states_a_probe_but_this_executor_takes_none;

/// Cause: the hook watches nodes by a pattern that matches no node of this model with a tensor output: it would watch
/// nothing.
/// Fix: correct the pattern, `Pattern` here. DidYouMean: the nearest name that can be fetched.
template <class Hook, class Pattern, class DidYouMean>
struct watches_no_node_of_this_model;

/// Cause: the hook has `using probe = P;` but no `P* due_probe()`, so the session cannot get the probe.
/// Fix: write that member. It returns nullptr if the next run is not to be probed.
template <class Hook>
struct states_a_probe_but_has_no_due_probe;

/// Cause: `after` and `before` of the two hooks contradict each other.
/// Fix: remove one of the two.
template <class Hook, class Other>
struct must_come_both_before_and_after;

/// Cause: two hooks save state under the same key.
/// Fix: give one of them its own key: `Keyed<"second", Hook>`, or a `static constexpr std::string_view state_key`.
template <class Hook, class Other>
struct has_the_state_key_of_another_hook;

/// Cause: a value that this run requests depends on a placeholder that neither the caller nor a hook feeds.
/// Fix: feed it, or do not request what depends on it.
template <class Placeholder>
struct needs_a_placeholder_that_nobody_feeds;

/// Cause: a value that this run requests has a dynamic dimension, and no feed of the run has that dimension.
/// Fix: feed a placeholder that has it.
template <class Dimension>
struct needs_the_size_of_a_dimension_that_no_feed_has;

/// Cause: this run executes an operation of your own that the device cannot run.
/// Fix: specialise crochet::Elementwise or the device's Kernel for it. Cuda{} runs the operations of the library only;
/// NvccCuda{} (crochet/executor/cuda/nvcc.hpp) runs yours.
template <class Operation>
struct executes_an_operation_without_a_kernel_for_this_device;

/// Cause: the run of a model has neither targets nor fetches, so it would compute nothing and train nothing.
/// Fix: name a target, `session.run("train"_n, feeds)`, or fetch a value.
template <class Caller, class Hint>
struct names_no_target_and_fetches_nothing;

/// Cause: the function given to run_step_fn cannot be called with only a StepContext&.
/// Fix: give it one parameter, `auto& context`, and capture everything else.
template <class Function>
struct the_step_function_does_not_take_one_step_context;

/// Cause: the session creator has no `create_session(session, coordinator)` for this executor.
/// Fix: write that member; crochet/session/session_creator.hpp documents its contract.
template <class Creator, class Executor>
struct the_creator_cannot_create_a_session_of_this_executor;

/// Cause: the last argument of a session is not a SessionOptions.
/// Fix: the order is executor, chain, creator, options. Pass the options of a creator to the creator:
/// `ChiefSessionCreator{Scaffold{}, {.checkpoint_dir = "run"}}`.
template <class Given>
struct the_last_argument_of_this_session_is_no_session_options;

/// Cause: the first argument of a session creator is not a Scaffold.
/// Fix: put one before the other arguments: `ChiefSessionCreator{Scaffold{}, {.checkpoint_dir = "run"}}`.
template <class Given>
struct the_first_argument_of_this_creator_is_no_scaffold;

/// Cause: the model type has no `define` that can be called with a GraphBuilder&: it is missing, misspelt or private.
/// Fix: give it `static constexpr void define(crochet::GraphBuilder& g)`.
template <class Model>
struct this_model_has_no_define;

/// Cause: the model's `define` is not static.
/// Fix: declare it `static constexpr void define(crochet::GraphBuilder& g)`.
template <class Model>
struct the_define_of_this_model_is_not_static;

/// Cause: the model's `define` takes its GraphBuilder by value, and a GraphBuilder cannot be copied.
/// Fix: take it by reference: `static constexpr void define(crochet::GraphBuilder& g)`.
template <class Model>
struct the_define_of_this_model_takes_its_builder_by_value;

/// Cause: the executor given to the session is const, and a run changes the executor.
/// Fix: declare it without const.
template <class Executor>
struct this_executor_is_const;

/// Cause: a model is given instead of an executor.
/// Fix: compile it for a device: `Cpu{}.compile<Model>()`.
template <class Model>
struct this_model_is_not_compiled;

/// Cause: a device is given instead of an executor.
/// Fix: compile a model for it: `Cpu{}.compile<Model>()`.
template <class Device>
struct this_device_is_given_no_model;

/// Cause: the first argument of a session or of `run` is not an executor.
/// Fix: the order is executor, chain, then creator or data. To make an executor of a step function:
/// `StepExecutor{function, output<float, "loss">}`. crochet/session/executor.hpp lists the requirements of an executor.
template <class Argument>
struct this_is_no_executor;

/// Cause: the second argument of a session or of `run` is not a HookChain.
/// Fix: `HookChain{hook, another}`, also for a single hook.
template <class Argument>
struct this_is_no_chain;

/// Cause: the hook has extend_graph, but the executor has no graph (a StepExecutor).
/// Fix: remove the hook.
template <class Hook>
struct extends_the_graph_of_an_executor_that_has_none;

/// Cause: the hook extends the graph, so the session has to replace the executor by another one. The executor is given
/// as an lvalue, so the session only borrows it and cannot replace it.
/// Fix: pass `std::move(executor)`, or the result of `compile`.
template <class Hook>
struct extends_the_graph_of_a_borrowed_executor;

/// Cause: two outputs, two inputs or two variables of a StepExecutor have the same name.
/// Fix: rename one of them.
template <class Repeated>
struct a_step_function_declares_this_name_twice;

/// Cause: the step function uses an output that its StepExecutor does not declare.
/// Fix: correct the name, or declare `output<T, "name">`.
template <class Missing, class Hint>
struct a_step_function_does_not_declare_this_output;

/// The same for an input: declare `input<T, "name">`.
template <class Missing, class Hint>
struct a_step_function_does_not_declare_this_input;

/// Cause: a Predictor without outputs.
/// Fix: name the values to compute: `Predictor<Model, "logits">`.
struct names_no_output;

/// Cause: a Predictor's outputs depend on a random state, a moving average or another assignment, so a prediction would
/// change a variable that other threads read at that time.
/// Fix: name an output of the model that assigns nothing: built without dropout, and with the moving averages as they
/// are (SharedVariables in graph/core/builder.hpp). A session can run any output.
template <class Variable>
struct changes_a_variable_that_other_threads_read;

/// Cause: an exported output depends on a random state, a moving average or another assignment, and an exported model
/// changes no variable.
/// Fix: name an output of the model that assigns nothing, as for a Predictor.
template <class Variable>
struct exports_a_change_of_a_variable;

/// Cause: an output of a Predictor or an export is a variable of the model, not a value that a run computes.
/// Fix: name a computed value, or read the variable from a checkpoint (io::open_checkpoint).
template <class Variable>
struct outputs_a_variable;

/// Cause: a Predictor is called with names of values or of targets.
/// Fix: call it with feeds only, `predict(feed<"images">(x))`; its type names the outputs.
struct predicts_from_feeds_only;

/// Replaces the hook in a reason that concerns the caller of `run`.
struct the_caller;

/// Replaces the hook in a reason that concerns the loop of `run` and `train`, which runs the target "train".
/// Fix: name the result of `minimize` in the model: `g.name("train", minimize(loss, ...))`. For another target, give
/// `run` or `train` data that name it, `RunArgs{targets<"other">, feeds}`, or write the loop: `session.run("other"_n)`.
struct the_training_loop;

/// The name that was probably intended.
template <class Meant>
struct did_you_mean;
/// No existing name is similar.
struct no_similar_name;

/// The type of the given value, and the required element type.
template <class T>
struct given;
template <class T>
struct wanted;
/// The form that is required.
template <class T>
struct expected;

/// A name as single letters (clang prints a string in a template argument as numbers).
template <char... Letters>
struct name;

}  // namespace crochet::error

namespace crochet {

namespace detail {
/// Whether the compiler reports this reason at another line, so that no further error is needed.
template <class Reason>
inline constexpr bool is_reported_elsewhere = false;
template <class Hook>
inline constexpr bool is_reported_elsewhere<error::has_a_before_run_that_does_not_compile<Hook>> = true;
template <std::size_t Position, class Reason>
inline constexpr bool usable_hook = std::is_same_v<Reason, error::none> || is_reported_elsewhere<Reason>;
}  // namespace detail

/// The one error of an unusable hook. Position and reason are template arguments, so that every compiler prints them.
template <std::size_t Position, class Reason>
struct hook_is_usable {
  static_assert(detail::usable_hook<Position, Reason>,
                "crochet: this hook cannot be used; the crochet::error type in this message says why.");
};

/// The condition of the static_assert for a hook that reads a value it does not list, at the line that reads it.
template <std::size_t Position, class Reason>
inline constexpr bool hook_reads_what_it_lists = std::is_same_v<Reason, error::none>;

/// The condition of the static_assert for an invalid call of `run`. Each call has its own static_assert instead of a
/// class template, so that compilers print the reason once.
template <class Reason>
inline constexpr bool call_is_usable = std::is_same_v<Reason, error::none>;

/// The same for a type that is not a model. An error inside `define` is reported at its own line instead.
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
/// The form of a name that the current compiler prints readably.
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
