// SPDX-License-Identifier: Apache-2.0
// Whether a run is accepted does not depend on the order of its feeds: a range for [batch, time] is bound after the
// feed that determines batch.
#include <crochet/executor/cpu.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace crochet {
namespace feed_order_test {

struct Model {
  static constexpr void define(GraphBuilder& g) {
    const Extent a = g.dynamic("a"), b = g.dynamic("b"), c = g.dynamic("c");
    const Tensor ab = g.placeholder<float>("ab", {a, b}), bc = g.placeholder<float>("bc", {b, c});
    const Tensor only_c = g.placeholder<float>("c", {c});
    g.name("sums", reduce_sum(matmul(ab, bc) * only_c, {1}));
  }
};
using E = decltype(Cpu{}.compile<Model>());
using Sums = Demand<Names<Name<"sums">>, Names<>>;
using View = TensorView<float, 2>;

const std::vector<float> ab(6, 1.F), bc(12, 2.F), only_c(4, 3.F);

/// The elements of "sums", or the error.
template <class... F>
std::string sums_or_error(const F&... feeds) {
  E executor = Cpu{.threads = 1}.compile<Model>();
  E::Workspace workspace;
  try {
    executor.run<Sums>(workspace, feeds...);
  } catch (const ShapeError& error) {
    return error.what();
  }
  std::string all;
  for (const float x : executor.fetch<Name<"sums">>(workspace)) all.append(std::to_string(static_cast<int>(x)) + " ");
  return all;
}

TEST(FeedOrder, OfRangesDoesNotMatter) {
  const std::string sums = "72 72 ";
  EXPECT_EQ(sums_or_error(feed<"c">(only_c), feed<"bc">(bc), feed<"ab">(ab)), sums);
  EXPECT_EQ(sums_or_error(feed<"ab">(ab), feed<"bc">(bc), feed<"c">(only_c)), sums);
  EXPECT_EQ(sums_or_error(feed<"bc">(bc), feed<"ab">(ab), feed<"c">(only_c)), sums);
  EXPECT_EQ(sums_or_error(feed<"ab">(ab), feed<"bc">(View(bc.data(), {3, 4})), feed<"c">(only_c)), sums);
}

TEST(FeedOrder, AFeedThatNothingDeterminesIsAnErrorThatNamesIt) {
  EXPECT_EQ(sums_or_error(feed<"ab">(ab), feed<"bc">(bc), feed<"c">(std::vector<float>(5))),
            "crochet: placeholder 'bc' expects shape [b, c=5] and was given 12 elements");
  EXPECT_EQ(sums_or_error(feed<"c">(only_c), feed<"ab">(View(ab.data(), {3, 2})), feed<"bc">(bc)),
            "crochet: placeholder 'bc' expects shape [b=2, c=4] and was given 12 elements");
}

// Positions of feeds.
using cpu::detail::FeedSize, cpu::detail::order_of;
constexpr Extent batch = Extent::symbol(0), time = Extent::symbol(1);
constexpr FeedSize view(const Shape& shape) { return {shape, false}; }
constexpr FeedSize range(const Shape& shape) { return {shape, true}; }
static_assert(order_of<2>({range({batch}), view({batch, time})}) == std::array<std::size_t, 2>{0, 1}, "as they are");
static_assert(order_of<2>({range({batch, time}), view({4, time})}) == std::array<std::size_t, 2>{1, 0});
static_assert(order_of<3>({range({batch, time}), range({3}), range({time, time})}) ==
                  std::array<std::size_t, 3>{1, 0, 2},
              "nothing determines these two");
static_assert(order_of<2>({view({batch * time, 4}), view({time, 2})}) == std::array<std::size_t, 2>{1, 0});
static_assert(order_of<0>({}).empty());

}  // namespace feed_order_test
}  // namespace crochet
