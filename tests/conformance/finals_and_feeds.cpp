// SPDX-License-Identifier: Apache-2.0
// GlobalStepWaiter, FinalOps, FeedFn and Profiler: spec 4.3, 5.12.
#include <crochet/hooks/feed_fn.hpp>
#include <crochet/hooks/final_ops.hpp>
#include <crochet/testing/recording_sink.hpp>
#include <crochet/testing/script.hpp>

#include <array>
#include <string>

#include "behaviour.hpp"

namespace crochet::conformance {
namespace finals_and_feeds_scenarios {

using testing::RecordingSink;
using testing::Script;

SAME(X3, "final ops: a scalar", "its value can be had after the end") {
  Script run{FinalOps<"loss">{}, value<"loss">(13.0f)};
  run.step();
  EXPECT_TRUE(run.hook()["loss"_n].empty());
  run.end();
  EXPECT_EQ(run.hook()["loss"_n].template as<float>(), 13.0f);
}

SAME(X4, "final ops: vectors", "their values can be had after the end") {
  const std::array<float, 3> a{1, 2, 3};
  Script run{FinalOps<"a">{}, value<"a">(std::span<const float>(a))};
  run.step();
  run.end();
  const auto kept = run.hook()["a"_n].template elements<float>();
  EXPECT_EQ(std::vector<float>(kept.begin(), kept.end()), (std::vector<float>{1, 2, 3}));
}

SAME(X5, "final ops that need input which has come to its end",
     "OutOfRange leaves `end`, and a warning says that the final ops depend on the input") {
  RecordingSink sink;
  Script run{FinalOps<"loss">{.sink = sink}, value<"loss">(1.0f)};
  run.step();
  run.log().throw_in_run(1, OutOfRangeError{});
  EXPECT_THROW(run.end(), OutOfRangeError);
  EXPECT_NE(sink.text().find("the final values need input"), std::string::npos) << sink.text();
}

SAME(X6, "final ops with feeds", "are run with them") {
  Script run{final_ops<"loss">(feed<"rate">(0.25f)), value<"loss">(1.0f), placeholder<float, "rate">};
  run.step();
  run.end();
  EXPECT_EQ(run.log().fed_scalars.at("rate"), 0.25);
}

SAME(X7, "FeedFn returns a feed", "the placeholder has that value in the run") {
  Script run{FeedFn{[] { return feed<"rate">(30.0f); }}, placeholder<float, "rate">};
  run.step();
  EXPECT_EQ(run.log().fed_scalars.at("rate"), 30.0);
}

}  // namespace finals_and_feeds_scenarios
}  // namespace crochet::conformance
