// SPDX-License-Identifier: Apache-2.0
// Values that are stored as bfloat16: conversion, moves, products, variables, gradients. A product with a stored
// operand has the values of the same product with a float copy of it, for every shape, part and policy.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/crochet.hpp>
#include <crochet/graph/passes/arena.hpp>
#include <crochet/graph/train/checkpoint.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/nan_tensor.hpp>
#include <crochet/hooks/stop_at_step.hpp>

#include "device_under_test.hpp"

namespace crochet {
namespace bfloat16_storage_test {

/// Numbers in (-2, 2) with more bits than bfloat16 has.
std::vector<float> numbers(std::size_t n, std::uint32_t seed) {
  std::vector<float> v(n);
  for (float& x : v) {
    seed = seed * 1664525U + 1013904223U;
    x = static_cast<float>(static_cast<std::int32_t>(seed)) * 0x1p-30F;
  }
  return v;
}
std::vector<bfloat16> rounded(const std::vector<float>& v) {
  std::vector<bfloat16> all;
  for (const float x : v) all.push_back(bfloat16(x));
  return all;
}
/// Bits, so that the signs of zeros and NaN are compared, too.
std::vector<std::uint16_t> bits(std::span<const bfloat16> v) {
  std::vector<std::uint16_t> all;
  for (const bfloat16 x : v) all.push_back(x.bits());
  return all;
}
template <class T>
std::vector<T> copy(std::span<const T> v) {
  return {v.begin(), v.end()};
}
/// The values of v at the given places, as bits.
std::vector<std::uint16_t> at(const std::vector<bfloat16>& v, const std::vector<std::size_t>& places) {
  std::vector<std::uint16_t> all;
  for (const std::size_t i : places) all.push_back(v[i].bits());
  return all;
}

struct Conversions {
  static constexpr void define(GraphBuilder& g) {
    const Extent n = g.dynamic("n");
    const Tensor x = g.placeholder<float>("x", {n}), stored = g.placeholder<bfloat16>("stored", {n});
    g.name("rounded", cast<bfloat16>(x));
    g.name("twice", cast<float>(stored) * 2);
    g.name("as they are", identity(stored));
    g.name("positive", greater(cast<float>(stored), 0));
    g.name("doubles", cast<double>(stored));
    g.name("integers", cast<std::int32_t>(stored));
    g.name("of integers", cast<bfloat16>(cast<std::int32_t>(x * 1000)));
    g.name("of a constant", cast<bfloat16>(g.constant<float>(1.0F / 3)));
    g.name("constant", cast<float>(g.constant(DType::bfloat16, 0.1)));
    g.name("eighths", iota<bfloat16>(g, 5, 0.5, 0.125));
  }
};

TEST(Bfloat16Storage, ConvertsAsTheClassDoes) {
  MonitoredSession session{DeviceUnderTest{}.compile<Conversions>(), HookChain{}};
  std::vector<float> x = numbers(77, 1);
  constexpr float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  for (const float special :
       {infinity, -infinity, nan, -0.0F, 1.0F + 0x1p-8F, 1.0F + 3 * 0x1p-8F, 0x1.FFFFFEp127F, 0x1p-133F, 0x1p-134F,
        std::bit_cast<float>(0xFFFF'FFFFU), std::bit_cast<float>(0x7F80'0001U)}) {
    x.push_back(special);
  }
  const std::vector<bfloat16> stored = rounded(x);
  const auto values =
      session.run(fetches<"rounded", "twice", "as they are", "positive", "of a constant", "constant", "eighths">,
                  feed<"x">(x), feed<"stored">(stored));
  using namespace crochet::literals;
  EXPECT_EQ(bits(values["as they are"_n]), bits(stored));
  const float scalar = values["of a constant"_n];
  EXPECT_EQ(scalar, float{bfloat16(1.0F / 3)}) << "a scalar is fetched as a float";
  EXPECT_EQ(values["constant"_n], float{bfloat16(0.1F)});
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(values["eighths"_n][i], 0.5F + 0.125F * static_cast<float>(i));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const float wide = stored[i];
    SCOPED_TRACE(x[i]);
    if (std::isnan(x[i])) {
      EXPECT_TRUE(std::isnan(values["rounded"_n][i]));
      EXPECT_TRUE(std::isnan(values["twice"_n][i]));
    } else {
      EXPECT_EQ(values["rounded"_n][i].bits(), stored[i].bits());
      EXPECT_EQ(values["twice"_n][i], wide * 2);
    }
    EXPECT_EQ(values["positive"_n][i], wide > 0);
  }
  session.close();
}

TEST(Bfloat16Storage, ConvertsToAndFromOtherTypesThroughFloat) {
  MonitoredSession session{DeviceUnderTest{}.compile<Conversions>(), HookChain{}};
  const std::vector<float> x = numbers(50, 2);
  const std::vector<bfloat16> stored = rounded(x);
  const auto values = session.run(fetches<"doubles", "integers", "of integers">, feed<"x">(x), feed<"stored">(stored));
  using namespace crochet::literals;
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(values["doubles"_n][i], static_cast<double>(float{stored[i]}));
    EXPECT_EQ(values["integers"_n][i], static_cast<std::int32_t>(float{stored[i]}));
    EXPECT_EQ(values["of integers"_n][i].bits(), bfloat16(static_cast<std::int32_t>(x[i] * 1000)).bits());
  }
  session.close();
}

struct Moves {
  static constexpr void define(GraphBuilder& g) {
    const Extent n = g.dynamic("n");
    const Tensor x = g.placeholder<bfloat16>("x", {n, 3, 5}), table = g.placeholder<bfloat16>("table", {6, 33});
    const Tensor ids = g.placeholder<std::int32_t>("ids", {4}), yes = g.placeholder<bool>("yes", {n, 3, 1});
    g.name("turned", transpose(x, {2, 0, 1}));
    g.name("table turned", transpose(table));
    g.name("rows", gather(table, ids));
    g.name("part", slice(x, 2, 4, 0, -2));
    g.name("padded", pad(table, {{0, 0}, {1, 2}}, 1.5));
    g.name("joined", concat({x, slice(x, 1, 0, 2)}, 1));
    g.name("reshaped", reshape(x, {n, 15}));
    g.name("repeated", broadcast_to(slice(table, 0, 2, 3), {2, 33}));
    g.name("chosen", select(yes, x, cast<bfloat16>(g.constant<float>(-2))));
  }
};

TEST(Bfloat16Storage, MovesKeepEveryBit) {
  for (int threads = 1; threads <= 3; ++threads) {
    MonitoredSession session{DeviceUnderTest{threads}.compile<Moves>(), HookChain{}};
    const std::vector<bfloat16> x = rounded(numbers(std::size_t{2} * 15, 3)), table = rounded(numbers(6 * 33, 4));
    const std::vector<std::int32_t> ids{5, 0, 6, 2};
    const auto yes = std::to_array({true, false, false, true, true, false});
    const auto values = session.run(
        fetches<"turned", "table turned", "rows", "part", "padded", "joined", "reshaped", "repeated", "chosen">,
        feed<"x">(x), feed<"table">(table), feed<"ids">(ids), feed<"yes">(yes));
    using namespace crochet::literals;
    std::vector<std::size_t> turned, part, joined;
    for (std::size_t k = 0; k < 5; ++k) {
      for (std::size_t row = 0; row < 6; ++row) turned.push_back(row * 5 + k);
    }
    EXPECT_EQ(bits(values["turned"_n]), at(x, turned));
    std::vector<std::size_t> columns;
    for (std::size_t j = 0; j < 33; ++j) {
      for (std::size_t i = 0; i < 6; ++i) columns.push_back(i * 33 + j);
    }
    EXPECT_EQ(bits(values["table turned"_n]), at(table, columns));
    for (std::size_t row = 0; row < 6; ++row) {
      for (const std::size_t k : {4U, 2U}) part.push_back(row * 5 + k);
    }
    EXPECT_EQ(bits(values["part"_n]), at(x, part));
    for (std::size_t image = 0; image < 2; ++image) {
      for (std::size_t k = 0; k < 25; ++k) joined.push_back(image * 15 + k % 15);
    }
    EXPECT_EQ(bits(values["joined"_n]), at(x, joined));
    EXPECT_EQ(bits(values["reshaped"_n]), bits(x));
    const std::vector<std::uint16_t> rows = bits(values["rows"_n]), padded = bits(values["padded"_n]);
    for (std::size_t j = 0; j < 33; ++j) {
      EXPECT_EQ(rows[j], table[5 * 33 + j].bits());
      EXPECT_EQ(rows[33 + j], table[j].bits());
      EXPECT_TRUE(std::isnan(bfloat16::of_bits(rows[66 + j]))) << "there is no row 6";
      EXPECT_EQ(padded[36 + 1 + j], table[33 + j].bits());
      EXPECT_EQ(values["repeated"_n][33 + j].bits(), table[66 + j].bits());
    }
    EXPECT_EQ(padded[0], bfloat16(1.5).bits());
    EXPECT_EQ(padded[35], bfloat16(1.5).bits());
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_EQ(values["chosen"_n][i].bits(), yes[i / 5] ? x[i].bits() : bfloat16(-2).bits());
    }
    session.close();
  }
}

// Products.

/// y = op(a) op(b), and products with their gradients: `Stored` says which operands are read as they are stored; of the
/// others the product has a float copy.
template <std::int64_t M, std::int64_t K, std::int64_t N, bool Ta, bool Tb, bool StoredA, bool StoredB>
struct Product {
  static constexpr void define(GraphBuilder& g) {
    const Tensor a = g.variable<bfloat16>("a", Ta ? Shape{K, M} : Shape{M, K}, zeros());
    const Tensor b = g.variable<bfloat16>("b", Tb ? Shape{N, K} : Shape{K, N}, zeros());
    const Tensor one = g.variable<float>("one", {N}, ones());
    const Tensor left = StoredA ? a : cast<float>(a), right = StoredB ? b : cast<float>(b);
    const Tensor y = matmul(left, right, {.a = Ta, .b = Tb}) * one;
    g.name("y", y);
    const Tensor sum = reduce_sum(square(y));
    g.name("of a", gradient(sum, a));
    g.name("of b", gradient(sum, b));
  }
};

template <class Model>
std::vector<std::vector<float>> results(const auto& device, std::size_t a, std::size_t b) {
  MonitoredSession session{device.template compile<Model>(), HookChain{}};
  using namespace crochet::literals;
  std::ranges::copy(rounded(numbers(a, 7)), session.executor().variable("a"_n).begin());
  std::ranges::copy(rounded(numbers(b, 8)), session.executor().variable("b"_n).begin());
  const auto values = session.run(fetches<"y", "of a", "of b">);
  const auto of = [](const auto& v) { return std::vector<float>(v.data(), v.data() + v.size()); };
  std::vector<std::vector<float>> all{of(values["y"_n]), of(values["of a"_n]), of(values["of b"_n])};
  session.close();
  return all;
}

/// Every layout, shape and policy is in kernels/cpu/widened_product_test.cpp.
template <std::int64_t M, std::int64_t K, std::int64_t N, bool Ta, bool Tb>
void have_the_values_of_floats(const auto& device) {
  constexpr auto a = static_cast<std::size_t>(M * K), b = static_cast<std::size_t>(K * N);
  const auto expected = results<Product<M, K, N, Ta, Tb, false, false>>(device, a, b);
  const auto given = results<Product<M, K, N, Ta, Tb, true, true>>(device, a, b);
  for (std::size_t k = 0; k < given.size(); ++k) {
    ASSERT_EQ(given[k].size(), expected[k].size());
    // The stored variable may be in panels, so the order of a sum may differ.
    for (std::size_t i = 0; i < given[k].size(); ++i) ASSERT_NEAR(given[k][i], expected[k][i], 2e-3) << k << ", " << i;
  }
}

TEST(Bfloat16Storage, ProductsOfOneRow) { have_the_values_of_floats<1, 37, 150, false, false>(DeviceUnderTest{2}); }
TEST(Bfloat16Storage, ProductsOfManyRows) {
  have_the_values_of_floats<70, 33, 67, false, true>(DeviceUnderTest{3});
  have_the_values_of_floats<70, 33, 67, true, false>(DeviceUnderTest{2});
}

// Gradients and training.

/// Training in mixed precision by hand: variables of float, of which products and the stored activations are rounded.
struct Mixed {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 8}),
                 labels = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    const Tensor w = g.variable<float>("w", {8, 24}, glorot_uniform()),
                 v = g.variable<float>("v", {24, 3}, glorot_uniform());
    const Tensor hidden = cast<bfloat16>(relu(matmul(x, cast<bfloat16>(w))));
    g.name("hidden", hidden);
    g.name("loss", sparse_softmax_cross_entropy(matmul(hidden, cast<bfloat16>(v)), labels));
    g.name("train", minimize(g["loss"], Adam{.learning_rate = 0.02}));
  }
};

TEST(Bfloat16Storage, ANetworkWithStoredActivationsTrains) {
  MonitoredSession session{DeviceUnderTest{.threads = 2, .seed = 3}.compile<Mixed>(), HookChain{}};
  const std::vector<float> x = numbers(std::size_t{32} * 8, 5);
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < 32; ++i) labels.push_back(x[i * 8] > 0.5F ? 2 : x[i * 8 + 1] > 0 ? 1 : 0);
  using namespace crochet::literals;
  const auto step = [&] {
    return float{session.run(fetches<"loss">, "train"_n, feed<"x">(x), feed<"labels">(labels))["loss"_n]};
  };
  const float first = step();
  float last = first;
  for (int i = 0; i < 150; ++i) last = step();
  EXPECT_GT(first, 0.8F);
  EXPECT_LT(last, 0.15F);
  session.close();
}

/// The gradient of a stored value is a float: it is not rounded on its way to the variable.
struct Slopes {
  static constexpr void define(GraphBuilder& g) {
    const Tensor w = g.variable<float>("w", {5}, zeros()), c = g.placeholder<float>("c", {5});
    const Tensor stored = cast<bfloat16>(w);
    const Tensor moved = concat({slice(stored, 0, 2, to_end), slice(stored, 0, 0, 2)}, 0);
    g.name("of w", gradient(reduce_sum(cast<float>(moved) * c), w));
    g.name("of stored", gradient(reduce_sum(cast<float>(moved) * c), stored));
  }
};

/// Four layers with relu; with `Stored` their results are kept as bfloat16 for the gradients.
template <bool Stored>
struct Layers {
  static constexpr void define(GraphBuilder& g) {
    Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 256});
    for (const char* name : {"a", "b", "c", "d"}) {
      x = relu(dense(x, 256, name));
      if (Stored) x = checkpoint(cast<bfloat16>(x));
    }
    g.name("loss", reduce_mean(square(Stored ? cast<float>(x) : x)));
    g.name("train", minimize(g["loss"], SGD{}));
  }
};
TEST(Bfloat16Storage, ActivationsTakeLessMemoryInTraining) {
  constexpr Dims dims{1024, 1, 1, 1};
  using Step = Demand<Names<Name<"loss">>, Names<Name<"train">>>;
  const auto bytes = [&]<bool Stored>(std::bool_constant<Stored>) {
    using E = decltype(DeviceUnderTest{}.compile<Layers<Stored>>());
    return workspace_bytes(E::template plan_of<Step>::plan, dims);
  };
  const std::int64_t stored = bytes(std::true_type{}), floats = bytes(std::false_type{});
  EXPECT_LE(stored * 100, floats * (on_device_under_test ? 85 : 75));
}

/// A loss that is stored.
struct StoredLoss {
  static constexpr void define(GraphBuilder& g) {
    const Tensor w = g.variable<float>("w", {5}, ones());
    const Tensor loss = reshape(slice(cast<bfloat16>(w * 3), 0, 1, 2), {});
    g.name("of w", gradient(loss, w));
  }
};
TEST(Bfloat16Storage, TheGradientOfAStoredLossIsAFloat) {
  MonitoredSession session{DeviceUnderTest{}.compile<StoredLoss>(), HookChain{}};
  const auto values = session.run(fetches<"of w">);
  using namespace crochet::literals;
  EXPECT_EQ(copy(std::span<const float>(values["of w"_n])), (std::vector<float>{0, 3, 0, 0, 0}));
  session.close();
}

TEST(Bfloat16Storage, GradientsOfStoredValuesAreFloats) {
  MonitoredSession session{DeviceUnderTest{}.compile<Slopes>(), HookChain{}};
  const std::vector<float> c = numbers(5, 9);
  const auto values = session.run(fetches<"of w", "of stored">, feed<"c">(c));
  using namespace crochet::literals;
  const std::vector<float> expected{c[3], c[4], c[0], c[1], c[2]};
  EXPECT_EQ(copy(std::span<const float>(values["of w"_n])), expected);
  EXPECT_EQ(copy(std::span<const float>(values["of stored"_n])), expected);
  session.close();
}

// Variables.

struct Counts {
  static constexpr void define(GraphBuilder& g) {
    const Tensor v = g.variable<bfloat16>("v", {40}, uniform(-1, 1));
    g.name("twice", g.assign(v, cast<bfloat16>(cast<float>(v) * 2)));
  }
};

TEST(Bfloat16Storage, VariablesAreInitializedRoundedAndAssigned) {
  struct Floats {
    static constexpr void define(GraphBuilder& g) { g.variable<float>("v", {40}, uniform(-1, 1)); }
  };
  MonitoredSession session{DeviceUnderTest{.threads = 1, .seed = 4}.compile<Counts>(), HookChain{}};
  MonitoredSession floats{DeviceUnderTest{.threads = 1, .seed = 4}.compile<Floats>(), HookChain{}};
  using namespace crochet::literals;
  const auto of_floats = floats.executor().variable("v"_n);
  const std::vector<float> first(of_floats.begin(), of_floats.end());
  const auto before = session.executor().variable("v"_n);
  EXPECT_EQ(bits(std::span<const bfloat16>(before)), bits(rounded(first)));
  session.run("twice"_n);
  const auto after = session.executor().variable("v"_n);
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(float{after[i]}, 2 * float{bfloat16(first[i])});
  session.close();
  floats.close();
}

struct Watched {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {3});
    g.name("all", cast<bfloat16>(x));
    g.name("one", cast<bfloat16>(reduce_sum(x)));
  }
};

/// What NanTensor throws if an element is NaN in step 3.
template <FixedString Text>
std::string error_of_the_guard() {
  MonitoredSession session{DeviceUnderTest{}.compile<Watched>(),
                           HookChain{NanTensor<Text>{}, StopAtStep{.last_step = 9}}};
  std::string text;
  try {
    for (int step = 1; !session.should_stop(); ++step) {
      session.run(fetches<Text>, feed<"x">(std::vector<float>{1, step == 3 ? NAN : 1, 2}));
    }
  } catch (const NanLossError& error) {
    text = error.what();
  }
  session.close();
  return text;
}
TEST(Bfloat16Storage, ANanIsFound) {
  EXPECT_EQ(error_of_the_guard<"all">(),
            "crochet: all has 1 NaN and 0 infinite of 3 elements, the first at 1 at step 3");
  EXPECT_EQ(error_of_the_guard<"one">(), "crochet: one is NaN at step 3");
}

TEST(Bfloat16Storage, IsShownAsNumbers) {
  std::vector<std::string> lines;
  MonitoredSession session{DeviceUnderTest{}.compile<Watched>(),
                           HookChain{LoggingTensor<"all", "one">{
                               .every_steps = 1, .sink = [&](std::string_view line) { lines.emplace_back(line); }}}};
  session.run(fetches<"one">, feed<"x">(std::vector<float>{1, 0.1F, -2}));
  session.close();
  EXPECT_EQ(lines, std::vector<std::string>{"step 1: all = [1.0, 0.100097656, -2.0], one = -0.8984375"});
}

// Layers.

/// Each kind of layer with its kernel stored as W.
template <class W>
struct Vision {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 6, 6, 2});
    const Tensor wide = relu(conv2d<W>(x, 8, {3, 3}, "wide"));
    const Tensor apart = relu(depthwise_conv2d<W>(wide, {3, 3}, "apart", {.stride = {2, 2}}));
    const Tensor series = relu(conv1d<W>(reshape(apart, {g.dynamic("batch"), 9, 8}), 8, 3, "series"));
    const Tensor attended = multi_head_self_attention<W>(series, 2, "attention");
    const Tensor seen = greater(reduce_sum(series, {2}), 0.5);
    g.name("y", dense<W>(multi_head_self_attention<W>(attended, 2, "padded", seen), 3, "y"));
  }
};
TEST(Bfloat16Storage, LayersWithStoredKernelsHaveTheValuesOfFloats) {
  MonitoredSession stored{DeviceUnderTest{.threads = 2, .seed = 5}.compile<Vision<bfloat16>>(), HookChain{}};
  MonitoredSession floats{DeviceUnderTest{.threads = 2, .seed = 5}.compile<Vision<float>>(), HookChain{}};
  int kernels = 0;
  floats.executor().for_each_variable([&](std::string_view name, auto v, auto) {
    if constexpr (std::is_same_v<decltype(v), std::span<float>>) {
      kernels += name.ends_with("/kernel") ? 1 : 0;
      for (float& x : v) x = bfloat16(x);  // the biases are zeros
    }
  });
  EXPECT_EQ(kernels, 8);
  stored.executor().for_each_variable([&](std::string_view name, auto v, auto) {
    EXPECT_EQ(sizeof(v[0]), name.ends_with("/kernel") ? 2U : 4U) << name;
  });
  const std::vector<float> x = numbers(std::size_t{3} * 72, 6);
  const auto expected = floats.run(fetches<"y">, feed<"x">(x)), given = stored.run(fetches<"y">, feed<"x">(x));
  using namespace crochet::literals;
  ASSERT_EQ(given["y"_n].size(), std::size_t{3} * 9 * 3);
  EXPECT_NE(expected["y"_n][0], 0);
  for (std::size_t i = 0; i < given["y"_n].size(); ++i) {
    EXPECT_NEAR(given["y"_n][i], expected["y"_n][i], 1e-4F) << i;
  }
  stored.close();
  floats.close();
}

// Errors of a model.

TEST(Bfloat16Storage, ArithmeticIsAnErrorThatNamesTheOperation) {
  GraphBuilder g;
  const Tensor x = g.placeholder<bfloat16>("x", {4, 4});
  const auto message = [](auto build) {
    try {
      build();
    } catch (const GraphError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([&] { x + x; }),
            "crochet: bfloat16 is a type for storage, and add computes with it: use cast<float>(x)");
  EXPECT_NE(message([&] { relu(x); }).find("relu"), std::string::npos);
  EXPECT_NE(message([&] { reduce_sum(x); }).find("reduce_sum"), std::string::npos);
  EXPECT_NE(message([&] { softmax(x); }).find("softmax"), std::string::npos);
  EXPECT_NE(message([&] { conv2d(reshape(x, {1, 4, 4, 1}), 2, {3, 3}, "conv"); }), "");
}

TEST(Bfloat16Storage, LayersOfStoredValuesHaveFloatVariables) {
  GraphBuilder g;
  const Tensor x = g.placeholder<bfloat16>("x", {2, 4, 8});
  EXPECT_EQ(multi_head_self_attention(x, 2, "attention").dtype(), DType::float32);
  EXPECT_EQ(g["attention/qkv/kernel"].dtype(), DType::float32);
  EXPECT_EQ(g["attention/out/kernel"].dtype(), DType::float32);
}

TEST(Bfloat16Storage, AConvolutionConvertsNoTypesButBfloat16) {
  GraphBuilder g;
  const Tensor x = g.placeholder<float>("x", {1, 4, 4, 1});
  EXPECT_THROW(conv2d<double>(x, 2, {3, 3}, "conv"), GraphError);
}

TEST(Bfloat16Storage, TrainingAVariableIsAnErrorWithACure) {
  GraphBuilder g;
  const Tensor v = g.variable<bfloat16>("v", {4}, zeros());
  EXPECT_THROW(minimize(reduce_sum(cast<float>(v)), SGD{}), GraphError);
}

}  // namespace bfloat16_storage_test
}  // namespace crochet
