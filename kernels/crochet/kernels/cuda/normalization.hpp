// SPDX-License-Identifier: Apache-2.0
// Layer, root-mean-square, batch and group normalisation on a device.
#pragma once
#include <crochet/graph/ops/normalization.hpp>
#include <crochet/kernels/cuda/epilogue.hpp>
#include <crochet/kernels/cuda/reduce_lines.hpp>
#include <crochet/kernels/cuda/softmax.hpp>

namespace crochet::cuda {

namespace detail {

/// A mean and 1 / sqrt(variance + epsilon), as stored in memory.
template <class T>
struct Moments {
  T mean, scale;
};
template <class T>
CROCHET_DEVICE_INLINE const Moments<T>* moments_of(const Call& call) {
  return call.in(1).template as<const Moments<T>>();
}
CROCHET_DEVICE_INLINE int rows_of(const Operand& x) { return x.columns() == 0 ? 0 : x.size() / x.columns(); }

template <bool Centred>
struct RowNorm {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const int n = call.in(0).columns();
    const T *const x = call.in(0).template as<const T>(), *const gamma = call.in(2).template as<const T>();
    each_element(block, call.first(), call.in(0).size(), [&](int i) {
      const int row = i / n, j = i - row * n;
      const Moments<T> m = moments_of<T>(call)[row];
      T v = (x[i] * m.scale - m.mean * m.scale) * gamma[j];
      if constexpr (Centred) v += call.in(3).template as<const T>()[j];
      epilogue.element(row, j, v);
    });
  }
};

// With h = gamma dy and xhat the normalised x: dx = scale (h - mean(h) - xhat mean(h xhat)). The term mean(h) is
// omitted if not Centred.
template <bool Centred>
struct RowNormGradient {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const int n = call.in(0).columns();
    const T* const gamma = call.in(3).template as<const T>();
    each_warp(block, call.first(), rows_of(call.in(0)), [&](int row) {
      const std::int64_t first = std::int64_t{1} * row * n;
      const T *const x = call.in(0).template as<const T>() + first, *const up =
                                                                        call.in(2).template as<const T>() + first;
      const Moments<T> m = moments_of<T>(call)[row];
      const Line<T, Block> line(block, n, 1);
      const T shift = m.mean * m.scale, share = T(1) / static_cast<T>(n);
      const T dot = line.sum([&](std::int64_t j) { return gamma[j] * up[j] * (x[j] * m.scale - shift); }) * share;
      T mean = 0;
      if constexpr (Centred) mean = line.sum([&](std::int64_t j) { return gamma[j] * up[j]; }) * share;
      line.each([&](std::int64_t j) {
        const T dx = ((gamma[j] * up[j] - mean) - (x[j] * m.scale - shift) * dot) * m.scale;
        epilogue.element(row, static_cast<int>(j), dx);
      });
    });
  }
};

/// The memory of sums over the rows of input 0.
struct SumOfRows {
  static constexpr Room room(const Sizes& s) {
    const TableOperand& x = s.in(0);
    const int n = x.extents[x.rank - 1];
    return LineParts::of(1, n == 0 ? 0 : x.size / n, n).room();
  }
};

}  // namespace detail

template <>
struct Kernel<&op::row_moments> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    const int n = call.in(0).columns();
    const T epsilon = static_cast<T>(call.real(0)), count = static_cast<T>(n);
    const bool centred = call.attribute(1) == 0;
    auto* const to = call.out().template as<detail::Moments<T>>();
    each_warp(block, call.first(), detail::rows_of(call.in(0)), [&](int row) {
      const T* const x = call.in(0).template as<const T>() + std::int64_t{1} * row * n;
      const detail::Line<T, Block> line(block, n, 1);
      const T mean = centred ? line.sum([&](std::int64_t j) { return x[j]; }) / count : T(0);
      const T variance = line.sum([&](std::int64_t j) { return (x[j] - mean) * (x[j] - mean); }) / count;
      if (line.first_lane()) to[row] = {mean, T(1) / simd::sqrt(variance + epsilon)};
    });
  }
};

template <>
struct Kernel<&op::layer_norm> : detail::RowNorm<true> {};
template <>
struct Kernel<&op::layer_norm_gradient> : detail::RowNormGradient<true> {};
template <>
struct Kernel<&op::rms_norm> : detail::RowNorm<false> {};
template <>
struct Kernel<&op::rms_norm_gradient> : detail::RowNormGradient<false> {};

template <>
struct Kernel<&op::row_norm_scale_gradient> : detail::SumOfRows {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const int n = call.in(0).columns();
    const T *const x = call.in(0).template as<const T>(), *const up = call.in(2).template as<const T>();
    const auto* const moments = detail::moments_of<T>(call);
    reduce_lines<kernel::Sum, T>(
        block, call, 1, detail::rows_of(call.in(0)), n,
        [&](int, int i, int j) {
          const std::int64_t at = std::int64_t{1} * i * n + j;
          return (x[at] * moments[i].scale - moments[i].mean * moments[i].scale) * up[at];
        },
        [&](int j, auto total) { epilogue.element(0, j, static_cast<T>(total)); });
  }
};

template <>
struct Kernel<&op::column_variance> : detail::SumOfRows {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const int n = call.in(0).columns(), rows = detail::rows_of(call.in(0));
    const T *const x = call.in(0).template as<const T>(), *const mean = call.in(1).template as<const T>();
    reduce_lines<kernel::Sum, T>(
        block, call, 1, rows, n,
        [&](int, int i, int j) {
          const T c = x[std::int64_t{1} * i * n + j] - mean[j];
          return c * c;
        },
        [&](int j, auto total) { epilogue.element(0, j, static_cast<T>(total / rows)); });
  }
};

template <>
struct Kernel<&op::batch_norm> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const int n = call.in(0).columns();
    const T *const x = call.in(0).template as<const T>(), *const mean = call.in(1).template as<const T>();
    const T *const variance = call.in(2).template as<const T>(), *const gamma = call.in(3).template as<const T>();
    const T* const beta = call.in(4).template as<const T>();
    const T epsilon = static_cast<T>(call.real(0));
    each_element(block, call.first(), call.in(0).size(), [&](int i) {
      const int j = i % n;
      const T scale = gamma[j] / simd::sqrt(variance[j] + epsilon);
      epilogue.element(i / n, j, (x[i] - mean[j]) * scale + beta[j]);
    });
  }
};

namespace detail {

/// The groups of channels of images [images, places, channels]: a block for each group of an image.
struct Groups {
  int images, places, channels, groups, wide;

  CROCHET_DEVICE_INLINE explicit Groups(const Call& call)
      : images(call.in(0)[0]),
        places(call.in(0).columns() == 0 ? 0 : call.in(0).product(1, call.in(0).rank()) / call.in(0).columns()),
        channels(call.in(0).columns()),
        groups(call.attribute(0)),
        wide(channels / groups) {}

  /// Calls f(row, channel) for this thread's elements of a group of an image. A row is a place of an image.
  template <class Block, class F>
  CROCHET_DEVICE_INLINE void each_row(const Block& block, int image, int group, F f) const {
    for (int e = block.thread(); e < places * wide; e += Block::threads) {
      f(image * places + e / wide, group * wide + e % wide);
    }
  }
  /// Calls f(offset of the element in the tensor, channel).
  template <class Block, class F>
  CROCHET_DEVICE_INLINE void each(const Block& block, int image, int group, F f) const {
    each_row(block, image, group, [&](int row, int c) { f(std::int64_t{1} * row * channels + c, c); });
  }
  /// The mean of f(offset, channel) over a group of an image.
  template <class T, class Block, class F>
  CROCHET_DEVICE_INLINE T mean(Block& block, int image, int group, F f) const {
    double sum = 0;
    each(block, image, group, [&](std::int64_t at, int c) { sum += static_cast<double>(f(at, c)); });
    return static_cast<T>(join_block<kernel::Sum>(block, sum) / (std::int64_t{1} * places * wide));
  }
  template <class T, class Block>
  CROCHET_DEVICE_INLINE Moments<T> moments(Block& block, const T* x, int image, int group, T epsilon) const {
    const T middle = mean<T>(block, image, group, [&](std::int64_t at, int) { return x[at]; });
    const T variance =
        mean<T>(block, image, group, [&](std::int64_t at, int) { return (x[at] - middle) * (x[at] - middle); });
    return {middle, T(1) / simd::sqrt(variance + epsilon)};
  }
};

}  // namespace detail

template <>
struct Kernel<&op::group_norm> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const detail::Groups g(call);
    const T *const x = call.in(0).template as<const T>(), *const gamma = call.in(1).template as<const T>();
    const T* const beta = call.in(2).template as<const T>();
    each_unit(block, call.first(), g.images * g.groups, [&](int unit) {
      const int image = unit / g.groups, group = unit % g.groups;
      const detail::Moments<T> m = g.moments(block, x, image, group, static_cast<T>(call.real(0)));
      g.each_row(block, image, group, [&](int row, int c) {
        const T centred = x[std::int64_t{1} * row * g.channels + c] - m.mean;
        epilogue.element(row, c, centred * (m.scale * gamma[c]) + beta[c]);
      });
    });
  }
};

// As for layer_norm: with h = gamma dy, dx = scale (h - mean(h) - xhat mean(h xhat)); the means are the group's.
template <>
struct Kernel<&op::group_norm_gradient> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const detail::Groups g(call);
    const T *const x = call.in(0).template as<const T>(), *const gamma = call.in(1).template as<const T>();
    const T* const up = call.in(2).template as<const T>();
    each_unit(block, call.first(), g.images * g.groups, [&](int unit) {
      const int image = unit / g.groups, group = unit % g.groups;
      const detail::Moments<T> m = g.moments(block, x, image, group, static_cast<T>(call.real(0)));
      const T slope = g.mean<T>(block, image, group, [&](std::int64_t at, int c) { return gamma[c] * up[at]; });
      const T dot =
          g.mean<T>(block, image, group, [&](std::int64_t at, int c) { return gamma[c] * up[at] * (x[at] - m.mean); });
      g.each_row(block, image, group, [&](int row, int c) {
        const std::int64_t at = std::int64_t{1} * row * g.channels + c;
        const T dx = (gamma[c] * up[at] - slope - (x[at] - m.mean) * (dot * m.scale * m.scale)) * m.scale;
        epilogue.element(row, c, dx);
      });
    });
  }
};

/// First the moments of all groups, then sums over all places, behind a barrier of the grid.
template <>
struct Kernel<&op::group_norm_scale_gradient> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const detail::Groups g(call);
    const T *const x = call.in(0).template as<const T>(), *const up = call.in(1).template as<const T>();
    const LineParts parts = LineParts::of(1, g.images * g.places, g.channels);
    auto* const moments =
        reinterpret_cast<detail::Moments<T>*>(call.template scratch<unsigned char>() + parts.room().bytes);
    each_unit(block, call.first(), g.images * g.groups, [&](int unit) {
      const auto m = g.moments(block, x, unit / g.groups, unit % g.groups, static_cast<T>(call.real(0)));
      if (block.thread() == 0) moments[unit] = m;
    });
    block.grid_sync();
    reduce_lines<kernel::Sum, T>(
        block, call, 1, g.images * g.places, g.channels,
        [&](int, int k, int c) {
          const std::int64_t at = std::int64_t{1} * k * g.channels + c;
          const detail::Moments<T> m = moments[k / g.places * g.groups + c / g.wide];
          return up[at] * ((x[at] - m.mean) * m.scale);
        },
        [&](int c, auto total) { epilogue.element(0, c, static_cast<T>(total)); });
  }
  static constexpr Room room(const Sizes& s) {
    const TableOperand& x = s.in(0);
    const int channels = x.extents[x.rank - 1];
    const Room sums = LineParts::of(1, channels == 0 ? 0 : x.size / channels, channels).room();
    return {sums.bytes + std::int64_t{2} * s.element_bytes * x.extents[0] * s.step.ints[0], sums.tickets};
  }
};

}  // namespace crochet::cuda
