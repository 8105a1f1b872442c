// SPDX-License-Identifier: Apache-2.0
// Random graphs of all operations. As a plan they compute what the Oracle computes, for any subset of their values, and
// their gradients are those of finite differences.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/model.hpp>

#include "plan_check.hpp"

namespace crochet {
namespace random_graphs_test {

class RandomGraph {
 public:
  RandomGraph(std::uint64_t seed, const Dims& dims) : numbers_(seed), dims_(dims) {
    const Extent batch = g_.dynamic("batch"), time = g_.dynamic("time");
    differentiates_ = below(2) == 0;
    for (const Shape& s : {Shape{batch, 4}, Shape{batch, time, 6}, Shape{batch, 5, 4, 2}, Shape{3, 4}, Shape{}}) {
      add(g_.placeholder<double>(next("x"), s));
    }
    for (const Shape& s : {Shape{4, 6}, Shape{6}, Shape{2, 2, 2, 3}, Shape{1, 4}, Shape{3, 1}, Shape{2}}) {
      variables_.push_back(g_.variable<double>(next("w"), s, zeros()));
      add(variables_.back());
    }
    for (const Shape& s : {Shape{batch}, Shape{4}, Shape{2, 3}}) {
      add(g_.placeholder<std::int32_t>(next("x"), s));
      add(g_.placeholder<bool>(next("x"), s));
    }
    const int n = 3 + below(20);
    while (made_ < n && tried_++ < 400) grow();
    if (differentiates_) differentiate();
  }

  /// A plan for some of the values, and for some of the assignments.
  std::string check_a_plan() {
    std::vector<std::string_view> fetched, targets;
    for (const PooledName& p : g_.graph().names) {
      const OpKind kind = g_.node(p.node).op->kind;
      if (kind != OpKind::group && below(3) == 0) fetched.push_back(g_.graph().text_of(p));
      if ((kind == OpKind::group || kind == OpKind::assign) && below(2) == 0) targets.push_back(g_.graph().text_of(p));
    }
    return check_plan(g_.graph(), dims_, fetched, targets, static_cast<std::uint64_t>(below(1000)));
  }

  /// Compares the derivative of the loss along a random direction of all variables. Not where the loss has a kink, and
  /// not where a value is not finite: a select that discards a NaN still multiplies its gradient with 0.
  std::string check_gradients() {
    if (!g_.has("loss")) return {};
    testing::Oracle oracle(g_.graph());
    for (const PooledName& s : g_.graph().symbols)
      oracle.set_dimension(g_.graph().text_of(s), dims_[static_cast<std::size_t>(s.node)]);
    for (const PooledName& p : g_.graph().names) {
      const Node& n = g_.node(p.node);
      if (n.is(op::placeholder)) oracle.feed(g_.graph().text_of(p), random_elements(n, dims_, numbers_));
      if (n.is(op::variable)) oracle.set(g_.graph().text_of(p), random_elements(n, dims_, numbers_));
    }
    std::vector<std::vector<double>> start, direction;
    for (const Tensor w : variables_) {
      start.push_back(oracle.variable(g_.name_of(w.id)));
      direction.push_back(numbers_.many(start.back().size()));
    }
    const auto loss_at = [&](double step) {
      for (std::size_t v = 0; v < variables_.size(); ++v) {
        std::vector<double>& w = oracle.variable(g_.name_of(variables_[v].id));
        for (std::size_t i = 0; i < w.size(); ++i) w[i] = start[v][i] + step * direction[v][i];
      }
      oracle.run({"loss"});
      return oracle.scalar("loss");
    };
    const auto quotient = [&](double step) { return (loss_at(step) - loss_at(-step)) / (2 * step); };
    const double coarse = quotient(1e-5), fine = quotient(2.5e-6), scale = std::fmax(1, std::abs(fine));
    loss_at(0);
    if (!(std::abs(coarse - fine) <= 1e-6 * scale) || !is_finite(oracle)) return {};
    double given = 0;
    for (std::size_t v = 0; v < variables_.size(); ++v) {
      const std::string name = "d " + std::string(g_.name_of(variables_[v].id));
      if (!g_.has(name)) continue;
      oracle.run({name});
      const std::vector<double>& d = oracle[name].data;
      for (std::size_t i = 0; i < d.size(); ++i) given += d[i] * direction[v][i];
    }
    ++checked;
    if (std::abs(given - fine) <= 1e-4 * scale) return {};
    return "the derivative should be " + std::to_string(fine) + ", is " + std::to_string(given);
  }

  static inline int checked = 0;  ///< derivatives that were compared

 private:
  /// Whether all values of the last run are.
  bool is_finite(const testing::Oracle& oracle) const {
    for (int i = 0; i < g_.size(); ++i) {
      const testing::Array* const a = oracle.computed(static_cast<std::size_t>(i));
      if (a != nullptr && !std::all_of(a->data.begin(), a->data.end(), [](double x) { return std::isfinite(x); }))
        return false;
    }
    return true;
  }
  int below(int n) { return numbers_.below(n); }
  std::string next(const char* what) { return what + std::to_string(count_++); }
  void add(Tensor t) { values_.push_back(t); }

  /// One of the last values that fits, or of all; throws if there is none.
  template <class Fits>
  Tensor any(Fits fits) {
    std::vector<Tensor> all;
    std::copy_if(values_.begin(), values_.end(), std::back_inserter(all), fits);
    if (all.empty()) throw GraphError("no value fits");
    const int n = static_cast<int>(all.size()), last = std::min(n, 5);
    return all[static_cast<std::size_t>(below(2) == 0 ? below(n) : n - 1 - below(last))];
  }
  Tensor real() {
    return any([](Tensor t) { return t.dtype() == DType::float64; });
  }
  Tensor real(std::size_t rank) {
    return any([=](Tensor t) { return t.dtype() == DType::float64 && t.shape().rank == rank; });
  }
  Tensor whole() {
    return any([](Tensor t) { return t.dtype() == DType::int32 || t.dtype() == DType::int64; });
  }
  Tensor flag() {
    return any([](Tensor t) { return t.dtype() == DType::boolean; });
  }
  Tensor like(Tensor a) {
    return any([=](Tensor t) { return t.dtype() == a.dtype() && t.shape() == a.shape(); });
  }
  Tensor parameter(const Shape& shape) { return g_.variable<double>(next("p"), shape, zeros(), false); }
  Extent last_of(Tensor t) { return t.shape().from_right(0); }
  int axis_of(Tensor t) { return below(std::max(1, static_cast<int>(t.shape().rank))); }

  void grow() {
    try {
      const Tensor t = make();
      if (t.shape().size().at(dims_) > 1500) return;
      add(t);
      ++made_;
      if (!g_.has("=" + std::to_string(t.id))) g_.name("=" + std::to_string(t.id), t);
    } catch (const GraphError&) {  // shapes and types that do not fit are skipped
    }
  }
  Tensor make() {
    switch (below(16)) {
      case 0:
      case 1:
        return of_one(real(), below(30));
      case 2:
      case 3:
      case 4:
        return of_two(real(), real(), below(17));
      case 5:
        return with_a_number(real(), below(12));
      case 6:
        return of_flags_and_integers(below(16));
      case 7:
      case 8:
        return reduction(real(), below(10));
      case 9:
      case 10:
        return product(below(9));
      case 11:
      case 12:
        return moved(below(4) == 0 ? whole() : real(), below(19));
      case 13:
        return by_index(below(9));
      case 14:
        return block(real(), below(16));
      default:
        return control(below(7));
    }
  }

  Tensor of_one(Tensor a, int what) {
    constexpr Tensor (*functions[])(Tensor) = {
        relu,   crochet::tanh, sigmoid,  softplus,       silu,           gelu,          gelu_tanh,
        selu,   hard_sigmoid,  softsign, crochet::sin,   crochet::cos,   crochet::erf,  crochet::erfc,
        square, crochet::abs,  sign,     crochet::floor, crochet::round, crochet::atan, crochet::asinh};
    if (what < 21) return functions[what](a);
    const Tensor positive = crochet::abs(a) + 0.5;
    switch (what) {
      case 21:
        return crochet::exp(crochet::tanh(a));
      case 22:
        return crochet::log(positive);
      case 23:
        return crochet::sqrt(positive);
      case 24:
        return rsqrt(positive);
      case 25:
        return reciprocal(positive);
      case 26:
        return crochet::log1p(positive);
      case 27:
        return leaky_relu(a, 0.25);
      case 28:
        return elu(a);
      default:
        return crochet::expm1(crochet::tanh(a));
    }
  }
  Tensor of_two(Tensor a, Tensor b, int what) {
    switch (what) {
      case 0:
        return a + b;
      case 1:
        return a - b;
      case 2:
      case 3:
        return a * b;
      case 4:
        return a / (crochet::abs(b) + 0.5);
      case 5:
        return maximum(a, b);
      case 6:
        return minimum(a, b);
      case 7:
        return squared_difference(a, b);
      case 8:
        return crochet::atan2(a, crochet::abs(b) + 0.25);
      case 9:
        return mod(a, crochet::abs(b) + 0.3);
      case 10:
        return floor_divide(a, crochet::abs(b) + 0.3);
      case 11:
        return crochet::pow(crochet::abs(a) + 0.5, crochet::tanh(b));
      case 12:
        return a * b + a;
      case 13:
        return -a * 0.5 * b;
      case 14:
        return select(greater(a, b), a, b);
      case 15:
        return (a * 2) / (b * b + 1);
      default:
        return (a - b) * (a + b);
    }
  }
  Tensor with_a_number(Tensor a, int what) {
    constexpr double numbers[] = {0, 1, 2, -1, 0.5, -0.25, 3};
    const double k = numbers[below(7)];
    switch (what) {
      case 0:
        return a + k;
      case 1:
        return a - k;
      case 2:
        return k - a;
      case 3:
        return a * k;
      case 4:
        return k * a;
      case 5:
        return a / 4;
      case 6:
        return maximum(a, k);
      case 7:
        return clip(a, -0.5, 0.75);
      case 8:
        return crochet::pow(crochet::abs(a) + 0.5, k);
      case 9:
        return -(a * k);
      case 10:
        return k / (crochet::abs(a) + 1);
      default:
        return a * 0.5 * 3;
    }
  }
  Tensor of_flags_and_integers(int what) {
    switch (what) {
      case 0:
        return greater(real(), real());
      case 1:
        return less_equal(real(), 0.25);
      case 2:
        return logical_and(flag(), flag());
      case 3:
        return logical_xor(flag(), logical_not(flag()));
      case 4:
        return select(flag(), real(), real());
      case 5:
        return select(flag(), whole(), whole());
      case 6:
        return cast<double>(flag());
      case 7:
        return cast<double>(whole());
      case 8:
        return cast<std::int32_t>(real() * 3);
      case 9:
        return whole() + whole();
      case 10:
        return whole() * whole() - 2;
      case 11:
        return floor_divide(whole(), 3) + mod(whole(), 3);
      case 12:
        return equal(whole(), whole());
      case 13:
        return reduce_any(flag(), {below(2)});
      case 14:
        return reduce_all(flag());
      default:
        return cast<double>(cast<float>(real() * 0.5));
    }
  }
  Tensor reduction(Tensor a, int what) {
    const int rank = static_cast<int>(a.shape().rank);
    const unsigned axes = rank == 0 ? 0U : 1U + static_cast<unsigned>(below((1 << rank) - 1));
    const bool keep = below(2) == 0;
    switch (what) {
      case 0:
      case 1:
        return detail::reduce(op::reduce_sum, a, axes, keep);
      case 2:
      case 3:
        return detail::reduce(op::reduce_mean, a, axes, keep);
      case 4:
        return detail::reduce(op::reduce_max, a, axes, keep);
      case 5:
        return detail::reduce(op::reduce_min, a, axes, keep);
      case 6:
        return detail::reduce(op::reduce_prod, a, axes, keep);
      case 7:
        return reduce_variance(a, {axis_of(a)}, KeepDims{keep});
      case 8:
        return cumulative_sum(a, axis_of(a), {.exclusive = keep, .reverse = below(2) == 0});
      default:
        return keep ? reduce_variance(a) : cast<double>(argmax(a, axis_of(a)));
    }
  }
  Tensor product(int what) {
    if (what < 3) return matmul(real(), real(), {.a = below(3) == 0, .b = below(3) == 0});
    if (what < 5) {
      const Tensor a = real();
      if (a.shape().rank < 2) throw GraphError("no matrix");
      return matmul(a, parameter({last_of(a), 1 + below(5)}));
    }
    if (what == 5) return scaled_dot_product_attention(real(3), real(3), real(3));
    if (what == 6) return self_attention(real(3), 1 + below(2), {.causal = below(2) == 0});
    const Tensor image = real(4);
    const Window stride{1 + below(2), 1 + below(2)};
    const Padding padding = below(2) == 0 ? Padding::same : Padding::valid;
    const Shape filter{1 + below(3), 1 + below(3), last_of(image), 1 + below(3)};
    if (what == 7) return conv2d(image, parameter(filter), stride, padding, {1 + below(2), 1});
    return depthwise_conv2d(image, parameter(filter), stride, padding);
  }
  Tensor moved(Tensor a, int what) {
    const int axis = axis_of(a), rank = static_cast<int>(a.shape().rank);
    switch (what) {
      case 0:
        return reshape(a, {rest});
      case 1:
        return reshape(a, {rest, 2});
      case 2:
        return flatten(a);
      case 3:
        return expand_dims(a, below(rank + 1));
      case 4:
        return squeeze(a, axis);
      case 5:
        return transpose(a);
      case 6:
        return swap_axes(a, axis, axis_of(a));
      case 7:
        return slice(a, axis, below(3), to_end, 1 + below(2));
      case 8:
        return slice(a, axis, -1, to_end, -1 - below(2));
      case 9:
        return slice(a, axis, below(2), 2);
      case 10:
        return reverse(a, axis);
      case 11:
        return concat({a, like(a), a}, axis);
      case 12:
        return stack({like(a), a}, below(rank + 1));
      case 13:
        return repeat(a, 2, axis);
      case 14:
        return rank == 2 ? tile(a, {2, 3}) : tile(a, {2, 1, 2});
      case 15:
        return rank == 2 ? pad(a, {{0, 0}, {1, 2}}, below(2)) : pad(a, {{0, 0}, {0, 0}, {2, 0}}, PadMode::reflect);
      case 16:
        return broadcast_to(a, real().shape());
      case 17:
        return split<2>(a, axis)[static_cast<std::size_t>(below(2))];
      default:
        return below(2) == 0 ? tril(a, below(2)) : triu(a);
    }
  }
  Tensor by_index(int what) {
    const Tensor a = real();
    const auto few = [&](const Shape& shape) { return g_.placeholder<std::int32_t>(next("x"), shape); };
    switch (what) {
      case 0:
      case 1:
        return gather(a, whole(), axis_of(a));
      case 2: {
        Shape s = a.shape();
        const int axis = axis_of(a);
        s[static_cast<std::size_t>(axis)] = 1 + below(4);
        return take_along(a, few(s), axis);
      }
      case 3:
        if (a.shape().rank == 0) throw GraphError("no axis");
        return segment_sum(a, few({a.shape()[0]}), 1 + below(5));
      case 4:
        return one_hot<double>(whole(), 1 + below(5));
      case 5:
        return top_k(a, 1 + below(3)).values;
      case 6:
        return top_k(a, 1 + below(3)).indices;
      case 7:
        return iota<double>(g_, 1 + below(6), below(3), below(3) - 1);
      default:
        return a * cast<double>(argmin(a, axis_of(a)));
    }
  }
  Tensor block(Tensor a, int what) {
    const Extent width = last_of(a);
    if (what >= 8 && what < 12 && !width.is_static()) throw GraphError("the width is dynamic");
    switch (what) {
      case 0:
        return softmax(a, axis_of(a));
      case 1:
        return log_softmax(a, axis_of(a));
      case 2:
        return logsumexp(a, axis_of(a), KeepDims{below(2) == 0});
      case 3:
        return mean_squared_error(a, like(a));
      case 4:
        return mean_absolute_error(a, like(a), per_example);
      case 5:
        return huber_loss(a, like(a));
      case 6:
        return sigmoid_cross_entropy(a, like(a), per_example);
      case 7:
        return softmax_cross_entropy(a, a * 0 + 0.25, per_example);
      case 8:
        return layer_norm(a, parameter({width}), parameter({width}), {.epsilon = 0.1});
      case 9:
        return rms_norm(a, parameter({width}), {.epsilon = 0.1});
      case 10:
        return batch_norm_of_batch(a, parameter({width}), parameter({width}), {.epsilon = 0.1}).y;
      case 11:
        return batch_norm(a, parameter({width}), parameter({width}), parameter({width}), square(parameter({width})),
                          {.epsilon = 0.1});
      case 12:
        return group_norm(real(4), 1, parameter({2}), parameter({2}), {.epsilon = 0.1});
      case 13:
        return max_pool(relu(real(4) + parameter({2})), {2, 2}, {1 + below(2), 2}, Padding::same);
      case 14:
        return max_pool(real(4), {2, 1 + below(2)}, {2, 1}, below(2) == 0 ? Padding::same : Padding::valid);
      default:
        return average_pool(real(4), {2, 2}, {1 + below(2), 2}, Padding::same);
    }
  }
  Tensor control(int what) {
    switch (what) {
      case 0:
        return identity(real());
      case 1:
        return differentiates_ ? real() + 0 : stop_gradient(real());  // differences do not stop
      case 2:
        return checkpoint(real());
      case 3:
        return again();
      default:
        return differentiates_ ? checkpoint(real()) : assign();
    }
  }
  /// A value that is computed a second time.
  Tensor again() {
    const Tensor a = real();
    const Node n = g_.node(a);
    return n.op->kind == OpKind::source ? a : g_.repeat(n, a.id);
  }
  Tensor assign() {
    const Tensor w = variables_[static_cast<std::size_t>(below(static_cast<int>(variables_.size())))];
    return g_.assign(w, crochet::tanh(below(2) == 0 ? w * 0.5 : like(w)) + 0.25);
  }
  /// A loss of some values, its gradients, and its training.
  void differentiate() {
    Tensor loss = reduce_mean(square(variables_[0]));
    for (int i = 0; i < 3; ++i) {
      const Tensor a = real();
      loss = loss + (below(2) == 0 ? reduce_mean(square(a)) : reduce_sum(crochet::tanh(a) * 0.5));
    }
    g_.name("loss", loss);
    const ConstexprVector<int> all = gradients(loss);
    for (const Tensor w : variables_) {
      const int id = all[static_cast<std::size_t>(w.id)];
      if (id >= 0) g_.name("d " + std::string(g_.name_of(w.id)), broadcast_to({&g_, id}, w.shape()));
    }
    if (below(2) == 0)
      g_.name("train", minimize(loss, SGD{0.1}));
    else
      g_.name("train", minimize(loss, Adam{0.1}, {.clip = ClipByGlobalNorm{1}}));
  }

  Numbers numbers_;
  Dims dims_;
  GraphBuilder g_;
  std::vector<Tensor> values_, variables_;
  bool differentiates_ = false;
  int count_ = 0, made_ = 0, tried_ = 0;
};

/// Every third graph is one of the smallest sizes.
Dims dims_of(std::uint64_t seed) { return seed % 3 == 0 ? Dims{1, 2, 1, 1} : Dims{3, 5, 1, 1}; }

TEST(RandomGraphs, ComputeAsPlansWhatTheOracleComputes) {
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= 1500 && failures < 5; ++seed) {
    RandomGraph graph(seed, dims_of(seed));
    for (int demand = 0; demand < 2; ++demand) {
      const std::string wrong = graph.check_a_plan();
      failures += wrong.empty() ? 0 : 1;
      EXPECT_EQ(wrong, "") << "seed " << seed;
    }
  }
}

TEST(RandomGraphs, HaveTheGradientsOfFiniteDifferences) {
  int failures = 0;
  for (std::uint64_t seed = 1501; seed <= 3000 && failures < 5; ++seed) {
    const std::string wrong = RandomGraph(seed, dims_of(seed)).check_gradients();
    failures += wrong.empty() ? 0 : 1;
    EXPECT_EQ(wrong, "") << "seed " << seed;
  }
  EXPECT_GT(RandomGraph::checked, 500);
}

}  // namespace random_graphs_test
}  // namespace crochet
