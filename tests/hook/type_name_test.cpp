// SPDX-License-Identifier: Apache-2.0
#include <crochet/hook/type_name.hpp>

#include <gtest/gtest.h>

#include <crochet/base/name.hpp>

namespace crochet {

template <FixedString Text>
struct Watch {};
template <int N, class H>
struct Every {};
struct Plain {};

namespace {

struct Hidden {};

TEST(TypeName, IsWhatTheAuthorWrote) {
  EXPECT_EQ(detail::type_name<Plain>(), "Plain");
  EXPECT_EQ(detail::type_name<Hidden>(), "Hidden");
  EXPECT_EQ(detail::type_name<Watch<"loss">>(), "Watch<\"loss\">");
  EXPECT_EQ((detail::type_name<Every<10, Watch<"a, b">>>()), "Every<10, Watch<\"a, b\">>");
  EXPECT_EQ(detail::type_name<int>(), "int");
}

}  // namespace
}  // namespace crochet
