// SPDX-License-Identifier: Apache-2.0
// WatchFn: what decides, before each run, what is watched in it.
#pragma once

#include <concepts>
#include <functional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/debug/watch/watch_options.hpp>

namespace crochet::debug {

/// Names of what the caller of a run asked for.
using NameList = std::span<const std::string_view>;

/// Any callable `watch_fn(fetches, feeds)` that returns WatchOptions or their tuple; WatchOptions that are the same for
/// every run; or nothing, which watches everything with DebugIdentity. It is called before each run that is looked
/// into.
class WatchFn {
 public:
  WatchFn() = default;
  WatchFn(std::nullptr_t) {}    // NOLINT(google-explicit-constructor): the original's None
  WatchFn(WatchOptions always)  // NOLINT(google-explicit-constructor): `.watch_fn = {...}`
      : choose_([always = std::move(always)](NameList, NameList) { return always; }) {}
  template <class F>
  requires(std::invocable<F&, NameList, NameList> && !std::same_as<std::remove_cvref_t<F>, WatchFn>)
      WatchFn(F function) {  // NOLINT(google-explicit-constructor): `.watch_fn = my_function`
    if constexpr (requires { function == nullptr; }) {  // an empty std::function is None, too
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
