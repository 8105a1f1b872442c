// SPDX-License-Identifier: Apache-2.0
// The Oracle's rules of cumulative sums, top-k elements, and gathering of elements by row and index.
#pragma once
#include <algorithm>
#include <cmath>
#include <numeric>

#include <crochet/graph/ops/cumulative_sum.hpp>
#include <crochet/graph/ops/top_k.hpp>
#include <crochet/testing/oracle_array.hpp>

namespace crochet::testing {

namespace detail {
inline void cumulative_sum(const Use& u) {
  const Array& x = *u.in[0];
  const auto axis = static_cast<std::size_t>(u.attributes.ints[0]);
  const bool exclusive = u.attributes.ints[1] != 0, reverse = u.attributes.ints[2] != 0;
  std::size_t inner = 1;
  for (std::size_t i = axis + 1; i < x.rank(); ++i) inner *= static_cast<std::size_t>(x.shape[i]);
  const auto n = static_cast<std::size_t>(x.shape[axis]);
  for (std::size_t i = 0; i < x.data.size(); ++i) {
    const std::size_t place = i / inner % n, first = i - place * inner;
    for (std::size_t k = 0; k < n; ++k) {
      const bool before = reverse ? k > place : k < place;
      if (before || (k == place && !exclusive)) u.out.data[i] += x.data[first + k * inner];
    }
  }
}
/// Calls visit(first element of a row of `rows`, first of the same row of `indices`).
template <class Visit>
void each_pair_of_rows(const Array& rows, const Array& indices, Visit visit) {
  const auto n = static_cast<std::size_t>(rows.shape.back()), k = static_cast<std::size_t>(indices.shape.back());
  for (std::size_t r = 0; k > 0 && r < indices.data.size() / k; ++r) visit(r * n, r * k);
}
inline void top_k(const Use& u) {
  const Array& x = *u.in[0];
  each_pair_of_rows(x, u.out, [&](std::size_t row, std::size_t to) {
    std::vector<std::size_t> order(static_cast<std::size_t>(x.shape.back()));
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const double p = x.data[row + a], q = x.data[row + b];
      return p > q || (std::isnan(p) && !std::isnan(q));
    });
    const auto k = static_cast<std::size_t>(u.out.shape.back());
    for (std::size_t j = 0; j < k; ++j) u.out.data[to + j] = static_cast<double>(order[j]);
  });
}
/// Calls visit(element of the rows, position of its index) for each index of a row.
template <class Visit>
void each_index(const Array& rows, const Array& indices, Visit visit) {
  each_pair_of_rows(rows, indices, [&](std::size_t row, std::size_t at) {
    for (std::size_t j = 0; j < static_cast<std::size_t>(indices.shape.back()); ++j) {
      const double i = indices.data[at + j];
      if (i >= 0 && i < static_cast<double>(rows.shape.back())) visit(row + static_cast<std::size_t>(i), at + j);
    }
  });
}
inline void take_along_rows(const Use& u) {
  each_index(*u.in[0], *u.in[1], [&](std::size_t i, std::size_t at) { u.out.data[at] = u.in[0]->data[i]; });
}
inline void add_along_rows(const Use& u) {
  each_index(u.out, *u.in[1], [&](std::size_t i, std::size_t at) { u.out.data[i] += u.in[0]->data[at]; });
}
}  // namespace detail

inline std::map<const Op*, KernelRule> rules_of_rows() {
  return {{&op::cumulative_sum, detail::cumulative_sum},
          {&op::top_k, detail::top_k},
          {&op::take_along_rows, detail::take_along_rows},
          {&op::add_along_rows, detail::add_along_rows}};
}

}  // namespace crochet::testing
