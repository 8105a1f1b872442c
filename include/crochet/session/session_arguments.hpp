// SPDX-License-Identifier: Apache-2.0
// The argument types with which a session calls the phases of a hook.
#pragma once

#include <exception>

#include <crochet/hook/hook_request.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hook/sees_all_values.hpp>
#include <crochet/hook/state.hpp>
#include <crochet/session/coordinator.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/raw_session.hpp>
#include <crochet/session/run_context.hpp>
#include <crochet/session/run_values.hpp>
#include <crochet/session/seen_values.hpp>

namespace crochet::detail {

/// The argument types with which a session with executor E calls each phase of a hook; the caller's request is Args.
template <class E, class Args = RunArgs<>>
struct SessionArguments {
  template <class H>
  using Context = RunContext<H, RawSession<E>, Args>;

  template <class H>
  struct Values {
    using type = const RunValues<0, H, E, declared_fetches<H>, false>;
  };
  template <SeesAllValues H>
  struct Values<H> {
    using type = SeenInBareRun<E, Args>;
  };

  template <class P, class Dummy = void>
  struct Of {
    template <class H>
    using type = List<RawSession<E>>;  // end
  };
  template <class Dummy>
  struct Of<phase::extend_graph, Dummy> {
    template <class H>
    using type = List<GraphBuilder>;
  };
  template <class Dummy>
  struct Of<phase::begin, Dummy> {
    template <class H>
    using type = List<>;
  };
  template <class Dummy>
  struct Of<phase::after_create_session, Dummy> {
    template <class H>
    using type = List<RawSession<E>, Coordinator>;
  };
  template <class Dummy>
  struct Of<phase::before_run, Dummy> {
    template <class H>
    using type = List<Context<H>>;
  };
  template <class Dummy>
  struct Of<phase::after_run, Dummy> {
    template <class H>
    using type = List<Context<H>, typename Values<H>::type>;
  };
  template <class Dummy>
  struct Of<phase::on_error, Dummy> {
    template <class H>
    using type = List<std::exception_ptr>;
  };
  template <class Dummy>
  struct Of<phase::save_state, Dummy> {
    template <class H>
    using type = List<StateWriter>;
  };
  template <class Dummy>
  struct Of<phase::load_state, Dummy> {
    template <class H>
    using type = List<StateReader>;
  };

  template <class P, class H>
  using of = typename Of<P>::template type<H>;
};

}  // namespace crochet::detail
