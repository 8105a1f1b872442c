// SPDX-License-Identifier: Apache-2.0
// Means and sums over ranks: the calling thread exchanges, the others wait at the barrier behind the step.
#pragma once
#include <cstring>

#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/over_ranks.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/exchange.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {
template <class Types>
void reduce_over_ranks(const Call& call, bool mean) {
  using T = typename Types::out;
  if (call.worker.index() != 0) return;
  const std::int64_t n = call.out.size();
  std::memcpy(call.out.as<T>(), call.in[0].as<const T>(), static_cast<std::size_t>(n) * sizeof(T));
  call.exchange->reduce(call.out.as<T>(), n, dtype_of<T>, {mean, call.attributes.ints[0] != 0});
}
}  // namespace kernel::CROCHET_ISA::detail

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

template <>
struct Kernel<&op::begin_over_ranks> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    if (call.worker.index() != 0) return;
    const auto& x = call.in[0];
    const kernel::RankReduction how{.mean = call.attributes.ints[1] != 0, .of_gradient = true};
    *call.out.as<std::int32_t>() = call.exchange->begin_reduce(x.data, x.size(), dtype_of<kernel::in_t<Types>>, how);
  }
};
template <>
struct Kernel<&op::end_over_ranks> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    if (call.worker.index() != 0) return;
    call.exchange->end_reduce(*call.in[1].as<std::int32_t>(), call.out.data, call.out.size());
  }
};

}  // namespace crochet
