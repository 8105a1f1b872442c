// SPDX-License-Identifier: Apache-2.0
// The phases of a session, each spelt once: its name, how it is called, and the ways people mistype it. A hook is a
// movable class with any subset of these members; there is no base class and nothing to register.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

namespace crochet {

class GraphBuilder;

/// What a hook says it handles: `using handles = Phases<phase::begin, phase::after_run>;`. It is then held to it.
template <class... P>
struct Phases {};

/// Other hooks, for `using after = Hooks<...>` and `using before = Hooks<...>`: where this hook stands in a chain.
template <class... H>
struct Hooks {};

}  // namespace crochet

/// Every phase has: `name`; `handled<Hook, Args...>`, can it be called with lvalues of these types, and what it then
/// has `returned` (asking does not instantiate the hook's member); `call(hook, args...)`, which
/// gives temporaries a name because hooks take `auto&`;
/// a `Decoy` with the same member name (a class that inherits the name twice cannot name it, which tells whether a hook
/// has such a member whatever its signature); and `Misspelt`, a decoy for the usual slips.
namespace crochet::phase {

/// `static constexpr void extend_graph(GraphBuilder&)`: in the compiler, in chain order.
struct extend_graph {
  static constexpr std::string_view name = "extend_graph";
  template <class H, class... A>
  static constexpr bool handled = requires(A&... args) {
    H::extend_graph(args...);
  };
  template <class H, class... A>
  using returned = decltype(H::extend_graph(std::declval<A&>()...));
  template <class H, class... A>
  static constexpr decltype(auto) call(H&, A&&... args) {
    return H::extend_graph(args...);
  }

  struct Decoy {
    void extend_graph();
  };
  template <class P>
  static constexpr bool unmentioned = requires {
    &P::extend_graph;
  };
  struct Misspelt {
    void extend_grap(), extends_graph(), extend_grpah(), extendgraph(), extendGraph(), extend_graphs(), extent_graph();
  };
  template <class P>
  static constexpr bool not_misspelt = requires {
    &P::extend_grap, &P::extends_graph, &P::extend_grpah, &P::extendgraph, &P::extendGraph, &P::extend_graphs,
        &P::extent_graph;
  };
};

/// `void begin()`: once for a session, before there is anything to run.
struct begin {
  static constexpr std::string_view name = "begin";
  template <class H, class... A>
  static constexpr bool handled = requires(H& hook, A&... args) {
    hook.begin(args...);
  };
  template <class H, class... A>
  using returned = decltype(std::declval<H&>().begin(std::declval<A&>()...));
  template <class H, class... A>
  static constexpr decltype(auto) call(H& hook, A&&... args) {
    return hook.begin(args...);
  }

  struct Decoy {
    void begin();
  };
  template <class P>
  static constexpr bool unmentioned = requires {
    &P::begin;
  };
  struct Misspelt {
    void beginn(), begn(), bgein(), beggin(), begiin(), on_begin();
  };
  template <class P>
  static constexpr bool not_misspelt = requires {
    &P::beginn, &P::begn, &P::bgein, &P::beggin, &P::begiin, &P::on_begin;
  };
};

/// `void after_create_session(Session&, Coordinator&)`: after each creation of the executor's session.
struct after_create_session {
  static constexpr std::string_view name = "after_create_session";
  template <class H, class... A>
  static constexpr bool handled = requires(H& hook, A&... args) {
    hook.after_create_session(args...);
  };
  template <class H, class... A>
  using returned = decltype(std::declval<H&>().after_create_session(std::declval<A&>()...));
  template <class H, class... A>
  static constexpr decltype(auto) call(H& hook, A&&... args) {
    return hook.after_create_session(args...);
  }

  struct Decoy {
    void after_create_session();
  };
  template <class P>
  static constexpr bool unmentioned = requires {
    &P::after_create_session;
  };
  struct Misspelt {
    void after_create_sesion(), after_create_sessions(), after_created_session(), after_creat_session(),
        after_creates_session(), after_create_seesion(), afer_create_session(), aftercreate_session(),
        after_create_sessoin(), afterCreateSession();
  };
  template <class P>
  static constexpr bool not_misspelt = requires {
    &P::after_create_sesion, &P::after_create_sessions, &P::after_created_session, &P::after_creat_session,
        &P::after_creates_session, &P::after_create_seesion, &P::afer_create_session, &P::aftercreate_session,
        &P::after_create_sessoin, &P::afterCreateSession;
  };
};

/// `before_run(RunContext&)`: before each run; returns void, `RunArgs<...>` or `std::optional<RunArgs<...>>`.
struct before_run {
  static constexpr std::string_view name = "before_run";
  template <class H, class... A>
  static constexpr bool handled = requires(H& hook, A&... args) {
    hook.before_run(args...);
  };
  template <class H, class... A>
  using returned = decltype(std::declval<H&>().before_run(std::declval<A&>()...));
  template <class H, class... A>
  static constexpr decltype(auto) call(H& hook, A&&... args) {
    return hook.before_run(args...);
  }

  struct Decoy {
    void before_run();
  };
  template <class P>
  static constexpr bool unmentioned = requires {
    &P::before_run;
  };
  struct Misspelt {
    void befor_run(), before_rum(), before_runn(), before_rn(), beforerun(), before_runs(), beforeRun(), befroe_run(),
        bevore_run(), before_ran(), before_rnu();
  };
  template <class P>
  static constexpr bool not_misspelt = requires {
    &P::befor_run, &P::before_rum, &P::before_runn, &P::before_rn, &P::beforerun, &P::before_runs, &P::beforeRun,
        &P::befroe_run, &P::bevore_run, &P::before_ran, &P::before_rnu;
  };
};

/// `void after_run(RunContext&, const RunValues&)`: after each run that succeeded.
struct after_run {
  static constexpr std::string_view name = "after_run";
  template <class H, class... A>
  static constexpr bool handled = requires(H& hook, A&... args) {
    hook.after_run(args...);
  };
  template <class H, class... A>
  using returned = decltype(std::declval<H&>().after_run(std::declval<A&>()...));
  template <class H, class... A>
  static constexpr decltype(auto) call(H& hook, A&&... args) {
    return hook.after_run(args...);
  }

  struct Decoy {
    void after_run();
  };
  template <class P>
  static constexpr bool unmentioned = requires {
    &P::after_run;
  };
  struct Misspelt {
    void after_rum(), after_runn(), after_rn(), afterrun(), after_runs(), afterRun(), afer_run(), aftr_run(),
        after_ran(), after_rnu(), atfer_run(), afte_run();
  };
  template <class P>
  static constexpr bool not_misspelt = requires {
    &P::after_rum, &P::after_runn, &P::after_rn, &P::afterrun, &P::after_runs, &P::afterRun, &P::afer_run, &P::aftr_run,
        &P::after_ran, &P::after_rnu, &P::atfer_run, &P::afte_run;
  };
};

/// `void end(Session&)`: once, on a clean exit.
struct end {
  static constexpr std::string_view name = "end";
  template <class H, class... A>
  static constexpr bool handled = requires(H& hook, A&... args) {
    hook.end(args...);
  };
  template <class H, class... A>
  using returned = decltype(std::declval<H&>().end(std::declval<A&>()...));
  template <class H, class... A>
  static constexpr decltype(auto) call(H& hook, A&&... args) {
    return hook.end(args...);
  }

  struct Decoy {
    void end();
  };
  template <class P>
  static constexpr bool unmentioned = requires {
    &P::end;
  };
  struct Misspelt {
    void ennd(), edn(), endd(), on_end();  // `send`, `ends` and `ended` are words of their own
  };
  template <class P>
  static constexpr bool not_misspelt = requires {
    &P::ennd, &P::edn, &P::endd, &P::on_end;
  };
};

/// `void on_error(std::exception_ptr)`: once, when an error that is not clean leaves the session.
struct on_error {
  static constexpr std::string_view name = "on_error";
  template <class H, class... A>
  static constexpr bool handled = requires(H& hook, A&... args) {
    hook.on_error(args...);
  };
  template <class H, class... A>
  using returned = decltype(std::declval<H&>().on_error(std::declval<A&>()...));
  template <class H, class... A>
  static constexpr decltype(auto) call(H& hook, A&&... args) {
    return hook.on_error(args...);
  }

  struct Decoy {
    void on_error();
  };
  template <class P>
  static constexpr bool unmentioned = requires {
    &P::on_error;
  };
  struct Misspelt {
    void on_eror(), on_errors(), onerror(), on_erorr(), on_errror(), onError(), on_err(), in_error();
  };
  template <class P>
  static constexpr bool not_misspelt = requires {
    &P::on_eror, &P::on_errors, &P::onerror, &P::on_erorr, &P::on_errror, &P::onError, &P::on_err, &P::in_error;
  };
};

/// `void save_state(Writer&) const`: the hook's own state goes into a checkpoint, by `out.put("key", value)`.
struct save_state {
  static constexpr std::string_view name = "save_state";
  template <class H, class... A>
  static constexpr bool handled = requires(const H& hook, A&... args) {
    hook.save_state(args...);
  };
  template <class H, class... A>
  using returned = decltype(std::declval<const H&>().save_state(std::declval<A&>()...));
  template <class H, class... A>
  static constexpr decltype(auto) call(const H& hook, A&&... args) {
    return hook.save_state(args...);
  }

  struct Decoy {
    void save_state();
  };
  template <class P>
  static constexpr bool unmentioned = requires {
    &P::save_state;
  };
  struct Misspelt {
    void save_sate(), save_stat(), save_states(), savestate(), safe_state(), saveState(), saves_state();
  };
  template <class P>
  static constexpr bool not_misspelt = requires {
    &P::save_sate, &P::save_stat, &P::save_states, &P::savestate, &P::safe_state, &P::saveState, &P::saves_state;
  };
};

/// `void load_state(Reader&)`: and comes back, by `in.get("key", value)`.
struct load_state {
  static constexpr std::string_view name = "load_state";
  template <class H, class... A>
  static constexpr bool handled = requires(H& hook, A&... args) {
    hook.load_state(args...);
  };
  template <class H, class... A>
  using returned = decltype(std::declval<H&>().load_state(std::declval<A&>()...));
  template <class H, class... A>
  static constexpr decltype(auto) call(H& hook, A&&... args) {
    return hook.load_state(args...);
  }

  struct Decoy {
    void load_state();
  };
  template <class P>
  static constexpr bool unmentioned = requires {
    &P::load_state;
  };
  struct Misspelt {
    void load_sate(), load_stat(), load_states(), loadstate(), laod_state(), loadState(), loads_state();
  };
  template <class P>
  static constexpr bool not_misspelt = requires {
    &P::load_sate, &P::load_stat, &P::load_states, &P::loadstate, &P::laod_state, &P::loadState, &P::loads_state;
  };
};

}  // namespace crochet::phase

namespace crochet {

using AllPhases = Phases<phase::extend_graph, phase::begin, phase::after_create_session, phase::before_run,
                         phase::after_run, phase::end, phase::on_error, phase::save_state, phase::load_state>;

}  // namespace crochet
