// SPDX-License-Identifier: Apache-2.0
// The element type of a fed placeholder, for hooks that feed a number of the model's type.
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
  using type = Otherwise;  // an unknown name: the check of the request reports it
};
template <class E, class N, class Otherwise>
requires(feeds_name<E, N>()) struct FedNumber<E, N, Otherwise> {
  using type = typename E::template fed_t<N>;
};

/// The element type of the placeholder N in the executor of the run.
template <class Run, class N, class Otherwise>
using fed_number = typename FedNumber<executor_of_run<Run>, N, Otherwise>::type;

}  // namespace crochet::detail
