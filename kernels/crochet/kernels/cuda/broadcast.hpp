// SPDX-License-Identifier: Apache-2.0
// Broadcasting, transposition and evenly spaced values on a device: a thread for each element.
#pragma once
#include <crochet/graph/ops/broadcast_to.hpp>
#include <crochet/graph/ops/iota.hpp>
#include <crochet/graph/ops/transpose.hpp>
#include <crochet/kernels/cuda/call.hpp>

namespace crochet::cuda {

template <>
struct Kernel<&op::broadcast_to> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    const Operand in = call.in(0), out = call.out();
    const T* const from = in.as<const T>();
    T* const to = out.as<T>();
    const int missing = out.rank() - in.rank();
    each_element(block, call.first(), out.size(), [&](int i) {
      int at = 0, step = 1, rest = i;
      for (int d = in.rank() - 1; d >= 0; --d) {
        const int extent = out[missing + d];
        if (in[d] != 1) at += rest % extent * step;
        rest /= extent;
        step *= in[d];
      }
      to[i] = from[at];
    });
  }
};

template <>
struct Kernel<&op::transpose> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    const Operand in = call.in(0), out = call.out();
    const T* const from = in.as<const T>();
    T* const to = out.as<T>();
    each_element(block, call.first(), out.size(), [&](int i) {
      int at = 0, rest = i;
      for (int d = out.rank() - 1; d >= 0; --d) {
        const int axis = call.attribute(d);
        at += rest % out[d] * in.product(axis + 1, in.rank());
        rest /= out[d];
      }
      to[i] = from[at];
    });
  }
};

template <>
struct Kernel<&op::iota> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
    const auto start = static_cast<Wide>(call.real(0)), step = static_cast<Wide>(call.real(1));
    T* const to = call.out().template as<T>();
    each_element(block, call.first(), call.out().size(),
                 [&](int i) { to[i] = static_cast<T>(start + step * static_cast<Wide>(i)); });
  }
};

}  // namespace crochet::cuda
