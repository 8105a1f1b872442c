// SPDX-License-Identifier: Apache-2.0
// Slices along an axis, padding, and concatenation.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/graph/ops/concat.hpp>
#include <crochet/kernels/cpu/copy.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

/// The indices begin, begin + step, ... along an axis of n.
struct Places {
  std::int64_t begin, step;

  explicit Places(const Call& call) : step(call.attributes.ints[1]) {
    Extent dynamic(call.attributes.ints[3]);
    dynamic.powers = static_cast<std::uint32_t>(call.attributes.ints[4]);
    begin = call.attributes.ints[2] + dynamic.at(call.dims);
  }
  std::int64_t operator[](std::int64_t i) const { return begin + i * step; }

  /// The i of a range whose index is in [0, n).
  Range inside(Range range, std::int64_t n) const {
    const std::int64_t near = step > 0 ? 0 : n - 1, far = step > 0 ? n : -1, width = step > 0 ? step : -step;
    const auto first_at = [&](std::int64_t place) {
      const std::int64_t distance = step > 0 ? place - begin : begin - place;
      const std::int64_t i = distance <= 0 ? 0 : (distance + width - 1) / width;
      return i < range.from ? range.from : (i > range.to ? range.to : i);
    };
    return {first_at(near), first_at(far)};
  }
};

template <class U>
[[gnu::noinline]] void slice(const Call& call, U missing) {
  const auto axis = static_cast<std::size_t>(call.attributes.ints[0]);
  const Around from(call.in[0], axis), to(call.out, axis);
  const Places places(call);
  const std::int64_t inner = from.inner, step = places.step * inner;
  each_of_my_rows(call.worker, to.outer, to.n, 1, [&](std::int64_t o, Range part) {
    const Range inside = places.inside(part, from.n);
    U* out = call.out.as<U>() + o * to.n * inner;
    fill(missing, (inside.from - part.from) * inner, out + part.from * inner);
    fill(missing, (part.to - inside.to) * inner, out + inside.to * inner);
    if (inside.size() == 0) return;
    const U* in = call.in[0].as<const U>() + (o * from.n + places[inside.from]) * inner;
    out += inside.from * inner;
    if (places.step == 1) return copy(in, inside.size() * inner, out);
    for (std::int64_t i = 0; i < inside.size(); ++i, out += inner) {
      if (inner == 1) {
        *out = in[i * step];
      } else {
        copy(in + i * step, inner, out);
      }
    }
  });
}

/// Every worker fills and writes its part of the padded tensor.
template <class U>
[[gnu::noinline]] void pad(const Call& call, U value) {
  const auto axis = static_cast<std::size_t>(call.attributes.ints[0]);
  const Around from(call.in[0], axis), to(call.out, axis);
  const Places places(call);
  const std::int64_t inner = from.inner;
  each_of_my_rows(call.worker, to.outer, to.n, 1, [&](std::int64_t o, Range part) {
    const U* in = call.in[0].as<const U>() + o * from.n * inner;
    U* out = call.out.as<U>() + o * to.n * inner;
    const Range all = places.inside({0, from.n}, to.n);
    if (places.step == 1) {
      std::int64_t first = places[all.from], last = places[all.to];  // the part covered by the input
      first = first < part.from || all.size() == 0 ? part.from : (first > part.to ? part.to : first);
      last = all.size() == 0 || last < first ? first : (last > part.to ? part.to : last);
      fill(value, (first - part.from) * inner, out + part.from * inner);
      copy(in + (first - places.begin) * inner, (last - first) * inner, out + first * inner);
      return fill(value, (part.to - last) * inner, out + last * inner);
    }
    fill(value, part.size() * inner, out + part.from * inner);
    for (std::int64_t i = all.from; i < all.to; ++i) {
      if (places[i] < part.from || places[i] >= part.to) continue;
      copy(in + i * inner, inner, out + places[i] * inner);
    }
  });
}

/// Copies each input's piece of every row of the result.
[[gnu::noinline]] inline void concat(const Call& call, std::size_t size) {
  const auto axis = static_cast<std::size_t>(call.attributes.ints[0]);
  const Around to(call.out, axis);
  const auto bytes = to.inner * static_cast<std::int64_t>(size);
  each_of_my_rows(call.worker, to.outer, to.n * bytes, 64, [&](std::int64_t o, Range part) {
    std::int64_t at = 0;
    for (std::size_t k = 0; k < max_inputs && call.in[k].rank > 0; ++k) {
      const std::int64_t piece = call.in[k][axis] * bytes;
      const std::int64_t from = at < part.from ? part.from - at : 0, end = part.to - at < piece ? part.to - at : piece;
      copy(call.in[k].as<const std::byte>() + o * piece + from, end - from,
           call.out.as<std::byte>() + o * to.n * bytes + at + from);
      at += piece;
    }
  });
}
}  // namespace kernel::CROCHET_ISA::detail

template <>
struct Kernel<&op::slice> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    using T = typename Types::out;
    using U = kernel::detail::bits_t<sizeof(T)>;
    kernel::detail::slice<U>(call, call.attributes.ints[5] != 0 ? U{} : kernel::detail::invalid<T>());
  }
};

template <>
struct Kernel<&op::pad> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const auto value = static_cast<T>(call.attributes.reals[0]);
    kernel::detail::pad(call, std::bit_cast<kernel::detail::bits_t<sizeof(T)>>(value));
  }
};

template <>
struct Kernel<&op::concat> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    kernel::detail::concat(call, sizeof(typename Types::out));
  }
};

}  // namespace crochet
