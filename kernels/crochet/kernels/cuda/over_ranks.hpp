// SPDX-License-Identifier: Apache-2.0
// Means and sums over ranks on a device: nothing. They are made between two launches, which leave these steps out.
#pragma once
#include <crochet/graph/ops/over_ranks.hpp>
#include <crochet/kernels/cuda/call.hpp>

namespace crochet::cuda {

template <>
struct Kernel<&op::mean_over_ranks> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block&, const Call&, NoEpilogue) {}
};
template <>
struct Kernel<&op::sum_over_ranks> : Kernel<&op::mean_over_ranks> {};
template <>
struct Kernel<&op::begin_over_ranks> : Kernel<&op::mean_over_ranks> {};
template <>
struct Kernel<&op::end_over_ranks> : Kernel<&op::mean_over_ranks> {};

}  // namespace crochet::cuda
