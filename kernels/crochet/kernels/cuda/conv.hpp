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

/// Of a convolution: patches of the image times the filter. Of its image's gradient: patches of the upstream gradient,
/// with the axes reversed, times the turned filter.
template <class T>
struct ConvolutionFactors : Factors<Patches<T>, Filters<T, std::uint8_t>> {
  CROCHET_DEVICE_NOINLINE ConvolutionFactors(const Call& call, bool backward)
      : ConvolutionFactors::Shared(ConvolutionFactors::copied(of(call, backward))) {}

 private:
  CROCHET_DEVICE_INLINE static typename ConvolutionFactors::Shared of(const Call& call, bool backward) {
    const Operand images = call.in(backward ? 1 : 0), filter = call.in(backward ? 0 : 1), out = call.out();
    const Window window = backward ? Window(out, images, call).back() : Window(images, out, call);
    return {images[0] * window.places(), out[3], window.taps() * images[3], Patches<T>::of(images, window, false),
            Filters<T, std::uint8_t>::of(filter.as<const T>(), out[3])};
  }
};

}  // namespace detail

template <>
struct Kernel<&op::conv2d> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    using T = typename Types::out;
    products<T>(block, call, detail::ConvolutionFactors<T>(call, false), epilogue);
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
    using T = typename Types::out;
    products<T>(block, call, detail::ConvolutionFactors<T>(call, true), epilogue);
  }
  static constexpr Room room(const Sizes& s) {
    const TableOperand &out = s.out(), &turned = s.in(0);
    const int channels = out.extents[3];
    return product_room(s, channels == 0 ? 0 : out.size / channels, channels,
                        channels == 0 ? 0 : turned.size / channels);
  }
};

namespace detail {

/// Whether the step of a filter's gradient has the winners of a pooling behind the convolution.
template <class Types>
inline constexpr bool is_pooled = kernel::inputs_of<Types> == 3;
template <class Types>
using WinnerOf = std::conditional_t<is_pooled<Types>, kernel::in_t<Types, is_pooled<Types> ? 2 : 1>, std::uint8_t>;

/// Patches of the image, transposed, times the upstream gradient; of a pooled convolution, that of the pooling. Types:
/// of the step.
template <class Types, class T = typename Types::out, class Index = WinnerOf<Types>>
struct FilterGradientFactors : Factors<Patches<T>, Filters<T, Index>> {
  CROCHET_DEVICE_NOINLINE explicit FilterGradientFactors(const Call& call)
      : FilterGradientFactors::Shared(FilterGradientFactors::copied(of(call))) {}

 private:
  CROCHET_DEVICE_INLINE static typename FilterGradientFactors::Shared of(const Call& call) {
    const Operand image = call.in(0), up = call.in(1);
    const int packed = call.attribute(7);  // height and width of the pooling's windows
    const int height = is_pooled<Types> ? packed >> 16 : 1, width = is_pooled<Types> ? packed & 0xffff : 1;
    const Window window(image[1], image[2], up[1] * height, up[2] * width, call);
    return {window.taps() * image[3], up[3], image[0] * window.places(), Patches<T>::of(image, window, true),
            gradient(call, height, width, window)};
  }
  CROCHET_DEVICE_INLINE static Filters<T, Index> gradient(const Call& call, int height, int width,
                                                          const Window& window) {
    const Operand up = call.in(1);
    if constexpr (is_pooled<Types>) {
      const Index* const winners = call.in(2).template as<const Index>();
      return {up.as<const T>(), up[3], winners, window.x.places, height, width, false};
    } else {
      return Filters<T, Index>::of(up.as<const T>(), up[3]);
    }
  }
};

}  // namespace detail

template <>
struct Kernel<&op::conv2d_filter_gradient> {
  template <class Types, class Block, class Epilogue>
  CROCHET_DEVICE static void run(Block& block, const Call& call, const Epilogue& epilogue) {
    products<typename Types::out>(block, call, detail::FilterGradientFactors<Types>(call), epilogue);
  }
  static constexpr Room room(const Sizes& s) {
    const TableOperand &out = s.out(), &up = s.in(1);
    const int filters = out.extents[out.rank - 1], packed = s.step.ints[7];
    const int windows = packed == 0 ? 1 : (packed >> 16) * (packed & 0xffff);
    return product_room(s, filters == 0 ? 0 : out.size / filters, filters,
                        filters == 0 ? 0 : up.size / filters * windows);
  }
};

}  // namespace crochet::cuda
