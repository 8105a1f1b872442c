// SPDX-License-Identifier: Apache-2.0
// The oracle's rules of batched products and of operations that rearrange elements.
#pragma once
#include <limits>

#include <crochet/graph/ops/batched_matmul.hpp>
#include <crochet/graph/ops/gather.hpp>
#include <crochet/graph/ops/pad.hpp>
#include <crochet/graph/ops/transpose.hpp>
#include <crochet/testing/oracle_array.hpp>

namespace crochet::testing {

namespace detail {

inline std::size_t last(const Array& x, std::size_t from_right) {
  return static_cast<std::size_t>(x.shape[x.rank() - 1 - from_right]);
}

inline void batched_matmul(const Use& u) {
  const bool ta = u.attributes.ints[0] != 0, tb = u.attributes.ints[1] != 0;
  const std::size_t m = last(u.out, 1), n = last(u.out, 0), depth = last(*u.in[0], ta ? 1 : 0);
  // One element for each matrix: numpy's rule then maps the result's matrices to an operand's.
  std::vector<Array> batch;
  for (const Array* x : {u.in[0], u.in[1], static_cast<const Array*>(&u.out)})
    batch.push_back({{x->shape.begin(), x->shape.end() - 2}, {}});
  for (std::size_t flat = 0; flat < u.out.data.size(); ++flat) {
    const std::size_t matrix = flat / (m * n), i = flat / n % m, j = flat % n;
    const double* a = u.in[0]->data.data() + broadcast_index(matrix, batch[2].shape, batch[0]) * m * depth;
    const double* b = u.in[1]->data.data() + broadcast_index(matrix, batch[2].shape, batch[1]) * n * depth;
    for (std::size_t k = 0; k < depth; ++k) {
      u.out.data[flat] += a[ta ? k * m + i : i * depth + k] * b[tb ? j * depth + k : k * n + j];
    }
  }
}

inline void iota(const Use& u) {
  for (std::size_t i = 0; i < u.out.data.size(); ++i) {
    u.out.data[i] = u.attributes.reals[0] + u.attributes.reals[1] * static_cast<double>(i);
  }
}

/// The indices of element number `flat`, and back.
inline std::vector<std::size_t> indices_of(const Array& x, std::size_t flat) {
  std::vector<std::size_t> indices(x.rank());
  for (std::size_t i = x.rank(); i-- > 0; flat /= static_cast<std::size_t>(x.shape[i])) {
    indices[i] = flat % static_cast<std::size_t>(x.shape[i]);
  }
  return indices;
}
inline std::size_t flat_of(const Array& x, const std::vector<std::size_t>& indices) {
  std::size_t flat = 0;
  for (std::size_t i = 0; i < x.rank(); ++i) flat = flat * static_cast<std::size_t>(x.shape[i]) + indices[i];
  return flat;
}

inline void transpose(const Use& u) {
  for (std::size_t flat = 0; flat < u.out.data.size(); ++flat) {
    const std::vector<std::size_t> to = indices_of(u.out, flat);
    std::vector<std::size_t> from(to.size());
    for (std::size_t i = 0; i < to.size(); ++i) from[static_cast<std::size_t>(u.attributes.ints[i])] = to[i];
    u.out.data[flat] = u.in[0]->data[flat_of(*u.in[0], from)];
  }
}

/// The value of an element out of range.
inline double invalid(DType type) {
  if (is_floating(computed_as(type))) return std::numeric_limits<double>::quiet_NaN();
  if (type == DType::boolean) return 1;
  if (type == DType::uint8) return 255;
  return type == DType::int32 ? -0x1p31 : -0x1p63;
}
/// The index of element i along the axis of a slice or a pad.
inline std::int64_t place(const Use& u, std::size_t i) {
  Extent dynamic(u.attributes.ints[3]);
  dynamic.powers = static_cast<std::uint32_t>(u.attributes.ints[4]);
  return u.attributes.ints[2] + dynamic.at(u.dims) + static_cast<std::int64_t>(i) * u.attributes.ints[1];
}
inline void slice(const Use& u) {
  const auto axis = static_cast<std::size_t>(u.attributes.ints[0]);
  for (std::size_t flat = 0; flat < u.out.data.size(); ++flat) {
    std::vector<std::size_t> at = indices_of(u.out, flat);
    const std::int64_t from = place(u, at[axis]);
    at[axis] = static_cast<std::size_t>(from);
    const bool inside = from >= 0 && from < u.in[0]->shape[axis];
    u.out.data[flat] =
        inside ? u.in[0]->data[flat_of(*u.in[0], at)] : (u.attributes.ints[5] != 0 ? 0 : invalid(u.type));
  }
}
inline void pad(const Use& u) {
  const auto axis = static_cast<std::size_t>(u.attributes.ints[0]);
  for (double& x : u.out.data) x = u.attributes.reals[0];
  for (std::size_t flat = 0; flat < u.in[0]->data.size(); ++flat) {
    std::vector<std::size_t> at = indices_of(*u.in[0], flat);
    const std::int64_t to = place(u, at[axis]);
    at[axis] = static_cast<std::size_t>(to);
    if (to >= 0 && to < u.out.shape[axis]) u.out.data[flat_of(u.out, at)] = u.in[0]->data[flat];
  }
}
inline void concat(const Use& u) {
  const auto axis = static_cast<std::size_t>(u.attributes.ints[0]);
  std::size_t before = 0;
  for (const Array* x : u.in) {
    for (std::size_t flat = 0; flat < x->data.size(); ++flat) {
      std::vector<std::size_t> at = indices_of(*x, flat);
      at[axis] += before;
      u.out.data[flat_of(u.out, at)] = x->data[flat];
    }
    before += static_cast<std::size_t>(x->shape[axis]);
  }
}

/// Calls visit(element among the indexed slices, whether the index is valid, element of `table`).
template <class Visit>
void each_named(const Use& u, const Array& table, const Array& slices, Visit visit) {
  const auto axis = static_cast<std::size_t>(u.attributes.ints[0]),
             many = static_cast<std::size_t>(u.attributes.ints[1]);
  for (std::size_t flat = 0; flat < slices.data.size(); ++flat) {
    const std::vector<std::size_t> at = indices_of(slices, flat);
    std::vector<std::size_t> of_index(at.begin() + static_cast<long>(axis),
                                      at.begin() + static_cast<long>(axis + many)),
        from(at.begin(), at.begin() + static_cast<long>(axis));
    const double index = u.in[1]->data[flat_of(*u.in[1], of_index)];
    const bool inside = index >= 0 && index < static_cast<double>(table.shape[axis]);
    from.push_back(inside ? static_cast<std::size_t>(index) : 0);
    from.insert(from.end(), at.begin() + static_cast<long>(axis + many), at.end());
    visit(flat, inside, inside ? flat_of(table, from) : 0);
  }
}
inline void gather(const Use& u) {
  each_named(u, *u.in[0], u.out, [&](std::size_t to, bool inside, std::size_t from) {
    u.out.data[to] = inside ? u.in[0]->data[from] : (u.attributes.ints[2] != 0 ? 0 : invalid(u.type));
  });
}
inline void segment_sum(const Use& u) {
  each_named(u, u.out, *u.in[0], [&](std::size_t from, bool inside, std::size_t to) {
    if (inside) u.out.data[to] += u.in[0]->data[from];
  });
}

}  // namespace detail

inline void add_array_rules(std::map<const Op*, KernelRule>& rules) {
  rules[&op::iota] = detail::iota;
  rules[&op::gather] = detail::gather;
  rules[&op::segment_sum] = detail::segment_sum;
  rules[&op::slice] = detail::slice;
  rules[&op::pad] = detail::pad;
  rules[&op::concat] = detail::concat;
  rules[&op::transpose] = detail::transpose;
  for (std::size_t rank = 3; rank <= max_rank; ++rank)
    rules[&crochet::detail::batched_matmul_of(rank)] = detail::batched_matmul;
}

}  // namespace crochet::testing
