// SPDX-License-Identifier: Apache-2.0
// The phases of a session: the name and the call of each, defined once. A hook is a movable class with any subset of
// these members. It has no base class and is not registered.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

namespace crochet {

class GraphBuilder;

/// The phases that a hook declares to handle: `using handles = Phases<phase::begin, phase::after_run>;`. The session
/// verifies the declaration.
template <class... P>
struct Phases {};

/// Other hooks, for `using after = Hooks<...>` and `using before = Hooks<...>`: the position of this hook in a chain.
template <class... H>
struct Hooks {};

}  // namespace crochet

/// Every phase has:
/// - `name`
/// - `handled<Hook, Args...>`: whether it can be called with lvalues of these types, and the type it then has
///   `returned`. The test does not instantiate the hook's member.
/// - `call(hook, args...)`: binds temporaries to names, because hooks take `auto&`.
/// - `unmentioned<Probe>`: whether a class that inherits from a hook and from a class with that member can name the
///   member. If not, the hook has such a member, whatever its signature.
/// The near misses of phase names are in hook/near_miss.hpp.
namespace crochet::phase {

/// `static constexpr void extend_graph(GraphBuilder&)`: at compile time, in chain order.
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

  template <class P>
  static constexpr bool unmentioned = requires {
    P::extend_graph;
  };
};

/// `void begin()`: once for a session, before the executor's session exists.
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

  template <class P>
  static constexpr bool unmentioned = requires {
    P::begin;
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

  template <class P>
  static constexpr bool unmentioned = requires {
    P::after_create_session;
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

  template <class P>
  static constexpr bool unmentioned = requires {
    P::before_run;
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

  template <class P>
  static constexpr bool unmentioned = requires {
    P::after_run;
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

  template <class P>
  static constexpr bool unmentioned = requires {
    P::end;
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

  template <class P>
  static constexpr bool unmentioned = requires {
    P::on_error;
  };
};

/// `void save_state(Writer&) const`: writes the hook's own state to a checkpoint, by `out.put("key", value)`.
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

  template <class P>
  static constexpr bool unmentioned = requires {
    P::save_state;
  };
};

/// `void load_state(Reader&)`: reads the hook's own state from a checkpoint, by `in.get("key", value)`.
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

  template <class P>
  static constexpr bool unmentioned = requires {
    P::load_state;
  };
};

}  // namespace crochet::phase

namespace crochet {

using AllPhases = Phases<phase::extend_graph, phase::begin, phase::after_create_session, phase::before_run,
                         phase::after_run, phase::end, phase::on_error, phase::save_state, phase::load_state>;

}  // namespace crochet
