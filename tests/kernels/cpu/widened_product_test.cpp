// SPDX-License-Identifier: Apache-2.0
// Products with operands that are stored as bfloat16 have the values of the product of their floats: for each policy
// that reads them, sizes that are no multiple of a tile, every pair of layouts, and parts of the result.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <crochet/kernels/cpu/bfloat16_tiles.hpp>
#include <crochet/kernels/cpu/int8_tiles.hpp>
#include <crochet/kernels/cpu/tiles.hpp>
#include <crochet/kernels/cpu/widened_product.hpp>

namespace crochet::kernel {
namespace widened_product_test {

/// A policy that reads floats only.
struct FloatsOnly {
  template <class T>
  static std::int64_t scratch(std::int64_t rows, std::int64_t columns, std::int64_t depth) {
    return Tiles::scratch<T>(rows, columns, depth);
  }
  template <ProductPaths P, class Epilogue>
  static void multiply(const Matrix<float>& a, const Matrix<float>& b, std::int64_t depth, Range rows, Range columns,
                       Worker& worker, const Epilogue& epilogue, std::int64_t scratch_offset) {
    Tiles::multiply<P>(a, b, depth, rows, columns, worker, epilogue, scratch_offset);
  }
};

struct Size {
  std::int64_t m, n, k;
};

/// A matrix of [rows, columns] in memory of both types, in rows or in panels.
class Stored {
 public:
  Stored(std::int64_t rows, std::int64_t columns, bool turned, bool panels, std::uint32_t seed)
      : rows_(rows), columns_(columns), turned_(turned), panels_(panels) {
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      seed = seed * 1664525U + 1013904223U;
      stored_.push_back(bfloat16(static_cast<float>(static_cast<std::int32_t>(seed)) * 0x1p-30F));
      floats_.push_back(stored_.back());
    }
    if (panels) stored_ = packed(stored_), floats_ = packed(floats_);
  }
  bool in_panels() const { return panels_; }
  template <class T>
  Matrix<T> as() const {
    const T* data = nullptr;
    if constexpr (std::is_same_v<T, float>) data = floats_.data();
    if constexpr (std::is_same_v<T, bfloat16>) data = stored_.data();
    return panels_ ? kernel::in_panels(data, rows_, columns_, turned_) : row_major(data, columns_, turned_);
  }

 private:
  template <class T>
  std::vector<T> packed(const std::vector<T>& from) const {
    std::vector<T> to(static_cast<std::size_t>(panel_elements<T>(rows_, columns_)));
    pack(from.data(), rows_, columns_, to.data());
    return to;
  }

  std::int64_t rows_, columns_;
  bool turned_, panels_;
  std::vector<bfloat16> stored_{};
  std::vector<float> floats_{};
};

class Trial {
 public:
  Trial(const Size& size, bool ta, bool tb, bool panels, Split part)
      : size_(size),
        a_(ta ? size.k : size.m, ta ? size.m : size.k, ta, false, 1),
        b_(tb ? size.n : size.k, tb ? size.k : size.n, tb, panels, 2),
        part_(part) {}

  bool in_panels() const { return b_.in_panels(); }

  template <class Backend>
  void agrees() {
    const std::vector<float> expected = result<Backend, float, float>();
    ASSERT_EQ((result<Backend, float, bfloat16>()), expected);
    ASSERT_EQ((result<Backend, bfloat16, float>()), expected);
    ASSERT_EQ((result<Backend, bfloat16, bfloat16>()), expected);
  }
  /// The policy multiplies what is stored as bfloat16 as floats.
  template <class Backend>
  void agrees_with_tiles() {
    ASSERT_EQ((result<Backend, float, bfloat16>()), (result<Tiles, float, float>()));
  }

 private:
  template <class Backend, class A, class B>
  std::vector<float> result() const {
    std::vector<float> c(static_cast<std::size_t>(size_.m * size_.n), 9);
    Barrier barrier(1);
    std::vector<AlignedBytes> scratch(1);
    Worker worker(0, 1, barrier, scratch);
    multiply_stored<Backend, ProductPaths{}>(a_.as<A>(), b_.as<B>(), size_.k, part_, worker,
                                             StoreTo<float>{c.data(), size_.n});
    return c;
  }

  Size size_;
  Stored a_, b_;
  Split part_;
};

void everywhere(auto check) {
  for (const Size& s :
       {Size{1, 17, 3}, Size{17, 1, 5}, Size{7, 31, 16}, Size{8, 64, 17}, Size{13, 47, 33}, Size{3, 150, 70},
        Size{130, 70, 65}, Size{2, 100, 40}, Size{9, 40, 1}, Size{1, 170, 37}, Size{1, 170, 1}}) {
    for (int way = 0; way < 8; ++way) {
      const bool ta = way % 2 != 0, tb = way / 2 % 2 != 0, panels = way / 4 != 0;
      const std::int64_t middle = s.n / 2 / panel_width<float> * panel_width<float>;
      for (const Split& part : {Split{{0, s.m}, {0, s.n}}, Split{{s.m / 3, s.m}, {0, s.n}},
                                Split{{0, s.m}, {middle, s.n}}, Split{{s.m, s.m}, {0, s.n}}}) {
        SCOPED_TRACE(std::to_string(s.m) + " x " + std::to_string(s.n) + " x " + std::to_string(s.k) + ", turned " +
                     std::to_string(ta) + std::to_string(tb) + (panels ? ", in panels" : ""));
        check(Trial(s, ta, tb, panels, part));
      }
    }
  }
}

TEST(WidenedProduct, ByTiles) {
  everywhere([](Trial trial) { trial.agrees<Tiles>(); });
}
TEST(WidenedProduct, ByRoundingTiles) {
  everywhere([](Trial trial) { trial.agrees<Bfloat16Tiles>(); });
}
TEST(WidenedProduct, ByAPolicyThatReadsFloatsOnly) {
  everywhere([](Trial trial) {
    if (!trial.in_panels()) trial.agrees<FloatsOnly>();
  });
}
TEST(WidenedProduct, IsOneOfFloatsWithIntegers) {
  everywhere([](Trial trial) { trial.agrees_with_tiles<Int8Tiles>(); });
}

}  // namespace widened_product_test
}  // namespace crochet::kernel
