// SPDX-License-Identifier: Apache-2.0
// pool_first: moves max pooling before the addition of a bias per channel and before relu. Both are monotonic, also
// after rounding, so the results are equal. A bias and relu between a convolution and its pooling are then computed at
// the pooled size, and so are the sums and masks of their gradients.
//
//   max_pool(relu(x + b))                     becomes  relu(max_pool(x) + b) =: y
//   which of relu(x + b) wins                 becomes  which of x wins; where they differ, elements were equal but for
//                                                      rounding, or are clipped and get no gradient, if all that reads
//                                                      their gradients is the gradient of relu, or a sum over all
//                                                      pixels
//   unpool(u) where relu(x + b) is positive   becomes  unpool(u where y is positive)
//   the sum of unpool(u) over all pixels      becomes  the sum of u
//   a filter's gradient, from unpool(u)       takes    u and the winners
#pragma once
#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/ops/conv.hpp>
#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/graph/ops/pool.hpp>
#include <crochet/graph/passes/subgraph.hpp>

namespace crochet {

namespace detail {
class PoolMover {
 public:
  constexpr explicit PoolMover(const SubgraphView& from) : from_(from) {}

  /// Appends the replacement of n, which was node i, and returns its index.
  constexpr int place(Subgraph& to, Node n, int i) {
    to_ = &to;
    if (n.is(op::max_pool)) {
      const int image = n.inputs[0], result = pooled(image, n);
      pools_.push_back({image, result, n.attributes});
      return result;
    }
    if (n.is(op::max_pool_winners)) {
      const int image = n.inputs[0];
      n.inputs[0] = behind(image, gradients_are_masked(i));
      const int winners = append(*to_, n);
      winners_.push_back({image, winners, n.attributes});
      return winners;
    }
    if (n.is(op::relu_gradient)) return masked(n);
    if (n.is(op::reduce_sum)) n.inputs[0] = summed(n);
    if (n.is(op::conv2d_filter_gradient)) read_pooled(n);
    return append(*to_, n);
  }

 private:
  /// A pooling or its winners, and the original image.
  struct Pool {
    int image, result;
    Attributes window;
  };

  constexpr const Node& node(int i) const { return to_->nodes[at(i)]; }
  /// Whether node i has one element per channel, or a single one.
  constexpr bool is_by_channel(int i) const {
    for (std::size_t d = 1; d < node(i).shape.rank; ++d) {
      if (!node(i).shape.from_right(d).is_one()) return false;
    }
    return true;
  }
  /// The input through which node i passes elements on, if it is an addition by channel or relu; otherwise -1.
  constexpr int moved_input(int i) const {
    const Node& n = node(i);
    if (n.is(op::relu)) return 0;
    if (!n.is(op::add)) return -1;
    for (const int k : {0, 1}) {
      if (node(n.inputs[k]).shape == n.shape && is_by_channel(n.inputs[1 - k])) return k;
    }
    return -1;
  }
  constexpr int behind(int image, bool also_relu) const {
    for (int k = moved_input(image); k >= 0 && (also_relu || !node(image).is(op::relu)); k = moved_input(image)) {
      image = node(image).inputs[k];
    }
    return image;
  }
  /// Whether the gradient of a clipped element that wins reaches nothing: of node i of the original graph, winners.
  constexpr bool gradients_are_masked(int i) const {
    for (std::size_t g = 0; g < from_.nodes.size(); ++g) {
      const Node& n = from_.nodes.data()[g];
      if (n.is(op::max_pool_gradient) && n.inputs[1] == i && !is_masked(static_cast<int>(g))) return false;
    }
    return true;
  }
  /// Whether all that reads the unpooled gradient g are gradients of relu and sums over all pixels.
  constexpr bool is_masked(int g) const {
    for (const int f : from_.fetched) {
      if (f == g) return false;
    }
    for (const Node& n : from_.nodes) {
      for (std::size_t k = 0; k < max_inputs && n.inputs[k] >= 0; ++k) {
        if (n.inputs[k] == g && !(k == 0 && (n.is(op::relu_gradient) || sums_all_pixels(n)))) return false;
      }
    }
    return true;
  }
  static constexpr bool sums_all_pixels(const Node& n) {
    constexpr std::int32_t all_pixels = 0b0111;
    return n.is(op::reduce_sum) && (n.attributes.ints[0] & all_pixels) == all_pixels;
  }

  /// Pools the image before the additions and relus that lead to it, and applies those to the result.
  constexpr int pooled(int image, Node pool) {
    const int k = moved_input(image);
    if (k < 0) {
      pool.inputs[0] = image;
      return append(*to_, pool);
    }
    Node after = node(image);
    after.shape = pool.shape;
    after.origin = pool.origin;
    after.inputs[k] = pooled(after.inputs[k], pool);
    return append(*to_, after);
  }

  /// Masks an upstream gradient where the result of the pooling is not positive, instead of where relu's is not.
  constexpr int masked(const Node& n) {
    const Node& unpooled = node(n.inputs[0]);
    const int image = n.inputs[1];
    const Pool* pool = find(pools_, image, unpooled.attributes);
    const Pool* winners = find(winners_, image, unpooled.attributes);
    if (!unpooled.is(op::max_pool_gradient) || !node(image).is(op::relu) || pool == nullptr || winners == nullptr ||
        winners->result != unpooled.inputs[1]) {
      return append(*to_, n);
    }
    Node mask = n, result = unpooled;
    mask.shape = node(unpooled.inputs[0]).shape;
    mask.inputs[0] = unpooled.inputs[0];
    mask.inputs[1] = pool->result;
    result.inputs[0] = append(*to_, mask);
    result.origin = n.origin;
    return append(*to_, result);
  }
  static constexpr const Pool* find(const ConstexprVector<Pool>& pools, int image, const Attributes& window) {
    for (const Pool& p : pools) {
      if (p.image == image && p.window == window) return &p;
    }
    return nullptr;
  }

  /// The tensor that may be summed instead of an unpooled gradient.
  constexpr int summed(const Node& sum) const {
    const Node& x = node(sum.inputs[0]);
    return x.is(op::max_pool_gradient) && sums_all_pixels(sum) ? x.inputs[0] : sum.inputs[0];
  }

  /// Makes the gradient of a filter read the pooling's upstream and winners, if its windows do not overlap.
  constexpr void read_pooled(Node& n) const {
    const Node& x = node(n.inputs[1]);
    if (!x.is(op::max_pool_gradient) || n.inputs[2] >= 0) return;
    const Shape& pooled = node(x.inputs[0]).shape;
    const auto* window = x.attributes.ints;
    for (const std::size_t i : {0U, 1U}) {
      const bool tiled = window[i] == window[2 + i] && pooled[1 + i].factor * window[i] == x.shape[1 + i].factor;
      if (!tiled || window[i] >= 1 << 15) return;
    }
    n.inputs[1] = x.inputs[0];
    n.inputs[2] = x.inputs[1];
    n.attributes.ints[7] = (window[0] << 16) + window[1];
  }

  SubgraphView from_;
  Subgraph* to_ = nullptr;
  ConstexprVector<Pool> pools_, winners_;
};
}  // namespace detail

/// Whether the pass has any effect.
constexpr bool has_pools(const SubgraphView& g) {
  const Node* n = g.nodes.data();
  const Node* const end = n + g.nodes.size();
  while (n != end && n->op != &op::max_pool && n->op != &op::max_pool_winners) ++n;
  return n != end;
}

constexpr Subgraph pool_first(const SubgraphView& g) {
  if (!has_pools(g)) return detail::copied(g);
  detail::PoolMover mover(g);
  return detail::rewrite(g, [&](Subgraph& to, const Node& n, int i) { return mover.place(to, n, i); });
}

}  // namespace crochet
