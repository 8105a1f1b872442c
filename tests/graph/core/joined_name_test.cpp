// SPDX-License-Identifier: Apache-2.0
#include <crochet/graph/core/joined_name.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <crochet/model.hpp>

namespace crochet {
namespace joined_name_test {

/// A layer of a program, with names made of its own.
constexpr Tensor block(Tensor x, std::string_view name) {
  const Extent width = x.shape().from_right(0);
  const Tensor scale = x.graph->variable<float>(joined_name(name, "/scale"), {width}, ones());
  return dense(x * scale, 3, joined_name(name, "/up"));
}

struct Blocks {
  static constexpr void define(GraphBuilder& g) {
    Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    for (int i = 0; i < 2; ++i) x = block(x, joined_name("block_", i));
    g.name("y", x);
  }
};

/// The number of these names in the model.
constexpr int count_of_names() {
  GraphBuilder g;
  Blocks::define(g);
  return static_cast<int>(g.has("block_0/scale")) + static_cast<int>(g.has("block_0/up/kernel")) +
         static_cast<int>(g.has("block_1/scale")) + static_cast<int>(g.has("block_1/up/bias"));
}

TEST(JoinedName, NamesTheVariablesOfLayersInALoop) {
  static_assert(count_of_names() == 4);
  EXPECT_EQ(count_of_names(), 4);
}

TEST(JoinedName, HasTextsAndNumbers) {
  EXPECT_EQ(joined_name().view(), "");
  EXPECT_EQ(joined_name("a", std::string("/b"), std::string_view("/c")).view(), "a/b/c");
  EXPECT_EQ(joined_name("h", 0, "_", -17, "_", std::size_t{104}).view(), "h0_-17_104");
  EXPECT_EQ(joined_name(std::numeric_limits<std::int64_t>::min()).view(), "-9223372036854775808");
  EXPECT_EQ(joined_name(std::numeric_limits<std::uint64_t>::max()).view(), "18446744073709551615");
  static_assert(!NamePart<bool> && !NamePart<char> && !NamePart<double>);
}

}  // namespace joined_name_test
}  // namespace crochet
