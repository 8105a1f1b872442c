// SPDX-License-Identifier: Apache-2.0
// Broadcasting, and the number of elements.
#pragma once
#include <crochet/graph/ops/broadcast_to.hpp>
#include <crochet/kernels/call.hpp>
#include <crochet/kernels/cpu/axes.hpp>
#include <crochet/kernels/panels.hpp>

namespace crochet {

template <>
struct Kernel<&op::broadcast_to> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const kernel::Operand &in = call.in[0], &out = call.out;
    if (in.layout == Layout::panels) {  // a copy: a variable in panels is never broadcast
      const std::int64_t columns = in[in.rank - 1];
      if (call.worker.index() == 0) kernel::unpack(in.as<const T>(), in.size() / columns, columns, out.as<T>());
      return;
    }
    kernel::detail::repeat<kernel::detail::bits_t<sizeof(T)>>(call);
  }
};

template <>
struct Kernel<&op::count> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    if (call.worker.index() != 0) return;
    Extent n(static_cast<std::int64_t>(call.attributes.reals[0]));
    for (std::size_t s = 0; s < max_symbols; ++s) {
      n.powers |= static_cast<std::uint32_t>(call.attributes.ints[s]) << (8 * s);
    }
    using T = typename Types::out;
    *call.out.as<T>() = static_cast<T>(n.at(call.dims));
  }
};

}  // namespace crochet
