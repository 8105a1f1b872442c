// SPDX-License-Identifier: Apache-2.0
// The windows of pooling over an image: each window's elements, and the windows that cover an element, by vectors of
// channels.
#pragma once
#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/cpu/conv/slide.hpp>
#include <crochet/kernels/cpu/conv/winners.hpp>
#include <crochet/kernels/epilogue.hpp>

namespace crochet {

namespace kernel::CROCHET_ISA::detail {

/// The part [from, to) of a window inside the image, and the index of its first tap.
struct Clipped {
  std::int64_t first, from, to;
  Clipped(const Axis& a, std::int64_t place) : first(place * a.stride - a.before) {
    from = first < 0 ? 0 : first;
    to = first + a.taps < a.source ? first + a.taps : a.source;
  }
  std::int64_t size() const { return to - from; }
};

/// The positions [from, to) of the windows that cover an element.
struct Covering {
  std::int64_t from, to;
  Covering(const Axis& a, std::int64_t element) {
    const std::int64_t last = element + a.before, first = last - a.taps;
    from = first < 0 ? 0 : first / a.stride + 1;
    to = last / a.stride + 1 < a.places ? last / a.stride + 1 : a.places;
  }
};

/// Calls one(image, row in the image, row of the result) for this member's part of all rows, counted over all images.
template <class One>
CROCHET_ALWAYS_INLINE void each_row_of(const Axis& y, std::int64_t images, Worker& w, One one) {
  const Range mine = w.part(images * y.places);
  for (std::int64_t r = mine.from; r < mine.to; ++r) one(r / y.places, r % y.places, r);
}

/// Computes `channels` results at `row` of the epilogue, by vectors and then one by one. make(c, sample) returns the
/// results from channel c on; the type of the sample (a register or an element) gives their number.
template <class T, class Epilogue, class Make>
CROCHET_ALWAYS_INLINE void over_channels(std::int64_t row, std::int64_t channels, const Epilogue& epilogue, Make make) {
  constexpr int parts = simd::lanes / native_lanes<T>;
  std::int64_t c = 0;
  for (; c + simd::lanes <= channels; c += simd::lanes) {
    part<T> results[parts];
    CROCHET_UNROLL
    for (int i = 0; i < parts; ++i) results[i] = make(c + i * native_lanes<T>, part<T>{});
    simd::vec<T> v[1];
    __builtin_memcpy(v, results, sizeof v);
    epilogue.template vectors<1>(row, c, v);
  }
  for (; c < channels; ++c) {
    const T v = make(c, T{});
    epilogue.row(row, c, 1, &v);
  }
}
template <class T>
struct PoolShape {
  Slide s;
  std::int64_t images, channels;
  PoolShape(const Operand& image, const Operand& out, const Attributes& a)
      : s(image, out, a), images(image[0]), channels(image[3]) {}
  std::int64_t pixels() const { return s.y.source * s.x.source; }
  std::int64_t places() const { return s.y.places * s.x.places; }
};

/// Reduces each window: reduce(rows, columns, at) computes one result from the elements at(y, x).
template <class T, class Epilogue, class Reduce>
CROCHET_ALWAYS_INLINE void pool(const Call& call, const Epilogue& epilogue, Reduce reduce) {
  const PoolShape<T> p(call.in[0], call.out, call.attributes);
  each_row_of(p.s.y, p.images, call.worker, [&](std::int64_t n, std::int64_t oy, std::int64_t row) {
    const T* image = call.in[0].as<const T>() + n * p.pixels() * p.channels;
    const Clipped y(p.s.y, oy);
    const std::int64_t pitch = p.s.x.source * p.channels;
    for (std::int64_t ox = 0; ox < p.s.x.places; ++ox) {
      const Clipped x(p.s.x, ox);
      const T* corner = image + y.from * pitch + x.from * p.channels;
      over_channels<T>(row * p.s.x.places + ox, p.channels, epilogue, [&](std::int64_t c, const auto& sample) {
        return reduce(y.size(), x.size(), [&](std::int64_t i, std::int64_t k) {
          return load_like<std::decay_t<decltype(sample)>>(corner + i * pitch + k * p.channels + c);
        });
      });
    }
  });
}

/// The gradient of the image, pixel by pixel: sums share(position, its row and column, the tap that reads the pixel, c,
/// sample) over the windows that cover the pixel.
template <class T, class Epilogue, class Share>
CROCHET_ALWAYS_INLINE void unpool(const Call& call, const Slide& s, const Epilogue& epilogue, Share share) {
  const std::int64_t channels = call.out[3];
  const Range mine = call.worker.part(call.out[0] * s.y.source);
  for (std::int64_t r = mine.from; r < mine.to; ++r) {
    const std::int64_t n = r / s.y.source, y = r % s.y.source;
    const Covering rows(s.y, y);
    for (std::int64_t x = 0; x < s.x.source; ++x) {
      const Covering columns(s.x, x);
      over_channels<T>(r * s.x.source + x, channels, epilogue, [&](std::int64_t c, const auto& sample) {
        std::decay_t<decltype(sample)> total{};
        for (std::int64_t oy = rows.from; oy < rows.to; ++oy) {
          for (std::int64_t ox = columns.from; ox < columns.to; ++ox) {
            const std::int64_t tap = (y + s.y.before - oy * s.y.stride) * s.x.taps + x + s.x.before - ox * s.x.stride;
            total += share((n * s.y.places + oy) * s.x.places + ox, oy, ox, tap, c, sample);
          }
        }
        return total;
      });
    }
  }
}

}  // namespace kernel::CROCHET_ISA::detail

}  // namespace crochet
