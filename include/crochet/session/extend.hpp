// SPDX-License-Identifier: Apache-2.0
// The executor type of a session: the given executor, or the extended one if hooks extend the graph.
#pragma once

#include <cstddef>
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/pack.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/unusable_executor.hpp>

namespace crochet::detail {

template <class H>
inline constexpr bool extends_graph = phase::extend_graph::handled<H, GraphBuilder>;

/// Reports why a session cannot use its executor or its chain.
template <class Reason>
struct BadArgument {
  static constexpr void explain() { static_assert(call_is_usable<Reason>, "crochet: crochet::error says why"); }
};
/// The same for hook `First`, at that position.
template <std::size_t Position, class Reason>
struct BadExtension {
  static constexpr void explain() { [[maybe_unused]] hook_is_usable<Position, Reason> checked; }
};

/// A model, which users often pass in place of an executor.
template <class E>
concept IsModel = requires(GraphBuilder& g) {
  E::define(g);
};
template <class E>
concept IsDevice = requires {
  requires E::is_device;
};

/// The reason why a session cannot run an executor of this type.
template <class E>
constexpr auto executor_reason() {
  if constexpr (Executor<E> && std::is_const_v<E>) {
    return std::type_identity<error::this_executor_is_const<std::remove_const_t<E>>>{};
  } else if constexpr (Executor<E>) {
    return std::type_identity<error::none>{};
  } else if constexpr (IsModel<E>) {
    return std::type_identity<error::this_model_is_not_compiled<E>>{};
  } else if constexpr (IsDevice<E>) {
    return std::type_identity<error::this_device_is_given_no_model<E>>{};
  } else {
    return std::type_identity<error::this_is_no_executor<E>>{};
  }
}

/// The reason why a chain cannot extend the graph of an executor passed as Exec.
template <class Exec, class H, class... More>
constexpr auto extension_reason() {
  using E = std::remove_reference_t<Exec>;
  if constexpr (!requires { typename E::template extended_by<H, More...>; }) {
    return std::type_identity<error::extends_the_graph_of_an_executor_that_has_none<H>>{};
  } else if constexpr (std::is_lvalue_reference_v<Exec> &&
                       !std::is_same_v<E, typename E::template extended_by<H, More...>>) {
    return std::type_identity<error::extends_the_graph_of_a_borrowed_executor<H>>{};
  } else {
    return std::type_identity<error::none>{};
  }
}

template <class Exec, std::size_t Position>
constexpr auto extended_by_all(List<>) {
  return std::type_identity<Exec>{};
}
template <class Exec, std::size_t Position, class First, class... H>
constexpr auto extended_by_all(List<First, H...>) {
  using Reason = typename decltype(extension_reason<Exec, First, H...>())::type;
  if constexpr (std::is_same_v<Reason, error::none>) {
    return std::type_identity<typename std::remove_reference_t<Exec>::template extended_by<First, H...>>{};
  } else {
    return std::type_identity<UnusableExecutor<BadExtension<Position, Reason>>>{};
  }
}

/// Extended by the hooks that extend the graph. Other hooks are not part of the executor's type.
template <class... H>
struct ExtendedBy {
  template <class Exec>
  static constexpr auto type() {
    using Reason = typename decltype(executor_reason<std::remove_reference_t<Exec>>())::type;
    if constexpr (std::is_same_v<Reason, error::none>) {
      return extended_by_all<Exec, first_of({extends_graph<H>..., true})>(filtered<Where<extends_graph<H>...>, H...>{});
    } else {
      return std::type_identity<UnusableExecutor<BadArgument<Reason>>>{};
    }
  }
};

template <class Exec, class NoChain>
struct ExtendedExecutor {
  using Given = typename decltype(executor_reason<std::remove_reference_t<Exec>>())::type;
  using Reason = std::conditional_t<std::is_same_v<Given, error::none>, error::this_is_no_chain<NoChain>, Given>;
  using type = UnusableExecutor<BadArgument<Reason>>;
};
template <class Exec, class... H>
struct ExtendedExecutor<Exec, HookChain<H...>> {
  using type = typename decltype(ExtendedBy<H...>::template type<Exec>())::type;
};

/// Stands for a chain that cannot be changed.
template <class Chain>
struct ConstChain;
template <class Exec, class Chain>
struct ExtendedExecutor<Exec, ConstChain<Chain>> {
  using type = UnusableExecutor<BadArgument<error::this_chain_is_const<Chain>>>;
};

template <class Argument>
concept IsChain = requires {
  typename std::remove_cvref_t<Argument>::Flat;
};

/// The flat chain that a session calls. Empty if the argument is not a chain, which is reported separately.
template <class Argument>
struct SessionChain {
  using type = HookChain<>;
  using checked = Argument;
};
template <IsChain Argument>
struct SessionChain<Argument> {
  using type = typename std::remove_reference_t<Argument>::Flat;
  using checked = typename std::remove_cvref_t<Argument>::Flat;
};
template <IsChain Argument>
requires std::is_const_v<std::remove_reference_t<Argument>>
struct SessionChain<Argument> {
  using type = HookChain<>;
  using checked = ConstChain<std::remove_cvref_t<Argument>>;
};
template <class Argument>
using session_chain = typename SessionChain<Argument>::type;

/// What a session has of the executor passed as Exec: Exec, or the executor that it states, a base class of it.
template <class Exec>
struct ExecutorOfSession {
  using type = Exec;
};
template <class Exec>
requires requires { typename std::remove_reference_t<Exec>::executor_of_session; }
struct ExecutorOfSession<Exec> {
  using E = typename std::remove_reference_t<Exec>::executor_of_session;
  using WithConst = std::conditional_t<std::is_const_v<std::remove_reference_t<Exec>>, const E, E>;
  using type = std::conditional_t<std::is_lvalue_reference_v<Exec> && !is_unusable<E>, WithConst&, E>;
};

/// Exec itself, which may be a reference, unless a hook of the chain extends the graph. UnusableExecutor if Exec is not
/// an executor or Chain is not a chain.
template <class Exec, class Chain>
using extended_executor =
    typename ExtendedExecutor<typename ExecutorOfSession<Exec>::type, typename SessionChain<Chain>::checked>::type;

}  // namespace crochet::detail
