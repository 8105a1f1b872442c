// SPDX-License-Identifier: Apache-2.0
// fold: constant folding and algebraic simplification. Evaluates arithmetic on constants, removes operations without
// effect, and moves constant factors that are powers of two, or signs, along products to combine them with others,
// which gradients contain often. These rewrites preserve the result, also for NaN and infinity, up to the rounding of
// one constant; but x * y in place of x * c * y may overflow or underflow within a factor of 10^4 of the type's limits.
// Normalisation by given statistics becomes elementwise (given_norm.hpp), up to the rounding of a product
// and a sum.
#pragma once
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/ops/control.hpp>
#include <crochet/graph/passes/given_norm.hpp>
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet {

namespace detail {
class Folder {
 public:
  constexpr explicit Folder(Subgraph& g) : g_(g) {}

  /// `fetched`: whether the node's value is fetched. A copy of a variable or placeholder must then stay: a fetched
  /// variable is its value after the run, and a fetched placeholder the caller's memory. `own`: the inputs without
  /// other users, as bits.
  constexpr int place(const Node& n, bool fetched, unsigned own) {
    if (is_given_norm(n)) return place_given_norm(g_, n);
    if (n.op->kind != OpKind::elementwise) return append(g_, n);
    if (is_constant(n.inputs[0]) && (n.inputs[1] < 0 || is_constant(n.inputs[1])) && n.inputs[2] < 0) {
      double value = 0;
      if (evaluate(n, value)) return constant(n.dtype, value, n.origin);
    }
    const int same = unchanged(n);
    if (same >= 0 && !(fetched && is_outside(same)) && !in_panels(same)) return same;
    const int product = without_factor(n, own);
    return product >= 0 ? product : merge(n);
  }

 private:
  constexpr const Node& node(int i) const { return g_.nodes.data()[i]; }
  constexpr bool is_outside(int i) const { return node(i).is(op::variable) || node(i).is(op::placeholder); }
  /// The copy stays, because a kernel that reads row-major memory only may read it.
  constexpr bool in_panels(int i) const { return node(i).layout == Layout::panels; }
  constexpr bool is_constant(int i) const { return i >= 0 && node(i).is(op::constant); }
  constexpr bool is_constant(int i, double value) const {
    return is_constant(i) && node(i).attributes.reals[0] == value;
  }
  constexpr int constant(DType dtype, double value, std::int32_t origin = -1) {
    return append(
        g_, {.op = &op::constant, .dtype = dtype, .shape = {}, .attributes = {.reals = {value, 0}}, .origin = origin});
  }

  static constexpr double magnitude(double x) { return x < 0 ? -x : x; }
  /// Whether the compiler can compute with the number: no operation then overflows, which would be a compile error.
  static constexpr bool moderate(double x) { return x == 0 || (magnitude(x) > 1e-100 && magnitude(x) < 1e100); }
  static constexpr bool near_one(double x) { return magnitude(x) > 1e-4 && magnitude(x) < 1e4; }
  /// Whether the type can represent the number; a floating type up to rounding.
  static constexpr bool holds(DType type, double x) {
    constexpr double exact = 0x1p53;
    switch (type) {
      case DType::float32:
        return x == 0 || (magnitude(x) > 0x1p-126 && magnitude(x) < 0x1p127);
      case DType::float64:
        return true;
      case DType::int32:
        return x >= -0x1p31 && x < 0x1p31;
      case DType::int64:
        return magnitude(x) < exact;
      case DType::uint8:
        return x >= 0 && x < 256;
      case DType::boolean:
      case DType::bfloat16:  // it would be rounded
        return false;
    }
    return false;
  }

  /// Evaluates an operation on constants. Returns false if it has to be done at run time.
  constexpr bool evaluate(const Node& n, double& out) const {
    const double a = node(n.inputs[0]).attributes.reals[0];
    const double b = n.inputs[1] >= 0 ? node(n.inputs[1]).attributes.reals[0] : 0;
    return moderate(a) && moderate(b) && compute(n, a, b, out) && holds(n.dtype, out);
  }
  static constexpr bool compute(const Node& n, double a, double b, double& out) {
    if (n.is(op::cast)) return is_floating(n.dtype) && (out = a, true);
    if (n.is(op::sqrt)) return a >= 0 && (out = square_root(a), true);
    if (n.is(op::neg)) return out = -a, true;
    if (n.is(op::square)) return out = a * a, true;
    if (n.is(op::add)) return out = a + b, true;
    if (n.is(op::sub)) return out = a - b, true;
    if (n.is(op::mul)) return out = a * b, true;
    if (n.is(op::div) && is_floating(n.dtype)) return b != 0 && (out = a / b, true);
    return false;
  }

  /// The input that the operation only copies, or -1. x + 0 is not simplified, because -0 + 0 is 0.
  constexpr int unchanged(const Node& n) const {
    const int a = n.inputs[0], b = n.inputs[1];
    if ((n.is(op::mul) || n.is(op::div)) && is_constant(b, 1) && node(a).shape == n.shape) return a;
    if (n.is(op::mul) && is_constant(a, 1) && node(b).shape == n.shape) return b;
    if (n.is(op::sub) && is_constant(b, 0) && node(a).shape == n.shape) return a;
    if (n.is(op::neg) && node(a).is(op::neg)) return node(a).inputs[0];
    if (n.is(op::identity) || n.is(op::stop_gradient)) return a;
    return -1;
  }

  /// (x * c) * d becomes x * (c * d), with constants on the right. Not done if x * c could overflow or underflow while
  /// x * c * d does not, except within a few digits of the limits: there the merged product is the more exact one.
  constexpr Node merged(Node n) {
    if (n.is(op::neg)) return negated(n);
    if (!n.is(op::mul)) return n;
    if (is_constant(n.inputs[0])) std::swap(n.inputs[0], n.inputs[1]);
    if (!is_constant(n.inputs[1]) || !is_floating(n.dtype)) return n;
    const Node inner = node(n.inputs[0]);
    if (inner.is(op::neg) && inner.shape == n.shape) {
      n.inputs[0] = inner.inputs[0];
      n.inputs[1] = constant(n.dtype, -node(n.inputs[1]).attributes.reals[0]);
      return merged(n);
    }
    if (!inner.is(op::mul) || !is_constant(inner.inputs[1])) return n;
    const double c = node(inner.inputs[1]).attributes.reals[0], d = node(n.inputs[1]).attributes.reals[0];
    if (!moderate(c) || !moderate(d) || !holds(n.dtype, c * d) ||
        !(near_one(c) || (magnitude(c) > 1) == (magnitude(d) > 1)))
      return n;
    n.inputs[0] = inner.inputs[0];
    n.inputs[1] = constant(n.dtype, c * d);
    return n;
  }

  /// Appends n with its constants merged, or returns its input if nothing is left of n.
  constexpr int merge(const Node& n) {
    const Node m = merged(n);
    const int same = unchanged(m);
    return same >= 0 && !is_outside(same) && !in_panels(same) ? same : append(g_, m);
  }

  /// -(x * c) is x * -c.
  constexpr Node negated(Node n) {
    const Node inner = node(n.inputs[0]);
    if (!is_floating(n.dtype) || !inner.is(op::mul) || !is_constant(inner.inputs[1]) || !(inner.shape == n.shape))
      return n;
    n.op = &op::mul;
    n.inputs[0] = inner.inputs[0];
    n.inputs[1] = constant(n.dtype, -node(inner.inputs[1]).attributes.reals[0]);
    return n;
  }

  /// (x * c) * y becomes (x * y) * c, and (x * c) / y becomes (x / y) * c, where c is a sign or a small power of two,
  /// so nothing is rounded. Not done if x * c has other users, or if x has fewer elements than the product
  /// (broadcasting).
  constexpr int without_factor(const Node& n, unsigned own) {
    if (!is_floating(n.dtype) || !(n.is(op::mul) || n.is(op::div))) return -1;
    for (std::size_t k = 0; k < (n.is(op::mul) ? 2U : 1U); ++k) {
      const Node factor = node(n.inputs[k]);
      if ((own >> k & 1U) == 0 || !(factor.shape == n.shape) || !is_exact_factor(factor)) continue;
      Node rest = n;
      rest.inputs[k] = factor.inputs[0];
      if (!(node(rest.inputs[k]).shape == n.shape) || is_constant(n.inputs[1 - k])) continue;
      const int less = without_factor(rest, own & ~(1U << k));
      Node product = factor;
      product.inputs[0] = less >= 0 ? less : append(g_, rest);
      return merge(product);
    }
    return -1;
  }
  constexpr bool is_exact_factor(const Node& n) const {
    if (n.is(op::neg)) return true;
    return n.is(op::mul) && is_constant(n.inputs[1]) && is_power_of_two(node(n.inputs[1]).attributes.reals[0]);
  }
  static constexpr bool is_power_of_two(double c) {
    double p = magnitude(c);
    if (!near_one(p)) return false;
    while (p < 1) p *= 2;
    while (p > 1) p /= 2;
    return p == 1;
  }

  Subgraph& g_;
};

/// The number of users, by node.
constexpr ConstexprVector<int> count_users(const SubgraphView& g) {
  ConstexprVector<int> users(g.nodes.size(), 0);
  int* const of = users.data();
  for (const Node& n : g.nodes) {
    for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) ++of[n.inputs[k]];
  }
  for (int f : g.fetched) ++of[f];
  for (int t : g.targets) ++of[t];
  return users;
}
}  // namespace detail

constexpr Subgraph fold(const SubgraphView& g) {
  ConstexprVector<char> fetched(g.nodes.size(), 0);
  for (int f : g.fetched) fetched[detail::at(f)] = 1;
  const ConstexprVector<int> counted = detail::count_users(g);
  const int* const users = counted.data();
  return detail::rewrite(g, [&](Subgraph& to, const Node& n, int old) {
    const Node& before = g.nodes.data()[old];
    unsigned own = 0;
    for (unsigned k = 0; k < 2; ++k) own |= before.inputs[k] >= 0 && users[before.inputs[k]] == 1 ? 1U << k : 0U;
    return detail::Folder(to).place(n, fetched[detail::at(old)] != 0, own);
  });
}

}  // namespace crochet
