// SPDX-License-Identifier: Apache-2.0
// RunValues: the typed values of a hook's request, fetched when they are read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/unusable.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/compiler_spelling.hpp>
#include <crochet/hook/sees_all_values.hpp>
#include <crochet/session/demand.hpp>
#include <crochet/session/executor.hpp>
#include <crochet/session/fetched.hpp>
#include <crochet/session/seen_values.hpp>

namespace crochet {

namespace detail {

/// Numbers that the executor returns at no cost are read once, right after the run. They then stay in a register across
/// the calls of the hooks.
template <class E, class N>
concept FreeNumber = can_fetch<E, N> && requires {
  requires E::template fetch_is_free<N>;
} && std::is_arithmetic_v<typename E::template fetched_t<N>>;

template <class N, class T>
struct NumberSlot {
  T value;
};
template <class N, class T>
constexpr T number_at(const NumberSlot<N, T>& slot) {
  return slot.value;
}
template <class E, class NumberNames>
struct Numbers;
template <class E, class... N>
struct Numbers<E, List<N...>> : NumberSlot<N, typename E::template fetched_t<N>>... {};

/// The free numbers among the names that a hook requests in every run.
template <class E, class Requested, bool Conditional>
struct FreeNames {
  using type = List<>;
};
template <class E, class... F>
struct FreeNames<E, Fetches<F...>, false> {
  using type = decltype((List<>{} + ... + std::conditional_t<FreeNumber<E, F>, List<F>, List<>>{}));
};
template <class E>
struct FreeNames<E, Fetches<>, false> {
  using type = List<>;
};

[[noreturn]] CROCHET_COLD inline void throw_not_requested(std::string_view raw_hook, std::string_view name) {
  throw LogicError("crochet: the hook " + readable_type_name(raw_hook) + " reads \"" + std::string(name) +
                   "\" in a run for which it did not request it; see values.requested()");
}

}  // namespace detail

/// The values of one hook in one run: `values["loss"_n]`. `I` is the hook's position, `Requested` the Fetches of its
/// request. A value is fetched from the executor when it is read, so an unread one costs no copy and no
/// synchronization. Views are valid until the next run.
template <std::size_t I, class H, class E, class Requested, bool Conditional>
class RunValues;
template <std::size_t I, class H, class E, class... F, bool Conditional>
class RunValues<I, H, E, Fetches<F...>, Conditional> {
  using FreeNames = typename detail::FreeNames<E, Fetches<F...>, Conditional>::type;

 public:
  using Workspace = typename E::Workspace;

  /// `numbers` has at least the free numbers among F if the hook requests them in every run.
  template <class AllNumbers>
  constexpr RunValues(E& executor, Workspace& workspace, bool due, const AllNumbers& numbers)
      : RunValues(executor, workspace, due, numbers, FreeNames{}) {}

  /// Whether the hook's optional request was engaged in this run; always true for an unconditional request. False if
  /// the executor skipped the run, behind one that another hook stops at; it may wait to find out.
  [[nodiscard]] constexpr bool requested() const {
    if constexpr (Conditional && detail::SkipsRuns<E>) {
      return requested_ && !executor_.skipped(workspace_);
    } else {
      return !Conditional || requested_;
    }
  }

  /// Whether N is among the names that the hook lists.
  template <class N>
  [[nodiscard]] static constexpr bool has(N) {
    return (std::is_same_v<N, F> || ...);
  }

  /// The value of N. Throws LogicError if the hook's optional request was empty in this run.
  template <class N>
  constexpr decltype(auto) operator[](N) const {
    if constexpr (!detail::AnyName<N>) {
      static_assert(call_is_usable<detail::name_reason<N>>, "crochet: crochet::error says why");
      return detail::Unusable{};
    } else if constexpr (!has(N{})) {
      using Reason = error::reads_a_value_that_it_does_not_list<H, detail::spelt<N>>;
      static_assert(hook_reads_what_it_lists<I, Reason>, "crochet: crochet::error says why");
      return detail::Unusable{};
    } else if constexpr (!detail::can_fetch<E, N>) {
      return detail::Unusable{};  // already the reason of another error
    } else {
      if (Conditional && !requested_) [[unlikely]] {
        detail::throw_not_requested(detail::compiler_type_name<H>(), N::view());
      }
      if constexpr (!Conditional && detail::FreeNumber<E, N>) {
        return detail::number_at<N>(numbers_);
      } else {
        return executor_.template fetch<N>(workspace_);
      }
    }
  }

  /// For a hook that reads N in every run only to see whether it violates a rule, a FiniteRule or a BoundsRule: the
  /// executor checks N on its own and reports the first run that violates it, without a copy in each run. This
  /// `after_run` may be later than that run. Exists if the executor has it for the rule and the type of N, and the
  /// request is unconditional.
  template <class N, class Rule>
  requires(!Conditional && detail::ChecksRule<E, N, Rule>) auto violation(N, const Rule& rule) const {
    return executor_.template violation<N>(workspace_, rule);
  }

 private:
  template <class AllNumbers, class... N>
  constexpr RunValues(E& executor, Workspace& workspace, bool due, [[maybe_unused]] const AllNumbers& numbers,
                      detail::List<N...>)
      : executor_(executor), workspace_(workspace), requested_(due), numbers_{{detail::number_at<N>(numbers)}...} {}

  E& executor_;
  Workspace& workspace_;
  bool requested_;
  CROCHET_NO_UNIQUE_ADDRESS detail::Numbers<E, FreeNames> numbers_;
};

namespace detail {

/// The free numbers that any hook of the chain requests in every run, without repetition.
template <class E, class AllRequests>
struct NumbersOf;
template <class E, class Indices, class... A>
struct NumbersOf<E, HookRequests<Indices, A...>> {
  struct Marks {
    static constexpr const auto& table = E::fetchable;
    static constexpr auto marked = [] {
      auto marks = no_marks(E::fetchable);
      [[maybe_unused]] const bool done[] = {
          true, (mark(marks, E::fetchable,
                      typename FreeNames<E, typename A::args_type::fetches_type, A::conditional>::type{}),
                 true)...};
      return marks;
    }();
  };
  template <class... N>
  static List<N...> as_list(Names<N...>);
  using names = decltype(as_list(typename MarkedNames<Marks>::type{}));
  using type = Numbers<E, names>;

  template <class... N>
  static constexpr type read(E& executor, typename E::Workspace& workspace, List<N...>) {
    return type{{executor.template fetch<N>(workspace)}...};
  }
};

/// The view of hook H, at position I, of the values of a run.
template <std::size_t I, class H, class E, class Run, class AllRequests>
struct ViewOfValues {
  using type =
      RunValues<I, H, E, typename request_of<I, H, Run>::args_type::fetches_type, request_of<I, H, Run>::conditional>;
};
template <std::size_t I, SeesAllValues H, class E, class Run, class AllRequests>
struct ViewOfValues<I, H, E, Run, AllRequests> {
  using type = SeenValues<E, typename Run::Request, AllRequests>;
};

/// The values of a run, with a view for each hook. `Run` is the RunState that before_run received.
template <class E, class Run, class AllRequests>
class AllValues {
  using Free = NumbersOf<E, AllRequests>;

 public:
  static constexpr bool has_views = true;
  template <std::size_t I, class H>
  using View = typename ViewOfValues<I, H, E, Run, AllRequests>::type;

  constexpr AllValues(E& executor, typename E::Workspace& workspace, const AllRequests& requests)
      : executor_(executor),
        workspace_(workspace),
        requests_(requests),
        numbers_(Free::read(executor, workspace, typename Free::names{})) {}

  template <std::size_t I, class H>
  constexpr View<I, H> view() const {
    if constexpr (SeesAllValues<H>) {
      return View<I, H>{executor_, workspace_, requests_};
    } else {
      const RequestSlot<I, request_of<I, H, Run>>& slot = requests_;
      return View<I, H>{executor_, workspace_, slot.request.due(), numbers_};
    }
  }

 private:
  E& executor_;
  typename E::Workspace& workspace_;
  const AllRequests& requests_;
  CROCHET_NO_UNIQUE_ADDRESS typename Free::type numbers_;
};

}  // namespace detail

}  // namespace crochet
