// SPDX-License-Identifier: Apache-2.0
// Series: bounded memory, and peaks that survive.
#include <crochet/web/series.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace series_test {

using crochet::web::Bucket;
using crochet::web::Series;

TEST(Series, AMillionPointsTakeTheMemoryOfItsBuckets) {
  constexpr std::int64_t points = 1'000'000, peak = 765'432;
  Series series(256);
  series.add(0, 0, 1);
  std::size_t most = 0;
  const Bucket* const memory = series.buckets().data();
  for (std::int64_t step = 1; step < points; ++step) {
    series.add(step, step == peak ? 1000 : static_cast<double>(step % 10), static_cast<std::uint64_t>(step) + 1);
    most = std::max(most, series.buckets().size());
  }
  EXPECT_EQ(most, 256U);
  EXPECT_EQ(series.buckets().data(), memory);  // no other allocation
  EXPECT_EQ(series.stride(), 4096);
  std::int64_t counted = 0, next = 0, peaks = 0;
  double sum = 0;
  for (const Bucket& bucket : series.buckets()) {
    EXPECT_EQ(bucket.first, next);
    EXPECT_EQ(bucket.least, 0);
    next = bucket.last + 1;
    counted += bucket.points;
    sum += bucket.sum;
    if (bucket.greatest == 1000) peaks += bucket.first <= peak && peak <= bucket.last ? 1 : 100;
  }
  EXPECT_EQ(next, points);
  EXPECT_EQ(counted, points);
  EXPECT_EQ(peaks, 1);
  EXPECT_EQ(sum, 4.5 * points - peak % 10 + 1000);
}

TEST(Series, ChangesAreTheTailUnlessBucketsWereMerged) {
  Series series(4);
  for (int i = 1; i <= 4; ++i) series.add(i, i, static_cast<std::uint64_t>(i));
  EXPECT_EQ(series.first_after(0), 0U);
  EXPECT_EQ(series.first_after(2), 2U);
  EXPECT_EQ(series.first_after(4), 4U);
  series.add(5, 5, 5);  // two of two points, and the new one
  ASSERT_EQ(series.buckets().size(), 3U);
  EXPECT_EQ(series.first_after(4), 0U);
  EXPECT_EQ(series.first_after(5), 3U);
  series.add(6, 6, 6);
  ASSERT_EQ(series.buckets().size(), 3U);
  EXPECT_EQ(series.first_after(5), 2U);
  EXPECT_EQ(series.buckets()[2].greatest, 6);
}

TEST(Series, AStepThatGoesBackRemovesWhatWasBehindIt) {
  Series series(16);
  for (int i = 1; i <= 10; ++i) series.add(10 * i, i, static_cast<std::uint64_t>(i));
  series.add(65, -1, 11);
  ASSERT_EQ(series.buckets().size(), 7U);
  EXPECT_EQ(series.buckets().back().first, 65);
  EXPECT_EQ(series.first_after(10), 0U);
}

TEST(Series, ASecondPointOfAStepWidensItsBucket) {
  Series one(8), two(8);  // two writers of one curve
  std::uint64_t version = 0;
  for (int step = 1; step <= 1000; ++step) {
    one.add(step, step, ++version);
    two.add(step, step, ++version);
    two.add(step, step % 100 == 0 ? -step : step, ++version);
    ASSERT_EQ(two.first_after(version - 1), two.buckets().size() - 1) << step;
  }
  ASSERT_EQ(two.buckets().size(), one.buckets().size());
  for (std::size_t i = 0; i < one.buckets().size(); ++i) {
    EXPECT_EQ(two.buckets()[i].first, one.buckets()[i].first);
    EXPECT_EQ(two.buckets()[i].last, one.buckets()[i].last);
    EXPECT_EQ(two.buckets()[i].points, one.buckets()[i].points);
    EXPECT_LE(two.buckets()[i].least, -100);
    EXPECT_EQ(two.buckets()[i].greatest, one.buckets()[i].greatest);
  }
}

TEST(Series, ASecondPointOfAStepReplacesTheFirst) {
  Series series(4);
  series.add(1, 5, 1);
  series.add(2, 7, 2);
  series.add(2, 6, 3);
  ASSERT_EQ(series.buckets().size(), 2U);
  EXPECT_EQ(series.buckets()[1].sum, 6);
  EXPECT_EQ(series.buckets()[1].points, 1);
  EXPECT_EQ(series.first_after(2), 1U);
}

TEST(Series, AStepThatGoesBackIntoABucketKeepsItsEarlierSteps) {
  Series series(4);
  for (int step = 1; step <= 16; ++step) series.add(step, step, static_cast<std::uint64_t>(step));
  ASSERT_EQ(series.buckets().size(), 4U);  // of four points
  series.add(11, 11, 17);
  ASSERT_EQ(series.buckets().size(), 4U);
  EXPECT_EQ(series.buckets()[2].first, 9);
  EXPECT_EQ(series.buckets()[2].last, 10);
  EXPECT_EQ(series.buckets()[3].first, 11);
  EXPECT_EQ(series.first_after(16), 0U);
  series.add(12, 12, 18);
  EXPECT_EQ(series.buckets()[3].last, 12);
  EXPECT_EQ(series.first_after(17), 3U);
}

TEST(Series, NumbersThatAreNotFiniteAreCountedOnly) {
  Series series(2);
  series.add(1, std::numeric_limits<double>::quiet_NaN(), 1);
  series.add(2, std::numeric_limits<double>::infinity(), 2);
  series.add(3, 4, 3);
  ASSERT_EQ(series.buckets().size(), 2U);
  EXPECT_EQ(series.buckets()[0].points, 2);
  EXPECT_EQ(series.buckets()[0].finite, 0);
  EXPECT_EQ(series.buckets()[1].sum, 4);
}

}  // namespace series_test
