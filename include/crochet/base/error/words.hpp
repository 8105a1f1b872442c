// SPDX-License-Identifier: Apache-2.0
// The words of reasons: what a reason names besides the hook, the model or the name at fault.
#pragma once

namespace crochet::error {

/// Nothing is wrong.
struct none;

/// The signature that a session calls: `called_as<void(any_run&, const any_values&)>`. The types whose names begin with
/// `any_` stand for templates; write `auto` in their place.
template <class Function>
struct called_as;
struct any_session;
struct any_coordinator;
struct any_run;
struct any_values;

/// Replaces the hook in a reason that concerns the caller of `run`.
struct the_caller;

/// Replaces the hook in a reason that concerns the loop of `run` and `train`, which runs the target "train".
/// Fix: name the result of `minimize` in the model: `g.name("train", minimize(loss, ...))`. For another target, give
/// `run` or `train` data that name it, `RunArgs{targets<"other">, feeds}`, or write the loop: `session.run("other"_n)`.
struct the_training_loop;

/// The name that was probably intended.
template <class Meant>
struct did_you_mean;
/// No existing name is similar, and there are more than six.
struct no_similar_name;
/// No existing name is similar. `Names`: all existing names, at most six.
template <class... Names>
struct there_are;

/// The type of the given value, and the required element type.
template <class T>
struct given;
template <class T>
struct wanted;
/// The required number of dimensions.
template <int Dimensions>
struct rank;
/// The form that is required.
template <class T>
struct expected;

/// A name as single letters (clang prints a string in a template argument as numbers).
template <char... Letters>
struct name;

}  // namespace crochet::error
