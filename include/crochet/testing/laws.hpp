// SPDX-License-Identifier: Apache-2.0
// broken_laws: tests the laws of hooks on a hook. Works with any test framework.
#pragma once

#include <string>
#include <type_traits>

#include <crochet/hook/chain.hpp>
#include <crochet/session/check.hpp>
#include <crochet/testing/law_options.hpp>
#include <crochet/testing/law_trials.hpp>

namespace crochet::testing {

/// Runs the hook through several sessions and returns the laws that it breaks, one per line; "" if there is none:
///   EXPECT_EQ(broken_laws(Plateau{.patience = 3}, value<"loss">(1.0f)), "");
/// - part: parts of a Script: value<"loss">(1.0f), or series<"loss">(1.0f, 0.5f) for a value that changes from step to
///   step; targets<"train">, which every step then runs; placeholder<float, "rate">.
/// - A hook that is not copyable is given as a function that makes one: `[] { return Writer{"out"}; }`.
/// - The laws are listed at `hook_laws`.
/// - A hook that cannot be used in a session is a compile error, as in a session.
/// - Throws: LogicError for an unknown name in `except`; exceptions of the hook's constructors and save_state.
template <class Hook, class... Part>
std::string broken_laws(const Hook& hook, const LawOptions& options, const Part&... part) {
  if constexpr (!std::is_invocable_v<const Hook&>) {
    static_assert(std::is_copy_constructible_v<Hook>,
                  "crochet: give a hook that cannot be copied as a function that makes one: [] { return Hook{...}; }");
    return broken_laws([&] { return hook; }, options, part...);
  } else {
    using H = std::remove_cvref_t<std::invoke_result_t<const Hook&>>;
    using E = detail::trial_executor<Part...>;
    using Chain = HookChain<H, detail::Witness>;
    using Bad = crochet::detail::session_verdict<E, Chain>;
    [[maybe_unused]] crochet::detail::hook_error<Bad> checked;
    constexpr bool good = crochet::detail::all_hooks_ok<Bad>;
    using BadRun = crochet::detail::run_verdict<good, E, Chain, typename E::Request>;
    [[maybe_unused]] crochet::detail::hook_error<BadRun> checked_run;
    if constexpr (good && crochet::detail::all_hooks_ok<BadRun>) {
      return detail::LawTrials<Hook, Part...>(hook, options, part...).broken();
    } else {
      return {};
    }
  }
}
template <class Hook, class... Part>
std::string broken_laws(const Hook& hook, const Part&... part) {
  return broken_laws(hook, LawOptions{}, part...);
}

}  // namespace crochet::testing
