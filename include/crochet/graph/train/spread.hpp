// SPDX-License-Identifier: Apache-2.0
// How the values of a graph differ between ranks that each have a part of the rows of a batch, and how the value of the
// whole batch is made of theirs. One pass over the node table.
#pragma once
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/ops/control.hpp>
#include <crochet/graph/ops/over_ranks.hpp>
#include <crochet/graph/ops/parts_of_ranks.hpp>
#include <crochet/graph/ops/random.hpp>
#include <crochet/graph/ops/reduce.hpp>
#include <crochet/graph/ops/reductions.hpp>

namespace crochet {

enum class Spread : std::uint8_t {
  same,   ///< equal on all ranks
  rows,   ///< row i (index i along dimension 0) is a function of row i of the batch: a rank has its part of the rows
  mean,   ///< a mean over the rows: that of the batch is the mean of the ranks' values, weighted by their rows
  sum,    ///< a sum over the rows: that of the batch is the sum of the ranks' values
  other,  ///< differs between ranks in another way
};

namespace detail {
class SpreadPass {
 public:
  constexpr explicit SpreadPass(const Graph& g) : g_(g) {}

  constexpr ConstexprVector<Spread> run(int last) {
    of_.reserve(static_cast<std::size_t>(last) + 1);
    for (int i = 0; i <= last; ++i) of_.push_back(find(i));
    return std::move(of_);
  }

 private:
  constexpr const Node& node(int i) const { return g_.nodes.data()[i]; }
  constexpr Spread of(int i) const { return of_.data()[i]; }
  static constexpr bool has_rows(const Node& n) { return n.shape.rank > 0 && !n.shape[0].is_static(); }

  static constexpr bool is_over_ranks(const Node& n) {
    return n.is(op::mean_over_ranks) || n.is(op::sum_over_ranks) || n.is(op::begin_over_ranks) ||
           n.is(op::end_over_ranks) || n.is(op::gather_over_ranks);
  }

  constexpr Spread find(int i) const {
    const Node& n = node(i);
    if (is_over_ranks(n) || n.op->kind == OpKind::group) return Spread::same;
    if (n.is(op::assign)) return of(n.inputs[1]);
    if (n.is(op::placeholder)) return n.shape.rank == 0 ? Spread::same : has_rows(n) ? Spread::rows : Spread::other;
    if (n.is(op::variable)) return GraphBuilder::is_of_one_rank(n.attributes) ? Spread::other : Spread::same;
    if (n.is(op::part_of_rank) || n.is(op::scatter_over_ranks)) return Spread::other;
    if (n.is(op::count)) return Spread::sum;
    if (n.is(op::random_uniform) || n.is(op::random_normal) || n.is(op::random_bool)) {
      return has_rows(n) ? Spread::rows : Spread::same;
    }
    bool all_same = true;
    for (int in : n.inputs) all_same = all_same && (in < 0 || of(in) == Spread::same);
    if (!all_same) return of_inputs(n);
    if (!has_rows(n)) return Spread::same;
    return n.inputs[0] < 0 ? Spread::other : Spread::rows;
  }

  constexpr Spread of_inputs(const Node& n) const {
    if (n.op->reduces || n.is(op::argmax) || n.is(op::argmin)) return of_reduction(n);
    if (n.op->kind == OpKind::elementwise) return of_elementwise(n);
    const Spread first = of(n.inputs[0]);
    if (n.op->kind == OpKind::view) return first == Spread::rows && !has_rows(n) ? Spread::other : first;
    return works_by_rows(n) ? Spread::rows : Spread::other;
  }

  constexpr Spread of_reduction(const Node& n) const {
    const Spread in = of(n.inputs[0]);
    const bool mean = n.is(op::reduce_mean), sum = n.is(op::reduce_sum);
    if (in == Spread::rows) {
      if ((n.attributes.ints[0] & 1) == 0) return Spread::rows;
      return mean ? Spread::mean : sum ? Spread::sum : Spread::other;
    }
    return mean || sum ? in : Spread::other;
  }

  constexpr Spread of_elementwise(const Node& n) const {
    const Spread a = of(n.inputs[0]);
    if (n.inputs[1] < 0) {
      const bool linear =
          n.is(op::neg) || (n.is(op::cast) && keeps_sums(n)) || n.is(op::identity) || n.is(op::stop_gradient);
      return a == Spread::rows || linear ? a : Spread::other;
    }
    if (n.is(op::with_dependencies)) return a;
    if (has_rows(n) && by_rows(n)) return Spread::rows;
    return n.inputs[2] < 0 ? of_two(n, a, of(n.inputs[1])) : Spread::other;
  }
  /// Whether a cast of a sum is the sum of casts, up to rounding of floats.
  constexpr bool keeps_sums(const Node& cast) const {
    if (cast.dtype == DType::boolean) return false;
    return is_floating(cast.dtype) || !is_floating(node(cast.inputs[0]).dtype);
  }
  constexpr bool by_rows(const Node& n) const {
    for (int in : n.inputs) {
      if (in >= 0 && of(in) != Spread::same &&
          !(of(in) == Spread::rows && node(in).shape[0] == n.shape[0] && node(in).shape.rank == n.shape.rank))
        return false;
    }
    return true;
  }
  constexpr Spread of_two(const Node& n, Spread a, Spread b) const {
    if (n.is(op::add) || n.is(op::sub)) {
      const bool means = (a == Spread::mean || a == Spread::same) && (b == Spread::mean || b == Spread::same);
      return means ? Spread::mean : a == Spread::sum && b == Spread::sum ? Spread::sum : Spread::other;
    }
    if (n.is(op::div) && !is_floating(n.dtype)) return Spread::other;  // rounds
    if (n.is(op::mul) && a == Spread::same && (b == Spread::mean || b == Spread::sum)) return b;
    const bool scales = n.is(op::mul) || n.is(op::div);
    if (scales && b == Spread::same && (a == Spread::mean || a == Spread::sum)) return a;
    if (n.is(op::div) && a == Spread::sum && node(n.inputs[1]).is(op::count)) return Spread::mean;
    return Spread::other;
  }

  constexpr bool works_by_rows(const Node& n) const {
    if (!has_rows(n) || n.op->itemwise == nullptr) return false;
    const unsigned split = n.op->itemwise(n.attributes);
    for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
      const Spread in = of(n.inputs[k]);
      if (in != Spread::same && !(in == Spread::rows && (split >> k & 1U) != 0)) return false;
    }
    return true;
  }

  const Graph& g_;
  ConstexprVector<Spread> of_;
};
}  // namespace detail

/// The spread of every node up to `last`.
constexpr ConstexprVector<Spread> find_spreads(const GraphBuilder& g, int last) {
  return detail::SpreadPass(g.graph()).run(last);
}

/// The value of the whole batch.
constexpr Tensor of_whole_batch(Tensor x, Spread spread) {
  return spread == Spread::mean ? mean_over_ranks(x) : spread == Spread::sum ? sum_over_ranks(x) : x;
}

}  // namespace crochet
