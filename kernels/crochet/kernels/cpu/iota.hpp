// SPDX-License-Identifier: Apache-2.0
// Evenly spaced values.
#pragma once
#include <crochet/graph/ops/iota.hpp>
#include <crochet/kernels/call.hpp>

namespace crochet {

template <>
struct Kernel<&op::iota> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    using Wide = std::conditional_t<std::is_floating_point_v<T>, double, std::int64_t>;
    const auto start = static_cast<Wide>(call.attributes.reals[0]), step = static_cast<Wide>(call.attributes.reals[1]);
    const kernel::Range mine = call.worker.part(call.out[0], 64);
    for (std::int64_t i = mine.from; i < mine.to; ++i) {
      call.out.as<T>()[i] = static_cast<T>(start + step * static_cast<Wide>(i));
    }
  }
};

}  // namespace crochet
