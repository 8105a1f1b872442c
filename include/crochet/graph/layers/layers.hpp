// SPDX-License-Identifier: Apache-2.0
// Layers: functions that create variables and apply them. Variables are named `name/kernel` and `name/bias`.
#pragma once
#include <string_view>

#include <crochet/graph/core/joined_name.hpp>
#include <crochet/graph/ops/conv.hpp>
#include <crochet/graph/ops/depthwise.hpp>
#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/graph/ops/gather.hpp>
#include <crochet/graph/ops/matmul.hpp>

namespace crochet {

namespace detail {
constexpr Tensor layer_variable(GraphBuilder& g, std::string_view layer, std::string_view what, DType type,
                                const Shape& shape, const Initializer& init) {
  return g.variable(joined_name(layer, what), type, shape, init, true);
}
constexpr Tensor dense(Tensor x, std::int64_t units, std::string_view name, const Initializer& init, DType stored) {
  const Shape shape = x.shape();
  if (shape.rank < 2) graph_error::wrong_rank(2, static_cast<std::int64_t>(shape.rank));
  const Extent inputs = shape[shape.rank - 1];
  GraphBuilder& g = *x.graph;
  const Tensor kernel = layer_variable(g, name, "/kernel", stored, {inputs, units}, init);
  const Tensor bias = layer_variable(g, name, "/bias", computed_as(x.dtype()), {units}, zeros());
  return matmul(x, kernel) + bias;
}
}  // namespace detail

/// x kernel + bias: x [..., inputs] -> [..., units]. Acts on the last dimension, as Keras's Dense. The kernel [inputs,
/// units] is initialised by `init`, the bias with zeros.
constexpr Tensor dense(Tensor x, std::int64_t units, std::string_view name,
                       const Initializer& init = glorot_uniform()) {
  return detail::dense(x, units, name, init, computed_as(x.dtype()));
}

/// As above, with the kernel stored as W: float, or bfloat16 for a model that is served in half the memory. The result
/// and the bias are of the type of x, or float. Weights of either type are restored from a checkpoint of the other.
template <FloatingElement W>
constexpr Tensor dense(Tensor x, std::int64_t units, std::string_view name,
                       const Initializer& init = glorot_uniform()) {
  return detail::dense(x, units, name, init, dtype_of<W>);
}

/// Selects rows of a table by index: ids (int32, int64 or uint8) [...] -> [..., width] (Keras's Embedding).
/// - The table [vocabulary, width] is the variable `name/table` of type T, initialised by `init`.
/// - An id outside [0, vocabulary) gives a row of NaN and no gradient.
template <Element T = float>
constexpr Tensor embedding(Tensor ids, std::int64_t vocabulary, std::int64_t width, std::string_view name,
                           const Initializer& init = uniform(-0.05, 0.05)) {
  return gather(detail::layer_variable(*ids.graph, name, "/table", dtype_of<T>, {vocabulary, width}, init), ids);
}

struct ConvOptions {
  Window stride{1, 1};
  Padding padding = Padding::same;
  Window dilation{1, 1};
  std::int64_t multiplier = 1;  ///< filters per channel, for depthwise convolutions
  Initializer init = glorot_uniform();
};

namespace detail {
constexpr Shape shape_of_rank(Tensor x, std::size_t rank) {
  if (x.shape().rank != rank) {
    graph_error::wrong_rank(static_cast<std::int64_t>(rank), static_cast<std::int64_t>(x.shape().rank));
  }
  return x.shape();
}
/// The variable `layer/kernel`, converted to the type of x.
constexpr Tensor kernel_of(Tensor x, std::string_view layer, DType stored, const Shape& shape,
                           const Initializer& init) {
  if (stored != x.dtype() && computed_as(stored) != x.dtype()) graph_error::element_types_differ();
  return cast(layer_variable(*x.graph, layer, "/kernel", stored, shape, init), x.dtype());
}
constexpr Tensor bias_of(Tensor x, std::string_view layer, const Extent& width) {
  return layer_variable(*x.graph, layer, "/bias", x.dtype(), {width}, zeros());
}
constexpr Tensor conv2d(Tensor images, std::int64_t filters, Window window, std::string_view name,
                        const ConvOptions& options, DType stored) {
  const Extent channels = shape_of_rank(images, 4)[3];
  const Tensor kernel = kernel_of(images, name, stored, {window.height, window.width, channels, filters}, options.init);
  const Tensor bias = bias_of(images, name, filters);
  return crochet::conv2d(images, kernel, options.stride, options.padding, options.dilation) + bias;
}
constexpr Tensor conv1d(Tensor series, std::int64_t filters, std::int32_t size, std::string_view name,
                        const ConvOptions& options, DType stored) {
  const Shape s = shape_of_rank(series, 3);
  const Tensor kernel = kernel_of(series, name, stored, {size, s[2], filters}, options.init);
  const Tensor bias = bias_of(series, name, filters);
  // The bias is added before the reshape, so that it can be fused with the convolution.
  const Tensor y = crochet::conv2d(reshape(series, {s[0], 1, s[1], s[2]}), reshape(kernel, {1, size, s[2], filters}),
                                   {1, options.stride.width}, options.padding, {1, options.dilation.width}) +
                   bias;
  return reshape(y, {s[0], y.shape()[2], filters});
}
constexpr Tensor depthwise_conv2d(Tensor images, Window window, std::string_view name, const ConvOptions& options,
                                  DType stored) {
  const Extent channels = shape_of_rank(images, 4)[3];
  const Tensor kernel =
      kernel_of(images, name, stored, {window.height, window.width, channels, options.multiplier}, options.init);
  const Tensor bias = bias_of(images, name, channels * Extent(options.multiplier));
  return crochet::depthwise_conv2d(images, kernel, options.stride, options.padding, options.dilation) + bias;
}
}  // namespace detail

/// 2D convolution with a bias per filter: images [n, h, w, channels] -> [n, oh, ow, filters]. kernel [window, channels,
/// filters].
constexpr Tensor conv2d(Tensor images, std::int64_t filters, Window window, std::string_view name,
                        const ConvOptions& options = {}) {
  return detail::conv2d(images, filters, window, name, options, images.dtype());
}
/// As above, with the kernel stored as W: the type of the images, or bfloat16 if they are float. Bias and result have
/// the type of the images. Each run converts the kernel: a copy of it in the memory of the run. Minimizing with a
/// kernel of bfloat16 is an error (bfloat16_variables_do_not_train).
template <FloatingElement W>
constexpr Tensor conv2d(Tensor images, std::int64_t filters, Window window, std::string_view name,
                        const ConvOptions& options = {}) {
  return detail::conv2d(images, filters, window, name, options, dtype_of<W>);
}

/// 1D convolution with a bias per filter: series [n, l, channels] -> [n, ol, filters]. kernel [size, channels,
/// filters]. Uses the widths of `stride` and `dilation`.
constexpr Tensor conv1d(Tensor series, std::int64_t filters, std::int32_t size, std::string_view name,
                        const ConvOptions& options = {}) {
  return detail::conv1d(series, filters, size, name, options, series.dtype());
}
/// As above, with the kernel stored as W, as in conv2d<W>.
template <FloatingElement W>
constexpr Tensor conv1d(Tensor series, std::int64_t filters, std::int32_t size, std::string_view name,
                        const ConvOptions& options = {}) {
  return detail::conv1d(series, filters, size, name, options, dtype_of<W>);
}

/// Depthwise convolution with a bias per channel of the result: images [n, h, w, channels] -> [n, oh, ow, channels *
/// multiplier]. kernel [window, channels, multiplier].
constexpr Tensor depthwise_conv2d(Tensor images, Window window, std::string_view name,
                                  const ConvOptions& options = {}) {
  return detail::depthwise_conv2d(images, window, name, options, images.dtype());
}
/// As above, with the kernel stored as W, as in conv2d<W>.
template <FloatingElement W>
constexpr Tensor depthwise_conv2d(Tensor images, Window window, std::string_view name,
                                  const ConvOptions& options = {}) {
  return detail::depthwise_conv2d(images, window, name, options, dtype_of<W>);
}

}  // namespace crochet
