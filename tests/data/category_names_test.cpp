// SPDX-License-Identifier: Apache-2.0
// The names of categories, and their way through checkpoints.
#include <crochet/base/error.hpp>
#include <crochet/data/category_names.hpp>
#include <crochet/testing/state_box.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace category_names_test {

namespace cr = crochet;

TEST(CategoryNames, ComeBackFromACheckpoint) {
  const cr::CategoryNames<"species"> saved{{"setosa", "", "two\nlines, \"quoted\"", "\u00e9"}};
  cr::testing::StateBox box;
  saved.save_state(box);
  cr::CategoryNames<"species"> loaded;
  loaded.load_state(box);
  EXPECT_EQ(loaded.names(), saved.names());
  EXPECT_EQ(loaded[0], "setosa");
  EXPECT_EQ(loaded[3], "\u00e9");
}

TEST(CategoryNames, AnIndexOutOfRangeIsAnError) {
  const cr::CategoryNames<"species"> names{{"setosa", "virginica"}}, empty;
  for (const std::int64_t index : {-1, 2}) EXPECT_THROW((void)names[index], cr::LogicError) << index;
  try {
    (void)empty[0];
    FAIL();
  } catch (const cr::LogicError& error) {
    EXPECT_EQ(std::string(error.what()),
              "category 0 of the 0 categories of \"species\"; load the names of the training");
  }
}

}  // namespace category_names_test
