// SPDX-License-Identifier: Apache-2.0
// The number type that a placeholder wants, for hooks that feed one whatever the model's type is.
#pragma once

#include <algorithm>
#include <type_traits>
#include <utility>

namespace crochet::detail {

template <class E, class N>
constexpr bool feeds_name() {
  return std::find(E::feedable.begin(), E::feedable.end(), N::view()) != E::feedable.end();
}
template <class Run>
using executor_of_run =
    std::remove_cvref_t<decltype(std::declval<std::remove_reference_t<Run>&>().session().executor())>;

template <class E, class N, class Otherwise>
struct FedNumber {
  using type = Otherwise;  // an unknown name: whoever checks the request says so
};
template <class E, class N, class Otherwise>
requires(feeds_name<E, N>()) struct FedNumber<E, N, Otherwise> {
  using type = typename E::template fed_t<N>;
};

/// The element type of the placeholder N in the executor of the run.
template <class Run, class N, class Otherwise>
using fed_number = typename FedNumber<executor_of_run<Run>, N, Otherwise>::type;

}  // namespace crochet::detail
