// SPDX-License-Identifier: Apache-2.0
// Gradients of softmax, its relatives, losses, normalizations and attention, against finite differences in double.
#include "gradient_cases.hpp"

namespace crochet {
namespace nn_gradients_test {

TEST(Gradient, OfSoftmaxAndItsKin) {
  for (const Shape& shape : {Shape{1}, Shape{5}, Shape{3, 1}, Shape{4, 7}, Shape{2, 3, 5}}) {
    for (int axis = -1; axis >= -static_cast<int>(shape.rank); --axis) {
      check_gradients("softmax", [&](Case& c) { return softmax(c.x(shape, {-3, 3}), axis); });
      check_gradients("log_softmax", [&](Case& c) { return log_softmax(c.x(shape, {-3, 3}), axis); });
      check_gradients("logsumexp", [&](Case& c) { return logsumexp(c.x(shape, {-3, 3}), axis); });
      check_gradients("kept", [&](Case& c) { return logsumexp(c.x(shape, {-3, 3}), axis, keep_dims); });
    }
  }
}

Tensor classes(Case& c, const Shape& shape, int count) {
  const Tensor any = cast<std::int32_t>(c.fixed(shape) * (0.9 * count));  // |any| is in 0 ... count - 1
  return select(less(any, any.graph->constant<std::int32_t>(0)), -any, any);
}

TEST(Gradient, OfCrossEntropiesOfAnyRank) {
  for (const Shape& rows : {Shape{}, Shape{1}, Shape{4}, Shape{2, 3}}) {
    for (int count : {1, 3, 17}) {
      Shape all = rows;
      all.push_back(count);
      check_gradients("sparse", [&](Case& c) {
        return sparse_softmax_cross_entropy(c.x(all, {-3, 3}), classes(c, rows, count), per_example);
      });
      check_gradients("probabilities", [&](Case& c) {
        return softmax_cross_entropy(c.x(all, {-3, 3}), square(c.fixed(all)), per_example);
      });
      check_gradients("weighted", [&](Case& c) {
        return sparse_softmax_cross_entropy(c.x(all, {-3, 3}), classes(c, rows, count), square(c.x(rows)));
      });
    }
  }
}

TEST(Gradient, OfLossesByElement) {
  const Shape s{5, 3};
  check_gradients("sigmoid", [&](Case& c) {
    return sigmoid_cross_entropy(c.x(s, {-3, 3}), c.x(s, {0, 1}), per_example);
  });
  check_gradients("sigmoid mean", [&](Case& c) { return sigmoid_cross_entropy(c.x(s) * 20, c.x(s)); });
  check_gradients("squared", [&](Case& c) { return mean_squared_error(c.x(s), c.x(s), per_example); });
  check_gradients("absolute", [&](Case& c) {
    return mean_absolute_error(c.x(s, {0.1, 1}), c.x(s, {2, 3}), square(c.x({5})));
  });
  check_gradients("huber", [&](Case& c) { return huber(c.x(s), c.x(s, {-2, 2}), {.delta = 0.7}); });
  check_gradients("huber mean", [&](Case& c) { return huber_loss(c.x(s), c.x(s), square(c.x({5}))); });
}

// Composed of elementwise operations it is max(z, 0) - z p + ...: the rules of these would give a slope other than 1/2
// - p at 0.
TEST(Gradient, OfSigmoidCrossEntropyAtZero) {
  GraphBuilder g;
  const Tensor z = g.variable<double>("z", {1}, zeros()), p = g.constant(0.25);
  g.name("d", gradient(sigmoid_cross_entropy(z, broadcast_to(p, {1})), z));
  testing::Oracle oracle(g.graph());
  oracle.run({"d"});
  EXPECT_DOUBLE_EQ(oracle["d"].data[0], 0.25);
}

TEST(Gradient, OfNormalizations) {
  for (const Shape& shape : {Shape{7}, Shape{4, 5}, Shape{2, 3, 4}}) {
    const Shape channels{shape[shape.rank - 1]};
    check_gradients("layer_norm", [&](Case& c) { return layer_norm(c.x(shape), c.x(channels), c.x(channels)); });
    check_gradients("rms_norm", [&](Case& c) { return rms_norm(c.x(shape), c.x(channels)); });
    if (shape.rank < 2) continue;
    check_gradients("batch_norm",
                    [&](Case& c) { return batch_norm_of_batch(c.x(shape), c.x(channels), c.x(channels)).y; });
    check_gradients("fixed batch_norm", [&](Case& c) {
      return batch_norm(c.x(shape), c.x(channels), c.x(channels), c.fixed(channels), square(c.fixed(channels)));
    });
  }
  for (const std::int32_t groups : {1, 2, 6}) {
    check_gradients("group_norm", [&](Case& c) { return group_norm(c.x({2, 3, 2, 6}), groups, c.x({6}), c.x({6})); });
  }
}

TEST(Gradient, OfSelfAttention) {
  for (const bool causal : {false, true}) {
    check_gradients("one", [&](Case& c) { return self_attention(c.x({1, 1, 3}), 1, {.causal = causal}); });
    check_gradients("heads", [&](Case& c) { return self_attention(c.x({2, 5, 18}), 3, {.causal = causal}); });
  }
}

TEST(Gradient, OfDotProductAttention) {
  check_gradients("cross", [](Case& c) {
    return scaled_dot_product_attention(c.x({2, 3, 4}), c.x({2, 5, 4}), c.x({2, 5, 2}));
  });
  check_gradients("causal", [](Case& c) {
    return scaled_dot_product_attention(c.x({2, 2, 3, 4}), c.x({2, 2, 3, 4}), c.x({2, 2, 3, 2}), {.causal = true});
  });
  check_gradients("masked", [](Case& c) {
    return scaled_dot_product_attention(c.x({2, 3, 4}), c.x({5, 4}), c.x({5, 2}), greater(c.fixed({3, 5}), 0));
  });
}

// With q, k and v sliced from qkv it equals self_attention.
TEST(DotProductAttention, AgreesWithSelfAttention) {
  for (const bool causal : {false, true}) {
    GraphBuilder g;
    const Tensor qkv = g.variable<double>("qkv", {2, 7, 18}, zeros());
    const auto heads = [&](int i) {
      return transpose(reshape(slice(qkv, 2, 6 * i, 6 * i + 6), {2, 7, 3, 2}), {0, 2, 1, 3});
    };
    const Tensor y = scaled_dot_product_attention(heads(0), heads(1), heads(2), {.causal = causal});
    g.name("composed", reshape(transpose(y, {0, 2, 1, 3}), {2, 7, 6}));
    g.name("kernel", self_attention(qkv, 3, {.causal = causal}));
    testing::Oracle oracle(g.graph());
    oracle.variable("qkv") = Numbers(1).many(2 * 7 * 18);
    oracle.run({"composed", "kernel"});
    for (std::size_t i = 0; i < oracle["kernel"].data.size(); ++i) {
      EXPECT_NEAR(oracle["composed"].data[i], oracle["kernel"].data[i], 1e-12);
    }
  }
}

}  // namespace nn_gradients_test
}  // namespace crochet
