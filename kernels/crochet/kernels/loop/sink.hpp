// SPDX-License-Identifier: Apache-2.0
// Sinks: the accumulators of a loop's reductions, one per reduction and part of the loop. The parts' partial results
// are joined in the order of the parts, so a result does not depend on which members compute them.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/loop/block.hpp>
#include <crochet/kernels/program.hpp>
#include <crochet/kernels/running.hpp>

namespace crochet::kernel::CROCHET_ISA::detail {

/// Replaces the elements past the end in a block's registers by the identity.
template <class How, class T, int B, class V, int U>
CROCHET_ALWAYS_INLINE void drop_beyond(V (&v)[U], std::int64_t size) {
  simd::cell_t<T> e[B];
  __builtin_memcpy(e, v, sizeof e);
  for (std::int64_t k = size; k < B; ++k) e[k] = How::template nothing<simd::cell_t<T>>;
  __builtin_memcpy(v, e, sizeof e);
}
/// Joins the registers of a block to one, in pairs.
template <class How, class V, int U>
CROCHET_ALWAYS_INLINE V join_registers(V (&v)[U]) {
  CROCHET_UNROLL
  for (int step = U / 2; step > 0; step /= 2) {
    CROCHET_UNROLL
    for (int u = 0; u < step; ++u) v[u] = How::join(v[u], v[u + step]);
  }
  return v[0];
}
/// A reduction by operation O of elements T to an access of mode M. B: positions per block; N: elements per register.
template <const Op* O, class T, BroadcastMode M, int B, int N>
class Sink;

/// Reduces everything to one element.
template <const Op* O, class T, int B, int N>
class Sink<O, T, BroadcastMode::scalar, B, N> {
 public:
  using How = typename Reduction<O>::How;
  using Total = sum_t<How, T>;
  /// The number of partial results of one part.
  static std::int64_t room(std::int64_t) { return 1; }

  Sink(Ref<T, BroadcastMode::scalar>, const Block<B>& b, Total* mine, bool fresh)
      : block_(b), mine_(mine), fresh_(fresh) {}
  template <class V, int U>
  CROCHET_ALWAYS_INLINE void add(V (&v)[U]) {
    if (!block_.whole()) drop_beyond<How, T, B>(v, block_.size);
    running_.add(join_registers<How>(v));
  }
  void leave() { *mine_ = fresh_ ? running_.take() : How::join(*mine_, running_.take()); }

  /// Computes the result from the partial results; part k's are at of(k).
  template <class Of>
  static void finish(Ref<T, BroadcastMode::scalar> to, std::int64_t rows, std::int64_t columns, int parts, Of of) {
    Total total = *of(0);
    for (int k = 1; k < parts; ++k) total = How::join(total, *of(k));
    *to.data = Reduction<O>::template finish<simd::cell_t<T>>(total, rows * columns);
  }

 private:
  const Block<B>& block_;
  Total* mine_;
  bool fresh_;
  Running<How, T, N> running_;
};

/// Reduces each column to one element. As the row in a Window, the partial results are repeated until a block fits at
/// every phase.
template <const Op* O, class T, int B, int N>
class Sink<O, T, BroadcastMode::row, B, N> {
 public:
  using How = typename Reduction<O>::How;
  using Total = sum_t<How, T>;
  static std::int64_t room(std::int64_t columns) { return columns + 3 * B; }

  Sink(Ref<T, BroadcastMode::row>, const Block<B>& b, Total* mine, bool fresh) : block_(b), mine_(mine) {
    for (std::int64_t k = fresh ? 0 : b.columns; k < b.period + B; ++k) mine[k] = How::template nothing<Total>;
  }
  template <class V, int U>
  CROCHET_ALWAYS_INLINE void add(V (&v)[U]) {
    if (!block_.whole()) drop_beyond<How, T, B>(v, block_.size);
    Total* at = mine_ + block_.phase;
    CROCHET_UNROLL
    for (int u = 0; u < U; ++u, at += N) {
      simd::store(at, How::join(simd::read<Total, N>(at), simd::cast<simd::cell_t<T>, Total, N>(v[u])));
    }
  }
  void leave() {
    const std::int64_t end = block_.period + B, columns = block_.columns;
    for (std::int64_t k = columns; columns > 0 && k < end; k += columns) {
      const std::int64_t n = end - k < columns ? end - k : columns;
      for (std::int64_t c = 0; c < n; ++c) mine_[c] = How::join(mine_[c], mine_[k + c]);
    }
  }

  template <class Of>
  static void finish(Ref<T, BroadcastMode::row> to, std::int64_t rows, std::int64_t columns, int parts, Of of) {
    for (std::int64_t c = 0; c < columns; ++c) {
      Total total = of(0)[c];
      for (int k = 1; k < parts; ++k) total = How::join(total, of(k)[c]);
      to.data[c] = Reduction<O>::template finish<simd::cell_t<T>>(total, rows);
    }
  }

 private:
  const Block<B>& block_;
  Total* mine_;
};

/// Reduces each row to one element. A part has whole rows, so there are no partial results to join.
template <const Op* O, class T, int B, int N>
class Sink<O, T, BroadcastMode::column, B, N> {
 public:
  using How = typename Reduction<O>::How;
  using Total = sum_t<How, T>;
  static std::int64_t room(std::int64_t) { return 0; }

  Sink(Ref<T, BroadcastMode::column> to, const Block<B>& b, Total*, bool) : block_(b), to_(to.data) {}
  template <class V, int U>
  CROCHET_ALWAYS_INLINE void add(V (&v)[U]) {
    if (block_.whole() && block_.j + B <= block_.columns) {
      running_.add(join_registers<How>(v));
      if (block_.j + B == block_.columns) end_row(block_.i);
    } else {
      add_pieces(v);
    }
  }
  void leave() {}

  /// Without columns no element was added.
  template <class Of>
  static void finish(Ref<T, BroadcastMode::column> to, std::int64_t rows, std::int64_t columns, int, Of) {
    for (std::int64_t i = 0; columns == 0 && i < rows; ++i) {
      to.data[i] = Reduction<O>::template finish<simd::cell_t<T>>(How::template nothing<Total>, 0);
    }
  }

 private:
  void end_row(std::int64_t i) {
    to_[i] = Reduction<O>::template finish<simd::cell_t<T>>(running_.take(), block_.columns);
  }
  /// Adds a block in which at least one row ends.
  template <class V, int U>
  void add_pieces(const V (&v)[U]) {
    simd::cell_t<T> e[B + N];  // a piece is read to the end of a register
    __builtin_memcpy(e, v, sizeof v);
    std::int64_t j = block_.j;
    for (std::int64_t k = 0, i = block_.i; k < block_.size; ++i, j = 0) {
      const std::int64_t n = block_.columns - j < block_.size - k ? block_.columns - j : block_.size - k;
      std::int64_t c = 0;
      for (; c + N <= n; c += N) running_.add(simd::read<simd::cell_t<T>, N>(e + k + c));
      if (c < n) running_.add(first(simd::read<simd::cell_t<T>, N>(e + k + c), n - c));
      if (j + n == block_.columns) end_row(i);
      k += n;
    }
  }
  /// The first n elements of v; the identity elsewhere.
  template <class V>
  static V first(const V& v, std::int64_t n) {
    using Index = simd::element_of<mask_like>;
    mask_like place;
    for (int l = 0; l < N; ++l) place[l] = static_cast<Index>(l);
    return place < static_cast<Index>(n) ? v : simd::fill<T, N>(How::template nothing<simd::cell_t<T>>);
  }
  using mask_like = simd::detail::mask_like<T, N>;

  const Block<B>& block_;
  simd::cell_t<T>* to_;
  Running<How, T, N> running_;
};

}  // namespace crochet::kernel::CROCHET_ISA::detail
