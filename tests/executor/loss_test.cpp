// SPDX-License-Identifier: Apache-2.0
// Softmax, its relatives and losses on the CPU executor against the Oracle: odd shapes, float and double, one thread
// and several.
#include "against_oracle.hpp"

#include <bit>

namespace crochet {
namespace loss_test {

template <class T>
constexpr double tolerance = std::is_same_v<T, float> ? 3e-5 : 1e-12;

template <class Model, class T>
void test(std::initializer_list<std::int64_t> batches, double low = 0, double high = 0) {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Model> both(threads, tolerance<T>);
    both.low = low;
    both.high = high;
    for (std::int64_t batch : batches) {
      SCOPED_TRACE("batch " + std::to_string(batch) + ", threads " + std::to_string(threads));
      both.run_all({batch});
    }
  }
}

/// An empty batch between others, for values without a mean over the batch (a mean of an empty batch is an error).
template <class Model, class T, FixedString... Fetches>
void test_of_nothing() {
  for (int threads = 1; threads <= 3; ++threads) {
    AgainstOracle<Model> both(threads, tolerance<T>);
    for (std::int64_t batch : {3, 0, 2}) both.run(Names<Name<Fetches>...>{}, Names<>{}, {batch});
  }
}

template <class T>
struct Softmaxes {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 3, 67}), y = g.placeholder<T>("y", {batch, 5});
    const Tensor a = g.variable<T>("a", {67}, uniform(-3, 3)), b = g.variable<T>("b", {5}, uniform(-3, 3));
    const Tensor z = x * 5 + a, s = y * 5 + b;
    const Tensor last = g.name("softmax", softmax(z)), middle = g.name("softmax 1", softmax(z, 1));
    g.name("softmax 0", softmax(z, 0));
    const Tensor narrow = g.name("narrow", softmax(s));
    const Tensor log = g.name("log", log_softmax(z)), log1 = g.name("log 1", log_softmax(z, -2));
    const Tensor sum = g.name("sum", logsumexp(z)), sum1 = g.name("sum 1", logsumexp(z, 1, keep_dims));
    g.name("sum of all", logsumexp(reshape(b, {5})));
    const Tensor square_sum = reduce_sum(square(last)) + reduce_sum(square(middle)) + reduce_sum(square(narrow));
    g.name("d softmax", gradient(square_sum, z));
    g.name("d narrow", gradient(square_sum, s));
    g.name("d log", gradient(reduce_sum(log * x) + reduce_sum(log1 * x), z));
    g.name("d sum", gradient(reduce_sum(square(sum)) + reduce_sum(sum1), z));
    g.name("d sum once", gradient(reduce_sum(sum), z));
    g.name("large", softmax(x * 10000));
    g.name("large log", log_softmax(x * 10000));
    g.name("large sum", logsumexp(x * 10000));
  }
};

TEST(Softmax, Float) { test<Softmaxes<float>, float>({1, 2, 7, 0, 33}); }
TEST(Softmax, Double) { test<Softmaxes<double>, double>({1, 2, 7, 0, 33}); }

template <class T>
struct Losses {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 3, 10}), labels = g.placeholder<std::int32_t>("labels", {batch, 3});
    const Tensor p = g.placeholder<T>("p", {batch, 3, 10}), w = g.placeholder<T>("w", {batch, 3});
    const Tensor wide = g.placeholder<T>("wide", {batch, 131}), label = g.placeholder<std::int32_t>("label", {batch});
    const Tensor shift = g.variable<T>("shift", {10}, uniform(-3, 3)), b = g.variable<T>("b", {131}, uniform(-1, 1));
    const Tensor z = x * 10 + shift, v = wide * 10 + b;
    const Tensor sparse = g.name("sparse", sparse_softmax_cross_entropy(z, labels));
    const Tensor far = g.name("far", sparse_softmax_cross_entropy(v, label));
    const Tensor full = g.name("full", softmax_cross_entropy(z, p));
    const Tensor weighted = g.name("weighted", sparse_softmax_cross_entropy(z, labels, w * w));
    g.name("each", sparse_softmax_cross_entropy(z, labels, per_example));
    g.name("weighted full", softmax_cross_entropy(z, p, w * w));
    g.name("d sparse", gradient(sparse + far, z));
    g.name("d far", gradient(sparse + far, v));
    g.name("d full", gradient(full, z));
    g.name("d weighted", gradient(weighted, z));
    g.name("d each", gradient(reduce_sum(softmax_cross_entropy(z, p, per_example) * w), z));
    g.name("d shift", gradient(sparse + full + weighted, shift));
    g.name("accuracy", accuracy(z, labels));
    g.name("large", sparse_softmax_cross_entropy(z * 1000, labels, per_example));
    g.name("one", sparse_softmax_cross_entropy(shift, g.constant<std::int32_t>(3)));
    g.name("d one", gradient(sparse_softmax_cross_entropy(shift * 2, g.constant<std::int32_t>(3)), shift));
  }
};

TEST(CrossEntropies, Float) { test<Losses<float>, float>({1, 2, 7, 33}); }
TEST(CrossEntropies, Double) { test<Losses<double>, double>({1, 2, 7, 33}); }

TEST(CrossEntropies, OfNothing) { test_of_nothing<Losses<float>, float, "each", "d each", "large", "one", "d one">(); }

TEST(CrossEntropies, ALabelOutsideIsNotANumber) {
  AgainstOracle<Losses<float>> both(1, 3e-5);
  both.most = 40;  // of 10 classes
  both.run_all({20});
  EXPECT_TRUE(std::isnan(both.oracle.scalar("sparse")));
}

template <class T>
struct ByElement {
  static constexpr void define(GraphBuilder& g) {
    const Extent batch = g.dynamic("batch");
    const Tensor x = g.placeholder<T>("x", {batch, 37}), y = g.placeholder<T>("y", {batch, 37});
    const Tensor a = g.variable<T>("a", {37}, uniform(-2, 2)), w = g.placeholder<T>("w", {batch});
    const Tensor z = x * 3 + a, p = y * y;
    const Tensor sigmoid = g.name("sigmoid", sigmoid_cross_entropy(z, p)),
                 wide = g.name("large", sigmoid_cross_entropy(z * 2000, p));
    const Tensor squared = g.name("squared", mean_squared_error(z, y)),
                 absolute = g.name("absolute", mean_absolute_error(z, y));
    const Tensor huber = g.name("huber", huber_loss(z, y, {.delta = 0.7}));
    g.name("sigmoid each", sigmoid_cross_entropy(z, p, per_example));
    g.name("sigmoid weighted", sigmoid_cross_entropy(z, p, reshape(w * w, {batch, 1})));
    g.name("squared each", mean_squared_error(z, y, per_example));
    g.name("squared weighted", mean_squared_error(z, y, w * w));
    g.name("absolute each", mean_absolute_error(z, y, per_example));
    g.name("absolute weighted", mean_absolute_error(z, y, w * w));
    g.name("huber each", huber_loss(z, y, per_example));
    g.name("huber weighted", huber_loss(z, y, w * w));
    g.name("weighted by nothing", mean_squared_error(z, y, w * 0));
    g.name("binary accuracy", binary_accuracy(z, p));
    g.name("d sigmoid", gradient(sigmoid + wide, z));
    g.name("d probabilities", gradient(sigmoid_cross_entropy(x, z), z));
    g.name("d squared", gradient(squared, a));
    g.name("d absolute", gradient(absolute, z));
    g.name("d huber", gradient(huber, z));
    g.name("d nothing", gradient(mean_squared_error(z, y, w * 0), z));
  }
};

TEST(Losses, ByElementFloat) { test<ByElement<float>, float>({1, 2, 7, 33}); }
TEST(Losses, ByElementDouble) { test<ByElement<double>, double>({1, 2, 7, 33}); }
TEST(Losses, ByElementOfNothing) {
  test_of_nothing<ByElement<float>, float, "sigmoid each", "squared each", "absolute each", "huber each">();
}

// Large logits must neither overflow nor lose small differences.
struct Far {
  static constexpr void define(GraphBuilder& g) {
    const Tensor z = g.placeholder<float>("z", {3, 3}), y = g.placeholder<std::int32_t>("y", {3});
    const Tensor shift = g.variable<float>("shift", {3}, zeros());
    const Tensor each = g.name("each", sparse_softmax_cross_entropy(z + shift, y, per_example));
    g.name("p", softmax(z));
    g.name("log p", log_softmax(z));
    g.name("sum", logsumexp(z));
    g.name("d", gradient(reduce_sum(each), shift));
  }
};

using FarDemand = Demand<Names<Name<"each">, Name<"p">, Name<"log p">, Name<"sum">, Name<"d">>, Names<>>;

TEST(CrossEntropies, OfLogitsOfTenThousand) {
  auto e = DeviceUnderTest{}.compile<Far>();
  e.initialize();
  decltype(e)::Workspace w;
  const std::vector<float> z{10000, 10000, -10000, -10000, -9999, -10000, 10000, 0, -10000};
  const std::vector<std::int32_t> y{0, 0, 2};
  e.run<FarDemand>(w, Feed<Name<"z">, std::vector<float>>{z}, Feed<Name<"y">, std::vector<std::int32_t>>{y});
  const auto each = e.fetch<Name<"each">>(w), sum = e.fetch<Name<"sum">>(w);
  const auto p = e.fetch<Name<"p">>(w), log = e.fetch<Name<"log p">>(w);
  EXPECT_FLOAT_EQ(each.data()[0], 0.69314718F);
  EXPECT_FLOAT_EQ(each.data()[1], std::log(2 + std::exp(1.F)));
  EXPECT_FLOAT_EQ(each.data()[2], 20000);
  EXPECT_FLOAT_EQ(sum.data()[2], 10000);
  EXPECT_FLOAT_EQ(p.data()[0], 0.5F);
  EXPECT_EQ(p.data()[2], 0);
  EXPECT_FLOAT_EQ(p.data()[4], std::exp(1.F) / (2 + std::exp(1.F)));
  EXPECT_FLOAT_EQ(log.data()[8], -20000);
  for (float d : e.fetch<Name<"d">>(w)) EXPECT_TRUE(std::isfinite(d));
}

struct TrueOrFalse {
  static constexpr void define(GraphBuilder& g) {
    const Tensor z = g.placeholder<float>("z", {4}), y = g.placeholder<bool>("y", {4});
    g.name("of bools", binary_accuracy(z, y));
    g.name("of numbers", binary_accuracy(z, cast<float>(y)));
  }
};
TEST(BinaryAccuracy, OfLabelsThatAreBools) {
  auto e = DeviceUnderTest{}.compile<TrueOrFalse>();
  e.initialize();
  decltype(e)::Workspace w;
  const std::vector<float> z{-1, 0.5, 2, 3};
  const bool y[] = {false, true, true, false};
  using Both = Demand<Names<Name<"of bools">, Name<"of numbers">>, Names<>>;
  const TensorView<bool, 1> labels{y, {4}};
  e.run<Both>(w, Feed<Name<"z">, std::vector<float>>{z}, Feed<Name<"y">, TensorView<bool, 1>>{labels});
  EXPECT_EQ(e.fetch<Name<"of bools">>(w), 0.75F);
  EXPECT_EQ(e.fetch<Name<"of numbers">>(w), 0.75F);
}

struct WideLogits {
  static constexpr void define(GraphBuilder& g) {
    const Tensor z = g.placeholder<float>("z", {1, 20});
    const Tensor y = g.placeholder<std::int32_t>("y", {1});
    g.name("p", softmax(z));
    g.name("loss", sparse_softmax_cross_entropy(z, y));
  }
};
// Whatever its payload: nanf("1"), memory that is filled with 0xff.
TEST(Softmax, ANanIsSeenInTheLoss) {
  auto e = DeviceUnderTest{}.compile<WideLogits>();
  e.initialize();
  decltype(e)::Workspace w;
  using Both = Demand<Names<Name<"p">, Name<"loss">>, Names<>>;
  for (const std::uint32_t bits : {0x7fc00000U, 0x7fc00001U, 0x7fffffffU, 0xffffffffU}) {
    std::vector<float> z(20, 0.5F);
    z[7] = std::bit_cast<float>(bits);
    const std::vector<std::int32_t> y{5};
    e.run<Both>(w, Feed<Name<"z">, std::vector<float>>{z}, Feed<Name<"y">, std::vector<std::int32_t>>{y});
    EXPECT_TRUE(std::isnan(e.fetch<Name<"loss">>(w))) << bits;
    for (const float p : e.fetch<Name<"p">>(w)) EXPECT_TRUE(std::isnan(p)) << bits;
  }
}

// A mask writes -infinity: the probability there is exactly 0, and NaN in a row of only -infinity.
TEST(Softmax, OfInfinities) {
  auto e = DeviceUnderTest{}.compile<Far>();
  e.initialize();
  decltype(e)::Workspace w;
  constexpr float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> z{1, -inf, 1, -inf, -inf, -inf, inf, 0, 1};
  const std::vector<std::int32_t> y{0, 0, 0};
  e.run<FarDemand>(w, Feed<Name<"z">, std::vector<float>>{z}, Feed<Name<"y">, std::vector<std::int32_t>>{y});
  const auto p = e.fetch<Name<"p">>(w), log = e.fetch<Name<"log p">>(w);
  const auto sum = e.fetch<Name<"sum">>(w);
  EXPECT_EQ(p.data()[0], 0.5F);
  EXPECT_EQ(p.data()[1], 0);
  EXPECT_EQ(log.data()[1], -inf);
  EXPECT_FLOAT_EQ(log.data()[0], -0.69314718F);
  for (int i = 3; i < 9; ++i) EXPECT_TRUE(std::isnan(p.data()[i])) << i;
  for (int i = 3; i < 9; ++i) EXPECT_TRUE(std::isnan(log.data()[i])) << i;
  EXPECT_EQ(sum.data()[1], -inf);
  EXPECT_EQ(sum.data()[2], inf);
}

/// The same along the first axis, and along the last one by the columns of a longer row.
struct Infinities {
  static constexpr void define(GraphBuilder& g) {
    const Tensor columns = g.placeholder<float>("columns", {3, 3}), rows = g.placeholder<double>("rows", {2, 40});
    g.name("p", softmax(columns, 0));
    g.name("log p", log_softmax(columns, 0));
    g.name("log p of rows", log_softmax(rows));
  }
};

TEST(Softmax, OfInfinitiesIsTheSameAlongEveryAxis) {
  auto e = DeviceUnderTest{}.compile<Infinities>();
  decltype(e)::Workspace w;
  constexpr float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> columns{1, -inf, inf, -inf, -inf, 0, 1, -inf, 1};
  std::vector<double> rows(80, 1.0);
  rows[7] = std::numeric_limits<double>::infinity();
  e.run<Demand<Names<Name<"p">, Name<"log p">, Name<"log p of rows">>, Names<>>>(
      w, Feed<Name<"columns">, std::vector<float>>{columns}, Feed<Name<"rows">, std::vector<double>>{rows});
  const auto p = e.fetch<Name<"p">>(w), log = e.fetch<Name<"log p">>(w);
  const auto log_rows = e.fetch<Name<"log p of rows">>(w);
  EXPECT_EQ(p(0, 0), 0.5F);
  EXPECT_EQ(log(1, 0), -inf);
  for (int i = 0; i < 3; ++i) {
    for (int j = 1; j < 3; ++j) EXPECT_TRUE(std::isnan(p(i, j)) && std::isnan(log(i, j))) << i << ", " << j;
  }
  for (int j = 0; j < 40; ++j) EXPECT_TRUE(std::isnan(log_rows(0, j)) && !std::isnan(log_rows(1, j))) << j;
}

}  // namespace loss_test
}  // namespace crochet
