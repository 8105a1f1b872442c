// SPDX-License-Identifier: Apache-2.0
// The reasons of compile errors of programs on several ranks.
#pragma once

namespace crochet::error {

/// Cause: an assignment gives the variable a value that each rank computes from its own rows of the batch.
/// Fix: assign `mean_over_ranks(x)` or `sum_over_ranks(x)`; on one machine both are x.
template <class Variable>
struct this_variable_would_differ_between_ranks;

}  // namespace crochet::error
