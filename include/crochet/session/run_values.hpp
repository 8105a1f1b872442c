// SPDX-License-Identifier: Apache-2.0
// RunValues: the values a hook asked for, typed, read when it reads them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/config.hpp>
#include <crochet/error.hpp>
#include <crochet/hook/chain.hpp>
#include <crochet/hook/type_name.hpp>
#include <crochet/session/fetched.hpp>

namespace crochet {

namespace detail {

[[noreturn]] CROCHET_COLD inline void throw_not_asked(std::string_view raw_hook, std::string_view name) {
  throw LogicError("crochet: the hook " + readable_type_name(raw_hook) + " reads \"" + std::string(name) +
                   "\" in a run for which it did not ask; see values.asked()");
}

}  // namespace detail

/// The values of one hook in one run: `values["loss"_n]`. `I` is the hook's position, `Asked` the Fetches it asked for.
/// A value is fetched from the executor when it is read, so an unread one costs no copy and no synchronization. Views are
/// valid until the next run.
template <std::size_t I, class H, class E, class Asked, bool Conditional>
class RunValues;
template <std::size_t I, class H, class E, class... F, bool Conditional>
class RunValues<I, H, E, Fetches<F...>, Conditional> {
 public:
  using Workspace = typename E::Workspace;

  constexpr RunValues(E& executor, Workspace& workspace, bool due)
      : executor_(executor), workspace_(workspace), asked_(due) {}

  /// Whether the hook's optional request was engaged in this run; always true for a hook that always asks.
  [[nodiscard]] constexpr bool asked() const { return !Conditional || asked_; }

  /// Whether N is among the names that the hook lists.
  template <class N>
  [[nodiscard]] static constexpr bool has(N) {
    return (std::is_same_v<N, F> || ...);
  }

  /// The value of N. Throws LogicError if the hook asks now and then, and did not in this run.
  template <class N>
  constexpr decltype(auto) operator[](N) const {
    if constexpr (!has(N{})) {
      using Reason = error::reads_a_value_that_it_does_not_list<H, detail::spelt<N>>;
      [[maybe_unused]] hook_is_usable<I, Reason> checked;
      return detail::Unusable{};
    } else if constexpr (!detail::can_fetch<E, N>) {
      return detail::Unusable{};  // already the reason of another error
    } else {
      if (!asked()) [[unlikely]] {
        detail::throw_not_asked(detail::compiler_type_name<H>(), N::view());
      }
      return executor_.template fetch<N>(workspace_);
    }
  }

 private:
  E& executor_;
  Workspace& workspace_;
  bool asked_;
};

namespace detail {

/// The values of a run; each hook sees its own. `Run` is the RunState that the hooks were asked with.
template <class E, class Run, class AllAsks>
struct AllValues {
  static constexpr bool has_views = true;
  template <std::size_t I, class H>
  using View = RunValues<I, H, E, typename asked_of<I, H, Run>::args_type::fetches_type, asked_of<I, H, Run>::conditional>;

  template <std::size_t I, class H>
  constexpr View<I, H> view() const {
    const AskSlot<I, asked_of<I, H, Run>>& slot = asks;
    return View<I, H>{executor, workspace, slot.ask.due()};
  }

  E& executor;
  typename E::Workspace& workspace;
  const AllAsks& asks;
};

}  // namespace detail

}  // namespace crochet
