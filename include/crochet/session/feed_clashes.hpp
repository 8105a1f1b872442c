// SPDX-License-Identifier: Apache-2.0
// Finds a placeholder that two hooks feed, or a hook and the caller.
#pragma once

#include <cstddef>
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/hook/diagnose.hpp>
#include <crochet/hook/pack.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/request_check.hpp>

namespace crochet::detail {

/// One feed of one hook of the chain.
template <std::size_t I, class H, class N>
struct HookFeed {};

template <std::size_t I, class H, class F, class T, class... N, class... X>
constexpr List<HookFeed<I, H, N>...> feeds_of(std::type_identity<RunArgs<F, T, Feeds<Feed<N, X>...>>>) {
  return {};
}

template <std::size_t I, class H, class N, std::size_t J, class G, class M>
constexpr auto clash(HookFeed<I, H, N>, HookFeed<J, G, M>) {
  if constexpr (J < I && std::is_same_v<N, M>) {
    return std::type_identity<error::feeds_a_name_that_another_hook_feeds_too<H, G, spelt<N>>>{};
  } else {
    return Ok{};
  }
}
template <class Mine, class... Fed>
constexpr auto clash_of(Mine mine, List<Fed...>) {
  return first_reason(Ok{}, clash(mine, Fed{})...);
}
/// The fault in the feeds of one hook, given all feeds of the chain.
template <class AllFed, class... Mine>
constexpr auto clash_reason([[maybe_unused]] AllFed all, List<Mine...>) {
  return first_reason(Ok{}, clash_of(Mine{}, all)...);
}

template <class H, class N, class... Given>
constexpr auto caller_clash(List<Given...>) {
  if constexpr ((std::is_same_v<N, Given> || ...)) {
    return std::type_identity<error::the_caller_feeds_a_name_that_this_hook_feeds<H, spelt<N>>>{};
  } else {
    return Ok{};
  }
}
template <class Args, std::size_t I, class H, class... N>
constexpr auto caller_clash_reason(List<HookFeed<I, H, N>...>) {
  return first_reason(Ok{}, caller_clash<H, N>(fed_names(std::type_identity<Args>{}))...);
}

}  // namespace crochet::detail
