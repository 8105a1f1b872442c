// SPDX-License-Identifier: Apache-2.0
// Normalisations and attention on the CPU executor against the Oracle: odd shapes, float and double, one thread and
// several.
#include "against_oracle.hpp"

namespace crochet {
namespace attention_test {

template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 3e-5 : 1e-11;

template <class Model, class T>
void test(std::initializer_list<std::int64_t> batches) {
  agree_in_teams<Model, T>(batches, tolerance<T>);
}

// Length 0 makes the length dynamic. If Heads * Length <= 3 * Width, the probabilities are kept for the gradient.
template <class T, std::int64_t Length, std::int64_t Width, std::int32_t Heads, bool Causal>
struct Attention {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch"), length = Length == 0 ? g.dynamic("length") : Length;
    const Tensor x = g.placeholder<T>("x", {batch, length, 3 * Width});
    const Tensor up = g.placeholder<T>("up", {batch, length, Width});
    const Tensor a = g.variable<T>("a", {3 * Width}, uniform(-1, 1));
    const Tensor qkv = x * 2 + a;
    const Tensor y = g.name("y", self_attention(qkv, Heads, {.causal = Causal}));
    g.name("d", gradient(reduce_sum(y * up), qkv));
    g.name("da", gradient(reduce_sum(square(y)), a));
  }
};

template <class Model, class T>
void test_lengths(std::initializer_list<std::int64_t> lengths) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Model> both(threads, tolerance<T>);
    for (std::int64_t length : lengths) {
      for (std::int64_t batch : {1, 3}) {
        SCOPED_TRACE("length " + std::to_string(length) + ", threads " + std::to_string(threads));
        both.run_all({batch, length});
      }
    }
  }
}

TEST(Attention, OfAnyLength) {
  test_lengths<Attention<float, 0, 34, 2, true>, float>({1, 7, 33, 67, 130});
  test_lengths<Attention<float, 0, 20, 4, false>, float>({1, 7, 64, 65, 130});
  test_lengths<Attention<double, 0, 6, 2, true>, double>({1, 7, 33, 67, 0});
}

TEST(Attention, WithProbabilitiesKept) {
  test<Attention<float, 67, 24, 1, true>, float>({1, 3, 0});
  test<Attention<float, 33, 22, 2, false>, float>({1, 3});
  test<Attention<double, 1, 1, 1, false>, double>({1, 3});
}

template <class T>
struct Norms {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 3, 37}), up = g.placeholder<T>("up", {batch, 3, 37});
    const Tensor narrow = g.placeholder<T>("narrow", {batch, 5}),
                 images = g.placeholder<T>("images", {batch, 3, 2, 18});
    const Tensor gamma = g.variable<T>("gamma", {37}, uniform(-1, 1)),
                 beta = g.variable<T>("beta", {37}, uniform(-1, 1));
    const Tensor c = g.variable<T>("c", {18}, uniform(-1, 1)), b = g.variable<T>("b", {18}, uniform(-1, 1));
    const Tensor few = g.variable<T>("few", {5}, uniform(-1, 1)), z = x * 3 + beta;
    const Tensor y = g.name("layer", layer_norm(z, gamma, beta)),
                 r = g.name("rms", rms_norm(z, gamma, {.epsilon = 1e-6}));
    const Tensor n = g.name("few layers", layer_norm(narrow, few, few)),
                 one = g.name("one row", layer_norm(few, few, few));
    g.name("d layer", gradient(reduce_sum(y * up), z));
    g.name("d rms", gradient(reduce_sum(r * up), z));
    g.name("d gamma", gradient(reduce_sum(y * up) + reduce_sum(r * x), gamma));
    g.name("d beta", gradient(reduce_mean(square(y)), beta));
    g.name("d few", gradient(reduce_sum(square(n)) + reduce_sum(square(one)), few));
    const Tensor i = images * 2 + b, groups = g.name("groups", group_norm(i, 3, c, b));
    const Tensor instance = g.name("instances", group_norm(i, 18, c, b)),
                 all = g.name("one group", group_norm(i, 1, c, b));
    const Tensor loss = reduce_sum(groups * images) + reduce_sum(square(all)) + reduce_sum(instance * images);
    g.name("d images", gradient(loss, i));
    g.name("d c", gradient(loss, c));
    g.name("d b", gradient(loss, b));
    // With epilogues, of one vector and a part of it.
    const Tensor gated = g.name("gated layer", gelu(layer_norm(z, gamma, beta)) + x),
                 scaled = g.name("scaled rms", select(greater(up, 0), rms_norm(z, gamma), x) * beta),
                 clipped = g.name("clipped groups", relu(group_norm(i, 3, c, b)) + images);
    g.name("d gated", gradient(reduce_sum(gated * up) + reduce_sum(scaled * x), z));
    g.name("d clipped", gradient(reduce_sum(square(clipped)), i));
  }
};

TEST(Norms, Float) { test<Norms<float>, float>({1, 2, 7, 33}); }
TEST(Norms, Double) { test<Norms<double>, double>({1, 2, 7, 33}); }

struct LongNorms {
  static constexpr std::int64_t row = 150'528, places = 512 * 512;
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {2, row}), image = g.placeholder<float>("image", {1, places, 1});
    const Tensor c = g.placeholder<float>("c", {row}), one = g.placeholder<float>("one", {1});
    g.name("layer", reduce_max(abs(layer_norm(x, c, 0 * c))));
    g.name("rms", reduce_max(abs(rms_norm(x, c) - 1)));
    g.name("group", reduce_max(abs(group_norm(image, 1, one, 0 * one))));
  }
};
// Sums in one accumulator give a mean that differs by 1e-3: all additions round the same way.
TEST(Norms, OfManyEqualNumbers) {
  using E = ExecutorUnderTest<LongNorms>;
  E executor = make_executor_under_test<LongNorms>(1, 1);
  typename E::Workspace w;
  const std::vector<float> x(2 * LongNorms::row, 1.1F), ones(LongNorms::row, 1);
  executor.template run<Demand<Names<Name<"layer">, Name<"rms">, Name<"group">>, Names<>>>(
      w, feed<"x">(TensorView<float, 2>{x.data(), {2, LongNorms::row}}),
      feed<"image">(TensorView<float, 3>{x.data(), {1, LongNorms::places, 1}}), feed<"c">(ones),
      feed<"one">(TensorView<float, 1>{ones.data(), {1}}));
  EXPECT_LT(elements(executor.template fetch<Name<"layer">>(w))[0], 1e-3);
  EXPECT_LT(elements(executor.template fetch<Name<"rms">>(w))[0], 2e-5);
  EXPECT_LT(elements(executor.template fetch<Name<"group">>(w))[0], 1e-3);
}

template <class T>
struct BatchNorms {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 3, 2, 19}), up = g.placeholder<T>("up", {batch, 3, 2, 19});
    const Tensor gamma = g.variable<T>("gamma", {19}, uniform(-1, 1)),
                 beta = g.variable<T>("beta", {19}, uniform(-1, 1));
    const Tensor z = x * 2 + beta;
    const BatchNormalized n = batch_norm_of_batch(z, gamma, beta);
    const Tensor y = g.name("y", relu(n.y));
    g.name("mean", n.mean);
    g.name("variance", n.variance);
    const Tensor fixed = g.name("fixed", batch_norm(z, gamma, beta, beta, square(gamma) + 1));
    g.name("d x", gradient(reduce_sum(y * up), z));
    g.name("d gamma", gradient(reduce_sum(y * up), gamma));
    g.name("d beta", gradient(reduce_sum(y * up), beta));
    g.name("d fixed", gradient(reduce_sum(fixed * up), z));
  }
};

TEST(BatchNorm, Float) { test<BatchNorms<float>, float>({2, 7, 33}); }
TEST(BatchNorm, Double) { test<BatchNorms<double>, double>({2, 7, 33}); }

}  // namespace attention_test
}  // namespace crochet
