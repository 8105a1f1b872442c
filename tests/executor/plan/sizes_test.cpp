// SPDX-License-Identifier: Apache-2.0
// Feeds of impossible sizes. Each is an error that names the placeholder and its extents, or the number of bytes that
// cannot be allocated. Nothing is written.
#include <crochet/executor/cpu.hpp>

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

// A sanitizer's allocator then returns null, as the system's does.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace crochet {
namespace {

struct Sizes {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 20});
    g.name("doubled", 2 * x);
    g.name("sum", reduce_sum(x));
    g.name("loss", reduce_mean(square(x)));
    g.name("highest", reduce_max(x, {0}));
    g.name("first", argmax(x, 0));
    g.name("row means", reduce_mean(x, {1}));
    const Tensor w = g.variable<float>("w", {20, 1}, constant_initializer(0));
    g.name("train", minimize(reduce_mean(matmul(x, w)), SGD{.learning_rate = 0.1}));
    const Tensor a = g.placeholder<float>("a", {g.dynamic("rows"), g.dynamic("inner")});
    const Tensor b = g.placeholder<float>("b", {g.dynamic("inner"), g.dynamic("columns")});
    g.name("product", matmul(a, b));
  }
};
using E = decltype(Cpu{}.compile<Sizes>());
template <FixedString N>
using Fetch = Demand<Names<Name<N>>, Names<>>;
using Train = Demand<Names<>, Names<Name<"train">>>;
using View = TensorView<float, 2>;

constexpr std::int64_t power_of_2(int n) { return std::int64_t{1} << n; }

class SizesTest : public ::testing::Test {
 protected:
  SizesTest() { executor.initialize(); }

  template <class Error, class F>
  static std::string error_of(F f) {
    try {
      f();
    } catch (const Error& e) {
      return e.what();
    }
    return "no error";
  }
  template <class D = Fetch<"doubled">>
  std::string feeding(const View& x) {
    return error_of<ShapeError>([&] { executor.run<D>(workspace, feed<"x">(x)); });
  }
  template <class D = Fetch<"product">>
  std::string multiplying(const View& a, const View& b) {
    return error_of<ShapeError>([&] { executor.run<D>(workspace, feed<"a">(a), feed<"b">(b)); });
  }

  std::vector<float> some = std::vector<float>(40);
  E executor = Cpu{.threads = 2}.compile<Sizes>();
  E::Workspace workspace;
};

TEST_F(SizesTest, NegativeExtentsAreRefused) {
  EXPECT_EQ(feeding({some.data(), {-4, 20}}),
            "crochet: placeholder 'x' expects shape [batch, 20] and was given shape [-4, 20]");
  EXPECT_EQ(feeding({some.data(), {-1, 20}}),
            "crochet: placeholder 'x' expects shape [batch, 20] and was given shape [-1, 20]");
  EXPECT_EQ(feeding({some.data(), {2, -20}}),
            "crochet: placeholder 'x' expects shape [batch=2, 20] and was given shape [2, -20]");
  EXPECT_EQ(multiplying({some.data(), {-2, -2}}, {some.data(), {-2, -2}}),
            "crochet: placeholder 'a' expects shape [rows, inner] and was given shape [-2, -2]");
}

TEST_F(SizesTest, ANullPointerToElementsIsRefused) {
  EXPECT_EQ(feeding({nullptr, {2, 20}}),
            "crochet: placeholder 'x' expects shape [batch=2, 20] and was given a null pointer with shape [2, 20]");
  EXPECT_EQ(error_of<ShapeError>([&] {
              executor.run<Fetch<"doubled">>(workspace, feed<"x">(std::span<const float>(some).first(0)));
              executor.run<Fetch<"doubled">>(workspace, feed<"x">(std::vector<float>{}));
            }),
            "no error");
  EXPECT_EQ(feeding({nullptr, {0, 20}}), "no error");
}

TEST_F(SizesTest, MoreElementsThanCanBeAddressedAreRefused) {
  EXPECT_EQ(
      feeding({some.data(), {power_of_2(62), 20}}),
      "crochet: placeholder 'x' would have more elements than memory can address, with batch=4611686018427387904");
  EXPECT_EQ(multiplying({some.data(), {power_of_2(31), 0}}, {some.data(), {0, power_of_2(31)}}),
            "crochet: a tensor of the model would have more elements than memory can address, with rows=2147483648, "
            "inner=0, columns=2147483648");
  EXPECT_EQ(multiplying({some.data(), {power_of_2(62), 0}}, {some.data(), {0, 1}}),
            "crochet: placeholder 'a' would have more elements than memory can address, with "
            "rows=4611686018427387904, inner=0, columns=1");
  EXPECT_EQ(multiplying({some.data(), {2, 3}}, {some.data(), {3, 4}}), "no error") << "it can be used afterwards";
}

TEST_F(SizesTest, MemoryThatIsNotThereIsAnErrorOfSoManyBytes) {
  const std::int64_t batch = power_of_2(42);  // 20 floats each: 320 TiB, more than processors address
  const View x(some.data(), {batch, 20});
  const std::string what =
      error_of<ResourceExhaustedError>([&] { executor.run<Fetch<"doubled">>(workspace, feed<"x">(x)); });
  EXPECT_EQ(what.find("crochet: there is no memory for the tensors of a run: "), 0U) << what;
  EXPECT_NE(what.find(" bytes were requested"), std::string::npos) << what;
  EXPECT_GE(std::stod(what.substr(what.find(": 3") + 2)), 20.0 * 4 * static_cast<double>(batch));
  EXPECT_EQ(feeding({some.data(), {2, 20}}), "no error") << "it can be used afterwards";
}

TEST_F(SizesTest, OfNothingThereIsNoMean) {
  const View nothing(some.data(), {0, 20});
  const std::string refused =
      "crochet: the feed of 'x' is empty (batch=0), and this run takes a mean over it; of nothing there is none: leave "
      "out empty batches";
  EXPECT_EQ(feeding<Fetch<"loss">>(nothing), refused);
  EXPECT_EQ(feeding<Train>(nothing), refused) << "a gradient of a mean, whose value is not computed";
}

TEST_F(SizesTest, WhatIsDefinedOfNothingIsComputed) {
  const View nothing(some.data(), {0, 20});
  EXPECT_EQ(feeding<Fetch<"doubled">>(nothing), "no error");
  EXPECT_EQ(executor.fetch<Name<"doubled">>(workspace).size(), 0U);
  EXPECT_EQ(feeding<Fetch<"sum">>(nothing), "no error");
  EXPECT_EQ(executor.fetch<Name<"sum">>(workspace), 0);
  EXPECT_EQ(feeding<Fetch<"highest">>(nothing), "no error");
  EXPECT_EQ(executor.fetch<Name<"highest">>(workspace)(0), -std::numeric_limits<float>::infinity());
  EXPECT_EQ(feeding<Fetch<"first">>(nothing), "no error");
  EXPECT_EQ(executor.fetch<Name<"first">>(workspace)(0), 0);
  EXPECT_EQ(feeding<Fetch<"row means">>(nothing), "no error");
  EXPECT_EQ(executor.fetch<Name<"row means">>(workspace).size(), 0U);
  EXPECT_EQ(feeding<Fetch<"loss">>(nothing).find("crochet: the feed of 'x' is empty"), 0U)
      << "also if the run before had the same size";
}

constexpr auto batch = Extent::symbol(0), time = Extent::symbol(1);
static_assert(cpu::can_be_addressed(batch * Extent(4), {power_of_2(40), -1, -1, -1}));
static_assert(!cpu::can_be_addressed(batch * batch, {power_of_2(31), -1, -1, -1}));
static_assert(!cpu::can_be_addressed(batch * time * Extent(power_of_2(40)), {power_of_2(40), 0, -1, -1}));
static_assert(cpu::can_be_addressed(batch * time, {power_of_2(40), 0, -1, -1}));

}  // namespace
}  // namespace crochet
