// SPDX-License-Identifier: Apache-2.0
// Diagnoses one hook: which phase members it has, and whether the session can call them. Name checks are separate
// (session/check.hpp). The result is a type of crochet::error.
#pragma once

#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/hook/hook_request.hpp>
#include <crochet/hook/is_chain.hpp>
#include <crochet/hook/named_members.hpp>
#include <crochet/hook/near_miss.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/phase_arguments.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet::detail {

using Ok = std::type_identity<error::none>;

/// The first reason that is not `none`. Each argument is a std::type_identity.
template <class First, class... Rest>
constexpr auto first_reason(First first, Rest... rest) {
  if constexpr (!std::is_same_v<First, Ok> || sizeof...(Rest) == 0) {
    return first;
  } else {
    return first_reason(rest...);
  }
}

/// A hook that lists the phases it handles. A decorator may forward `void` for a hook without a list.
template <class H>
concept ListsPhases = requires {
  typename H::handles;
}
&&!std::is_void_v<typename H::handles>;

template <class P, class List>
inline constexpr bool is_listed = false;
template <class P, class... Q>
inline constexpr bool is_listed<P, Phases<Q...>> = (std::is_same_v<P, Q> || ...);

template <class H, class P>
inline constexpr bool wants_a_builder = (P::template handled<H, GraphBuilder> && !P::template handled<H, Anything>) ||
                                        (P::template handled<H, Anything, GraphBuilder> &&
                                         !P::template handled<H, Anything, Anything>) ||
                                        (P::template handled<H, GraphBuilder, Anything> &&
                                         !P::template handled<H, Anything, Anything>);
// If its return type is deduced, its body would be instantiated with a builder.
template <class H>
inline constexpr bool wants_a_builder<H, phase::before_run> = false;
template <class H>
inline constexpr bool wants_a_builder<H, phase::extend_graph> = requires(H& hook, GraphBuilder& builder) {
  hook.extend_graph(builder);
};

template <class P, class Returned>
inline constexpr bool may_return = std::is_void_v<Returned>;
template <class Returned>
inline constexpr bool may_return<phase::before_run, Returned> =
    std::is_void_v<Returned> || is_run_args<Returned> || is_optional_run_args<Returned>;

/// A decorator declares the wrapped hook: `using decorates = H;`. Its members may be absent if the inner hook has none
/// (`void begin() requires ...`). A fault of the inner hook is reported for the inner hook.
template <class H>
concept Decorates = requires {
  typename H::decorates;
};

/// Whether a member of H that is named like phase P must be callable. A decorator may declare one for hooks other than
/// the one inside it.
template <class H, class P, class Arguments>
constexpr bool must_be_callable() {
  if constexpr (!mentions<H, P>) {
    return false;
  } else if constexpr (Decorates<H>) {
    using Inner = typename H::decorates;
    return is_handled<P, Inner, typename Arguments::template of<P, Inner>>;
  } else {
    return true;
  }
}

/// Why a hook is not called in phase P.
template <class H, class P, class Arguments>
constexpr auto why_not_called() {
  if constexpr (must_be_callable<H, P, Arguments>()) {
    if constexpr (wants_a_builder<H, P>) {
      return std::type_identity<error::extends_the_graph_after_it_is_frozen<H, P>>{};
    } else {
      return std::type_identity<
          error::has_this_member_but_the_session_cannot_call_it<H, P, typename CalledAs<P>::type>>{};
    }
  } else if constexpr (ListsPhases<H>) {
    if constexpr (is_listed<P, typename H::handles>) {
      return std::type_identity<error::lists_this_phase_but_does_not_handle_it<H, P>>{};
    } else {
      return Ok{};
    }
  } else if constexpr (!misspelt<H, P>.empty()) {
    constexpr std::string_view member = misspelt<H, P>;
    using Member = spelt<Name<FixedString<member.size() + 1>{member}>>;
    return std::type_identity<error::has_a_member_spelt_almost_like_this_phase<H, P, Member>>{};
  } else {
    return Ok{};
  }
}

/// The fault in the signature with which a hook handles phase P.
template <class H, class P, class Returned>
constexpr auto why_not_right() {
  if constexpr (!may_return<P, Returned>) {
    return std::type_identity<error::returns_the_wrong_type<H, P, Returned>>{};
  } else if constexpr (ListsPhases<H>) {
    if constexpr (!is_listed<P, typename H::handles>) {
      return std::type_identity<error::handles_this_phase_but_does_not_list_it<H, P>>{};
    } else {
      return Ok{};
    }
  } else {
    return Ok{};
  }
}

template <class H, class P, class Arguments>
constexpr auto reason_in() {
  using Args = typename Arguments::template of<P, H>;
  if constexpr (is_handled<P, H, Args>) {
    return why_not_right<H, P, typename Returned<P, H, Args>::type>();
  } else {
    return why_not_called<H, P, Arguments>();
  }
}

struct IsNotViable {};
struct AnyBeforeRun {
  IsNotViable before_run(...);
};
/// A hook with a second before_run, which is called if the hook's own overload is not viable.
template <class H>
struct OrAny : H, AnyBeforeRun {
  using AnyBeforeRun::before_run;
  using H::before_run;
};
template <class H, class Run>
decltype(std::declval<OrAny<H>&>().before_run(std::declval<Run&>())) outcome(int);
template <class H, class Run>
void outcome(...);

/// Whether the hook's before_run can be called, but its body does not compile. The session needs the body's return
/// type.
/// - The compiler reports the error here, once. A call without another candidate would produce more errors, and clang
///   would report a wrong signature.
/// - Must be evaluated before any other use of the hook's before_run.
template <class H, class Args>
inline constexpr bool before_run_fails = false;
template <Inheritable H, class Run>
requires(mentions<H, phase::before_run> && !Decorates<H>) inline constexpr bool before_run_fails<H, List<Run>> =
    !std::is_same_v<decltype(outcome<H, Run>(0)), IsNotViable> && !phase::before_run::handled<H, Run>;

/// The hook inside all decorators.
template <class H>
struct Innermost {
  using type = H;
};
template <Decorates H>
struct Innermost<H> : Innermost<typename H::decorates> {};

/// True if a plain hook is correct in phase P: the member exists and can be called, or does not exist. A cheap test;
/// the reason for a failure is computed only when it is false.
template <class P, class H, class Args, bool Handled = is_handled<P, H, Args>>
inline constexpr bool is_plainly_right = !mentions<H, P>;
template <class P, class H, class Args>
inline constexpr bool is_plainly_right<P, H, Args, true> = may_return<P, typename Returned<P, H, Args>::type>;

/// Whether the hook's own `fetches`, if there is one, is a list of names.
template <class H>
inline constexpr bool lists_its_fetches = is_fetches<typename TypeOfFetches<H>::type>;

/// A hook may declare why it cannot be used, as a crochet::error: `using cannot_be_used_because = ...`.
template <class H>
concept IsBroken = requires {
  typename H::cannot_be_used_because;
};

/// A class that inherits what a chain has, and would be called in none of the phases of its hooks.
template <class H>
concept DerivesFromAChain = requires {
  typename H::Flat;
  requires is_chain<typename H::Flat> && !is_chain<H>;
};

/// A hook without near misses that neither lists its phases nor is a decorator.
template <class H>
inline constexpr bool is_plain_hook = false;
template <Inheritable H>
inline constexpr bool is_plain_hook<H> =
    !ListsPhases<H> && lists_its_fetches<H> && !IsBroken<H> && has_no_near_miss<NameDetector<H>>;

/// The fault of hook H, as a std::type_identity of a crochet::error. `Arguments::of<P, H>` is the List of the argument
/// types of phase P.
template <class H, class Arguments, class AllP = AllPhases>
struct Diagnosis;
template <class H, class Arguments, class... P>
struct Diagnosis<H, Arguments, Phases<P...>> {
  template <class Phase>
  using args = typename Arguments::template of<Phase, H>;

  static constexpr bool handles_any = (is_handled<P, H, args<P>> || ...);

  static constexpr bool saves = is_handled<phase::save_state, H, args<phase::save_state>>;
  static constexpr bool loads = is_handled<phase::load_state, H, args<phase::load_state>>;

  static constexpr auto of_phases() {
    using Reason = decltype(first_reason(reason_in<H, P, Arguments>()...));
    if constexpr (!std::is_same_v<Reason, Ok>) {
      return Reason{};
    } else if constexpr (!lists_its_fetches<H>) {
      using Given = error::given<typename TypeOfFetches<H>::type>;
      return std::type_identity<error::has_fetches_that_are_not_a_list_of_names<H, Given>>{};
    } else if constexpr (!handles_any) {
      return std::type_identity<error::handles_no_phase_at_all<H>>{};
    } else if constexpr (is_closed<H> && !ListsPhases<H> && !Decorates<H>) {
      return std::type_identity<error::is_final_or_a_union_and_does_not_list_its_phases<H>>{};
    } else if constexpr (saves && !loads) {
      return std::type_identity<error::has_save_state_but_no_load_state<H>>{};
    } else if constexpr (loads && !saves) {
      return std::type_identity<error::has_load_state_but_no_save_state<H>>{};
    } else {
      return Ok{};
    }
  }

  static constexpr auto start() {
    if constexpr (IsBroken<H>) {
      return std::type_identity<typename H::cannot_be_used_because>{};
    } else if constexpr (DerivesFromAChain<H>) {
      return std::type_identity<error::derives_from_a_chain<H, typename H::Flat>>{};
    } else if constexpr (!std::is_move_constructible_v<H>) {
      return std::type_identity<error::cannot_be_moved<H>>{};
    } else if constexpr (before_run_fails<H, args<phase::before_run>>) {
      return std::type_identity<error::has_a_before_run_that_does_not_compile<H>>{};
    } else if constexpr (Decorates<H>) {
      using Inner = typename Diagnosis<typename H::decorates, Arguments>::reason;
      if constexpr (!std::is_same_v<Inner, Ok>) {
        return Inner{};
      } else {
        return of_phases();
      }
    } else if constexpr (is_plain_hook<H> && handles_any && saves == loads &&
                         (is_plainly_right<P, H, args<P>> && ...)) {
      return Ok{};
    } else {
      return of_phases();
    }
  }

  using reason = decltype(start());
};

}  // namespace crochet::detail
