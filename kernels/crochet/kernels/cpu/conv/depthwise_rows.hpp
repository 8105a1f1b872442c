// SPDX-License-Identifier: Apache-2.0
// DepthwiseRows: windows that slide over each channel by itself, vectors of channels and a few positions at a time.
// Images are read in place, since each position at a border has its own taps. Where most positions of a row are at its
// ends, images are copied with a border of zeros.
#pragma once
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/simd.hpp>

namespace crochet::kernel {

/// The positions phase, phase + spread, ... of a dimension. Tap k of the position with number q reads source element
/// first(k) + q * step.
struct Positions {
  Axis axis;
  std::int64_t phase = 0;
  bool bordered = false;  ///< the source has a border of zeros, so that each tap reads an element

  std::int64_t count() const { return (axis.places - phase + axis.spread - 1) / axis.spread; }
  std::int64_t step() const { return axis.spread == 1 ? axis.stride : 1; }
  /// Whether tap k reads the source at these positions.
  bool has(std::int64_t k) const { return axis.spread_index(phase, k) % axis.spread == 0; }
  std::int64_t first(std::int64_t k) const { return axis.spread_index(phase, k) / axis.spread; }
  bool inside(std::int64_t k, std::int64_t q) const {
    const std::int64_t x = first(k) + q * step();
    return bordered || (x >= 0 && x < axis.source);
  }
  /// The numbers of the positions for which taps [from, to) are inside the source.
  Range whole(std::int64_t from, std::int64_t to) const {
    Range r{0, count()};
    for (std::int64_t k = from; k < to; ++k) {
      if (!has(k)) continue;
      while (r.from < r.to && !inside(k, r.from)) ++r.from;
      while (r.from < r.to && !inside(k, r.to - 1)) --r.to;
    }
    return r;
  }
};

/// Images with every channel repeated `times` times, and with a border of zeros on the left and right if most positions
/// of a row extend past it.
template <class T>
class Repeated {
 public:
  Repeated(const Slide& s, std::int64_t channels, std::int64_t times)
      : size_(s.y.source * s.x.source * channels),
        times_(times),
        border_(s, channels * times, false),
        bordered_(!border_.empty() && 2 * Positions{s.x}.whole(0, s.x.taps).size() <= Positions{s.x}.count()) {}

  bool bordered() const { return bordered_; }
  /// The distance of rows, and the border on the left, in pixels.
  std::int64_t width() const { return border_.width + (bordered_ ? border_.left + border_.right : 0); }
  std::int64_t left() const { return bordered_ ? border_.left : 0; }

  std::int64_t room() const { return (bordered_ ? border_.size() : 0) + (times_ == 1 ? 0 : size_ * times_); }
  const T* image(const T* images, std::int64_t n, T* room) const {
    const T* from = images + n * size_;
    if (times_ != 1) {
      T* const repeated = room + (bordered_ ? border_.size() : 0);
      for (std::int64_t i = 0; i < size_; ++i) {
        for (std::int64_t q = 0; q < times_; ++q) repeated[i * times_ + q] = from[i];
      }
      from = repeated;
    }
    return bordered_ ? border_.around(from, room) : from;
  }

 private:
  std::int64_t size_, times_;
  Border border_;
  bool bordered_;
};

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
  [[gnu::always_inline]] void run(const T* source, const Repeated<T>& repeated, std::int64_t images, Worker& worker) {
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

}  // namespace crochet::kernel
