// SPDX-License-Identifier: Apache-2.0
// Layers: functions that make their variables and use them. Variables are named `name/kernel` and `name/bias`.
#pragma once
#include <string_view>

#include <crochet/graph/ops/conv.hpp>
#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/graph/ops/matmul.hpp>

namespace crochet {

namespace detail {
constexpr Tensor layer_variable(GraphBuilder& g, std::string_view layer, std::string_view what, DType type,
                                const Shape& shape, const Initializer& init) {
  std::vector<char> name;
  for (char c : layer) name.push_back(c);
  for (char c : what) name.push_back(c);
  return g.variable({name.data(), name.size()}, type, shape, init, true);
}
}  // namespace detail

/// x [n, inputs] -> x kernel + bias, [n, units]. kernel [inputs, units] begins as `init` says, the bias as zeros.
constexpr Tensor dense(Tensor x, std::int64_t units, std::string_view name,
                       const Initializer& init = glorot_uniform()) {
  if (x.shape().rank != 2) graph_error::wrong_rank(2, static_cast<std::int64_t>(x.shape().rank));
  GraphBuilder& g = *x.graph;
  const Tensor kernel = detail::layer_variable(g, name, "/kernel", x.dtype(), {x.shape()[1], units}, init);
  const Tensor bias = detail::layer_variable(g, name, "/bias", x.dtype(), {units}, zeros());
  return matmul(x, kernel) + bias;
}

struct ConvOptions {
  Window stride{1, 1};
  Padding padding = Padding::same;
  Initializer init = glorot_uniform();
};

/// Images [n, h, w, channels] -> [n, oh, ow, filters], a bias per filter. kernel [window, channels, filters].
constexpr Tensor conv2d(Tensor images, std::int64_t filters, Window window, std::string_view name,
                        const ConvOptions& options = {}) {
  if (images.shape().rank != 4) graph_error::wrong_rank(4, static_cast<std::int64_t>(images.shape().rank));
  GraphBuilder& g = *images.graph;
  const Tensor kernel = detail::layer_variable(g, name, "/kernel", images.dtype(),
                                               {window.height, window.width, images.shape()[3], filters}, options.init);
  const Tensor bias = detail::layer_variable(g, name, "/bias", images.dtype(), {filters}, zeros());
  return conv2d(images, kernel, options.stride, options.padding) + bias;
}

}  // namespace crochet
