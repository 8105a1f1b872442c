// SPDX-License-Identifier: Apache-2.0
// Repeated: the images of a depthwise convolution, copied where their windows cannot read them in place.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/positions.hpp>

namespace crochet::kernel::CROCHET_ISA {

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

}  // namespace crochet::kernel::CROCHET_ISA
