// SPDX-License-Identifier: Apache-2.0
#include <crochet/hana/members.hpp>

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "options.hpp"

namespace crochet {
namespace members_test {

static_assert(ListsMembers<Options> && ListsMembers<Defined> && ListsMembers<Empty>);
static_assert(!ListsMembers<int> && !ListsMembers<std::string>);

TEST(HanaMembers, AreVisitedInOrderByReference) {
  Defined object{7, "seven"};
  std::vector<std::string> names;
  for_each_member(object, [&](std::string_view name, auto& member) {
    names.emplace_back(name);
    member = {};
  });
  EXPECT_EQ(names, (std::vector<std::string>{"count", "text"}));
  EXPECT_EQ(object.count, 0);
  EXPECT_EQ(object.text, "");
}

TEST(HanaMembers, OfAConstantAreConst) {
  const Rule rule{.rate = 2, .floor = 3};
  double sum = 0;
  for_each_member(rule, [&]<class Member>(std::string_view, Member& member) {
    static_assert(std::is_const_v<Member>);
    sum += static_cast<double>(member);
  });
  EXPECT_EQ(sum, 5);
}

TEST(HanaMembers, OfNothing) {
  const Empty empty;
  for_each_member(empty, [](std::string_view, const auto&) { FAIL(); });
}

}  // namespace members_test
}  // namespace crochet
