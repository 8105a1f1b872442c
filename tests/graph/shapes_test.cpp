// SPDX-License-Identifier: Apache-2.0
// The shape and type rules of every operation: the inferred shapes, and the exact error messages.
#include <gtest/gtest.h>
#include <crochet/model.hpp>

namespace crochet {
namespace shapes_test {

/// The message of the GraphError that `build` throws.
template <class Build>
std::string error_of(Build build) {
  GraphBuilder g;
  try {
    build(g);
  } catch (const GraphError& e) {
    return e.what();
  }
  return "no error";
}

template <Element T>
constexpr Tensor tensor(GraphBuilder& g, const Shape& shape) {
  return g.shaped(op::broadcast_to, {g.constant<T>(T{})}, shape);
}
constexpr Tensor floats(GraphBuilder& g, const Shape& shape) { return tensor<float>(g, shape); }

/// Whether the operation of f has a result of shape `expected`. For constant evaluation.
template <class F>
constexpr bool makes(const Shape& expected, F f) {
  GraphBuilder g;
  return f(g).shape() == expected;
}

TEST(Extent, IsANumberTimesPowersOfDynamicDimensions) {
  constexpr Extent batch = Extent::symbol(0), time = Extent::symbol(1);
  constexpr Extent merged = batch * time * 28 * batch;
  static_assert(merged.at({3, 5, 0, 0}) == 3 * 3 * 5 * 28);
  static_assert(divides(batch * 7, merged) && merged / (batch * 7) == batch * time * 4);
  static_assert(!divides(time * time, merged) && !divides(Extent(3), merged) && !divides(Extent(0), merged));
  static_assert(!merged.is_static() && Extent(1).is_one() && !batch.is_one());
  static_assert(!(batch == time) && !(Extent(2) == Extent(3)));
}

TEST(Shapes, BroadcastAsNumpyDoes) {
  static_assert(broadcast({5, 3}, {3}) == Shape{5, 3});
  static_assert(broadcast({5, 1}, {1, 3}) == Shape{5, 3});
  static_assert(broadcast({}, {2, 1, 3}) == Shape{2, 1, 3});
  static_assert(broadcast({2, 1, 3}, {5, 1}) == Shape{2, 5, 3});
  constexpr Extent batch = Extent::symbol(0);
  static_assert(broadcast({batch, 1}, {3}) == Shape{batch, 3});
  EXPECT_THROW(broadcast({5, 3}, {5}), GraphError);
  EXPECT_THROW(broadcast({batch}, {3}), GraphError);
  EXPECT_THROW(broadcast({batch}, {Extent::symbol(1)}), GraphError);
}

TEST(Shapes, OfElementwiseOperations) {
  static_assert(makes({5, 3}, [](GraphBuilder& g) { return floats(g, {5, 1}) + floats(g, {3}); }));
  static_assert(makes({5, 3}, [](GraphBuilder& g) {
    return select(tensor<bool>(g, {5, 1}), floats(g, {3}), floats(g, {}));
  }));
  static_assert(makes({2, 5, 3}, [](GraphBuilder& g) {
    return select(tensor<bool>(g, {2, 1, 1}), floats(g, {3}), floats(g, {5, 1}));
  }));
  GraphBuilder g;
  EXPECT_EQ(equal(floats(g, {3}), floats(g, {})).dtype(), DType::boolean);
  EXPECT_EQ(cast<std::uint8_t>(floats(g, {3})).dtype(), DType::uint8);
  EXPECT_EQ((tensor<std::int64_t>(g, {3}) * 2).dtype(), DType::int64);
  EXPECT_EQ((tensor<double>(g, {3}) / 2).dtype(), DType::float64);
}

TEST(Shapes, CastToTheSameTypeIsNothing) {
  GraphBuilder g;
  const Tensor x = floats(g, {3});
  EXPECT_EQ(cast<float>(x).id, x.id);
}

TEST(Shapes, OfProductsAndReductions) {
  static_assert(makes({5, 7}, [](GraphBuilder& g) { return matmul(floats(g, {5, 3}), floats(g, {3, 7})); }));
  static_assert(makes({5, 7}, [](GraphBuilder& g) {
    return matmul(floats(g, {3, 5}), floats(g, {7, 3}), {.a = true, .b = true});
  }));
  static_assert(makes({}, [](GraphBuilder& g) { return reduce_sum(floats(g, {5, 3})); }));
  static_assert(makes({}, [](GraphBuilder& g) { return reduce_max(floats(g, {})); }));
  static_assert(makes({3}, [](GraphBuilder& g) { return reduce_mean(floats(g, {5, 3}), {0}); }));
  static_assert(makes({5, 1}, [](GraphBuilder& g) { return reduce_max(floats(g, {5, 3}), {-1}, keep_dims); }));
  static_assert(makes({5}, [](GraphBuilder& g) { return reduce_sum(floats(g, {2, 5, 3}), {0, 2}); }));
  static_assert(makes({1, 5, 1}, [](GraphBuilder& g) { return reduce_sum(floats(g, {2, 5, 3}), {2, 0}, keep_dims); }));
  static_assert(makes({2, 3}, [](GraphBuilder& g) { return argmax(floats(g, {2, 5, 3}), 1); }));
  static_assert(makes({2, 5}, [](GraphBuilder& g) { return argmax(floats(g, {2, 5, 3})); }));
  GraphBuilder g;
  EXPECT_EQ(argmax(floats(g, {3, 2})).dtype(), DType::int32);
  EXPECT_EQ(reduce_sum(tensor<std::int64_t>(g, {3})).dtype(), DType::int64);
}

TEST(Shapes, OfReshapes) {
  static_assert(makes({3, 5}, [](GraphBuilder& g) { return reshape(floats(g, {5, 3}), {3, 5}); }));
  static_assert(makes({3, 5}, [](GraphBuilder& g) { return reshape(floats(g, {5, 3}), {3, rest}); }));
  static_assert(makes({1}, [](GraphBuilder& g) { return reshape(floats(g, {}), {rest}); }));
  static_assert(makes({2, 15}, [](GraphBuilder& g) { return flatten(floats(g, {2, 5, 3})); }));
  static_assert([] {
    GraphBuilder g;
    const Extent batch = g.dynamic("batch");
    const Tensor x = floats(g, {batch, 28, 28});
    return reshape(x, {rest, 7}).shape() == Shape{batch * 112, 7} &&
           reshape(x, {batch, rest}).shape() == Shape{batch, 784} &&
           reshape(x, {28, rest}).shape() == Shape{28, batch * 28};
  }());
}

TEST(Shapes, OfWindows) {
  using W = Window;
  static_assert(makes({2, 5, 7, 4}, [](GraphBuilder& g) {
    return conv2d(floats(g, {2, 5, 7, 3}), floats(g, {3, 3, 3, 4}));
  }));
  static_assert(makes({2, 3, 4, 4}, [](GraphBuilder& g) {
    return conv2d(floats(g, {2, 5, 7, 3}), floats(g, {3, 3, 3, 4}), {2, 2});
  }));
  static_assert(makes({2, 3, 5, 4}, [](GraphBuilder& g) {
    return conv2d(floats(g, {2, 5, 7, 3}), floats(g, {3, 3, 3, 4}), {1, 1}, Padding::valid);
  }));
  static_assert(makes({2, 1, 3, 4}, [](GraphBuilder& g) {
    return conv2d(floats(g, {2, 5, 7, 3}), floats(g, {5, 2, 3, 4}), {1, 2}, Padding::valid);
  }));
  static_assert(makes({2, 1, 3, 4}, [](GraphBuilder& g) {
    return conv2d(floats(g, {2, 5, 7, 3}), floats(g, {3, 3, 3, 4}), {1, 1}, Padding::valid, {2, 2});
  }));
  static_assert(makes({2, 5, 7, 4}, [](GraphBuilder& g) {
    return conv2d(floats(g, {2, 5, 7, 3}), floats(g, {3, 3, 3, 4}), {1, 1}, Padding::same, {2, 3});
  }));
  static_assert(makes({2, 3, 4, 12}, [](GraphBuilder& g) {
    return depthwise_conv2d(floats(g, {2, 5, 7, 3}), floats(g, {3, 3, 3, 4}), {2, 2});
  }));
  static_assert(makes({2, 4, 5}, [](GraphBuilder& g) {
    return conv1d(floats(g, {2, 7, 3}), floats(g, {2, 3, 5}), 2);
  }));
  static_assert(makes({2, 3}, [](GraphBuilder& g) { return global_average_pool(floats(g, {2, 5, 7, 3})); }));
  static_assert(makes({2, 3}, [](GraphBuilder& g) { return global_max_pool(floats(g, {2, 5, 7, 3})); }));
  static_assert(makes({2, 2, 3, 3}, [](GraphBuilder& g) { return average_pool(floats(g, {2, 5, 7, 3}), 2); }));
  static_assert(makes({2, 2, 3, 3}, [](GraphBuilder& g) { return max_pool(floats(g, {2, 5, 7, 3}), 2); }));
  static_assert(makes({2, 3, 4, 3}, [](GraphBuilder& g) {
    return max_pool(floats(g, {2, 5, 7, 3}), W{2, 2}, W{2, 2}, Padding::same);
  }));
}

TEST(Shapes, OfLosses) {
  static_assert(makes({}, [](GraphBuilder& g) {
    return sparse_softmax_cross_entropy(floats(g, {5, 3}), tensor<std::int32_t>(g, {5}));
  }));
  static_assert(makes({}, [](GraphBuilder& g) { return softmax_cross_entropy(floats(g, {5, 3}), floats(g, {5, 3})); }));
  static_assert(makes(
      {}, [](GraphBuilder& g) { return sparse_softmax_cross_entropy(floats(g, {3}), tensor<std::int32_t>(g, {})); }));
  static_assert(makes({2, 5}, [](GraphBuilder& g) {
    return sparse_softmax_cross_entropy(floats(g, {2, 5, 3}), tensor<std::int32_t>(g, {2, 5}), per_example);
  }));
  static_assert(makes({2, 5}, [](GraphBuilder& g) {
    return mean_squared_error(floats(g, {2, 5, 3}), floats(g, {3}), per_example);
  }));
}

TEST(Shapes, OfSoftmaxAttentionAndNormalizations) {
  static_assert(makes({5, 3}, [](GraphBuilder& g) { return logsumexp(floats(g, {5, 7, 3}), 1); }));
  static_assert(makes({5, 1, 3}, [](GraphBuilder& g) { return logsumexp(floats(g, {5, 7, 3}), -2, keep_dims); }));
  static_assert(makes({5, 7}, [](GraphBuilder& g) { return log_softmax(floats(g, {5, 7}), 0); }));
  static_assert(makes({2, 7, 10}, [](GraphBuilder& g) { return self_attention(floats(g, {2, 7, 30}), 5); }));
  static_assert(makes({2, 7, 3}, [](GraphBuilder& g) { return rms_norm(floats(g, {2, 7, 3}), floats(g, {3})); }));
  static_assert(makes({3}, [](GraphBuilder& g) {
    return batch_norm_of_batch(floats(g, {2, 7, 3}), floats(g, {3}), floats(g, {3})).variance;
  }));
}

TEST(Shapes, OfLayers) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 28, 28, 1});
  const Tensor y = conv2d(x, 8, {3, 5}, "conv", {.stride = {2, 2}});
  EXPECT_TRUE((y.shape() == Shape{x.shape()[0], 14, 14, 8}));
  EXPECT_TRUE((g["conv/kernel"].shape() == Shape{3, 5, 1, 8}));
  EXPECT_TRUE((g["conv/bias"].shape() == Shape{8}));
  EXPECT_TRUE((depthwise_conv2d(y, {3, 3}, "each", {.dilation = {2, 2}, .multiplier = 2}).shape() ==
               Shape{x.shape()[0], 14, 14, 16}));
  EXPECT_TRUE((g["each/kernel"].shape() == Shape{3, 3, 8, 2}));
  EXPECT_TRUE((g["each/bias"].shape() == Shape{16}));
  EXPECT_TRUE((conv1d(floats(g, {5, 9, 3}), 4, 3, "along", {.stride = {1, 2}}).shape() == Shape{5, 5, 4}));
  EXPECT_TRUE((g["along/kernel"].shape() == Shape{3, 3, 4}));
  EXPECT_TRUE((dense(flatten(y), 10, "dense").shape() == Shape{x.shape()[0], 10}));
  EXPECT_TRUE((g["dense/kernel"].shape() == Shape{14 * 14 * 8, 10}));
  EXPECT_TRUE((dense(y, 10, "last").shape() == Shape{x.shape()[0], 14, 14, 10}));
  EXPECT_TRUE((g["last/kernel"].shape() == Shape{8, 10}));
}

TEST(GraphError, OfShapes) {
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              floats(g, {5, 3}) + floats(g, {5});
            }),
            "crochet: the operands' shapes do not broadcast");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              matmul(floats(g, {5, 3}), floats(g, {4, 7}));
            }),
            "crochet: matmul: inner dimensions differ: 3 and 4");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              matmul(floats(g, {5, 3}), floats(g, {3}));
            }),
            "crochet: a tensor of rank 2 is needed here, not rank 1");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              conv2d(floats(g, {1, 5, 5, 3}), floats(g, {3, 3, 2, 4}));
            }),
            "crochet: a convolution's image has 3 channels, the filter 2");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              conv2d(floats(g, {5, 5, 3}), floats(g, {3, 3, 3, 4}));
            }),
            "crochet: a tensor of rank 4 is needed here, not rank 3");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              conv2d(floats(g, {1, 5, 5, 3}), floats(g, {3, 3}));
            }),
            "crochet: a tensor of rank 4 is needed here, not rank 2");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              conv2d(floats(g, {5, 5, 3}), 8, {3, 3}, "conv");
            }),
            "crochet: a tensor of rank 4 is needed here, not rank 3");
  EXPECT_EQ(error_of([](GraphBuilder& g) { dense(floats(g, {3}), 8, "dense"); }),
            "crochet: a tensor of rank 2 is needed here, not rank 1");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              floats(g, {1, 1, 1, 1, 1, 1, 1});
            }),
            "crochet: a tensor has at most 6 dimensions");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              broadcast_to(floats(g, {5, 3}), {5, 1});
            }),
            "crochet: the operands' shapes do not broadcast");
}

TEST(GraphError, OfWindows) {
  const std::string expected =
      "crochet: the window does not fit the image, a stride or dilation is below 1, or a height or width is dynamic";
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              conv2d(floats(g, {1, 2, 5, 1}), floats(g, {3, 3, 1, 1}), {1, 1}, Padding::valid);
            }),
            expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              conv2d(floats(g, {1, 5, 5, 1}), floats(g, {3, 3, 1, 1}), {0, 1});
            }),
            expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) { max_pool(floats(g, {1, 5, 5, 1}), 0); }), expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              conv2d(floats(g, {1, 5, 5, 1}), floats(g, {3, 3, 1, 1}), {1, 1}, Padding::same, {1, 0});
            }),
            expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              depthwise_conv2d(floats(g, {1, 5, 5, 1}), floats(g, {3, 3, 1, 1}), {1, 1}, Padding::valid, {1, 3});
            }),
            expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) { max_pool(floats(g, {1, g.dynamic("height"), 5, 1}), 2); }), expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              conv2d(floats(g, {1, 5, 3, 1}), floats(g, {g.dynamic("k"), 1, 1, 1}), {1, 1}, Padding::valid);
            }),
            expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              conv1d(floats(g, {1, 5, 1}), floats(g, {g.dynamic("k"), 1, 1}));
            }),
            expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              depthwise_conv2d(floats(g, {1, 5, 5, 1}), floats(g, {3, g.dynamic("k"), 1, 1}));
            }),
            expected);
}

TEST(GraphError, OfReshapes) {
  const std::string expected = "crochet: reshape changes the number of elements";
  EXPECT_EQ(error_of([](GraphBuilder& g) { reshape(floats(g, {5, 3}), {4, 4}); }), expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) { reshape(floats(g, {5, 3}), {4, rest}); }), expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) { reshape(floats(g, {5, 3}), {0, rest}); }), expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) { reshape(floats(g, {5, 3}), {rest, 3, rest}); }), expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) { reshape(floats(g, {g.dynamic("batch"), 3}), {5, rest}); }), expected);
}

TEST(GraphError, OfNegativeDimensions) {
  const std::string expected = "crochet: a dimension is negative: a dynamic one is g.dynamic(name)";
  EXPECT_EQ(error_of([](GraphBuilder& g) { reshape(floats(g, {6}), {-2, -3}); }), expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) { broadcast_to(floats(g, {1}), {-2}); }), expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) { tile(floats(g, {3}), {-2}); }), expected);
  EXPECT_EQ(error_of([](GraphBuilder& g) { random_uniform<float>(g, {-3}); }), expected);
  const Extent less = Extent(-1) * Extent::symbol(0);
  EXPECT_NE(error_of([&](GraphBuilder& g) { reshape(floats(g, {g.dynamic("batch"), 3}), {less, 3}); }), "");
}

TEST(GraphError, OfAxes) {
  EXPECT_EQ(error_of([](GraphBuilder& g) { reduce_sum(floats(g, {5, 3}), {2}); }), "crochet: there is no axis 2");
  EXPECT_EQ(error_of([](GraphBuilder& g) { reduce_max(floats(g, {5, 3}), {-3}); }), "crochet: there is no axis -3");
  EXPECT_EQ(error_of([](GraphBuilder& g) { argmax(floats(g, {})); }), "crochet: there is no axis -1");
}

TEST(GraphError, OfElementTypes) {
  const std::string differ = "crochet: the operands' element types differ: convert with cast<T>(x)";
  const std::string unsupported = "crochet: the operation does not support this element type";
  EXPECT_EQ(error_of([](GraphBuilder& g) { floats(g, {3}) + tensor<double>(g, {3}); }), differ);
  EXPECT_EQ(error_of([](GraphBuilder& g) { equal(floats(g, {3}), tensor<std::int32_t>(g, {3})); }), differ);
  EXPECT_EQ(error_of([](GraphBuilder& g) { matmul(floats(g, {3, 3}), tensor<double>(g, {3, 3})); }), differ);
  EXPECT_EQ(error_of([](GraphBuilder& g) { select(tensor<bool>(g, {3}), floats(g, {3}), tensor<double>(g, {3})); }),
            differ);
  EXPECT_EQ(error_of([](GraphBuilder& g) { select(floats(g, {3}), floats(g, {3}), floats(g, {3})); }), unsupported);
  EXPECT_EQ(error_of([](GraphBuilder& g) { exp(tensor<std::int32_t>(g, {3})); }), unsupported);
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              matmul(tensor<std::int32_t>(g, {3, 3}), tensor<std::int32_t>(g, {3, 3}));
            }),
            unsupported);
  EXPECT_EQ(error_of([](GraphBuilder& g) { reduce_mean(tensor<std::int32_t>(g, {3})); }), unsupported);
  EXPECT_EQ(error_of([](GraphBuilder& g) { reduce_sum(tensor<bool>(g, {3})); }), unsupported);
  EXPECT_EQ(error_of([](GraphBuilder& g) { argmax(tensor<bool>(g, {3})); }), unsupported);
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              sparse_softmax_cross_entropy(floats(g, {5, 3}), tensor<std::int64_t>(g, {5}));
            }),
            "crochet: labels are int32: convert with cast<std::int32_t>(labels)");
  EXPECT_EQ(error_of([](GraphBuilder& g) { max_pool(tensor<std::int32_t>(g, {1, 4, 4, 1}), 2); }), unsupported);
}

// A bool is a byte of 0 or 1. A sum of two and a negated one are neither.
TEST(GraphError, OfArithmeticOnBools) {
  const std::string unsupported = "crochet: the operation does not support this element type";
  EXPECT_EQ(error_of([](GraphBuilder& g) { tensor<bool>(g, {3}) + tensor<bool>(g, {3}); }), unsupported);
  EXPECT_EQ(error_of([](GraphBuilder& g) { tensor<bool>(g, {3}) - tensor<bool>(g, {3}); }), unsupported);
  EXPECT_EQ(error_of([](GraphBuilder& g) { tensor<bool>(g, {3}) / tensor<bool>(g, {3}); }), unsupported);
  EXPECT_EQ(error_of([](GraphBuilder& g) { -tensor<bool>(g, {3}); }), unsupported);
  EXPECT_EQ(error_of([](GraphBuilder& g) { square(tensor<bool>(g, {3})); }), unsupported);
  EXPECT_EQ(error_of([](GraphBuilder& g) { equal(tensor<bool>(g, {3}), tensor<bool>(g, {3})); }), "no error");
}

TEST(GraphError, OfLosses) {
  const std::string labels = "crochet: the labels' shape does not fit the logits'";
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              sparse_softmax_cross_entropy(floats(g, {5, 3}), tensor<std::int32_t>(g, {4}));
            }),
            labels);
  EXPECT_EQ(error_of([](GraphBuilder& g) { softmax_cross_entropy(floats(g, {5, 3}), floats(g, {5, 1})); }), labels);
  EXPECT_EQ(
      error_of([](GraphBuilder& g) { sparse_softmax_cross_entropy(floats(g, {5}), tensor<std::int32_t>(g, {5})); }),
      labels);
  EXPECT_EQ(error_of([](GraphBuilder& g) { sigmoid_cross_entropy(floats(g, {5, 3}), floats(g, {3})); }), labels);
  EXPECT_EQ(error_of([](GraphBuilder& g) { accuracy(floats(g, {5, 3}), tensor<std::int32_t>(g, {5, 1})); }), labels);
  EXPECT_EQ(error_of([](GraphBuilder& g) { softmax(floats(g, {5, 3}), 2); }), "crochet: there is no axis 2");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              mean_squared_error(floats(g, {5, 3}), floats(g, {5, 3}), floats(g, {3}));
            }),
            "crochet: the operands' shapes do not broadcast");
}

TEST(GraphError, OfNormalizationsAndAttention) {
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              self_attention(floats(g, {2, 5, 30}), 3);
            }),
            "crochet: 10 channels do not make 3 equal heads or groups");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              group_norm(floats(g, {2, 5, 30}), 4, floats(g, {30}), floats(g, {30}));
            }),
            "crochet: 30 channels do not make 4 equal heads or groups");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              self_attention(floats(g, {5, 30}), 2);
            }),
            "crochet: a tensor of rank 3 is needed here, not rank 2");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              self_attention(floats(g, {2, 5, Extent(3) * g.dynamic("width")}), 1);
            }),
            "crochet: 1 channels do not make 1 equal heads or groups");
  EXPECT_EQ(error_of([](GraphBuilder& g) {
              layer_norm(floats(g, {5, 3}), floats(g, {5}), floats(g, {3}));
            }),
            "crochet: the operands' shapes do not broadcast");
}

}  // namespace shapes_test
}  // namespace crochet
