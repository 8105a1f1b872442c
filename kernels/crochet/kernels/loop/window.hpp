// SPDX-License-Identifier: Apache-2.0
// Windows: contiguous access to the elements of a block for each operand of an elementwise loop, in place where the
// layout permits, else through a copy. A partial block is processed as a whole one, on copies.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/loop/block.hpp>
#include <crochet/kernels/program.hpp>

namespace crochet::kernel::CROCHET_ISA::detail {

/// Copies n elements between buffers that do not overlap, by vectors. The last vector overlaps the one before. Fewer
/// elements than a vector are copied one by one.
template <class T>
CROCHET_ALWAYS_INLINE void copy_run(T* to, const T* from, std::int64_t n) {
  constexpr int some = simd::lanes_for(sizeof(T));
  if (n < some) {
    for (std::int64_t k = 0; k < n; ++k) to[k] = from[k];
    return;
  }
  for (std::int64_t k = 0; k + some <= n; k += some) simd::store(to + k, simd::read<T, some>(from + k));
  simd::store(to + n - some, simd::read<T, some>(from + n - some));
}
/// The number of elements that fill_run may write past the end.
template <class T>
inline constexpr int overrun = simd::lanes_for(sizeof(T));
template <class T>
CROCHET_ALWAYS_INLINE void fill_run(T* to, T x, std::int64_t n) {
  const auto v = simd::fill<T, overrun<T>>(std::bit_cast<simd::cell_t<T>>(x));
  for (std::int64_t k = 0; k < n; k += overrun<T>) simd::store(to + k, v);
}

/// An operand as blocks access it. `reads`, `writes`: what the program does with it.
template <class T, BroadcastMode M, int B, bool reads, bool writes>
class Window;

/// Elements in loop order. A partial block is filled up with its first element. An operation that fails on the
/// padding would fail on that element too.
template <class T, int B, bool reads, bool writes>
class Window<T, BroadcastMode::full, B, reads, writes> {
 public:
  Window(Ref<T, BroadcastMode::full> r, const Block<B>&) : data_(r.data) {}

  CROCHET_ALWAYS_INLINE void before(const Block<B>& b) {
    if (b.whole() || !reads) return;
    copy_run(copy_, data_ + b.at, b.size);
    fill_run(copy_ + b.size, copy_[0], B - b.size);
  }
  CROCHET_ALWAYS_INLINE Ref<T, BroadcastMode::full> show(const Block<B>& b) {
    return {b.whole() ? data_ + b.at : copy_, 0};
  }
  CROCHET_ALWAYS_INLINE void after(const Block<B>& b) {
    if (b.whole() || !writes) return;
    copy_run(data_ + b.at, copy_, b.size);
  }

 private:
  T* data_;
  alignas(64) T copy_[B + overrun<T>];
};

template <class T, int B, bool reads, bool writes>
class Window<T, BroadcastMode::scalar, B, reads, writes> {
 public:
  Window(Ref<T, BroadcastMode::scalar> r, const Block<B>&) : ref_(r) {}
  CROCHET_ALWAYS_INLINE void before(const Block<B>&) {}
  CROCHET_ALWAYS_INLINE Ref<T, BroadcastMode::scalar> show(const Block<B>&) { return ref_; }
  CROCHET_ALWAYS_INLINE void after(const Block<B>&) {}

 private:
  Ref<T, BroadcastMode::scalar> ref_;
};

/// A row that repeats. A row shorter than a block is repeated until a block fits at every phase. A longer one is copied
/// only where a block crosses its end.
template <class T, int B, bool reads, bool writes>
class Window<T, BroadcastMode::row, B, reads, writes> {
 public:
  Window(Ref<T, BroadcastMode::row> r, const Block<B>& b) : data_(r.data) {
    if (b.columns >= B || b.columns == 0) return;
    for (std::int64_t k = 0; k < b.period + B; k += b.columns) copy_run(copy_ + k, data_, b.columns);
  }
  CROCHET_ALWAYS_INLINE void before(const Block<B>& b) {
    if (b.columns < B || b.phase + B <= b.columns) return;
    const std::int64_t left = b.columns - b.phase;
    copy_run(copy_, data_ + b.phase, left);
    copy_run(copy_ + left, data_, B - left);
  }
  CROCHET_ALWAYS_INLINE Ref<T, BroadcastMode::full> show(const Block<B>& b) {
    if (b.columns < B) return {copy_ + b.phase, 0};
    return {b.phase + B <= b.columns ? data_ + b.phase : copy_, 0};
  }
  CROCHET_ALWAYS_INLINE void after(const Block<B>&) {}

 private:
  T* data_;
  alignas(64) T copy_[4 * B];  // period < 2 B, plus B, plus one row
};

/// One element per row.
template <class T, int B, bool reads, bool writes>
class Window<T, BroadcastMode::column, B, reads, writes> {
 public:
  Window(Ref<T, BroadcastMode::column> r, const Block<B>&) : data_(r.data) {}

  CROCHET_ALWAYS_INLINE void before(const Block<B>& b) {
    const bool in_one_row = b.j + B <= b.columns;
    if (in_one_row && b.i == row_) return;
    row_ = in_one_row ? b.i : -1;
    std::int64_t j = b.j;
    for (std::int64_t k = 0, i = b.i; k < B; j = 0) {
      const std::int64_t n = b.columns - j < B - k ? b.columns - j : B - k;
      fill_run(copy_ + k, data_[i], n);
      k += n;
      if (i + 1 < b.rows) ++i;  // a partial last block is filled up with the last element
    }
  }
  CROCHET_ALWAYS_INLINE Ref<T, BroadcastMode::full> show(const Block<B>&) { return {copy_, 0}; }
  CROCHET_ALWAYS_INLINE void after(const Block<B>&) {}

 private:
  T* data_;
  std::int64_t row_ = -1;
  alignas(64) T copy_[B + overrun<T>];
};

}  // namespace crochet::kernel::CROCHET_ISA::detail
