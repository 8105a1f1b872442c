// SPDX-License-Identifier: Apache-2.0
// Convolution as matrix products on patches: a block of output rows becomes a matrix with one patch a row (im2col),
// small enough to stay in the cache.
#pragma once
#include <crochet/graph/ops/conv.hpp>
#include <crochet/kernels/cpu/matrix.hpp>

namespace crochet {

namespace kernel {

/// The geometry of a sliding window over NHWC images.
struct Sliding {
  std::int64_t images, height, width, channels;  ///< of the input
  std::int64_t out_height, out_width;
  std::int64_t window_height, window_width, stride_height, stride_width;
  std::int64_t top, left;  ///< padding

  /// `image` and `out` are [n, h, w, c]; attributes as op::conv2d's.
  Sliding(const Operand& image, const Operand& out, const Attributes& a)
      : images(image[0]),
        height(image[1]),
        width(image[2]),
        channels(image[3]),
        out_height(out[1]),
        out_width(out[2]),
        window_height(a.ints[0]),
        window_width(a.ints[1]),
        stride_height(a.ints[2]),
        stride_width(a.ints[3]),
        top(before(out_height, window_height, stride_height, height)),
        left(before(out_width, window_width, stride_width, width)) {}

  std::int64_t patch() const { return window_height * window_width * channels; }
  std::int64_t out_rows() const { return images * out_height; }

 private:
  static std::int64_t before(std::int64_t out, std::int64_t window, std::int64_t stride, std::int64_t size) {
    const std::int64_t total = (out - 1) * stride + window - size;
    return total > 0 ? total / 2 : 0;
  }
};

namespace detail {
/// How many output rows make a block of patches of about 256 KiB.
template <class T>
std::int64_t rows_at_once(const Sliding& s) {
  const std::int64_t row = s.out_width * s.patch() * static_cast<std::int64_t>(sizeof(T));
  const std::int64_t rows = (std::int64_t{1} << 18) / row;
  return rows < 1 ? 1 : rows;
}

/// Calls visit(offset in the patch, first input x, count) for the part of a window's row that lies in the image.
template <class Visit>
CROCHET_ALWAYS_INLINE void inside(const Sliding& s, std::int64_t ox, Visit visit) {
  const std::int64_t x0 = ox * s.stride_width - s.left;
  const std::int64_t from = x0 < 0 ? -x0 : 0;
  const std::int64_t to = x0 + s.window_width > s.width ? s.width - x0 : s.window_width;
  visit(from * s.channels, x0 + from, (to - from) * s.channels);
}

/// The patches of output rows [from, to), counted over all images, one patch a row.
template <class T>
void gather_patches(const Sliding& s, const T* image, std::int64_t from, std::int64_t to, T* patches) {
  const std::int64_t band = s.window_width * s.channels;
  for (std::int64_t r = from; r < to; ++r) {
    const std::int64_t n = r / s.out_height, oy = r % s.out_height;
    for (std::int64_t ox = 0; ox < s.out_width; ++ox) {
      for (std::int64_t i = 0; i < s.window_height; ++i, patches += band) {
        const std::int64_t y = oy * s.stride_height + i - s.top;
        const bool off = y < 0 || y >= s.height;
        const T* row = image + (n * s.height + (off ? 0 : y)) * s.width * s.channels;
        inside(s, ox, [&](std::int64_t at, std::int64_t x, std::int64_t count) {
          if (off || count < band) __builtin_memset(patches, 0, static_cast<std::size_t>(band) * sizeof(T));
          if (off) return;
          const T* p = row + x * s.channels;
          for (std::int64_t k = 0; k < count; ++k) patches[at + k] = p[k];
        });
      }
    }
  }
}

/// The reverse: adds each patch to the pixels that it was taken from.
template <class T>
void scatter_patches(const Sliding& s, const T* patches, std::int64_t from, std::int64_t to, T* image) {
  const std::int64_t band = s.window_width * s.channels;
  for (std::int64_t r = from; r < to; ++r) {
    const std::int64_t n = r / s.out_height, oy = r % s.out_height;
    for (std::int64_t ox = 0; ox < s.out_width; ++ox) {
      for (std::int64_t i = 0; i < s.window_height; ++i, patches += band) {
        const std::int64_t y = oy * s.stride_height + i - s.top;
        if (y < 0 || y >= s.height) continue;
        T* row = image + (n * s.height + y) * s.width * s.channels;
        inside(s, ox, [&](std::int64_t at, std::int64_t x, std::int64_t count) {
          T* p = row + x * s.channels;
          for (std::int64_t k = 0; k < count; ++k) p[k] += patches[at + k];
        });
      }
    }
  }
}
}  // namespace detail
}  // namespace kernel

template <>
struct Kernel<&op::conv2d> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::Sliding s(call.in[0], call.out, call.attributes);
    const std::int64_t filters = call.out[3], patch = s.patch(), block = kernel::detail::rows_at_once<T>(s);
    const kernel::Range mine = call.worker.part(s.out_rows());
    for (std::int64_t r = mine.from; r < mine.to; r += block) {
      const std::int64_t to = r + block < mine.to ? r + block : mine.to;
      const std::int64_t pixels = (to - r) * s.out_width, size = pixels * patch;
      T* patches = room<Backend, T>(call.worker, size, pixels, filters, patch);
      kernel::detail::gather_patches(s, call.in[0].as<const T>(), r, to, patches);
      // Rows of the product are pixels of the whole result: the epilogue's rows start where this block does.
      const kernel::Below<Epilogue> here{epilogue, r * s.out_width};
      Backend::multiply(kernel::row_major(static_cast<const T*>(patches), patch),
                        kernel::row_major(call.in[1].as<const T>(), filters), patch, {0, pixels}, {0, filters},
                        call.worker, here, size);
    }
  }

  /// Scratch for the patches and for what the product needs behind them, in one piece so that neither moves.
  template <class Backend, class T>
  static T* room(kernel::Worker& w, std::int64_t size, std::int64_t pixels, std::int64_t filters, std::int64_t patch) {
    return w.scratch<T>(size + Backend::template scratch<T>(pixels, filters, patch));
  }
};

template <>
struct Kernel<&op::conv2d_image_gradient> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const kernel::Operand &filter = call.in[0], &up = call.in[1];
    const kernel::Sliding s(call.out, up, call.attributes);
    const std::int64_t filters = filter[3], patch = s.patch(), block = kernel::detail::rows_at_once<T>(s);
    const kernel::Range images = call.worker.part(s.images);
    T* out = call.out.as<T>();
    const std::int64_t pixels_in = s.height * s.width * s.channels;
    __builtin_memset(out + images.from * pixels_in, 0, static_cast<std::size_t>(images.size() * pixels_in) * sizeof(T));
    const kernel::Range mine{images.from * s.out_height, images.to * s.out_height};
    for (std::int64_t r = mine.from; r < mine.to; r += block) {
      const std::int64_t to = r + block < mine.to ? r + block : mine.to;
      const std::int64_t pixels = (to - r) * s.out_width, size = pixels * patch;
      T* patches = Kernel<&op::conv2d>::room<Backend, T>(call.worker, size, pixels, patch, filters);
      const kernel::Matrix<T> a = kernel::row_major(up.as<const T>() + r * s.out_width * filters, filters);
      Backend::multiply(a, kernel::row_major(filter.as<const T>(), filters, true), filters, {0, pixels}, {0, patch},
                        call.worker, kernel::StoreTo<T>{patches, patch}, size);
      kernel::detail::scatter_patches(s, patches, r, to, out);
    }
  }
};

template <>
struct Kernel<&op::conv2d_filter_gradient> {
  template <class Backend, class Types, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::Operand& up = call.in[1];
    const kernel::Sliding s(call.in[0], up, call.attributes);
    const std::int64_t filters = up[3], patch = s.patch();
    sum_over_my_images<Backend, T>(call, s, filters);
    call.worker.sync();
    // Each member adds up its rows of everybody's sums, in the members' order.
    const kernel::Range rows = call.worker.part(patch);
    T* total = const_cast<T*>(call.worker.scratch_of<T>(call.worker.index())) + patch * filters;
    for (std::int64_t i = rows.from; i < rows.to; ++i) {
      for (std::int64_t k = 0; k < filters; ++k) total[k] = T{};
      for (int t = 0; t < call.worker.count(); ++t) {
        const T* theirs = call.worker.scratch_of<T>(t) + i * filters;
        for (std::int64_t k = 0; k < filters; ++k) total[k] += theirs[k];
      }
      epilogue.row(i, 0, filters, total);
    }
    call.worker.sync();  // the scratch memory is free again
  }

 private:
  template <class Backend, class T>
  static void sum_over_my_images(const kernel::Call& call, const kernel::Sliding& s, std::int64_t filters) {
    const std::int64_t patch = s.patch(), sums = patch * filters, block = kernel::detail::rows_at_once<T>(s);
    const kernel::Range mine = call.worker.part(s.out_rows());
    const std::int64_t rows = block < mine.size() ? block : mine.size(), most = rows * s.out_width;
    T* sum = Kernel<&op::conv2d>::room<Backend, T>(call.worker, sums + filters + most * patch, patch, filters, most);
    T* patches = sum + sums + filters;
    __builtin_memset(sum, 0, static_cast<std::size_t>(sums) * sizeof(T));
    for (std::int64_t r = mine.from; r < mine.to; r += block) {
      const std::int64_t to = r + block < mine.to ? r + block : mine.to;
      const std::int64_t pixels = (to - r) * s.out_width;
      kernel::detail::gather_patches(s, call.in[0].as<const T>(), r, to, patches);
      const kernel::Matrix<T> b = kernel::row_major(call.in[1].as<const T>() + r * s.out_width * filters, filters);
      Backend::multiply(kernel::row_major(static_cast<const T*>(patches), patch, true), b, pixels, {0, patch},
                        {0, filters}, call.worker, kernel::AddTo<T>{sum, filters}, sums + filters + most * patch);
    }
  }
};

}  // namespace crochet
