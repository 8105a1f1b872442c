// SPDX-License-Identifier: Apache-2.0
// Which gradients ranks exchange together. The sums themselves: tests/ranks.
#include <crochet/graph/train/share_gradients.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/model.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

namespace share_gradients_test {

namespace cr = crochet;
using namespace cr::literals;

struct Variable {
  cr::Shape shape;
  bool in_double = false;
};

/// The sizes of the exchanges of a graph with these variables, in order.
constexpr std::vector<std::int64_t> exchanges_of(std::initializer_list<Variable> variables) {
  cr::GraphBuilder g;
  g.divide_batch();
  cr::VariableGradients gradients;
  constexpr std::array<std::string_view, 4> names{"a", "b", "c", "d"};
  std::size_t next = 0;
  for (const Variable& v : variables) {
    const auto x = v.in_double ? g.variable<double>(names[next], v.shape, cr::ones())
                               : g.variable<float>(names[next], v.shape, cr::ones());
    ++next;
    gradients.push_back({x, square(x)});
  }
  const int position = g.position();
  cr::detail::share_gradients(gradients, cr::Spread::mean);
  std::vector<std::int64_t> sizes;
  for (int i = 0; i < g.size(); ++i) {
    if (g.node(i).is(cr::op::mean_over_ranks)) sizes.push_back(g.node(i).shape.size().factor);
  }
  if (g.position() != position) sizes.clear();  // random numbers of later nodes would be others
  for (const auto& v : gradients) {
    if (!(v.gradient.shape() == v.variable.shape()) || v.gradient.dtype() != v.variable.dtype()) sizes.clear();
  }
  return sizes;
}
constexpr bool are(const std::vector<std::int64_t>& sizes, std::initializer_list<std::int64_t> expected) {
  return std::equal(sizes.begin(), sizes.end(), expected.begin(), expected.end());
}

// Up to 16 KiB: together.
static_assert(are(exchanges_of({{{128}}, {{128, 10}}, {{10}}}), {1418}));
// Larger ones: each by itself, and what is between them is still exchanged together.
static_assert(are(exchanges_of({{{784, 128}}, {{128}}, {{128, 64}}, {{64}}}), {784 * 128, 128 * 64, 192}));
static_assert(are(exchanges_of({{{4096}}, {{4097}}}), {4097, 4096}));
static_assert(are(exchanges_of({{{2048}, true}, {{2049}, true}}), {2049, 2048}));
// One type to a bucket.
static_assert(are(exchanges_of({{{3}}, {{4}}, {{5}, true}, {{6}, true}}), {7, 11}));
static_assert(are(exchanges_of({{{3}}, {{5}, true}, {{4}}}), {3, 5, 4}));
// Scalars have room, too.
static_assert(are(exchanges_of({{{}}, {{}}}), {2}));
static_assert(are(exchanges_of({{{7}}}), {7}));
static_assert(are(exchanges_of({}), {}));

/// Two products whose gradients do not depend on each other. Together: their variables have one bucket.
template <bool Together>
struct Pair {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const auto a = g.variable<float>("first/a", {3, 2}, cr::uniform(-1, 1));
    const auto b = g.variable<float>("second/b", {3, 4}, cr::uniform(-1, 1));
    const auto loss =
        g.name("loss", cr::reduce_mean(cr::tanh(cr::matmul(x, a))) + cr::reduce_mean(cr::tanh(cr::matmul(x, b))));
    if constexpr (Together) {
      g.name("train", cr::minimize(loss, cr::SGD{0.5}));
    } else {
      const auto first = cr::minimize(loss, cr::SGD{0.5}, {.scope = "first", .count_step = false});
      g.name("train", cr::group({first, cr::minimize(loss, cr::SGD{0.5}, {.scope = "second"})}));
    }
  }
};

/// The variables of rank 0 of three after five steps, with uneven parts of the batch.
template <class Model>
std::vector<float> trained() {
  std::vector<float> found;
  cr::testing::run_ranks(3, [&](cr::testing::ThreadRank me) {
    auto executor = cr::Parallel{cr::Cpu{.threads = 1}, me}.compile<Model>();
    executor.initialize();
    cr::RawSession session(executor);
    const std::int64_t rows = 1 + me.rank();
    std::vector<float> pixels;
    for (std::int64_t i = 0; i < 3 * rows; ++i) pixels.push_back(0.3F * static_cast<float>(i * 7 % 5 - me.rank()));
    for (int step = 0; step < 5; ++step) {
      session.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{pixels.data(), {rows, 3}}));
    }
    if (me.rank() > 0) return;
    for (const float w : executor.variable("first/a"_n)) found.push_back(w);
    for (const float w : executor.variable("second/b"_n)) found.push_back(w);
  });
  return found;
}

TEST(ShareGradients, ABucketHasTheBitsOfExchangesOneByOne) {
  const std::vector<float> together = trained<Pair<true>>();
  ASSERT_EQ(together.size(), 18U);
  EXPECT_EQ(together, trained<Pair<false>>());
}

}  // namespace share_gradients_test
