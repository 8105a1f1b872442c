// SPDX-License-Identifier: Apache-2.0
// DepthwiseRows: windows that slide over each channel by itself, vectors of channels and a few positions at a time.
// Images are read in place, since each position at a border has its own taps. Where most positions of a row are at its
// ends, images are copied with a border of zeros.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/positions.hpp>
#include <crochet/kernels/cpu/conv/repeated.hpp>
#include <crochet/kernels/simd.hpp>

namespace crochet::kernel::CROCHET_ISA {

namespace detail {

/// A tap: the horizontal index, its offset from the first position of a row, and its filters.
template <class T>
struct Tap {
  std::int64_t k;
  std::int64_t at;
  const T* filter;
};

/// The sums of P positions, `step` apart, at channel c.
template <int P, bool Wide, class T>
CROCHET_ALWAYS_INLINE void sum_of_taps(const T* image, std::int64_t step, const Tap<T>* taps, std::int64_t count,
                                       std::int64_t c, simd::reg_t<T, Wide> (&sum)[P]) {
  for (std::int64_t t = 0; t < count; ++t) {
    const simd::reg_t<T, Wide> w = simd::load<T, Wide>(taps[t].filter + c);
    const T* p = image + taps[t].at + c;
    CROCHET_UNROLL
    for (int i = 0; i < P; ++i) sum[i] += w * simd::load<T, Wide>(p + i * step);
  }
}
/// The same if the positions and the taps of a row, three each, are all `step` apart: a pixel is loaded once.
template <int P, bool Wide, class T>
CROCHET_ALWAYS_INLINE void sum_of_threes(const T* image, std::int64_t step, const Tap<T>* taps, std::int64_t count,
                                         std::int64_t c, simd::reg_t<T, Wide> (&sum)[P]) {
  for (std::int64_t t = 0; t < count; t += 3) {
    const T* p = image + taps[t].at + c;
    simd::reg_t<T, Wide> pixels[P + 2];
    CROCHET_UNROLL
    for (int i = 0; i < P + 2; ++i) pixels[i] = simd::load<T, Wide>(p + i * step);
    CROCHET_UNROLL
    for (int k = 0; k < 3; ++k) {
      const simd::reg_t<T, Wide> w = simd::load<T, Wide>(taps[t + k].filter + c);
      CROCHET_UNROLL
      for (int i = 0; i < P; ++i) sum[i] += w * pixels[i + k];
    }
  }
}

}  // namespace detail

/// out[place, c] = sum over taps of source[.., c] * filter(tap)[c]. Calls use(row of the result, place, c, the sum, the
/// caller's memory).
template <class T, class Use>
class DepthwiseRows {
 public:
  /// `all`: channels of the source. `backwards`: reverses the taps. `more_room`: elements for the caller.
  DepthwiseRows(const Slide& s, std::int64_t all, const T* filter, bool backwards, std::int64_t more_room, Use use)
      : s_(s), all_(all), filter_(filter), backwards_(backwards), more_room_(more_room), use_(use) {}

  /// Computes this member's rows of the images. `repeated`: the source.
  CROCHET_HOST_ALWAYS_INLINE void run(const T* source, const Repeated<T>& repeated, std::int64_t images,
                                      Worker& worker) {
    constexpr std::int64_t tap_size = sizeof(detail::Tap<T>) / sizeof(T);
    const std::int64_t window = s_.y.taps * s_.x.taps;
    T* const room = worker.scratch<T>(2 * window * tap_size + more_room_ + repeated.room());
    taps_ = reinterpret_cast<detail::Tap<T>*>(room);
    edge_ = taps_ + window;
    more_ = room + 2 * window * tap_size;
    width_ = repeated.width();
    left_ = repeated.left();
    const Range mine = worker.part(images * s_.y.places);
    for (std::int64_t r = mine.from, ready = -1; r < mine.to; ++r) {
      const std::int64_t n = r / s_.y.places;
      if (n != ready) image_ = repeated.image(source, n, more_ + more_room_);
      ready = n;
      for (std::int64_t phase = 0; phase < s_.x.spread && phase < s_.x.places; ++phase)
        row(r, {s_.x, phase, repeated.bordered()});
    }
  }

 private:
  CROCHET_ALWAYS_INLINE void row(std::int64_t r, const Positions& x) {
    find_taps(r % s_.y.places, x);
    const Range whole = x.whole(0, s_.x.taps);
    std::int64_t q = 0;
    for (; q < whole.from; ++q) edge(r, x, q);
    if (s_.x.taps == 3 && s_.x.stride * s_.x.dilation * s_.x.spread == 1) {
      for (; q + 4 <= whole.to; q += 4) some<4, true>(r, x, q, taps_, count_);
    } else {
      for (; q + 4 <= whole.to; q += 4) some<4, false>(r, x, q, taps_, count_);
    }
    for (; q < whole.to; ++q) some<1, false>(r, x, q, taps_, count_);
    for (; q < x.count(); ++q) edge(r, x, q);
  }
  /// The taps that read this row of positions.
  void find_taps(std::int64_t y, const Positions& x) {
    const std::int64_t window = s_.y.taps * s_.x.taps;
    count_ = 0;
    for (std::int64_t t = 0; t < window; ++t) {
      const std::int64_t row = s_.y.at(y, t / s_.x.taps), k = t % s_.x.taps;
      if (row < 0 || !x.has(k)) continue;
      taps_[count_++] = {k, (row * width_ + left_ + x.first(k)) * all_,
                         filter_ + (backwards_ ? window - 1 - t : t) * all_};
    }
  }
  /// A position whose window extends past the image.
  CROCHET_ALWAYS_INLINE void edge(std::int64_t r, const Positions& x, std::int64_t q) {
    std::int64_t count = 0;
    for (std::int64_t t = 0; t < count_; ++t) {
      if (x.inside(taps_[t].k, q)) edge_[count++] = taps_[t];
    }
    some<1, false>(r, x, q, edge_, count);
  }

  /// Computes P positions from number q on. Threes: see sum_of_threes.
  template <int P, bool Threes>
  CROCHET_ALWAYS_INLINE void some(std::int64_t r, const Positions& x, std::int64_t q, const detail::Tap<T>* taps,
                                  std::int64_t count) {
    std::int64_t c = 0;
    for (; c + simd::lanes <= all_; c += simd::lanes) vectors<P, true, Threes>(r, x, q, taps, count, c);
    for (; c < all_; ++c) vectors<P, false, Threes>(r, x, q, taps, count, c);
  }
  template <int P, bool Wide, bool Threes>
  CROCHET_ALWAYS_INLINE void vectors(std::int64_t r, const Positions& x, std::int64_t q, const detail::Tap<T>* taps,
                                     std::int64_t count, std::int64_t c) {
    simd::reg_t<T, Wide> sum[P] = {};
    const std::int64_t step = x.step() * all_;
    if constexpr (Threes) {
      detail::sum_of_threes<P, Wide>(image_ + q * step, step, taps, count, c, sum);
    } else {
      detail::sum_of_taps<P, Wide>(image_ + q * step, step, taps, count, c, sum);
    }
    for (int i = 0; i < P; ++i) use_(r, x.phase + (q + i) * s_.x.spread, c, &sum[i], more_);
  }

  Slide s_;
  std::int64_t all_;
  const T* filter_;
  bool backwards_;
  std::int64_t more_room_;
  Use use_;
  std::int64_t width_ = 0, left_ = 0;  ///< of the source, in pixels
  const T* image_ = nullptr;
  detail::Tap<T>*taps_ = nullptr, *edge_ = nullptr;
  std::int64_t count_ = 0;
  T* more_ = nullptr;
};

}  // namespace crochet::kernel::CROCHET_ISA
