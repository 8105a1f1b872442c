// SPDX-License-Identifier: Apache-2.0
// FeedFn: feeds the result of a function.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/hook/phase.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet {

/// Calls the function before each run and feeds its result: `FeedFn{[&] { return feed<"rate">(schedule.next()); }}`, or
/// with the run as argument, `FeedFn{[](auto& run) { return feed<"rate">(rate_at(run.step())); }}`.
///   function  -  -  takes nothing or the run; returns a Feed, Feeds or RunArgs, or a std::optional of RunArgs to feed
///                   in some runs only
/// - Compile errors: an unknown name, a wrong element type, a name that is fed elsewhere too. TensorFlow finds these in
///   the run.
/// - A fed view must stay valid until the end of the run, and while a view of the placeholder that the caller fetched
///   is read. The caller must not fetch a placeholder that is fed a temporary container, or a reshape of one.
/// - Fires: before each run, once per attempt. run.attempt() is the number of the attempt.
/// - Fetches: nothing.
/// - Cost and throws: as the function.
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
