// SPDX-License-Identifier: Apache-2.0
// Max pooling and its gradient, vectors of channels at a time.
#pragma once
#include <crochet/kernels/cpu/conv.hpp>

namespace crochet {

namespace kernel::detail {
/// The part of a window that lies in the image: rows [y0, y1), columns [x0, x1).
struct Clipped {
  std::int64_t y0, y1, x0, x1;
  Clipped(const Sliding& s, std::int64_t oy, std::int64_t ox) {
    const std::int64_t y = oy * s.stride_height - s.top, x = ox * s.stride_width - s.left;
    y0 = y < 0 ? 0 : y;
    x0 = x < 0 ? 0 : x;
    y1 = y + s.window_height < s.height ? y + s.window_height : s.height;
    x1 = x + s.window_width < s.width ? x + s.window_width : s.width;
  }
};

/// The greatest of a window's elements at channel c; a NaN wins.
template <bool Wide, class T>
CROCHET_ALWAYS_INLINE simd::reg_t<T, Wide> greatest(const Sliding& s, const T* image, const Clipped& w,
                                                    std::int64_t c) {
  auto at = [&](std::int64_t y, std::int64_t x) {
    return simd::load<T, Wide>(image + (y * s.width + x) * s.channels + c);
  };
  simd::reg_t<T, Wide> top = at(w.y0, w.x0);
  for (std::int64_t y = w.y0; y < w.y1; ++y) {
    for (std::int64_t x = w.x0; x < w.x1; ++x) {
      const simd::reg_t<T, Wide> e = at(y, x);
      top = (top >= e) ? top : ((top == top) ? e : top);
    }
  }
  return top;
}

/// Adds each window's upstream to the first of its elements that is the greatest.
template <bool Wide, class T>
CROCHET_ALWAYS_INLINE void send_back(const Sliding& s, const T* image, const T* up, const Clipped& w, std::int64_t c,
                                     T* out) {
  using V = simd::reg_t<T, Wide>;
  const V top = greatest<Wide>(s, image, w, c);
  V left = simd::load<T, Wide>(up + c);
  for (std::int64_t y = w.y0; y < w.y1; ++y) {
    for (std::int64_t x = w.x0; x < w.x1; ++x) {
      const std::int64_t at = (y * s.width + x) * s.channels + c;
      const V e = simd::load<T, Wide>(image + at);
      simd::store(out + at, simd::load<T, Wide>(out + at) + ((e == top) ? left : V{}));
      left = (e == top) ? V{} : left;
    }
  }
}
}  // namespace kernel::detail

template <>
struct Kernel<&op::max_pool> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const kernel::Sliding s(call.in[0], call.out, call.attributes);
    const kernel::Range mine = call.worker.part(s.out_rows());
    const std::int64_t wide = s.channels / simd::lanes * simd::lanes;
    T* out = call.out.as<T>() + mine.from * s.out_width * s.channels;
    for (std::int64_t r = mine.from; r < mine.to; ++r) {
      const T* image = call.in[0].as<const T>() + r / s.out_height * s.height * s.width * s.channels;
      for (std::int64_t ox = 0; ox < s.out_width; ++ox, out += s.channels) {
        const kernel::detail::Clipped w(s, r % s.out_height, ox);
        std::int64_t c = 0;
        for (; c < wide; c += simd::lanes) simd::store(out + c, kernel::detail::greatest<true>(s, image, w, c));
        for (; c < s.channels; ++c) out[c] = kernel::detail::greatest<false>(s, image, w, c);
      }
    }
  }
};

template <>
struct Kernel<&op::max_pool_gradient> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const kernel::Sliding s(call.in[0], call.in[1], call.attributes);
    const kernel::Range images = call.worker.part(s.images);
    const std::int64_t pixels = s.height * s.width * s.channels, wide = s.channels / simd::lanes * simd::lanes;
    for (std::int64_t n = images.from; n < images.to; ++n) {
      const T* image = call.in[0].as<const T>() + n * pixels;
      const T* up = call.in[1].as<const T>() + n * s.out_height * s.out_width * s.channels;
      T* out = call.out.as<T>() + n * pixels;
      __builtin_memset(out, 0, static_cast<std::size_t>(pixels) * sizeof(T));
      for (std::int64_t oy = 0; oy < s.out_height; ++oy) {
        for (std::int64_t ox = 0; ox < s.out_width; ++ox, up += s.channels) {
          const kernel::detail::Clipped w(s, oy, ox);
          std::int64_t c = 0;
          for (; c < wide; c += simd::lanes) kernel::detail::send_back<true>(s, image, up, w, c, out);
          for (; c < s.channels; ++c) kernel::detail::send_back<false>(s, image, up, w, c, out);
        }
      }
    }
  }
};

}  // namespace crochet
