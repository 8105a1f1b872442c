// SPDX-License-Identifier: Apache-2.0
#include <crochet/graph/core/constexpr_vector.hpp>

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace crochet {
namespace constexpr_vector_test {

/// Growth, copies, shrinking and new contents in constant evaluation; true if all are right.
constexpr bool works_in_the_compiler() {
  ConstexprVector<ConstexprVector<int>> rows(2);
  for (int i = 0; i < 100; ++i) rows[0].push_back(i);
  rows.push_back(rows.front());
  if (rows.size() != 3 || rows.back().size() != 100 || rows.back()[99] != 99 || !rows[1].empty()) return false;
  rows[0].resize(3);
  rows[0].pop_back();
  rows[1] = rows[0];
  rows[0].assign(4, 7);
  if (rows[1].size() != 2 || rows[1].back() != 1 || rows[0].front() != 7 || rows[0].back() != 7) return false;
  const ConstexprVector<int> moved = static_cast<ConstexprVector<int>&&>(rows[2]);
  int sum = 0;
  for (const int x : moved) sum += x;
  return sum == 4950 && rows[2].empty() && ConstexprVector<int>{3, 5}.size() == 2 &&
         ConstexprVector<int>(3, 5).size() == 3;
}
static_assert(works_in_the_compiler());

TEST(ConstexprVector, ElementsLiveAsLongAsTheyAreInIt) {
  const auto shared = std::make_shared<int>(1);
  {
    ConstexprVector<std::shared_ptr<int>> list(2, shared);
    for (int i = 0; i < 20; ++i) list.push_back(shared);
    EXPECT_EQ(shared.use_count(), 23);
    ConstexprVector<std::shared_ptr<int>> other = list;
    EXPECT_EQ(shared.use_count(), 45);
    other = {shared};
    EXPECT_EQ(shared.use_count(), 24);
    list.resize(5);
    list.pop_back();
    EXPECT_EQ(shared.use_count(), 6);
    other.assign(list.begin(), list.end());
    EXPECT_EQ(shared.use_count(), 9);
    list.clear();
    EXPECT_EQ(shared.use_count(), 5);
  }
  EXPECT_EQ(shared.use_count(), 1);
}

TEST(ConstexprVector, AnElementOfItselfCanBeAdded) {
  ConstexprVector<std::string> list{std::string(40, 'a')};
  while (list.size() < 100) list.push_back(list.front());
  EXPECT_EQ(list.back(), std::string(40, 'a'));
  EXPECT_GE(list.capacity(), list.size());
}

TEST(ConstexprVector, RoomIsKept) {
  ConstexprVector<int> list;
  list.reserve(50);
  const int* const first = list.data();
  list.resize(50, 1);
  list.clear();
  list.assign(30, 2);
  EXPECT_EQ(list.data(), first);
  EXPECT_EQ(list.size(), 30U);
}

}  // namespace constexpr_vector_test
}  // namespace crochet
