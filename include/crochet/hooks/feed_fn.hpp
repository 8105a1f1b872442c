// SPDX-License-Identifier: Apache-2.0
// FeedFn: feeds what a function returns.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet {

/// Calls the function before each run and feeds the result: `FeedFn{[&] { return feed<"rate">(schedule.next()); }}`, or
/// with the run, `FeedFn{[](auto& run) { return feed<"rate">(rate_at(run.step())); }}`.
///   function  -  -  takes nothing or the run; returns a Feed, Feeds, RunArgs, or a std::optional of RunArgs, then it
///                   feeds in some runs only
/// The names are part of that type, so an unknown one, a wrong element type or a name that somebody else feeds too is a
/// compile error; the original finds out in the run. What a feed views must live until the run is over. Fires: before
/// each run, once for each attempt: a run that is repeated asks again, and run.attempt() tells. Fetches: nothing. Cost:
/// the function's. Throws what the function throws.
template <class F>
struct FeedFn {
  using handles = Phases<phase::before_run>;

  template <class Run>
  CROCHET_HOST_ALWAYS_INLINE auto before_run([[maybe_unused]] Run& run) {
    if constexpr (std::is_invocable_v<F&>) {
      return request(function());
    } else {
      return request(function(run));
    }
  }

  CROCHET_NO_UNIQUE_ADDRESS F function;

 private:
  template <class Given>
  static auto request(Given given) {
    if constexpr (detail::is_optional_run_args<Given> || detail::is_run_args<Given>) {
      return given;
    } else {
      static_assert(RequestPart<Given>,
                    "crochet: the function of FeedFn has to return feed<\"name\">(value) or feeds(...)");
      return RunArgs{std::move(given)};
    }
  }
};
template <class F>
FeedFn(F) -> FeedFn<F>;

}  // namespace crochet
