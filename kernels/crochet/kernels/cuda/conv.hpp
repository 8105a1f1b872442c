// SPDX-License-Identifier: Apache-2.0
// Convolutions and their gradients on a device: products whose operands are read through the windows, so no matrix of
// patches is built.
#pragma once
#include <crochet/graph/ops/conv.hpp>
#include <crochet/kernels/cuda/divisor.hpp>
#include <crochet/kernels/cuda/epilogue.hpp>
#include <crochet/kernels/cuda/product.hpp>
#include <crochet/kernels/cuda/window.hpp>

namespace crochet::cuda {

namespace detail {

/// The patches of images [places of all images, taps * channels], or their transpose, as an operand of a product.
template <class T>
struct Patches {
  const T* data;
  Window window;
  int images, channels;
  bool transposed;
  bool along_depth, vectors;
  Divisor by_channels{channels}, by_taps{window.x.taps}, by_places{window.places()}, by_columns{window.x.places};

  /// Of a place: the pixel of its first tap, and the image's offset. Of a tap and a channel: the distance to that
  /// pixel, and the channel. An element has the sum of both.
  struct Part {
    int y, x, offset;
  };
  using Kept = const Patches&;

  CROCHET_DEVICE_INLINE static Patches of(const Operand& image, const Window& window, bool transposed) {
    const T* const data = image.as<const T>();
    const int channels = image[3];
    return {data, window, image[0], channels, transposed, !transposed, has_vectors(data, channels, channels)};
  }
  CROCHET_DEVICE_INLINE Part row(int i) const { return part(i, !transposed); }
  CROCHET_DEVICE_INLINE Part step(int k) const { return part(k, transposed); }
  CROCHET_DEVICE_INLINE Address<T> at(const Part& row, const Part& step) const {
    const int y = window.y.inside(row.y + step.y), x = window.x.inside(row.x + step.x);
    if (y < 0 || x < 0) return {data, false};
    return {data + (row.offset + step.offset + (y * window.x.source + x) * channels), true};
  }

 private:
  static constexpr int outside = -(1 << 30);

  // Not inlined: a call costs less than the code.
  CROCHET_DEVICE_NOINLINE Part part(int i, bool of_place) const { return of_place ? place(i) : tap(i); }
  CROCHET_DEVICE_INLINE Part place(int i) const {
    const int image = by_places.quotient(i), at = by_places.remainder(i, image), y = by_columns.quotient(at);
    if (image >= images) return {outside, 0, 0};
    return {window.y.of_place(y), window.x.of_place(by_columns.remainder(at, y)), image * window.pixels() * channels};
  }
  CROCHET_DEVICE_INLINE Part tap(int i) const {
    const int tap = by_channels.quotient(i), y = by_taps.quotient(tap);
    if (tap >= window.taps()) return {outside, 0, 0};
    return {window.y.of_tap(y), window.x.of_tap(by_taps.remainder(tap, y)), by_channels.remainder(i, tap)};
  }
};

/// The transpose of a matrix [places, filters] in memory: a filter, or the upstream gradient of a filter's gradient. If
/// the convolution's result was pooled by adjacent windows, the latter is that of the pooling, which goes to the winner
/// of each window.
template <class T, class Index>
struct Filters {
  const T* data;
  int filters;
  const Index* winners;  ///< null: not pooled
  int width;             ///< of the convolution's result
  int pool_height, pool_width;
  bool vectors;
  Divisor by_width{width}, by_pool_height{pool_height}, by_pool_width{pool_width};
  static constexpr bool along_depth = false;

  /// An element has the sum of a filter's part and of a place's. tap: the place's number in its window of the pooling.
  struct Part {
    int offset, tap;
  };
  using Kept = const Filters&;

  CROCHET_DEVICE_INLINE static Filters of(const T* data, int filters) {
    return {data, filters, nullptr, 1, 1, 1, has_vectors(data, filters, filters)};
  }
  CROCHET_DEVICE_INLINE Part row(int j) const { return {j < filters ? j : outside, 0}; }
  CROCHET_DEVICE_INLINE Part step(int place) const {
    return winners == nullptr ? Part{place * filters, 0} : pooled(place);
  }
  CROCHET_DEVICE_INLINE Address<T> at(const Part& row, const Part& step) const {
    if (row.offset < 0) return {data, false};
    const int at = row.offset + step.offset;
    return {data + at, winners == nullptr || winners[at] == static_cast<Index>(step.tap)};
  }

 private:
  static constexpr int outside = -1;

  CROCHET_DEVICE_INLINE Part pooled(int place) const {
    // `place` counts rows over all images: their height is a multiple of the windows'.
    const int row = by_width.quotient(place), column = by_width.remainder(place, row);
    const int y = by_pool_height.quotient(row), x = by_pool_width.quotient(column);
    return {(y * by_pool_width.quotient(width) + x) * filters,
            by_pool_height.remainder(row, y) * pool_width + by_pool_width.remainder(column, x)};
  }
};

/// Sums over windows of images: the forward pass, or the gradient of the image with the axes reversed.
template <class T, class Block, class Epilogue>
CROCHET_DEVICE_INLINE void correlate(Block& block, const Call& call, const Window& window, const Operand& images,
                                     const Operand& filter, int filters, const Epilogue& epilogue) {
  const int depth = window.taps() * images[3], places = images[0] * window.places();
  const auto a = Patches<T>::of(images, window, false);
  const auto b = Filters<T, std::uint8_t>::of(filter.as<const T>(), filters);
  products<T>(
      block, call, places, filters, depth, 1, [&](int) { return a; }, [&](int) { return b; },
      [&](int, int i, int j, const auto& result) {
        epilogue.template elements<vector_elements>(i, j, filters, result);
      });
}

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
    return product_room(s, filters == 0 ? 0 : out.size / filters, filters, filters == 0 ? 0 : filter.size / filters);
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
    return product_room(s, channels == 0 ? 0 : out.size / channels, channels,
                        channels == 0 ? 0 : turned.size / channels);
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
    const auto a = detail::Patches<T>::of(image, window, true);
    const auto multiply = [&](const auto& b) {
      products<T>(
          block, call, rows, up[3], places, 1, [&](int) { return a; }, [&](int) { return b; },
          [&](int, int i, int j, const auto& result) {
            epilogue.template elements<detail::vector_elements>(i, j, up[3], result);
          });
    };
    if constexpr (kernel::inputs_of<Types> == 3) {
      using Index = kernel::in_t<Types, 2>;
      multiply(detail::Filters<T, Index>{up.as<const T>(), up[3], call.in(2).template as<const Index>(),
                                         window.x.places, pooled.height, pooled.width, false});
    } else {
      multiply(detail::Filters<T, std::uint8_t>::of(up.as<const T>(), up[3]));
    }
  }
  static constexpr Room room(const Sizes& s) {
    const TableOperand &out = s.out(), &up = s.in(1);
    const int filters = out.extents[out.rank - 1], packed = s.step.ints[7];
    const int windows = packed == 0 ? 1 : (packed >> 16) * (packed & 0xffff);
    return product_room(s, filters == 0 ? 0 : out.size / filters, filters,
                        filters == 0 ? 0 : up.size / filters * windows);
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
