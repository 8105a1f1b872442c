// SPDX-License-Identifier: Apache-2.0
// Convolution and its gradients, independent of the product policy. Direct: no im2col matrix is built.
#pragma once
#include <crochet/graph/ops/conv.hpp>
#include <crochet/kernels/cpu/conv/correlation.hpp>
#include <crochet/kernels/cpu/conv/filter_gradient.hpp>
#include <crochet/kernels/cpu/conv/gathered_gradient.hpp>
#include <crochet/kernels/cpu/conv/winograd_gradient.hpp>

namespace crochet {

template <>
struct Kernel<&op::conv2d> {
  using Paths = kernel::ConvolutionPaths;

  template <class Backend, class Types, Paths P, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::Operand &image = call.in[0], &out = call.out;
    const kernel::Slide s(image, out, call.attributes);
    kernel::correlate<P, Backend>(s, image[0], image[3], out[3], image.as<const T>(), kernel::matrix_of<T>(call.in[1]),
                                  call.worker, epilogue);
  }
};

template <>
struct Kernel<&op::turned_filter> {
  template <class Backend, class Types>
  [[gnu::noinline]] static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const kernel::Operand& filter = call.in[0];
    const std::int64_t taps = filter[0] * filter[1], c = filter[2], k = filter[3];
    const kernel::Matrix<T> from = kernel::matrix_of<T>(filter);
    const kernel::Range mine = call.worker.part(taps);
    for (std::int64_t t = mine.from; t < mine.to; ++t) {
      transpose(from, (taps - 1 - t) * c, c, k, call.out.as<T>() + t * c * k);
    }
  }

 private:
  /// Transposes rows [row, row + c) of k columns to k rows of c.
  template <class T>
  static void transpose(const kernel::Matrix<T>& from, std::int64_t row, std::int64_t c, std::int64_t k, T* to) {
    constexpr std::int64_t block = kernel::native_lanes<T>;
    const std::int64_t rows = c / block * block, columns = k / block * block;
    for (std::int64_t j = 0; j < columns; j += block) {
      for (std::int64_t i = 0; i < rows; i += block) {
        kernel::transpose_block(from.at(row + i, j), from.row, to + j * c + i, c);
      }
    }
    for (std::int64_t i = 0; i < c; ++i) {
      for (std::int64_t j = i < rows ? columns : 0; j < k; ++j) to[j * c + i] = *from.at(row + i, j);
    }
  }
};

template <>
struct Kernel<&op::conv2d_image_gradient> {
  using Paths = kernel::ConvolutionPaths;

  template <class Backend, class Types, Paths P, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const kernel::Operand &turned = call.in[0], &up = call.in[1], &out = call.out;
    const kernel::Slide s = kernel::Slide(out, up, call.attributes).back();
    kernel::correlate<P, Backend>(s, up[0], up[3], out[3], up.as<const T>(), kernel::matrix_of<T>(turned), call.worker,
                                  epilogue);
  }
};

template <>
struct Kernel<&op::conv2d_filter_gradient> {
  using Paths = kernel::FilterGradientPaths;

  template <class Backend, class Types, Paths P, class Epilogue>
  [[gnu::noinline]] static void run(const kernel::Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    using Word = kernel::gradient_word_t<kernel::word_t<Backend, T>, T>;
    const kernel::Operand& up = call.in[1];
    [[maybe_unused]] const std::int64_t packed = call.attributes.ints[7], height = packed >> 16,
                                        width = packed & 0xffff;
    kernel::Operand out = up;  // of the convolution
    if constexpr (kernel::inputs_of<Types> == 3) {
      using Index = kernel::in_t<Types, 2>;
      out.extents[1] *= height;
      out.extents[2] *= width;
      const kernel::PooledUpstream<T, Index> from(up.as<const T>(), call.in[2].as<const Index>(), up[1], up[2], up[3],
                                                  height, width);
      sum<Backend, P, T, Word>(call, out, from, epilogue);
    } else {
      sum<Backend, P, T, Word>(call, out, kernel::Upstream<T>(up.as<const T>(), up[1], up[2], up[3]), epilogue);
    }
  }

 private:
  template <class Backend, Paths P, class T, class Word, class From, class Epilogue>
  static void sum(const kernel::Call& call, const kernel::Operand& out, const From& from, const Epilogue& epilogue) {
    constexpr kernel::ConvolutionPaths paths = P;
    const kernel::Operand& image = call.in[0];
    const kernel::Slide slide(image, out, call.attributes);
    if constexpr (P.winograd && !kernel::is_exact<Backend> && std::is_same_v<Word, float>) {
      // One image cannot be divided among members.
      const bool divided = call.worker.parts() == 1 || images_are_divided(call);
      const int side = divided ? kernel::winograd::gradient_side_for(slide, image[3], out[3]) : 0;
      if constexpr (P.large_tiles) {
        if (side == 4)
          return sum<T>(call, out.size(), kernel::WinogradGradient<4, T, From, paths>{slide, image[3], out[3], from},
                        epilogue);
      }
      if (side != 0)
        return sum<T>(call, out.size(), kernel::WinogradGradient<2, T, From, paths>{slide, image[3], out[3], from},
                      epilogue);
    }
    if constexpr (kernel::compiled_for_amx && std::is_same_v<Word, kernel::Bfloat16Pair>) {
      const std::int64_t depth = slide.y.taps * slide.x.taps * image[3];
      if (depth >= kernel::least_gathered_depth && kernel::has_amx()) {
        return sum<T>(call, out.size(), kernel::GatheredFilterGradient<From>{slide, image[3], out[3], from}, epilogue);
      }
    }
    sum<T>(call, out.size(), kernel::FilterGradient<T, Word, From, paths>{slide, image[3], out[3], from}, epilogue);
  }
  static bool images_are_divided(const kernel::Call& call) { return call.in[0][0] >= 2 * call.worker.parts(); }

  template <class T, class Gradient, class Epilogue>
  static void sum(const kernel::Call& call, std::int64_t places, Gradient g, const Epilogue& epilogue) {
    const kernel::Operand& image = call.in[0];
    kernel::Worker& w = call.worker;
    // Few images: each member computes its rows of the filter from all images. Many: they are divided into parts, and
    // each member sums over the images of its parts.
    const int parts = images_are_divided(call) ? w.parts_of(places * g.rows(), 1 << 16) : 1;
    const kernel::Range mine = w.part(parts), all{0, image[0]}, rows = w.part(g.rows());
    const std::int64_t size = g.sums_room(), some = mine.size() > 1 ? mine.size() : 1;
    T* const sums = w.scratch<T>(some * size + g.scratch());
    T* const room = sums + some * size;
    if (parts == 1) {
      g.sum(image.as<const T>(), all, rows, sums, room);
      return g.hand_over(sums, rows, epilogue, [](T*, std::int64_t) {});
    }
    for (std::int64_t p = mine.from; p < mine.to; ++p) {
      g.sum(image.as<const T>(), kernel::part_of(image[0], p, parts), {0, g.rows()}, sums + (p - mine.from) * size,
            room);
    }
    w.sync();
    // Each member adds up its rows of all parts' sums, in the order of the parts.
    g.hand_over(sums, rows, epilogue, [&](T* to, std::int64_t at) {
      T total[g.width] = {};
      w.each_part_of_sum<T>(parts, size, [&](const T* part) {
        for (std::int64_t c = 0; c < g.width; ++c) total[c] += part[at + c];
      });
      __builtin_memcpy(to, total, sizeof total);
    });
    w.sync();  // from here on the scratch memory may be reused
  }
};

}  // namespace crochet
