// SPDX-License-Identifier: Apache-2.0
// Convolutions and their gradients on a device: products whose operands are read through the windows, so no matrix of
// patches is built.
#pragma once
#include <crochet/graph/ops/conv.hpp>
#include <crochet/kernels/cuda/epilogue.hpp>
#include <crochet/kernels/cuda/product.hpp>
#include <crochet/kernels/cuda/window.hpp>

namespace crochet::cuda {

namespace detail {

/// The patches of images [places of all images, taps * channels], or their transpose.
template <class T>
struct Patches {
  const T* data;
  Window window;
  int images, channels;
  bool transposed;
  bool by_columns;  ///< neighbouring columns are neighbours in memory

  CROCHET_DEVICE_INLINE T at(int i, int j) const { return transposed ? patch(j, i) : patch(i, j); }

 private:
  // Not inlined: a call costs less than the code of the divisions at every load.
  CROCHET_DEVICE_NOINLINE T patch(int place, int k) const {
    const int tap = k / channels;
    if (place >= images * window.places() || tap >= window.taps()) return T(0);
    const int pixel = window.pixel(place / window.places(), place % window.places(), tap);
    return pixel < 0 ? T(0) : data[std::int64_t{1} * pixel * channels + k % channels];
  }
};

/// Sums over windows of images: the forward pass, or the gradient of the image with the axes reversed.
template <class T, class Block, class Epilogue>
CROCHET_DEVICE_INLINE void correlate(Block& block, const Call& call, const Window& window, const Operand& images,
                                     const Operand& filter, int filters, const Epilogue& epilogue) {
  const int channels = images[3], depth = window.taps() * channels, places = images[0] * window.places();
  const Patches<T> a{images.as<const T>(), window, images[0], channels, false, true};
  const auto b = MatrixOperand<T>::of(filter.as<const T>(), depth, filters, false);
  products<T>(
      block, call, places, filters, depth, 1, [&](int) { return a; }, [&](int) { return b; },
      [&](int, int i, int j, const auto& result) {
        epilogue.template elements<vector_elements>(i, j, filters, result);
      });
}

/// The upstream gradient of a filter's gradient [places, filters]: in memory or, if the convolution's result was pooled
/// by adjacent windows, that of the pooling, which goes to the winner of each window.
template <class T, class Index>
struct Upstream {
  const T* data;
  const Index* winners;  ///< null: not pooled
  int places, width, filters;
  int pool_height, pool_width;
  static constexpr bool by_columns = true;

  CROCHET_DEVICE_NOINLINE T at(int place, int j) const {
    if (place >= places || j >= filters) return T(0);
    if (winners == nullptr) return data[std::int64_t{1} * place * filters + j];
    // `place` counts rows over all images: their height is a multiple of the windows'.
    const int row = place / width, column = place % width;
    const int tap = row % pool_height * pool_width + column % pool_width;
    const std::int64_t at =
        (std::int64_t{1} * (row / pool_height) * (width / pool_width) + column / pool_width) * filters + j;
    return winners[at] == static_cast<Index>(tap) ? data[at] : T(0);
  }
};

}  // namespace detail

template <>
struct Kernel<&op::conv2d> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    const Operand image = call.in(0), out = call.out();
    detail::correlate<typename Types::out>(block, call, detail::Window(image, out, call), image, call.in(1), out[3],
                                           epilogue);
  }
  static constexpr Room room(const Sizes& s) {
    const TableOperand &out = s.out(), &filter = s.in(1);
    const int filters = out.extents[3];
    return ProductParts::of(filters == 0 ? 0 : out.size / filters, filters, filters == 0 ? 0 : filter.size / filters)
        .room(s.element_bytes);
  }
};

/// The filter with its taps reversed, and the matrices of the taps transposed.
template <>
struct Kernel<&op::turned_filter> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    const Operand filter = call.in(0);
    const int taps = filter[0] * filter[1], c = filter[2], k = filter[3];
    const T* const from = filter.as<const T>();
    T* const to = call.out().template as<T>();
    each_element(block, call.first(), filter.size(), [&](int i) {  // i: in [taps, k, c]
      const int tap = i / (c * k), at = i % (c * k);
      to[i] = from[std::int64_t{1} * ((taps - 1 - tap) * c + at % c) * k + at / c];
    });
  }
};

template <>
struct Kernel<&op::conv2d_image_gradient> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    const Operand turned = call.in(0), up = call.in(1), out = call.out();
    detail::correlate<typename Types::out>(block, call, detail::Window(out, up, call).back(), up, turned, out[3],
                                           epilogue);
  }
  static constexpr Room room(const Sizes& s) {
    const TableOperand &out = s.out(), &turned = s.in(0);
    const int channels = out.extents[3];
    return ProductParts::of(channels == 0 ? 0 : out.size / channels, channels,
                            channels == 0 ? 0 : turned.size / channels)
        .room(s.element_bytes);
  }
};

template <>
struct Kernel<&op::conv2d_filter_gradient> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    const Operand image = call.in(0), up = call.in(1);
    const Pooling pooled(call, kernel::inputs_of<Types> == 3);
    const detail::Window window(image[1], image[2], up[1] * pooled.height, up[2] * pooled.width, call);
    const int places = image[0] * window.places(), rows = window.taps() * image[3];
    const detail::Patches<T> a{image.as<const T>(), window, image[0], image[3], true, false};
    const auto multiply = [&](const auto& b) {
      products<T>(
          block, call, rows, up[3], places, 1, [&](int) { return a; }, [&](int) { return b; },
          [&](int, int i, int j, const auto& result) {
            epilogue.template elements<detail::vector_elements>(i, j, up[3], result);
          });
    };
    if constexpr (kernel::inputs_of<Types> == 3) {
      using Index = kernel::in_t<Types, 2>;
      multiply(detail::Upstream<T, Index>{up.as<const T>(), call.in(2).template as<const Index>(), places,
                                          window.x.places, up[3], pooled.height, pooled.width});
    } else {
      multiply(detail::Upstream<T, std::uint8_t>{up.as<const T>(), nullptr, places, window.x.places, up[3], 1, 1});
    }
  }
  static constexpr Room room(const Sizes& s) {
    const TableOperand &out = s.out(), &up = s.in(1);
    const int filters = out.extents[out.rank - 1], packed = s.step.ints[7];
    const int windows = packed == 0 ? 1 : (packed >> 16) * (packed & 0xffff);
    return ProductParts::of(filters == 0 ? 0 : out.size / filters, filters,
                            filters == 0 ? 0 : up.size / filters * windows)
        .room(s.element_bytes);
  }

 private:
  /// The windows of the pooling.
  struct Pooling {
    int height = 1, width = 1;
    CROCHET_DEVICE_INLINE Pooling(const Call& call, bool pooled) {
      if (pooled) height = call.attribute(7) >> 16, width = call.attribute(7) & 0xffff;
    }
  };
};

}  // namespace crochet::cuda
