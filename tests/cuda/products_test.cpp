// SPDX-License-Identifier: Apache-2.0
// Products on a device in software, in each precision, next to sums in double: sizes around those of tiles, transposed
// operands, divided depths, patches of images. The bits do not depend on the number of blocks or the order of threads.
#include <gtest/gtest.h>
#include <crochet/kernels/cuda/conv.hpp>
#include <crochet/kernels/cuda/product.hpp>

#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "emulation/fibers.hpp"

namespace crochet {
namespace products_test {

using cuda::MatrixOperand;
using cuda::ProductParts;
using emulation::FiberBlockOf;
using emulation::FiberGrid;
using emulation::Order;

/// The largest error of a product of numbers rounded to nearest, relative to the sum of the products' magnitudes.
template <class T>
constexpr double tolerance(MatmulPrecision p) {
  if (sizeof(T) == 8) return 1e-14;
  return p == MatmulPrecision::fp32 ? 1e-6 : p == MatmulPrecision::tf32 ? 1e-3 : 8e-3;
}

template <class T>
std::vector<T> numbers(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> uniform(-1, 1);
  std::vector<T> all(n + 1);  // an empty operand of a plan has an address too
  for (T& x : all) x = uniform(random);
  return all;
}

/// The sizes of `count` products, and which operands are transposed in memory. `shift`: elements before the operands,
/// so that they are not aligned.
struct Shape {
  int m, n, depth, count = 1;
  bool ta = false, tb = false;
  int shift = 0;
};
std::string text(const Shape& s) {
  std::string all;
  for (const int x : {s.m, s.n, s.depth, s.count, s.ta ? 1 : 0, s.tb ? 1 : 0, s.shift}) all += std::to_string(x) + " ";
  return all;
}

/// Operands by functions of the product's number.
template <class A, class B>
struct Factors {
  using Shared = Factors;
  int m, n, depth, count;
  A left;
  B right;
};
/// Stores results, as an epilogue.
template <class T>
struct Stored {
  std::vector<T>& all;
  int columns;

  template <int U>
  void elements(int i, int j, int end, const T* results) const {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(results) % (U * sizeof(T)), 0U);
    const int at = i * columns + j;
    for (int u = 0; u < U && j + u < end; ++u) all[static_cast<std::size_t>(at + u)] = results[u];
  }
};

/// The memory of the products, and of a step.
template <class T>
struct Product {
  explicit Product(const Shape& shape)
      : s(shape),
        a(numbers<T>(size(s.m) * size(s.depth) * size(s.count) + size(s.shift), 1)),
        b(numbers<T>(size(s.n) * size(s.depth) * size(s.count) + size(s.shift), 2)) {}
  static std::size_t size(int n) { return static_cast<std::size_t>(n); }

  MatrixOperand<T> left(int p) const {
    const T* const data = a.data() + s.shift + p * s.m * s.depth;
    return s.ta ? MatrixOperand<T>::left(data, s.depth, s.m, s.m, true)
                : MatrixOperand<T>::left(data, s.m, s.depth, s.depth, false);
  }
  MatrixOperand<T> right(int p) const {
    const T* const data = b.data() + s.shift + p * s.n * s.depth;
    return s.tb ? MatrixOperand<T>::right(data, s.n, s.depth, s.depth, true)
                : MatrixOperand<T>::right(data, s.depth, s.n, s.n, false);
  }
  template <MatmulPrecision P>
  std::vector<T> result(int blocks, Order order) const {
    return run<P>(
        blocks, order, s, [this](int p) { return left(p); }, [this](int p) { return right(p); });
  }
  /// Runs the products of any operands.
  template <MatmulPrecision P, class A, class B>
  static std::vector<T> run(int blocks, Order order, const Shape& s, const A& left, const B& right) {
    const cuda::Room room =
        ProductParts::of(s.m, s.n, s.depth, s.count, sizeof(T)).room(static_cast<int>(sizeof(T)), blocks);
    std::vector<double> scratch(static_cast<std::size_t>(room.bytes) / sizeof(double) + 2, std::nan(""));
    std::vector<std::uint32_t> tickets(static_cast<std::size_t>(room.tickets));
    std::vector<T> results(size(s.m) * size(s.n) * size(s.count), T(std::nan("")));
    cuda::Tables tables;
    tables.scratch = reinterpret_cast<unsigned char*>(scratch.data());
    tables.scratch += reinterpret_cast<std::uintptr_t>(tables.scratch) % 16;
    tables.tickets = tickets.data();
    const cuda::TableStep step;
    const cuda::Call call{tables, step, {}};
    FiberGrid grid(blocks, order);
    grid.run<FiberBlockOf<P>>([&](FiberBlockOf<P>& block) {
      cuda::products<T>(block, call, Factors<A, B>{s.m, s.n, s.depth, s.count, left, right}, Stored<T>{results, s.n});
    });
    for (const std::uint32_t ticket : tickets) EXPECT_EQ(ticket, 0U);
    return results;
  }

  Shape s;
  std::vector<T> a, b;
};

/// Compares all results with sums of element(p, i, k) in double.
template <class T, class A, class B>
void expect_sums(const std::vector<T>& results, const Shape& s, double bound, const A& a, const B& b) {
  double worst = 0;
  for (int p = 0, at = 0; p < s.count; ++p) {
    for (int i = 0; i < s.m; ++i) {
      for (int j = 0; j < s.n; ++j, ++at) {
        double sum = 0, magnitude = 0;
        for (int k = 0; k < s.depth; ++k) {
          const double x = double{a(p, i, k)} * double{b(p, j, k)};
          sum += x;
          magnitude += std::abs(x);
        }
        const double error = std::abs(double{results[static_cast<std::size_t>(at)]} - sum);
        ASSERT_LE(error, bound * magnitude) << text(s) << "at " << p << " " << i << " " << j;
        if (magnitude > 0) worst = std::max(worst, error / magnitude);
      }
    }
  }
  if (sizeof(T) == 4 && s.depth > 8) {
    EXPECT_GT(worst, bound / 50) << "the precision is higher than it should be";
  }
}
template <class T, MatmulPrecision P>
void agrees(const Shape& s, int blocks = 2, Order order = Order::shuffled) {
  const Product<T> product(s);
  const auto element = [](const MatrixOperand<T>& x, int i, int k) { return *x.at(x.row(i), x.step(k)).at; };
  expect_sums(
      product.template result<P>(blocks, order), s, tolerance<T>(P),
      [&](int p, int i, int k) { return element(product.left(p), i, k); },
      [&](int p, int j, int k) { return element(product.right(p), j, k); });
}

template <class P>
class Products : public ::testing::Test {};
template <MatmulPrecision P>
using Of = std::integral_constant<MatmulPrecision, P>;
using Precisions = ::testing::Types<Of<MatmulPrecision::fp32>, Of<MatmulPrecision::tf32>, Of<MatmulPrecision::bf16>>;
TYPED_TEST_SUITE(Products, Precisions);

TYPED_TEST(Products, OfSizesAroundTilesAreTheSums) {
  constexpr MatmulPrecision P = TypeParam::value;
  for (const Shape& s : {Shape{1, 1, 1}, {31, 32, 15}, {32, 33, 16}, {33, 1, 17}, {1, 31, 31}, {32, 32, 0}}) {
    agrees<float, P>(s);
  }
}

TYPED_TEST(Products, OfTransposedAndOfUnalignedOperandsAreTheSums) {
  constexpr MatmulPrecision P = TypeParam::value;
  for (const bool ta : {false, true}) {
    for (const bool tb : {false, true}) {
      agrees<float, P>({36, 28, 20, 2, ta, tb, 0});
      agrees<float, P>({36, 28, 20, 1, ta, tb, 1});
    }
  }
}

TYPED_TEST(Products, OfMediumTilesAreTheSums) {
  constexpr MatmulPrecision P = TypeParam::value;
  ASSERT_EQ(ProductParts::of(64, 36, 24, 128, 4).tile, 64);
  agrees<float, P>({64, 36, 24, 128, true, false});
  agrees<float, P>({63, 33, 5, 128, false, false});
}

TYPED_TEST(Products, OfDividedDepthsAreTheSums) {
  constexpr MatmulPrecision P = TypeParam::value;
  ASSERT_EQ(ProductParts::of(33, 4, 200, 1, 4).splits, 3);
  agrees<float, P>({33, 4, 200, 1, false, true});
}

TYPED_TEST(Products, HaveTheSameBitsOnAnyNumberOfBlocksAndInAnyOrder) {
  for (const Shape& s : {Shape{40, 33, 200}, Shape{33, 70, 20, 2}}) {
    const Product<float> product(s);
    const auto expected = product.template result<TypeParam::value>(1, Order::forward);
    EXPECT_EQ(product.template result<TypeParam::value>(2, Order::backward), expected);
    EXPECT_EQ(product.template result<TypeParam::value>(5, Order::shuffled), expected);
  }
}

/// One tile of 128 x 128, in a product whose last rows and columns are in it.
template <MatmulPrecision P>
void large_tile_agrees(const Shape& s, int i0, int j0) {
  constexpr int size = ProductParts::large_tile;
  const Product<float> product(s);
  std::vector<float> table(std::size_t{size} * size);
  FiberGrid grid(1, Order::backward);
  grid.run<FiberBlockOf<P>>([&](FiberBlockOf<P>& block) {
    cuda::detail::TileOf<float, FiberBlockOf<P>, size>::type::compute(block, product.left(0), product.right(0), i0, j0,
                                                                      0, s.depth, table.data());
  });
  const int rows = std::min(s.m - i0, size), columns = std::min(s.n - j0, size);
  std::vector<float> results;
  for (int i = 0; i < size; ++i) {
    for (int j = 0; j < size; ++j) {
      const float x = table[Product<float>::size(i * size + j)];
      if (i < rows && j < columns) {
        results.push_back(x);
      } else {
        ASSERT_EQ(x, 0.0F) << i << " " << j;
      }
    }
  }
  const auto element = [](const MatrixOperand<float>& x, int i, int k) { return *x.at(x.row(i), x.step(k)).at; };
  expect_sums(
      results, {rows, columns, s.depth}, tolerance<float>(P),
      [&](int, int i, int k) { return element(product.left(0), i0 + i, k); },
      [&](int, int j, int k) { return element(product.right(0), j0 + j, k); });
}

TYPED_TEST(Products, OfLargeTilesAreTheSums) {
  constexpr MatmulPrecision P = TypeParam::value;
  large_tile_agrees<P>({128, 128, 20}, 0, 0);
  large_tile_agrees<P>({128, 132, 36, 1, true, true}, 0, 128);
  large_tile_agrees<P>({129, 127, 17, 1, false, true}, 128, 0);
}

TYPED_TEST(Products, ThatPassLargeTilesOnAreTheSums) {
  ASSERT_EQ(ProductParts::of(66, 65, 4, 128, 4).tile, 128);
  ASSERT_GT(ProductParts::of(66, 65, 4, 128, 4).room(4, 2).bytes, 0);
  agrees<float, TypeParam::value>({66, 65, 4, 128});
}

TEST(ProductsOfDoubles, AreThoseOfDoubleInAnyPrecision) {
  agrees<double, MatmulPrecision::bf16>({33, 70, 20, 1, false, true});
  agrees<double, MatmulPrecision::fp32>({64, 33, 20, 128, true, false});
  EXPECT_EQ(ProductParts::of(4096, 4096, 64, 1, 8).tile, 64);
}

TEST(ProductParts, DependOnSizesOnly) {
  const auto tile = [](int m, int n, int count = 1) { return ProductParts::of(m, n, 64, count, 4).tile; };
  EXPECT_EQ(tile(4096, 4096), 128);
  EXPECT_EQ(tile(1024, 1024), 64);
  EXPECT_EQ(tile(128, 128), 32);
  EXPECT_EQ(tile(1 << 20, 10), 32) << "half of a larger tile would be empty";
  EXPECT_EQ(tile(8, 8, 1000), 32);
  EXPECT_EQ(ProductParts::of(128, 128, 784, 1, 4).splits, 7);
  EXPECT_EQ(ProductParts::of(0, 0, 0, 1, 4).all(), 0);
}

TEST(Divisor, DividesAsTheOperator) {
  for (const int n : {1, 2, 3, 7, 28, 640, 641, 65536, (1 << 30) + 1, INT32_MAX}) {
    const cuda::Divisor by(n);
    for (const int x : {0, 1, n - 1, n, 2 * (n / 2), 12345, 123456789, INT32_MAX - 1, INT32_MAX}) {
      EXPECT_EQ(by.quotient(x), x / n) << x << " / " << n;
      EXPECT_EQ(by.remainder(x, x / n), x % n);
    }
  }
  EXPECT_EQ(cuda::Divisor(0).quotient(5), 5);
}

/// Patches of images, and pooled gradients, as operands.
template <MatmulPrecision P>
void patches_agree(int channels, int stride, bool backward) {
  constexpr int images = 2, height = 7, width = 6, filters = 5;
  const int rows = (height + stride - 1) / stride, columns = (width + stride - 1) / stride;
  const int from_rows = backward ? rows : height, from_columns = backward ? columns : width;
  const auto image = numbers<float>(Product<float>::size(images * from_rows * from_columns * channels), 3);
  const auto filter = numbers<float>(Product<float>::size(9 * channels * filters), 4);
  cuda::TableStep step;
  for (const int k : {0, 1}) step.ints[k] = 3, step.ints[k + 2] = stride, step.ints[k + 5] = 1;
  const cuda::Tables tables;
  const cuda::Call call{tables, step, {}};
  const cuda::TableOperand shape{{}, 4, {images, from_rows, from_columns, channels}};
  const cuda::Operand x{const_cast<float*>(image.data()), shape};
  const cuda::detail::Window forward(height, width, rows, columns, call);
  const auto window = backward ? forward.back() : forward;
  const auto a = cuda::detail::Patches<float>::of(x, window, false);
  const auto b = cuda::detail::Filters<float, std::uint8_t>::of(filter.data(), filters);
  const Shape s{images * window.places(), filters, 9 * channels};
  const auto results = Product<float>::template run<P>(
      2, Order::backward, s, [&](int) { return a; }, [&](int) { return b; });
  expect_sums(
      results, s, tolerance<float>(P),
      [&](int, int i, int k) {
        const int pixel = window.pixel(i / window.places(), i % window.places(), k / channels);
        return pixel < 0 ? 0.0F : image[Product<float>::size(pixel * channels + k % channels)];
      },
      [&](int, int j, int k) { return filter[Product<float>::size(k * filters + j)]; });
}

TYPED_TEST(Products, OfPatchesAreTheSums) {
  patches_agree<TypeParam::value>(3, 1, false);
  patches_agree<TypeParam::value>(4, 2, false);
  patches_agree<TypeParam::value>(4, 2, true);
  patches_agree<TypeParam::value>(1, 3, true);
}

/// The gradient of the filter [3, 3, 1, 4] of a convolution of 6 x 6 ones, behind which a max pooling of 2 x 2 took the
/// first element of each window. Its 36 positions are no multiple of the steps of a stage: nothing is read behind the
/// winners, which have exactly the memory of 9 windows for sanitizers.
TEST(PooledGradients, ReadNothingBehindTheirWinners) {
  constexpr int filters = 4, size = 32;
  const std::vector<float> image(36, 1.F), up(9 * filters, 1.F);
  const auto winners = std::make_unique<std::uint8_t[]>(9 * filters);
  cuda::TableStep step;
  for (const int k : {0, 1}) step.ints[k] = 3, step.ints[k + 2] = 1, step.ints[k + 5] = 1;
  const cuda::Tables tables;
  const cuda::Call call{tables, step, {}};
  const cuda::detail::Window window(6, 6, 6, 6, call);
  const cuda::Operand x{const_cast<float*>(image.data()), cuda::TableOperand{{}, 4, {1, 6, 6, 1}}};
  const auto patches = cuda::detail::Patches<float>::of(x, window, true);
  const cuda::detail::Filters<float, std::uint8_t> gradients{up.data(), filters, winners.get(), 6, 2, 2, false};
  std::vector<float> table(std::size_t{size} * size);
  FiberGrid grid(1, Order::backward);
  using Block = FiberBlockOf<MatmulPrecision::fp32>;
  grid.run<Block>([&](Block& block) {
    cuda::detail::RegisterTile<float, size>::compute(block, patches, gradients, 0, 0, 0, 36, table.data());
  });
  for (std::size_t tap = 0; tap < 9; ++tap) {
    const float rows = tap / 3 == 0 ? 2.F : 3.F, columns = tap % 3 == 0 ? 2.F : 3.F;  // the first ones lie outside
    for (std::size_t filter = 0; filter < filters; ++filter) {
      EXPECT_EQ(table[tap * size + filter], rows * columns) << tap << " " << filter;
    }
  }
}

}  // namespace products_test
}  // namespace crochet
