// SPDX-License-Identifier: Apache-2.0
// Reports an argument of `run` that is no part of a request.
#pragma once

#include <string_view>
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/session/fetched.hpp>

namespace crochet::detail {

template <class A>
concept RunArgument = RequestPart<A> || std::is_same_v<std::remove_cvref_t<A>, NoHooks>;

/// Whether one of the arguments is neither a part of a request nor `no_hooks`.
template <class... A>
concept HasOtherArgument = !(RunArgument<A> && ...);

/// The type of the first such argument.
template <class First, class... Rest>
constexpr auto other_argument() {
  if constexpr (RunArgument<First>) {
    return other_argument<Rest...>();
  } else {
    return std::type_identity<std::remove_cvref_t<First>>{};
  }
}

/// The names that these arguments fetch, without the arguments that are no parts of a request.
template <class... A>
using fetches_among = typename Parts<std::conditional_t<RequestPart<A>, A, Fetches<>>...>::fetches;

/// The result of a run with such an argument, which it reports. E: the executor.
template <class E, class... A>
auto refused_run() {
  using Other = typename decltype(other_argument<A...>())::type;
  using Why =
      std::conditional_t<std::is_convertible_v<Other, std::string_view>,
                         error::a_text_is_a_name_with_the_suffix_n<Other>, error::this_is_no_part_of_a_request<Other>>;
  static_assert(call_is_usable<Why>, "crochet: crochet::error says why");
  return fetch_none<E>(fetches_among<A...>{});
}

}  // namespace crochet::detail
