// SPDX-License-Identifier: Apache-2.0
// Instantiates the bodies of hooks near the user's line. For a mistake in the body of a phase, such as a value that
// `fetches` does not list, compilers print the instantiation path. From here the path is short; through the layers of a
// session it contains the chain's type five times. Nothing is executed and no code is generated.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <crochet/hook/pack.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/sees_all_values.hpp>
#include <crochet/hook/state.hpp>
#include <crochet/hook/state_key.hpp>
#include <crochet/session/check.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/run_context.hpp>
#include <crochet/session/run_values.hpp>
#include <crochet/session/seen_values.hpp>
#include <crochet/session/session_of.hpp>

namespace crochet::detail {

/// The RunContext of after_run of hook H in runs of the request Args. Session: session_of.
template <class H, class Session, class Args>
using RunSeen = RunContext<H, Session, Args>;
template <std::size_t I, class H, class E, class Args,
          class Requested = request_of<I, H, RunState<RawSession<E>, Args>>>
using ValuesSeen =
    std::conditional_t<SeesAllValues<H>, SeenInBareRun<E, Args>,
                       const RunValues<I, H, E, typename Requested::args_type::fetches_type, Requested::conditional>>;

/// Instantiates after_run of the hooks that have it, in runs of the request Args.
template <class E, class Args, class Chain, class Positions = std::make_index_sequence<Chain::size>>
struct RunBodies;
template <class E, class Args, class... H, std::size_t... I>
struct RunBodies<E, Args, HookChain<H...>, std::index_sequence<I...>> {
  using Session = session_of<E, HookChain<H...>>;
  using Handling =
      filtered<Where<phase::after_run::handled<H, RunSeen<H, Session, Args>, ValuesSeen<I, H, E, Args>>...>,
               Indexed<I, H>...>;
};
/// Never called; the address only stands for the arguments.
template <class Session, class Args, std::size_t... Position, class... H>
constexpr void instantiate_run([[maybe_unused]] void* any, List<Indexed<Position, H>...>) {
  // The line of the call is part of what clang prints.
  // clang-format off
  [[maybe_unused]] const bool done[] = {true, (
      static_cast<H*>(any)->after_run(
          *static_cast<RunSeen<H, Session, Args>*>(any),
          *static_cast<ValuesSeen<Position, H, typename Session::Executor, Args>*>(any)), true)...};
  // clang-format on
}

template <std::size_t Position, class H>
void state_body(const H& hook, StateWriter& out) {
  hook.save_state(out);
}
template <std::size_t... Position, class... H>
constexpr void instantiate_state(List<Indexed<Position, H>...>) {
  [[maybe_unused]] const bool done[] = {true, (static_cast<void>(&state_body<Position, H>), true)...};
}
/// Instantiates save_state of the hooks that have it.
template <class Chain, class Positions = std::make_index_sequence<Chain::size>>
struct StateBodies;
template <class... H, std::size_t... Position>
struct StateBodies<HookChain<H...>, std::index_sequence<Position...>> {
  using Stateful = filtered<Where<saves_state<H>...>, Indexed<Position, H>...>;
};

}  // namespace crochet::detail
