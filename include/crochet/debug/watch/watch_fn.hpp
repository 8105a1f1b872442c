// SPDX-License-Identifier: Apache-2.0
// WatchFn: selects the watches of each run.
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/debug/watch/watch_options.hpp>

namespace crochet::debug {

/// The names of the fetches or feeds that the caller of a run passed.
using NameList = std::span<const std::string_view>;

/// Selects the watches before each observed run. It is one of:
/// - a callable `watch_fn(fetches, feeds)` that returns WatchOptions or their tuple;
/// - WatchOptions for every run;
/// - nothing: all tensors are watched with DebugIdentity.
class WatchFn {
 public:
  WatchFn() = default;
  WatchFn(std::nullptr_t) {}    // NOLINT(google-explicit-constructor): the original's None
  WatchFn(WatchOptions always)  // NOLINT(google-explicit-constructor): `.watch_fn = {...}`
      : choose_([always = std::move(always)](NameList, NameList) { return always; }) {}
  template <class F>
  requires(std::invocable<F&, NameList, NameList> && !std::same_as<std::remove_cvref_t<F>, WatchFn>)
      WatchFn(F function) {  // NOLINT(google-explicit-constructor): `.watch_fn = my_function`
    if constexpr (requires { function == nullptr; }) {  // an empty std::function counts as None
      if (function == nullptr) return;
    }
    choose_ = [function = std::move(function)](NameList fetches, NameList feeds) mutable {
      return watch_options(function(fetches, feeds));
    };
  }

  [[nodiscard]] WatchOptions operator()(NameList fetches, NameList feeds) const {
    return choose_ ? choose_(fetches, feeds) : WatchOptions{};
  }

 private:
  std::function<WatchOptions(NameList, NameList)> choose_;
};

}  // namespace crochet::debug
