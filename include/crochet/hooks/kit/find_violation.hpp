// SPDX-License-Identifier: Apache-2.0
// find_violation: the first run whose value violates a rule, for hooks that watch a value in every run.
#pragma once

#include <optional>
#include <type_traits>

#include <crochet/hook/run_args.hpp>
#include <crochet/hook/value_rules.hpp>

namespace crochet::detail {

/// Whether the caller fetches values, so that every executor waits for the run in any case. Run: a RunContext.
template <class Run>
inline constexpr bool caller_reads = false;
template <class Run>
requires requires { typename Run::original_args_type::fetches_type; }
inline constexpr bool caller_reads<Run> = !std::is_same_v<typename Run::original_args_type::fetches_type, Fetches<>>;

/// The first run whose value `name` violates the rule, as `values.violation(name, rule)`, which the executor must have.
/// In a run whose caller reads values it is known at once: an earlier run that the executor has not reported, else this
/// one, unless it was skipped.
template <class Run, class N, class Rule>
auto find_violation(Run& run, N name, const auto& values, const Rule& rule) -> decltype(values.violation(name, rule)) {
  if constexpr (!caller_reads<Run>) {
    return values.violation(name, rule);
  } else {
    auto& session = run.session();
    if (auto earlier = session.executor().template finish_watch<N>(session.hooked_workspace(), rule)) return earlier;
    if (run.skipped()) return std::nullopt;
    if (const auto value = values[name]; !obeys(value, rule)) return {{value, std::nullopt, 0}};
    return std::nullopt;
  }
}

}  // namespace crochet::detail
