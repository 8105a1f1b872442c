// SPDX-License-Identifier: Apache-2.0
// A tile of a product by the arithmetic of its type: operands are copied to shared memory asynchronously, several
// stages ahead, and a thread keeps its results in registers.
#pragma once
#include <crochet/kernels/cuda/product_operand.hpp>
#include <crochet/kernels/cuda/product_parts.hpp>

namespace crochet::cuda::detail {

/// Size x Size results. Thread (x, y) of 16 x 16 computes Each x Each of them: in groups of `wide` neighbours, rows and
/// columns (16 g + y) wide and (16 g + x) wide. A warp has 4 x 8 of these threads, so its loads of a group are of 4 and
/// of 8 neighbouring vectors.
template <class T, int Size>
class RegisterTile {
  static constexpr int across = 16, each = Size / across, stage = ProductParts::stage, threads = 256;
  static constexpr int bytes = 16, most = bytes / static_cast<int>(sizeof(T));
  static constexpr int wide = each < most ? each : most, groups = each / wide;
  // Vectors stay aligned, and copies of 8 steps of 4 rows are to different banks.
  static constexpr int pitch = Size + most;
  struct Stage {
    T a[stage][pitch], b[stage][pitch];
  };
  static constexpr int fitting = shared_bytes / static_cast<int>(sizeof(Stage));
  static constexpr int stages = fitting >= 8 ? 8 : fitting >= 4 ? 4 : 2;
  static_assert(fitting >= 2);
  using Vectors = Vector<T, wide>;

 public:
  /// Computes rows i0 and columns j0 on, over depth [from, end), to the table `to`. Begins and ends with a barrier. Not
  /// inlined: the products of a plan share it.
  template <class Block, class A, class B>
  CROCHET_DEVICE_NOINLINE static void compute(Block& block, const A& left, const B& right, int i0, int j0, int from,
                                              int end, T* to) {
    static_assert(Block::threads == threads);
    auto& shared = block.template shared<Stage[stages]>();
    const Copier<A> a(block.thread(), left, i0);
    const Copier<B> b(block.thread(), right, j0);
    const int x = block.thread() % 8 + block.thread() / warp_size % 2 * 8,
              y = block.thread() % warp_size / 8 + block.thread() / (2 * warp_size) * 4;
    T c[each][each]{};
    block.sync();  // the shared memory may still be read for an earlier tile
    constexpr int ahead = (stages - 1) * stage;
    int now = 0, next = 0;
    CROCHET_DEVICE_UNROLL(1)
    for (int k = from - ahead; k < end; k += stage) {
      if (k >= from) {
        block.template wait_copies<stages - 2>();
        block.sync();
      }
      if (k + ahead < end) {
        a.copy(block, shared[next].a, k + ahead, end);
        b.copy(block, shared[next].b, k + ahead, end);
      }
      block.commit_copies();
      next = (next + 1) % stages;
      if (k < from) continue;
      multiply(shared[now], end - k, x, y, c);
      now = (now + 1) % stages;
    }
    block.sync();
    store(c, x, y, to);
    block.sync();
  }

 private:
  /// Starts the copies of an operand's stages: of this thread's rows, 32 apart, and steps, 8 apart. Lanes follow the
  /// memory. Elements are copied one by one because their neighbours along the depth are no neighbours in the stage. Of
  /// large tiles, which are bound by instructions, four neighbouring rows are copied at once where possible.
  template <class O>
  class Copier {
    static constexpr int parts = Size / warp_size, steps = threads / warp_size;
    static constexpr bool may_have_vectors = Size == ProductParts::large_tile;
    static_assert(stage % steps == 0);

   public:
    CROCHET_DEVICE_INLINE Copier(int thread, const O& operand, int first)
        : operand_(operand),
          vectors_(may_have_vectors && operand.vectors && !operand.along_depth),
          row_(operand.along_depth ? thread / steps : thread % warp_size * (vectors_ ? most : 1)),
          step_(operand.along_depth ? thread % steps : thread / warp_size) {
      CROCHET_UNROLL
      for (int l = 0; l < parts; ++l) rows_[l] = operand_.row(first + row_ + l * warp_size);
    }
    template <class Block>
    CROCHET_DEVICE_INLINE void copy(Block& block, T (&to)[stage][pitch], int k0, int end) const {
      if (may_have_vectors && vectors_) {
        copy_parts<1, bytes>(block, to, k0, end);
      } else {
        copy_parts<parts, sizeof(T)>(block, to, k0, end);
      }
    }

   private:
    template <int Parts, int Bytes, class Block>
    CROCHET_DEVICE_INLINE void copy_parts(Block& block, T (&to)[stage][pitch], int k0, int end) const {
      CROCHET_UNROLL
      for (int s = 0; s < stage; s += steps) {
        const int k = k0 + step_ + s;
        const auto step = operand_.step(k < end ? k : end - 1);  // an address that exists, also where nothing is copied
        CROCHET_UNROLL
        for (int l = 0; l < Parts; ++l) {
          const auto from = operand_.at(rows_[l], step);
          block.template copy_async<Bytes>(&to[step_ + s][row_ + l * warp_size], from.at, from.exists && k < end);
        }
      }
    }

    typename O::Kept operand_;
    bool vectors_;
    int row_, step_;
    typename O::Part rows_[parts];
  };

  /// Multiplies the first `steps` of a stage, and up to three of those behind, which are zeros.
  CROCHET_DEVICE_INLINE static void multiply(const Stage& s, int steps, int x, int y, T (&c)[each][each]) {
    constexpr int unrolled = 4;
    CROCHET_DEVICE_UNROLL(1)
    for (int k = 0; k < stage && k < steps; k += unrolled) {
      CROCHET_UNROLL
      for (int u = 0; u < unrolled; ++u) {
        T p[each], q[each];
        load(s.a[k + u], y, p);
        load(s.b[k + u], x, q);
        add_product(p, q, c);
      }
    }
  }
  CROCHET_DEVICE_INLINE static void add_product(const T (&p)[each], const T (&q)[each], T (&c)[each][each]) {
    CROCHET_UNROLL
    for (int r = 0; r < each; ++r) {
      const T factor = p[r];
      CROCHET_UNROLL
      for (int j = 0; j < each; ++j) c[r][j] += factor * q[j];
    }
  }
  /// The operands of thread `at` of 16.
  CROCHET_DEVICE_INLINE static void load(const T (&line)[pitch], int at, T (&to)[each]) {
    CROCHET_UNROLL
    for (int g = 0; g < groups; ++g) {
      const Vectors v = *reinterpret_cast<const Vectors*>(&line[(g * across + at) * wide]);
      CROCHET_UNROLL
      for (int u = 0; u < wide; ++u) to[g * wide + u] = v.of[u];
    }
  }
  CROCHET_DEVICE_INLINE static void store(const T (&c)[each][each], int x, int y, T* to) {
    CROCHET_UNROLL
    for (int r = 0; r < each; ++r) {
      const int row = (r / wide * across + y) * wide + r % wide;
      CROCHET_UNROLL
      for (int g = 0; g < groups; ++g) {
        Vectors v;
        CROCHET_UNROLL
        for (int u = 0; u < wide; ++u) v.of[u] = c[r][g * wide + u];
        *reinterpret_cast<Vectors*>(&to[row * Size + (g * across + x) * wide]) = v;
      }
    }
  }
};

}  // namespace crochet::cuda::detail
