// SPDX-License-Identifier: Apache-2.0
#include <crochet/hook/type_name.hpp>

#include <gtest/gtest.h>

#include <cstdint>

#include <crochet/base/name.hpp>

namespace crochet {

template <FixedString Text>
struct Watch {};
template <int N, class H>
struct Every {};
struct Plain {};
template <FixedString Value, FixedString Rate = "learning_rate">
struct Reduce {};
template <FixedString Rate = "learning_rate">
struct Lower {};
template <class Row, FixedString... Columns>
struct Rows {};
template <FixedString Plan, class H>
struct Only {};
template <std::int64_t N, class H>
struct EveryNth {};
template <class... Items>
struct Saver {};
template <class T>
struct Outer {
  template <FixedString Text>
  struct Inner {};
  struct Row {};
};

namespace type_name_test {

struct Hidden {};

TEST(TypeName, IsWhatTheAuthorWrote) {
  EXPECT_EQ(detail::type_name<Plain>(), "Plain");
  EXPECT_EQ(detail::type_name<Hidden>(), "Hidden");
  EXPECT_EQ(detail::type_name<Watch<"loss">>(), "Watch<\"loss\">");
  EXPECT_EQ((detail::type_name<Every<10, Watch<"a, b">>>()), "Every<10, Watch<\"a, b\">>");
  EXPECT_EQ((detail::type_name<Every<10, Watch<"a}b">>>()), "Every<10, Watch<\"a}b\">>");
  EXPECT_EQ(detail::type_name<int>(), "int");
}

// clang prints ten characters of a string, and neither compiler a default argument.
TEST(TypeName, SpellsStringsWholeAndDefaultArgumentsOnEveryCompiler) {
  using detail::type_name;
  EXPECT_EQ(type_name<Watch<"validation_loss">>(), "Watch<\"validation_loss\">");
  EXPECT_EQ(type_name<Lower<>>(), "Lower<\"learning_rate\">");
  EXPECT_EQ(type_name<Reduce<"validation_loss">>(), "Reduce<\"validation_loss\", \"learning_rate\">");
  EXPECT_EQ((type_name<Rows<Plain, "first_column", "second_column">>()),
            "Rows<Plain, \"first_column\", \"second_column\">");
  EXPECT_EQ((type_name<Rows<Plain>>()), "Rows<Plain>");
  EXPECT_EQ((type_name<Only<"evaluation_plan", Lower<>>>()), "Only<\"evaluation_plan\", Lower<\"learning_rate\">>");
  EXPECT_EQ((type_name<Saver<int, Watch<"validation_loss">>>()), "Saver<int, Watch<\"validation_loss\">>");
  EXPECT_EQ((type_name<EveryNth<-12, Watch<"validation_loss">>>()), "EveryNth<-12, Watch<\"validation_loss\">>");
  EXPECT_EQ((type_name<Rows<Outer<int>::Row, "first_column">>()), "Rows<Outer<int>::Row, \"first_column\">");
  EXPECT_EQ((type_name<Outer<int>::Inner<"loss">>()), "Outer<int>::Inner<\"loss\">");
}

TEST(TypeName, ShowsWhereTheCompilerShortensAString) {
  EXPECT_EQ(detail::readable_type_name("crochet::Every<10, crochet::Watch<{{97, 98, 99, ...}}>>"),
            "Every<10, Watch<\"abc\u2026\">>");
}

}  // namespace type_name_test
}  // namespace crochet
