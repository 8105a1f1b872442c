// SPDX-License-Identifier: Apache-2.0
// Means and sums over ranks: the calling thread exchanges, the others wait at the barrier behind the step.
#pragma once
#include <cstring>

#include <crochet/graph/ops/over_ranks.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/exchange.hpp>

namespace crochet {

namespace kernel::detail {
template <class Types>
void reduce_over_ranks(const Call& call, bool mean) {
  using T = typename Types::out;
  if (call.worker.index() != 0) return;
  const std::int64_t n = call.out.size();
  std::memcpy(call.out.as<T>(), call.in[0].as<const T>(), static_cast<std::size_t>(n) * sizeof(T));
  call.exchange->reduce(call.out.as<T>(), n, dtype_of<T>, mean);
}
}  // namespace kernel::detail

template <>
struct Kernel<&op::mean_over_ranks> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    kernel::detail::reduce_over_ranks<Types>(call, true);
  }
};
template <>
struct Kernel<&op::sum_over_ranks> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    kernel::detail::reduce_over_ranks<Types>(call, false);
  }
};

}  // namespace crochet
