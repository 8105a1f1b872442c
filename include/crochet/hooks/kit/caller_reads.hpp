// SPDX-License-Identifier: Apache-2.0
// caller_reads: whether the caller of a run reads values of it.
#pragma once

#include <type_traits>

#include <crochet/hook/run_args.hpp>

namespace crochet::detail {

/// Whether the caller fetches values, so that every executor waits for the run in any case. Run: a RunContext.
template <class Run>
inline constexpr bool caller_reads = false;
template <class Run>
requires requires { typename Run::original_args_type::fetches_type; }
inline constexpr bool caller_reads<Run> = !std::is_same_v<typename Run::original_args_type::fetches_type, Fetches<>>;

}  // namespace crochet::detail
