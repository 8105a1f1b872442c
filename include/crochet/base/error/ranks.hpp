// SPDX-License-Identifier: Apache-2.0
// The reasons of compile errors of programs on several ranks.
#pragma once

namespace crochet::error {

/// Cause: an assignment gives the variable a value that each rank computes from its own rows of the batch.
/// Fix: assign `mean_over_ranks(x)` or `sum_over_ranks(x)`; on one machine both are x.
template <class Variable>
struct this_variable_would_differ_between_ranks;

/// Cause: a run that exchanges with the other ranks, or is divided into shards, reads two placeholders whose rows are
/// different dimensions, and ranks divide one. `Placeholder`: the second of them.
/// Fix: give every placeholder with rows the same dynamic dimension as its first, `{g.dynamic("batch"), ...}`; one that
/// is equal on all ranks has a static first dimension, `{1, g.dynamic("length")}`.
template <class Placeholder>
struct the_rows_of_this_placeholder_are_another_dimension;

/// Cause: the hook makes a run that exchanges with the other ranks, and the guard calls it on one rank only; that rank
/// would wait for the others for ever. A hook that states RunsOn::chief has the guard OnRank<0, Hook>.
/// Fix: let it run on every rank (OnEveryRank<Hook>, and write on rank 0 only), or fetch the value in the hook's
/// request, which all ranks compute.
template <class Hook, class Guard>
struct makes_a_run_of_all_ranks_on_one_rank;

}  // namespace crochet::error
