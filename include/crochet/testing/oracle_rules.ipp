// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cmath>
#include <limits>

#include <crochet/graph/ops/reductions.hpp>
#include <crochet/graph/train/gradients.hpp>
#include <crochet/testing/oracle_rules.hpp>
#include <crochet/testing/oracle_rules_arrays.hpp>
#include <crochet/testing/oracle_rules_attention.hpp>
#include <crochet/testing/oracle_rules_conv.hpp>
#include <crochet/testing/oracle_rules_elementwise.hpp>
#include <crochet/testing/oracle_rules_loss.hpp>
#include <crochet/testing/oracle_rules_normalization.hpp>
#include <crochet/testing/oracle_rules_random.hpp>
#include <crochet/testing/oracle_rules_rows.hpp>

namespace crochet::testing {

namespace detail {

CROCHET_ORACLE_INLINE double as(DType type, double x) {
  if (is_floating(type)) return x;
  if (type == DType::bfloat16) return static_cast<double>(float{bfloat16(x)});
  if (type == DType::boolean) return x != 0 ? 1 : 0;
  const auto n = static_cast<std::int64_t>(x);
  if (type == DType::uint8) return static_cast<std::uint8_t>(n);
  return static_cast<double>(type == DType::int32 ? static_cast<std::int32_t>(n) : n);
}

// Visits every element of a reduction's input with the index of its result.
template <class Visit>
void each_reduced(const Use& u, Visit visit) {
  const Array& x = *u.in[0];
  for (std::size_t flat = 0; flat < x.data.size(); ++flat) {
    std::size_t left = flat, to = 0, step = 1, along = 0, run = 1;
    for (std::size_t i = x.rank(); i-- > 0;) {
      const auto extent = static_cast<std::size_t>(x.shape[i]), at = left % extent;
      left /= extent;
      const bool reduced = ((static_cast<unsigned>(u.attributes.ints[0]) >> i) & 1U) != 0;
      (reduced ? along : to) += at * (reduced ? run : step);
      (reduced ? run : step) *= extent;
    }
    visit(x.data[flat], to, along);
  }
}
inline void sum(const Use& u) {
  each_reduced(u, [&](double x, std::size_t to, std::size_t) { u.out.data[to] += x; });
}
inline void mean(const Use& u) {
  sum(u);
  const double n = static_cast<double>(u.in[0]->data.size()) / static_cast<double>(u.out.data.size());
  for (double& x : u.out.data) x /= n;
}
/// A reduction by `Join`; an empty one gives `Nothing`.
template <double Nothing(), double Join(double, double)>
void fold(const Use& u) {
  for (double& x : u.out.data) x = Nothing();
  each_reduced(u, [&](double x, std::size_t to, std::size_t) { u.out.data[to] = Join(u.out.data[to], x); });
}
inline double infinity() { return std::numeric_limits<double>::infinity(); }
inline double minus_infinity() { return -infinity(); }
inline double zero() { return 0; }
inline double one() { return 1; }
inline double lesser_of(double a, double b) { return -greater_of(-a, -b); }
inline double product_of(double a, double b) { return a * b; }
inline double either_of(double a, double b) { return a != 0 || b != 0 ? 1 : 0; }
inline double both_of(double a, double b) { return a != 0 && b != 0 ? 1 : 0; }

/// The first index of the maximum of sign * x; a NaN is the maximum.
template <int Sign>
void place(const Use& u) {
  std::vector<double> top(u.out.data.size(), minus_infinity());
  each_reduced(u, [&](double x, std::size_t to, std::size_t along) {
    x *= Sign;
    if (std::isnan(top[to]) || !(x > top[to] || std::isnan(x))) return;
    top[to] = x;
    u.out.data[to] = static_cast<double>(along);
  });
}

inline void matmul(const Use& u) {
  const Array &a = *u.in[0], &b = *u.in[1];
  const bool ta = u.attributes.ints[0] != 0, tb = u.attributes.ints[1] != 0;
  const std::int64_t n = u.out.shape.back(), m = n == 0 ? 0 : static_cast<std::int64_t>(u.out.data.size()) / n;
  const std::int64_t depth = ta ? a.shape[0] : a.shape.back();
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      double& c = u.out.data[static_cast<std::size_t>(i * n + j)];
      for (std::int64_t k = 0; k < depth; ++k) {
        c += a.data[static_cast<std::size_t>(ta ? k * m + i : i * depth + k)] *
             b.data[static_cast<std::size_t>(tb ? j * depth + k : k * n + j)];
      }
    }
  }
}

inline void broadcast_to(const Use& u) {
  for (std::size_t i = 0; i < u.out.data.size(); ++i) {
    u.out.data[i] = u.in[0]->data[broadcast_index(i, u.out.shape, *u.in[0])];
  }
}
inline void count(const Use& u) {
  double n = u.attributes.reals[0];
  for (std::size_t s = 0; s < max_symbols; ++s) {
    for (int p = 0; p < u.attributes.ints[s]; ++p) n *= static_cast<double>(u.dims[s]);
  }
  u.out.data[0] = n;
}
inline void copy(const Use& u) { u.out.data = u.in[0]->data; }

}  // namespace detail

CROCHET_ORACLE_INLINE std::map<const Op*, ElementRule> element_rules() {
  std::map<const Op*, ElementRule> rules{
      {&op::sigmoid_cross_entropy, detail::sigmoid_cross_entropy},
      {&op::identity, [](double a, double, double) { return a; }},
      {&op::stop_gradient, [](double a, double, double) { return a; }},
      {&op::with_dependencies, [](double a, double, double) { return a; }},
  };
  rules.merge(rules_of_arithmetic());
  return rules;
}

CROCHET_ORACLE_INLINE std::map<const Op*, ElementRule> integer_rules() { return rules_of_integers(); }

CROCHET_ORACLE_INLINE std::map<const Op*, KernelRule> kernel_rules() {
  std::map<const Op*, KernelRule> rules{
      {&op::reduce_sum, detail::sum},
      {&op::reduce_mean, detail::mean},
      {&op::reduce_max, detail::fold<detail::minus_infinity, detail::greater_of>},
      {&op::reduce_min, detail::fold<detail::infinity, detail::lesser_of>},
      {&op::reduce_prod, detail::fold<detail::one, detail::product_of>},
      {&op::reduce_any, detail::fold<detail::zero, detail::either_of>},
      {&op::reduce_all, detail::fold<detail::one, detail::both_of>},
      {&op::argmax, detail::place<1>},
      {&op::argmin, detail::place<-1>},
      {&op::matmul, detail::matmul},
      {&op::broadcast_to, detail::broadcast_to},
      {&op::count, detail::count},
      {&op::reshape, detail::copy},
      {&op::checkpoint, detail::copy},
      {&op::recompute_from, detail::copy},
  };
  add_array_rules(rules);
  add_random_rules(rules);
  add_window_rules(rules);
  add_attention_rules(rules);
  add_loss_rules(rules);
  add_normalization_rules(rules);
  rules.merge(rules_of_rows());
  return rules;
}

CROCHET_ORACLE_INLINE void apply_to_elements(const ElementRule& rule, const Use& u) {
  for (std::size_t i = 0; i < u.out.data.size(); ++i) {
    double x[3] = {};
    for (std::size_t k = 0; k < u.in.size(); ++k) {
      x[k] = u.in[k]->data[detail::broadcast_index(i, u.out.shape, *u.in[k])];
    }
    u.out.data[i] = rule(x[0], x[1], x[2]);
  }
}
CROCHET_ORACLE_INLINE void convert(Array& array, DType type) {
  if (is_floating(type)) return;
  for (double& x : array.data) x = detail::as(type, x);
}

}  // namespace crochet::testing
