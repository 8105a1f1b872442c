// SPDX-License-Identifier: Apache-2.0
#include <crochet/hana/describe_members.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "options.hpp"

namespace crochet {
namespace describe_members_test {

TEST(HanaDescribe, GivesNamesAndValuesInALine) {
  EXPECT_EQ(describe(Options{.verbose = true, .mode = Mode::fast}),
            "patience 20, min_delta 1e-05, verbose true, mode 1, name \"loss\", milestones [100, 200], "
            "range [0.0, 1.0], rule {rate 0.1, floor 0.0}");
  EXPECT_EQ(describe(Defined{.count = 3, .text = "three"}), "count 3, text \"three\"");
  EXPECT_EQ(describe(Empty{}), "");
}

TEST(HanaDescribe, OfTheStateOfAHook) {
  EXPECT_EQ(describe(Plateau{.since = 2}), "best inf, since 2, history [], rule {rate 0.1, floor 0.0}");
}

TEST(HanaDescribe, OfOptionalValues) {
  EXPECT_EQ(describe(Limits{}), "steps none, rule none");
  EXPECT_EQ(describe(Limits{.steps = 7, .rule = Rule{}}), "steps 7, rule {rate 0.1, floor 0.0}");
}

struct Lists {
  std::vector<std::string> names{"loss", "accuracy"};
  std::array<Mode, 2> modes{Mode::slow, Mode::fast};
  std::vector<Rule> rules{{}};
  std::vector<std::string> many = std::vector<std::string>(7, "x");
  std::vector<bool> layers{true, false};
};
struct Opaque {};
struct HasOpaque {
  int count = 1;
  Opaque opaque;
};

}  // namespace describe_members_test
}  // namespace crochet

BOOST_HANA_ADAPT_STRUCT(crochet::describe_members_test::HasOpaque, count, opaque);
BOOST_HANA_ADAPT_STRUCT(crochet::describe_members_test::Lists, names, modes, rules, many, layers);

namespace crochet::describe_members_test {
TEST(HanaDescribe, OfListsOfTextsEnumeratorsAndMembers) {
  EXPECT_EQ(describe(Lists{}),
            "names [\"loss\", \"accuracy\"], modes [0, 1], rules [{rate 0.1, floor 0.0}], "
            "many [\"x\", \"x\", \"x\", ... 7], layers [true, false]");
}
TEST(HanaDescribe, OfAMemberWithoutText) { EXPECT_EQ(describe(HasOpaque{}), "count 1, opaque ..."); }
}  // namespace crochet::describe_members_test
