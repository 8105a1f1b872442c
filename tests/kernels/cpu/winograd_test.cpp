// SPDX-License-Identifier: Apache-2.0
// Winograd's convolution against sums of products in double: borders, odd sizes, panels that are not full, and parts of
// the rows.
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
  static std::vector<float> numbers(std::int64_t n, double step) {
    std::vector<float> all(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < all.size(); ++i) {
      all[i] = static_cast<float>(std::sin(step * static_cast<double>(i) + std::sin(static_cast<double>(i * i % 977))));
    }
    return all;
  }
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

}  // namespace winograd_test
}  // namespace crochet
