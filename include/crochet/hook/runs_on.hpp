// SPDX-License-Identifier: Apache-2.0
// RunsOn: on which ranks a hook runs, if a session has several (docs/ranks.md).
#pragma once

#include <concepts>
#include <type_traits>

namespace crochet {

enum class RunsOn : unsigned char {
  all,    ///< every rank: hooks that stop or change the training, from values that are equal on all ranks
  chief,  ///< rank 0: hooks that write files or lines
};

/// A hook states it with `static constexpr auto runs_on = RunsOn::chief;`. Without it: all ranks.
template <class H>
inline constexpr RunsOn runs_on = RunsOn::all;
template <class H>
requires requires { requires std::is_same_v<const RunsOn, decltype(H::runs_on)>; }
inline constexpr RunsOn runs_on<H> = H::runs_on;

namespace detail {
/// A hook, or the policy of a decorator, that has `join_ranks(rank, size)`: a session on several ranks calls it before
/// begin.
template <class H>
concept JoinsRanks = requires(H& hook) {
  hook.join_ranks(0, 1);
};
/// A hook, or the policy of a decorator, that runs on every rank and writes the same lines on each has `mute()`. A
/// session on several ranks calls it before begin on the others than rank 0.
template <class H>
concept Mutes = requires(H& hook) {
  { hook.mute() } -> std::same_as<void>;
};
}  // namespace detail

}  // namespace crochet
