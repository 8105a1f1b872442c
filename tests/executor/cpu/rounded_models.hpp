// SPDX-License-Identifier: Apache-2.0
// Models of one product or convolution, for devices that round the operands of products.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>

namespace crochet {

inline constexpr Padding same = Padding::same, valid = Padding::valid;

/// A convolution of images [H, W, C] with K filters of Kh x Kw, all weighted by a mask, with a max pooling if Pool > 1.
template <std::int64_t H, std::int64_t W, std::int64_t C, std::int64_t K, std::int32_t Kh, std::int32_t Kw, Padding P,
          std::int32_t Sh = 1, std::int32_t Sw = 1, std::int32_t Dh = 1, std::int32_t Dw = 1, std::int32_t Pool = 1>
struct Convolution {
  static constexpr std::size_t image = H * W * C, weights = Kh * Kw * C * K;
  /// The size of the result of one image.
  static constexpr std::size_t mask = [] {
    const auto places = [](std::int64_t n, std::int64_t k, std::int64_t stride, std::int64_t dilation) {
      return (P == same ? n + stride - 1 : n - (k - 1) * dilation + stride - 1) / stride / Pool;
    };
    return static_cast<std::size_t>(places(H, Kh, Sh, Dh) * places(W, Kw, Sw, Dw) * K);
  }();

  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), H, W, C}) * g.variable<float>("one", {C}, ones());
    const Tensor filter = g.variable<float>("weights", {Kh, Kw, C, K}, zeros());
    Tensor y = conv2d(x, filter, {Sh, Sw}, P, {Dh, Dw});
    if (Pool > 1) y = max_pool(y, Pool);
    const Tensor mask = g.variable<float>("mask", {y.shape()[1], y.shape()[2], K}, ones(), false);
    const Tensor sum = reduce_sum(y * mask);
    g.name("y", y);
    g.name("of x", gradient(sum, x));
    g.name("of weights", gradient(sum, filter));
  }
};

/// A product [rows, A] x [A, B], and its gradients.
template <std::int64_t A, std::int64_t B>
struct Product {
  static constexpr std::size_t image = A, weights = A * B, mask = B;

  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), A}) * g.variable<float>("one", {A}, ones());
    const Tensor w = g.variable<float>("weights", {A, B}, zeros());
    const Tensor y = matmul(x, w);
    const Tensor mask = g.variable<float>("mask", {B}, ones(), false);
    const Tensor sum = reduce_sum(y * mask);
    g.name("y", y);
    g.name("of x", gradient(sum, x));
    g.name("of weights", gradient(sum, w));
  }
};

/// The outputs of a model for given data.
template <class Model, FixedString... Outputs>
std::vector<std::vector<float>> results_of(const auto& device, const std::vector<float>& x,
                                           const std::vector<float>& weights, const std::vector<float>& mask) {
  using namespace crochet::literals;
  MonitoredSession session{device.template compile<Model>(), HookChain{}};  // which initializes the variables
  std::ranges::copy(weights, session.executor().variable("weights"_n).begin());
  std::ranges::copy(mask, session.executor().variable("mask"_n).begin());
  const auto values = session.run(fetches<Outputs...>, feed<"x">(x));
  std::vector<std::vector<float>> all;
  const auto keep = [&](const auto& v) { all.emplace_back(v.data(), v.data() + v.size()); };
  (keep(values[Name<Outputs>{}]), ...);
  session.close();
  return all;
}

}  // namespace crochet
