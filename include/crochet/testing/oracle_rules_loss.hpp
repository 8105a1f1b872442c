// SPDX-License-Identifier: Apache-2.0
// The oracle's rules of softmax and cross entropies.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>
#include <map>

#include <crochet/graph/ops/loss.hpp>
#include <crochet/testing/oracle_array.hpp>
#include <crochet/testing/oracle_line.hpp>

namespace crochet::testing {

namespace detail {

inline double log_of_sum(const Array& x, const Line& line) {
  double top = -std::numeric_limits<double>::infinity(), total = 0;
  for (std::size_t i = 0; i < line.n; ++i) {
    const double e = x.data[line[i]];
    top = std::isnan(e) || std::isnan(top) ? e + top : (e > top ? e : top);
  }
  if (std::isinf(top)) return top;
  for (std::size_t i = 0; i < line.n; ++i) total += std::exp(x.data[line[i]] - top);
  return std::log(total) + top;
}
inline std::size_t axis_of(const Use& u) { return static_cast<std::size_t>(u.attributes.ints[0]); }

template <bool Log>
void softmax(const Use& u) {
  each_line(*u.in[0], axis_of(u), [&](std::size_t, const Line& line) {
    const double log_sum = log_of_sum(*u.in[0], line);
    for (std::size_t i = 0; i < line.n; ++i) {
      const double y = u.in[0]->data[line[i]] - log_sum + (log_sum - log_sum);  // NaN beside an infinity
      u.out.data[line[i]] = Log ? y : std::exp(y);
    }
  });
}
inline void logsumexp(const Use& u) {
  each_line(*u.in[0], axis_of(u),
            [&](std::size_t to, const Line& line) { u.out.data[to] = log_of_sum(*u.in[0], line); });
}
template <bool Log>
void softmax_gradient(const Use& u) {
  const Array &y = *u.in[0], &g = *u.in[1];
  each_line(y, axis_of(u), [&](std::size_t, const Line& line) {
    double total = 0;
    for (std::size_t i = 0; i < line.n; ++i) total += g.data[line[i]] * (Log ? 1 : y.data[line[i]]);
    for (std::size_t i = 0; i < line.n; ++i) {
      const double v = y.data[line[i]], up = g.data[line[i]];
      u.out.data[line[i]] = Log ? up - std::exp(v) * total : v * (up - total);
    }
  });
}

/// The probability of class j in the labels of row i.
inline double label_of(const Use& u, bool sparse, std::size_t i, std::size_t j, std::size_t classes) {
  if (!sparse) return u.in[1]->data[i * classes + j];
  const double label = u.in[1]->data[i];
  if (label < 0 || label >= static_cast<double>(classes)) return std::numeric_limits<double>::quiet_NaN();
  return label == static_cast<double>(j) ? 1 : 0;
}
template <bool Sparse>
void cross_entropy(const Use& u) {
  const Array& z = *u.in[0];
  each_line(z, z.rank() - 1, [&](std::size_t row, const Line& line) {
    const double log_sum = log_of_sum(z, line);
    for (std::size_t j = 0; j < line.n; ++j) {
      const double p = label_of(u, Sparse, row, j, line.n);
      if (p != 0) u.out.data[row] += p * (log_sum - z.data[line[j]]);
    }
  });
}
template <bool Sparse>
void cross_entropy_gradient(const Use& u) {
  const Array &z = *u.in[0], &up = *u.in[2];
  each_line(z, z.rank() - 1, [&](std::size_t row, const Line& line) {
    const double log_sum = log_of_sum(z, line), g = up.data[up.data.size() == 1 ? 0 : row];
    double mass = 0;
    for (std::size_t j = 0; j < line.n; ++j) mass += label_of(u, Sparse, row, j, line.n);
    for (std::size_t j = 0; j < line.n; ++j) {
      const double p = std::exp(z.data[line[j]] - log_sum);
      u.out.data[line[j]] = g * (p * mass - label_of(u, Sparse, row, j, line.n));
    }
  });
}
inline double sigmoid_cross_entropy(double z, double p, double) {
  return (z > 0 ? z : 0) - z * p + std::log1p(std::exp(-std::abs(z)));
}

}  // namespace detail

inline void add_loss_rules(std::map<const Op*, KernelRule>& rules) {
  rules[&op::softmax] = detail::softmax<false>;
  rules[&op::log_softmax] = detail::softmax<true>;
  rules[&op::logsumexp] = detail::logsumexp;
  rules[&op::softmax_gradient] = detail::softmax_gradient<false>;
  rules[&op::log_softmax_gradient] = detail::softmax_gradient<true>;
  rules[&op::sparse_cross_entropy] = detail::cross_entropy<true>;
  rules[&op::sparse_cross_entropy_gradient] = detail::cross_entropy_gradient<true>;
  rules[&op::cross_entropy] = detail::cross_entropy<false>;
  rules[&op::cross_entropy_gradient] = detail::cross_entropy_gradient<false>;
}

}  // namespace crochet::testing
