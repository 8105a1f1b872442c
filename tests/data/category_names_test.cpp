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

TEST(CategoryNames, OfOtherDataThanTheCheckpointsAreAnError) {
  cr::testing::StateBox box;
  cr::CategoryNames<"species">{{"setosa", "virginica"}}.save_state(box);
  cr::CategoryNames<"species"> same{{"setosa", "virginica"}}, longer{{"setosa", "versicolor", "virginica"}};
  same.load_state(box);
  try {
    longer.load_state(box);
    FAIL();
  } catch (const cr::CheckpointMismatchError& error) {
    EXPECT_EQ(std::string(error.what()),
              "the 3 categories of \"species\" are others than the checkpoint's 2: category 1 is \"versicolor\" here "
              "and \"virginica\" there; to continue the training, pass Table::categories the names of the "
              "checkpoint; for other categories start a new training");
  }
  EXPECT_EQ(longer.names().size(), 3U);
}

TEST(CategoryNames, FewerOrMoreThanTheCheckpointsAreAnError) {
  const auto refusal = [](const cr::CategoryNames<"species">& saved, cr::CategoryNames<"species"> given) {
    cr::testing::StateBox box;
    saved.save_state(box);
    try {
      given.load_state(box);
    } catch (const cr::CheckpointMismatchError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const cr::CategoryNames<"species"> two{{"setosa", "virginica"}}, one{{"setosa"}};
  EXPECT_NE(refusal(two, one).find("category 1 is none here and \"virginica\" there"), std::string::npos);
  EXPECT_NE(refusal(one, two).find("category 1 is \"virginica\" here and none there"), std::string::npos);
}

TEST(CategoryNames, ThatWereLoadedCanBeLoadedAgain) {
  cr::CategoryNames<"species"> names;
  for (const char* name : {"setosa", "virginica"}) {
    cr::testing::StateBox box;
    cr::CategoryNames<"species">{{name}}.save_state(box);
    names.load_state(box);
    EXPECT_EQ(names[0], name);
  }
}

TEST(CategoryNames, AnIndexOutOfRangeIsAnError) {
  const cr::CategoryNames<"species"> names{{"setosa", "virginica"}}, empty;
  for (const std::int64_t index : {-1, 2}) EXPECT_THROW((void)names[index], cr::LogicError) << index;
  try {
    (void)empty[0];
    FAIL();
  } catch (const cr::LogicError& error) {
    EXPECT_EQ(std::string(error.what()),
              "crochet: category 0 of the 0 categories of \"species\"; load the names of the training");
  }
}

}  // namespace category_names_test
