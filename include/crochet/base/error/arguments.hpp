// SPDX-License-Identifier: Apache-2.0
// Why the arguments of a session do not fit together: models, executors, chains and creators.
#pragma once

namespace crochet::error {

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

/// Cause: the executor given to the session is const, and a run changes the executor.
/// Fix: declare it without const.
template <class Executor>
struct this_executor_is_const;

/// Cause: the second argument of a session or of `run` is not a HookChain.
/// Fix: `HookChain{hook, another}`, also for a single hook.
template <class Argument>
struct this_is_no_chain;

/// Cause: the chain given to a session, to `run` or to `train` is const and borrowed, and a run changes its hooks.
/// Fix: declare it without const.
template <class Chain>
struct this_chain_is_const;

/// Cause: the data given to `run` or `train` cannot be called without arguments.
/// Fix: pass a function that returns the feeds of the next step, `[&] { return feeds(feed<"x">(x)); }`, or
/// batches of a data set; of labelled images `data.batch(128).feeds<"images", "labels">()`.
template <class Data>
struct this_is_no_data_source;

/// Cause: the result of the function that gives `run` or `train` its data is no request.
/// Fix: return `feeds(feed<"x">(batch.x), feed<"y">(batch.y))`, a RunArgs, or a std::optional of them.
template <class Result>
struct the_data_source_returns_no_request;

/// Cause: the data given to Evaluate or InMemoryEvaluator are neither a range of feeds nor a function that returns a
/// std::optional of feeds.
/// Fix: pass batches of a data set, `std::vector{feeds(feed<"x">(x))}`, of labelled images `data.batch(500)
/// .feeds<"images", "labels">()`, or `passes_over(batches, [](const Batch& b) { return feeds(feed<"x">(b.images)); })`.
template <class Data>
struct these_data_give_no_feeds;

/// Cause: the session creator has no `create_session(session, coordinator)` for this executor.
/// Fix: write that member; crochet/session/session_creator.hpp documents its contract.
template <class Creator, class Executor>
struct the_creator_cannot_create_a_session_of_this_executor;

/// Cause: a Scaffold where a session expects its creator.
/// Fix: `ChiefSessionCreator{scaffold}` (crochet/session/session_creators.hpp).
template <class Scaffold>
struct this_session_creator_is_a_scaffold;

/// Cause: the last argument of a session is not a SessionOptions.
/// Fix: the order is executor, chain, creator, options. Pass the options of a creator to the creator:
/// `ChiefSessionCreator{Scaffold{}, {.checkpoint_dir = "run"}}`.
template <class Given>
struct the_last_argument_of_this_session_is_no_session_options;

/// Cause: the first argument of a session creator is not a Scaffold.
/// Fix: put one before the other arguments: `ChiefSessionCreator{Scaffold{}, {.checkpoint_dir = "run"}}`.
template <class Given>
struct the_first_argument_of_this_creator_is_no_scaffold;

/// Cause: the hook has a probe, which reads the values inside a step, but the executor does not support probes.
/// Fix: use an executor that does (Cpu, Cuda, StepExecutor; session/executor.hpp lists the requirements), or remove the
/// hook.
template <class Hook>
struct states_a_probe_but_this_executor_takes_none;

/// Cause: the hook has extend_graph, but the executor has no graph (a StepExecutor).
/// Fix: remove the hook.
template <class Hook>
struct extends_the_graph_of_an_executor_that_has_none;

/// Cause: the hook extends the graph, so the session has to replace the executor by another one. The executor is given
/// as an lvalue, so the session only borrows it and cannot replace it.
/// Fix: pass `std::move(executor)`, or the result of `compile`.
template <class Hook>
struct extends_the_graph_of_a_borrowed_executor;

/// Cause: the function given to run_step_fn cannot be called with only a StepContext&.
/// Fix: give it one parameter, `auto& context`, and capture everything else.
template <class Function>
struct the_step_function_does_not_take_one_step_context;

}  // namespace crochet::error
