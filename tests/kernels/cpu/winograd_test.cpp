// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution, and the gradient of its filter, against sums of products in double: borders, odd sizes,
// panels that are not full, and parts of the rows.
#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/kernels/cpu/conv.hpp>
#include <crochet/kernels/cpu/tiles.hpp>

namespace crochet {
namespace winograd_test {

struct Sizes {
  std::int64_t images, height, width, channels, filters;
  bool same = true;  ///< padding
};

/// n numbers from -1 to 1.
std::vector<float> numbers(std::int64_t n, double step) {
  std::vector<float> all(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = static_cast<float>(std::sin(step * static_cast<double>(i) + std::sin(static_cast<double>(i * i % 977))));
  }
  return all;
}

class Convolution {
 public:
  explicit Convolution(const Sizes& s)
      : s_(s),
        rows_(s.same ? s.height : s.height - 2),
        columns_(s.same ? s.width : s.width - 2),
        image_(numbers(s.images * s.height * s.width * s.channels, 0.7)),
        filter_(numbers(9 * s.channels * s.filters, 1.3)) {}

  kernel::Slide slide() const {
    const kernel::Operand image{.rank = 4, .extents = {s_.images, s_.height, s_.width, s_.channels}};
    const kernel::Operand out{.rank = 4, .extents = {s_.images, rows_, columns_, s_.filters}};
    return {image, out, {.ints = {3, 3, 1, 1, 0, 1, 1}}};
  }
  /// By Winograd's algorithm, as one of `count` members after the other would compute it. `packed`: the filter is in
  /// panels.
  template <int Side>
  std::vector<float> computed(int count, bool packed) {
    std::vector<float> result(static_cast<std::size_t>(s_.images * rows_ * columns_ * s_.filters), NAN);
    const std::vector<float> panels = in_panels();
    const kernel::Matrix<float> filter = packed ? kernel::in_panels(panels.data(), 9 * s_.channels, s_.filters)
                                                : kernel::row_major(filter_.data(), s_.filters);
    const kernel::StoreTo<float> store{result.data(), s_.filters};
    kernel::Barrier barrier(count);
    std::vector<kernel::AlignedBytes> scratch(static_cast<std::size_t>(count));
    for (int member = 0; member < count; ++member) {
      kernel::Worker worker(member, count, barrier, scratch);
      using Winograd = kernel::Winograd<Side, float, kernel::ConvolutionPaths{}, kernel::StoreTo<float>>;
      Winograd c(slide(), s_.channels, s_.filters, filter, worker, store);
      c.rows(image_.data(), worker.part(s_.images * Winograd::tile_rows(slide())));
    }
    return result;
  }
  /// The results that are NaN if channel 0 of a pixel of image 0 is, as places of an image.
  template <int Side>
  std::vector<std::int64_t> not_numbers(std::int64_t row, std::int64_t column) {
    image_[static_cast<std::size_t>((row * s_.width + column) * s_.channels)] = NAN;
    const std::vector<float> result = computed<Side>(1, false);
    std::vector<std::int64_t> places;
    for (std::int64_t p = 0; p < rows_ * columns_; ++p) {
      if (std::isnan(result[static_cast<std::size_t>(p * s_.filters)])) places.push_back(p);
    }
    return places;
  }
  /// The greatest distance of these results from a sum in double, in units of the root of the sum of squares.
  double error_of(const std::vector<float>& given) const {
    double greatest = 0;
    std::size_t at = 0;
    for (std::int64_t n = 0; n < s_.images; ++n) {
      for (std::int64_t p = 0; p < rows_ * columns_; ++p) {
        for (std::int64_t k = 0; k < s_.filters; ++k, ++at) {
          const auto [sum, squares] = sum_at(n, p / columns_, p % columns_, k);
          const double error = std::abs(static_cast<double>(given[at]) - sum) / std::sqrt(squares);
          if (std::isnan(error)) return error;  // a result that was not written
          greatest = std::max(greatest, error);
        }
      }
    }
    return greatest;
  }

 private:
  std::vector<float> in_panels() const {
    const std::int64_t rows = 9 * s_.channels, n = s_.filters;
    std::vector<float> all(static_cast<std::size_t>(kernel::panel_elements<float>(rows, n)), 0.0F);
    const kernel::Matrix<float> to = kernel::in_panels(all.data(), rows, n);
    for (std::int64_t i = 0; i < rows * n; ++i) {
      const auto offset = static_cast<std::size_t>(to.at(i / n, i % n) - all.data());
      all[offset] = filter_[static_cast<std::size_t>(i)];
    }
    return all;
  }
  std::pair<double, double> sum_at(std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t k) const {
    double sum = 0, squares = 0;
    const std::int64_t border = s_.same ? 1 : 0;
    for (std::int64_t tap = 0; tap < 9; ++tap) {
      const std::int64_t row = y + tap / 3 - border, column = x + tap % 3 - border;
      if (row < 0 || row >= s_.height || column < 0 || column >= s_.width) continue;
      for (std::int64_t c = 0; c < s_.channels; ++c) {
        const auto pixel = static_cast<std::size_t>(((n * s_.height + row) * s_.width + column) * s_.channels + c);
        const auto weight = static_cast<std::size_t>((tap * s_.channels + c) * s_.filters + k);
        const double product = static_cast<double>(image_[pixel]) * static_cast<double>(filter_[weight]);
        sum += product;
        squares += product * product;
      }
    }
    return {sum, squares};
  }

  Sizes s_;
  std::int64_t rows_, columns_;
  std::vector<float> image_, filter_;
};

template <int Side>
void test(const Sizes& s, double most) {
  SCOPED_TRACE(::testing::Message() << s.height << "x" << s.width << ", " << s.channels << " to " << s.filters);
  Convolution c(s);
  const std::vector<float> result = c.computed<Side>(1, false);
  EXPECT_LT(c.error_of(result), most);
  EXPECT_EQ(c.computed<Side>(1, true), result);
  // Also with more members than rows of tiles. (Not compared bit by bit: under a sanitizer tiles of different heights
  // differ in where a product and a sum are one instruction.)
  for (const int members : {2, 3, 32}) EXPECT_LT(c.error_of(c.computed<Side>(members, false)), most);
}
TEST(Winograd, IsTheSumOfProducts) {
  for (const Sizes& s : {Sizes{2, 8, 8, 16, 16},
                         {1, 9, 13, 32, 40},
                         {3, 12, 7, 16, 32},
                         {1, 10, 11, 80, 17},
                         {2, 10, 12, 16, 33, false},
                         {1, 11, 9, 48, 64, false}}) {
    test<2>(s, 4e-6);
    test<4>(s, 4e-5);
  }
}

TEST(Winograd, ANaNReachesTheResultsThatReadItAndWithLargeTilesTheirTiles) {
  EXPECT_EQ((Convolution({1, 12, 12, 16, 16}).not_numbers<2>(5, 6)),
            (std::vector<std::int64_t>{4 * 12 + 5, 4 * 12 + 6, 4 * 12 + 7, 5 * 12 + 5, 5 * 12 + 6, 5 * 12 + 7,
                                       6 * 12 + 5, 6 * 12 + 6, 6 * 12 + 7}));
  std::vector<std::int64_t> tile;
  for (std::int64_t k = 0; k < 16; ++k) tile.push_back((4 + k / 4) * 12 + 4 + k % 4);
  EXPECT_EQ((Convolution({1, 12, 12, 16, 16}).not_numbers<4>(5, 6)), tile);
}

TEST(Winograd, IsChosenByTheShapes) {
  const auto side = [](const Sizes& s) {
    return kernel::winograd::side_for(Convolution(s).slide(), s.channels, s.filters);
  };
  EXPECT_EQ(side({1, 8, 8, 16, 16}), 2);
  EXPECT_EQ(side({1, 23, 23, 16, 16}), 4);
  EXPECT_EQ(side({1, 23, 23, 128, 128}), 2) << "many weights";
  EXPECT_EQ(side({1, 8, 8, 3, 16}), 0);
  EXPECT_EQ(side({1, 8, 8, 24, 16}), 0) << "the channels fill no registers";
  EXPECT_EQ(side({1, 8, 8, 16, 8}), 0);
  EXPECT_EQ(side({8, 7, 7, 16, 16}), 0) << "few places";
  EXPECT_EQ(side({1, 8, 8, 256, 256}), 0) << "too many weights";
}

/// The gradient of a filter, from pixels and upstream gradients.
class Gradient {
 public:
  explicit Gradient(const Sizes& s)
      : s_(s),
        rows_(s.same ? s.height : s.height - 2),
        columns_(s.same ? s.width : s.width - 2),
        image_(numbers(s.images * s.height * s.width * s.channels, 0.7)),
        up_(numbers(s.images * rows_ * columns_ * s.filters, 1.3)) {}

  kernel::Slide slide() const {
    const kernel::Operand image{.rank = 4, .extents = {s_.images, s_.height, s_.width, s_.channels}};
    const kernel::Operand out{.rank = 4, .extents = {s_.images, rows_, columns_, s_.filters}};
    return {image, out, {.ints = {3, 3, 1, 1, 0, 1, 1}}};
  }
  /// [9 * channels, filters].
  template <int Side>
  std::vector<float> computed() const {
    return computed<Side>(kernel::Upstream<float>(up_.data(), rows_, columns_, s_.filters));
  }
  template <int Side, class From>
  std::vector<float> computed(const From& from) const {
    kernel::WinogradGradient<Side, float, From, kernel::ConvolutionPaths{}> g(slide(), s_.channels, s_.filters, from);
    std::vector<float> result(static_cast<std::size_t>(g.rows() * s_.filters), NAN);
    kernel::Barrier barrier(1);
    std::vector<kernel::AlignedBytes> memory(1);
    kernel::Worker worker(0, 1, barrier, memory);
    const kernel::StoreTo<float> store{result.data(), s_.filters};
    auto* const sums = worker.scratch<float>(g.sums_room() + g.scratch());
    g.sum(image_.data(), {0, s_.images}, {0, g.rows()}, sums, sums + g.sums_room());
    g.hand_over(sums, {0, g.rows()}, store, [](float*, std::int64_t) {});
    return result;
  }
  /// The same of a max pooling by windows of 2x2 behind the convolution, whose winners differ from place to place; the
  /// upstream is that of the pooling.
  template <int Side>
  std::vector<float> pooled() {
    const std::int64_t h = rows_ / 2, w = columns_ / 2, k = s_.filters;
    const std::vector<float> from = numbers(s_.images * h * w * k, 0.9);
    std::vector<std::uint8_t> winners;
    for (std::size_t i = 0; i < from.size(); ++i) winners.push_back(static_cast<std::uint8_t>(i * 7 % 11 % 4));
    std::fill(up_.begin(), up_.end(), 0.0F);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i), c = at % k, x = at / k % w, y = at / k / w % h, n = at / k / w / h;
      const std::int64_t row = 2 * y + winners[i] / 2, column = 2 * x + winners[i] % 2;
      up_[static_cast<std::size_t>(((n * rows_ + row) * columns_ + column) * k + c)] = from[i];
    }
    return computed<Side>(kernel::PooledUpstream<float, std::uint8_t>(from.data(), winners.data(), h, w, k, 2, 2));
  }
  /// The greatest distance from a sum in double, in units of the root of the sum of squares.
  double error_of(const std::vector<float>& given) const {
    double greatest = 0;
    for (std::int64_t q = 0; q < 9 * s_.channels; ++q) {
      for (std::int64_t k = 0; k < s_.filters; ++k) {
        const auto [sum, squares] = sum_at(q / s_.channels, q % s_.channels, k);
        const double error = std::abs(static_cast<double>(given[static_cast<std::size_t>(q * s_.filters + k)]) - sum) /
                             std::sqrt(squares);
        if (std::isnan(error)) return error;
        greatest = std::max(greatest, error);
      }
    }
    return greatest;
  }

 private:
  std::pair<double, double> sum_at(std::int64_t tap, std::int64_t c, std::int64_t k) const {
    double sum = 0, squares = 0;
    const std::int64_t border = s_.same ? 1 : 0;
    for (std::int64_t p = 0; p < s_.images * rows_ * columns_; ++p) {
      const std::int64_t n = p / columns_ / rows_, y = p / columns_ % rows_, x = p % columns_;
      const std::int64_t row = y + tap / 3 - border, column = x + tap % 3 - border;
      if (row < 0 || row >= s_.height || column < 0 || column >= s_.width) continue;
      const auto pixel = static_cast<std::size_t>(((n * s_.height + row) * s_.width + column) * s_.channels + c);
      const double product =
          static_cast<double>(image_[pixel]) * static_cast<double>(up_[static_cast<std::size_t>(p * s_.filters + k)]);
      sum += product;
      squares += product * product;
    }
    return {sum, squares};
  }

  Sizes s_;
  std::int64_t rows_, columns_;
  std::vector<float> image_, up_;
};

TEST(WinogradGradient, IsTheSumOfProducts) {
  for (const Sizes& s : {Sizes{2, 8, 8, 16, 16},
                         {1, 9, 13, 32, 40},
                         {3, 12, 7, 16, 32},
                         {1, 34, 35, 48, 17},  // more tiles than are multiplied together
                         {2, 10, 12, 16, 33, false},
                         {1, 11, 9, 48, 64, false}}) {
    SCOPED_TRACE(::testing::Message() << s.height << "x" << s.width << ", " << s.channels << " to " << s.filters);
    const Gradient g(s);
    EXPECT_LT(g.error_of(g.computed<2>()), 4e-6);
    EXPECT_LT(g.error_of(g.computed<4>()), 4e-5);
  }
}
TEST(WinogradGradient, OfAPoolingBehindTheConvolution) {
  for (const Sizes& s : {Sizes{2, 8, 10, 16, 16}, {1, 36, 36, 32, 40}, {3, 14, 16, 16, 33, false}}) {
    SCOPED_TRACE(::testing::Message() << s.height << "x" << s.width << ", " << s.channels << " to " << s.filters);
    Gradient g(s);
    const std::vector<float> small = g.pooled<2>();
    EXPECT_LT(g.error_of(small), 4e-6);
    EXPECT_LT(g.error_of(g.pooled<4>()), 4e-5);
  }
}

/// Whether gradients of filters take tiles, and of which size, depends on shapes only.
TEST(WinogradGradient, IsChosenByShape) {
  const auto side = [](std::int64_t places, std::int64_t channels, std::int64_t filters, std::int32_t stride = 1) {
    const kernel::Operand image{.rank = 4, .extents = {1, places * stride, places * stride, channels}};
    const kernel::Operand out{.rank = 4, .extents = {1, places, places, filters}};
    return kernel::winograd::gradient_side_for({image, out, {.ints = {3, 3, stride, stride, 0, 1, 1}}}, channels,
                                               filters);
  };
  EXPECT_EQ(side(14, 32, 64), 2);
  EXPECT_EQ(side(16, 32, 64), 4);
  EXPECT_EQ(side(16, 256, 256), 2) << "the sums of large tiles would fit no cache";
  EXPECT_EQ(side(16, 512, 256), 0);
  EXPECT_EQ(side(7, 32, 64), 0);
  EXPECT_EQ(kernel::winograd::gradient_side_for(Convolution({1, 2, 64, 32, 64}).slide(), 32, 64), 0) << "thin";
  EXPECT_EQ(side(14, 3, 64), 0);
  EXPECT_EQ(side(14, 32, 8), 0);
  EXPECT_EQ(side(14, 32, 64, 2), 0);
}

/// The code that is compiled for the gradient of a 3x3 filter of 32 to 64 channels on images with `edge` squared static
/// places of a convolution, behind which windows of `pool` squared are pooled.
constexpr kernel::FilterGradientPaths paths_of(std::int64_t edge, std::int32_t pool = 1) {
  const Shape image{2, edge, edge, 32}, up{2, edge / pool, edge / pool, 64}, filter{3, 3, 32, 64};
  const Shape in[3] = {image, up, up};
  const Attributes a{.ints = {3, 3, 1, 1, 0, 1, 1, pool << 16 | pool}};
  auto all = kernel::FilterGradientPaths::none();
  if (pool == 1) {
    kernel::FilterGradientPaths::add<kernel::Types<float, float, float>>(all, a, in, filter);
  } else {
    kernel::FilterGradientPaths::add<kernel::Types<float, float, float, std::uint8_t>>(all, a, in, filter);
  }
  return all;
}
TEST(WinogradGradient, HasTheCodeForItsPlaces) {
  static_assert(paths_of(14).winograd && !paths_of(14).large_tiles);
  static_assert(paths_of(16).winograd && paths_of(16).large_tiles);
  static_assert(!paths_of(14, 2).large_tiles);
  static_assert(paths_of(16, 2).large_tiles);
}

}  // namespace winograd_test
}  // namespace crochet
