// SPDX-License-Identifier: Apache-2.0
// The parts of summaries: histogram buckets, tag names, image pixels.
#include <png.h>

#include <crochet/io/png.hpp>
#include <crochet/storage/histogram.hpp>
#include <crochet/storage/summary.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <limits>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace histogram_test {

namespace io = crochet::io;
using Bucket = io::Histogram::Bucket;

io::Histogram histogram_of(const std::vector<double>& values) {
  io::Histogram h;
  h.add(std::span<const double>(values));
  return h;
}

/// The limits in TensorFlow's documentation, computed in the simplest way.
std::vector<double> plain_limits() {
  std::vector<double> positive;
  for (double v = 1e-12; v < 1e20; v *= 1.1) positive.push_back(v);
  std::vector<double> limits{-DBL_MAX};
  for (auto v = positive.rbegin(); v != positive.rend(); ++v) limits.push_back(-*v);
  limits.push_back(0);
  limits.insert(limits.end(), positive.begin(), positive.end());
  limits.push_back(DBL_MAX);
  return limits;
}

TEST(Histogram, HasTheOriginalsLimits) {
  const std::vector<double> limits = plain_limits();
  ASSERT_EQ(limits.size(), 1551U);
  const auto& ours = io::detail::bucket_limits().limits;
  EXPECT_TRUE(std::equal(limits.begin(), limits.end(), ours.begin(), ours.end()));
}

TEST(Histogram, TheOriginalsExample) {
  const io::Histogram h = histogram_of({-1, 0, 0.5, 0.5, 2});
  EXPECT_EQ(h.buckets(), (std::vector<Bucket>{{-1.0089710279437536, 0},
                                              {-0.917246389039776, 1},
                                              {0, 0},
                                              {1e-12, 1},
                                              {0.47069243095356195, 0},
                                              {0.5177616740489182, 2},
                                              {1.9661990955585713, 0},
                                              {2.1628190051144287, 1},
                                              {DBL_MAX, 0}}));
  EXPECT_EQ(h.num(), 5U);
  EXPECT_EQ(h.min(), -1);
  EXPECT_EQ(h.max(), 2);
  EXPECT_EQ(h.sum(), 2);
  EXPECT_EQ(h.sum_squares(), 5.5);
}

TEST(Histogram, WithoutValues) {
  const io::Histogram h;
  EXPECT_EQ(h.buckets(), std::vector<Bucket>{(Bucket{DBL_MAX, 0})});
  EXPECT_EQ(h.min(), DBL_MAX);
  EXPECT_EQ(h.max(), -DBL_MAX);
}

/// Every limit, its neighbours, and many numbers between, against a linear search.
TEST(Histogram, AValueIsInTheFirstBucketWhoseLimitIsAboveIt) {
  const std::vector<double> limits = plain_limits();
  std::vector<double> tried{0, -0.0, 1e-300, -1e-300, 5e-324, 3e20, -3e20, 1e300, -1e300};
  for (const double limit : limits) {
    tried.insert(tried.end(), {limit, std::nextafter(limit, 0), std::nextafter(limit, limit < 0 ? -DBL_MAX : DBL_MAX)});
  }
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> exponent(-45, 70), sign(-1, 1);
  for (int i = 0; i < 20000; ++i) tried.push_back(std::copysign(std::exp2(exponent(random)), sign(random)));
  for (const double x : tried) {
    const auto right = std::upper_bound(limits.begin(), limits.end() - 1, x) - limits.begin();
    ASSERT_EQ(io::detail::bucket_limits().bucket_of(x), static_cast<std::size_t>(right)) << x;
  }
}

TEST(Histogram, WhatIsNotFiniteIsCountedApart) {
  const double inf = std::numeric_limits<double>::infinity();
  const io::Histogram h = histogram_of({1, std::nan(""), inf, -inf, 3});
  EXPECT_EQ(h.num(), 2U);
  EXPECT_EQ(h.non_finite(), 3U);
  EXPECT_EQ(h.sum(), 4);
}

TEST(SummaryTag, KeepsWhatTensorBoardKnows) {
  EXPECT_EQ(io::summary_tag("train/loss_1.x-y"), "train/loss_1.x-y");
  EXPECT_EQ(io::summary_tag("train loss: 5%"), "train_loss__5_");
  EXPECT_EQ(io::summary_tag("//hidden/kernel"), "hidden/kernel");
  EXPECT_EQ(io::summary_tag("_x"), "_x");
  EXPECT_EQ(io::summary_tag("-x"), "-x");
  EXPECT_EQ(io::summary_tag("gr\xC3\xB6\xC3\x9F"
                            "e \xE2\x82\xAC"),
            "gr__e__")
      << "one _ for each character";
  EXPECT_THROW(io::summary_tag(""), crochet::LogicError);
  EXPECT_THROW(io::summary_tag("/"), crochet::LogicError);
}

std::vector<std::uint8_t> decoded(const std::string& file, png_uint_32 format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&image, file.data(), file.size()), 0);
  EXPECT_EQ(image.format & PNG_FORMAT_RGBA, format & PNG_FORMAT_RGBA);
  image.format = format;
  std::vector<std::uint8_t> pixels(PNG_IMAGE_SIZE(image));
  EXPECT_NE(png_image_finish_read(&image, nullptr, pixels.data(), 0, nullptr), 0);
  return pixels;
}

TEST(Png, IsReadBackAsItWas) {
  const png_uint_32 formats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB, PNG_FORMAT_RGBA};
  for (int channels = 1; channels <= 4; ++channels) {
    std::vector<std::uint8_t> pixels(static_cast<std::size_t>(5 * 7 * channels));
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<std::uint8_t>(37 * i + 11);
    const std::string file = io::encode_png(pixels, 5, 7, channels);
    EXPECT_EQ(file.substr(0, 4), "\x89PNG");
    EXPECT_EQ(decoded(file, formats[channels - 1]), pixels) << channels;
  }
}

TEST(Png, RefusesSizesThatDoNotFit) {
  const std::vector<std::uint8_t> pixels(12);
  EXPECT_THROW(io::encode_png(pixels, 3, 3, 1), crochet::LogicError);
  EXPECT_THROW(io::encode_png(pixels, -3, -4, 1), crochet::LogicError);
  EXPECT_THROW(io::encode_png(pixels, 0, 4, 1), crochet::LogicError);
  EXPECT_THROW(io::encode_png(pixels, 2, 1, 6), crochet::LogicError);
}

std::vector<std::uint8_t> pixels_of(const std::vector<float>& numbers) {
  return io::pixels_of(std::span<const float>(numbers), 1, static_cast<int>(numbers.size()), 1).pixels;
}

TEST(Pixels, NumbersAreSpreadOverAllShades) {
  using Pixels = std::vector<std::uint8_t>;
  EXPECT_EQ(pixels_of({0, 1, 2}), (Pixels{0, 127, 255}));
  EXPECT_EQ(pixels_of({-1, 0, 0.5}), (Pixels{0, 127, 190}));
  const std::array subnormal{0.0, 5e-311, 1e-310}, both{-1e-310, 0.0, 5e-311};
  EXPECT_EQ(io::pixels_of(std::span<const double>(subnormal), 1, 3, 1).pixels, (Pixels{0, 127, 255}));
  EXPECT_EQ(io::pixels_of(std::span<const double>(both), 1, 3, 1).pixels, (Pixels{0, 127, 190}));
  EXPECT_EQ(pixels_of({-0.5, 0, 1}), (Pixels{63, 127, 255}));
  EXPECT_EQ(pixels_of({0, 0}), (Pixels{0, 0}));
  EXPECT_EQ(pixels_of({-2, -1}), (Pixels{0, 63}));
  EXPECT_EQ(pixels_of({std::nanf(""), 4}), (Pixels{0, 255}));
}

}  // namespace histogram_test
