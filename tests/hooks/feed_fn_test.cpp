// SPDX-License-Identifier: Apache-2.0
// FeedFn: feeds what a function returns.
#include <crochet/hooks/feed_fn.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace feed_fn_test {

namespace cr = crochet;
using cr::feed;
using cr::placeholder;
using cr::testing::Script;

TEST(FeedFn, FeedsWhatTheFunctionReturns) {
  float rate = 0;
  Script run{cr::FeedFn{[&] { return feed<"rate">(rate += 0.5f); }}, placeholder<float, "rate">};
  run.step();
  EXPECT_EQ(run.log().fed_scalars["rate"], 0.5);
  run.step();
  EXPECT_EQ(run.log().fed_scalars["rate"], 1.0);
  EXPECT_EQ(run.log().runs.back().fed, "rate");
}

TEST(FeedFn, MayLookAtTheRunAndFeedSeveral) {
  Script run{cr::FeedFn{[](auto& run) {
               return cr::feeds(feed<"rate">(static_cast<double>(run.step())), feed<"training">(1));
             }},
             placeholder<double, "rate">, placeholder<int, "training">};
  run.step();
  run.step();
  EXPECT_EQ(run.log().fed_scalars["rate"], 1.0);
  EXPECT_EQ(run.log().fed_scalars["training"], 1.0);
}

TEST(FeedFn, MayFeedInSomeRunsOnly) {
  using Request = decltype(cr::RunArgs{feed<"rate">(1.0)});
  Script run{cr::FeedFn{[](auto& run) -> std::optional<Request> {
               if (run.step() % 2 == 1) return {};
               return Request{feed<"rate">(7.0)};
             }},
             placeholder<double, "rate">};
  std::string fed;
  for (int i = 0; i < 3; ++i) {
    run.step();
    fed += run.log().runs.back().fed + "|";
  }
  EXPECT_EQ(fed, "rate||rate|");
}

TEST(FeedFn, IsAskedAgainForARunThatIsRepeated) {
  int calls = 0;
  Script run{cr::FeedFn{[&] { return feed<"rate">(static_cast<double>(++calls)); }}, placeholder<double, "rate">};
  run.log().throw_in_run(0, cr::UnavailableError("gone"));
  EXPECT_THROW(run.step(), cr::UnavailableError);
  run.step();
  EXPECT_EQ(calls, 2);
}

}  // namespace feed_fn_test
