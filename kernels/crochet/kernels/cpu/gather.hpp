// SPDX-License-Identifier: Apache-2.0
// Elements by index, and sums of elements that share an index.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/gather.hpp>
#include <crochet/kernels/cpu/copy.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

template <class U, class I>
[[gnu::noinline]] void gather(const Call& call, U missing) {
  const Around from(call.in[0], static_cast<std::size_t>(call.attributes.ints[0]));
  const std::int64_t count = call.in[1].size(), inner = from.inner;
  const I* ids = call.in[1].as<const I>();
  each_of_my_rows(call.worker, from.outer * count, inner, 16, [&](std::int64_t row, Range part) {
    const std::int64_t o = from.outer == 1 ? 0 : row / count;
    const auto id = static_cast<std::int64_t>(ids[row - o * count]);
    U* out = call.out.as<U>() + row * inner + part.from;
    if (id < 0 || id >= from.n) return fill(missing, part.size(), out);
    copy(call.in[0].as<const U>() + (o * from.n + id) * inner + part.from, part.size(), out);
  });
}

template <class T>
void add(const T* from, std::int64_t n, T* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(to[i] + from[i]);
}

/// Every worker reads all indices and computes some columns of the result or, if there are few, some rows. An element
/// is always summed in the order of the indices, independent of the number of workers.
template <class T, class I>
[[gnu::noinline]] void segment_sum(const Call& call) {
  const Around to(call.out, static_cast<std::size_t>(call.attributes.ints[0]));
  const std::int64_t count = call.in[1].size(), inner = to.inner, grain = 16;
  const bool by_columns = inner >= 4 * grain * call.worker.count();
  const Range columns = by_columns ? call.worker.part(inner, grain) : Range{0, inner};
  const Range rows = by_columns ? Range{0, to.outer * to.n} : call.worker.part(to.outer * to.n);
  const I* ids = call.in[1].as<const I>();
  const T* values = call.in[0].as<const T>() + columns.from;
  T* out = call.out.as<T>() + columns.from;
  for (std::int64_t row = rows.from; row < rows.to; ++row) fill(T{}, columns.size(), out + row * inner);
  if (rows.size() == 0) return;
  for (std::int64_t o = rows.from / to.n; o * to.n < rows.to; ++o) {
    for (std::int64_t k = 0; k < count; ++k) {
      const auto id = static_cast<std::int64_t>(ids[k]);
      const std::int64_t row = o * to.n + id;
      if (id < 0 || id >= to.n || row < rows.from || row >= rows.to) continue;
      add(values + (o * count + k) * inner, columns.size(), out + row * inner);
    }
  }
}
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::gather> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    using U = kernel::detail::bits_t<sizeof(typename Types::out)>;
    const U missing = call.attributes.ints[2] != 0 ? U{} : kernel::detail::invalid<typename Types::out>();
    kernel::detail::gather<U, kernel::in_t<Types, 1>>(call, missing);
  }
};

template <>
struct Kernel<&op::segment_sum> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    kernel::detail::segment_sum<typename Types::out, kernel::in_t<Types, 1>>(call);
  }
};

}  // namespace crochet
