// SPDX-License-Identifier: Apache-2.0
#include <crochet/hook/type_name.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

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

TEST(TypeName, ReadsEverySpellingOfAString) {
  using detail::readable_type_name;
  EXPECT_EQ(readable_type_name("crochet::Every<10, crochet::Watch<crochet::FixedString<5>{\"a, b\"}> >"),
            "Every<10, Watch<\"a, b\">>");
  EXPECT_EQ(readable_type_name("crochet::Every<10, crochet::Watch<FixedString<5>{\"a, b\"}>>"),  // clang 21
            "Every<10, Watch<\"a, b\">>");
  EXPECT_EQ(readable_type_name("user::Row<crochet::FixedString<5>, user::Point{1}>"), "Row<FixedString<5>, Point{1}>");
  EXPECT_EQ(readable_type_name("user::MyFixedString<5>{\"a\"}"), "MyFixedString<5>{\"a\"}");
}

TEST(TypeName, ShowsWhereTheCompilerShortensAString) {
  EXPECT_EQ(detail::readable_type_name("crochet::Every<10, crochet::Watch<{{97, 98, 99, ...}}>>"),
            "Every<10, Watch<\"abc\u2026\">>");
}

template <class F>
struct Calls {
  explicit Calls(F /*unused*/) {}
};
template <FixedString Text, class F>
struct Named {};
template <class T>
std::string name_of(const T& /*unused*/) {
  return detail::type_name<T>();
}
auto ends_at(int last) {
  return Calls{[last](int step) { return step == last; }};
}
template <class T>
auto ends_with_value(const T& last) {
  return Calls{[last](auto value) { return value == last; }};
}
struct Model {
  auto operator<(int) const {
    return Calls{[] { return 1; }};
  }
  auto operator()(int) {
    return Calls{[] { return 1; }};
  }
};

// The key of a hook's state has no source position and no signature, which an edit changes.
TEST(TypeName, OfALambdaIsWithoutItsPlace) {
  const auto here = [](auto value) { return value > 1; };
  EXPECT_EQ(name_of(here), "lambda");
  EXPECT_EQ(name_of(Calls{here}), "Calls<lambda>");
  EXPECT_EQ(name_of(Calls{[&](int) { return here(1); }}), "Calls<lambda>");
  EXPECT_EQ(name_of(ends_at(3)), "Calls<lambda>");
  EXPECT_EQ(name_of(ends_with_value(std::string("end"))), "Calls<lambda>");
  EXPECT_EQ(name_of(Model{} < 1), "Calls<lambda>");
  EXPECT_EQ(name_of(Model{}(1)), "Calls<lambda>");
  EXPECT_EQ((detail::type_name<Named<"validation_loss", decltype(here)>>()),
            "Named<\"validation_loss\", const lambda>");
}

TEST(TypeName, OfATypeInAFunctionIsWithoutTheFunction) {
  struct Local {};
  auto inside = [n = 0](auto /*unused*/) mutable {
    struct InLambda {
      int runs;
    };
    return Calls{InLambda{++n}};
  };
  EXPECT_EQ(detail::type_name<Local>(), "Local");
  EXPECT_EQ((detail::type_name<Every<10, Local>>()), "Every<10, Local>");
  EXPECT_EQ(name_of(inside(1)), "Calls<InLambda>");
}

TEST(TypeName, DropsThePlacesOfBothCompilers) {
  const auto expect = [](std::string_view spelling, std::string_view name) {
    EXPECT_EQ(detail::readable_type_name(spelling), name) << spelling;
  };
  expect("crochet::Evaluate<main(int, char**)::<lambda()>, int>", "Evaluate<lambda, int>");
  expect("crochet::Evaluate<int, (lambda at a (copy 2:1)/b.cpp:20:12)>", "Evaluate<int, lambda>");
  expect("crochet::Evaluate<int, user::Model<int>::go() const &::<lambda(auto:11 ...)> >", "Evaluate<int, lambda>");
  expect("H<const user::H<main()::<lambda()> >::mem<int>(int)::<lambda()> >", "H<const lambda>");
  expect("H<main()::<lambda(auto:13)> mutable::<lambda()> >", "H<lambda>");
  expect("H<main()::<lambda(auto:13)>::L, user::Op::operator<<(int) const::L>", "H<L, L>");
  expect("H<user::my_operator<main()::L> >", "H<my_operator<L>>");
  expect("H<int, (unnamed enum at b.cpp:30:3)>", "H<int, <unnamed enum>>");
  expect("H<int, user::f(int, A<int>)::<unnamed enum> >", "H<int, <unnamed enum>>");
  expect("H<user::(anonymous namespace)::T, user::{anonymous}::T>", "H<T, T>");
}

}  // namespace type_name_test
}  // namespace crochet
