// SPDX-License-Identifier: Apache-2.0
// Activation functions. Most are composed of other operations; fused into one loop they are as fast as one operation.
#pragma once
#include <crochet/graph/ops/functions.hpp>

namespace crochet {

namespace detail {
constexpr void gradient_of_relu(GradientScope& s);
constexpr void gradient_of_tanh(GradientScope& s);
constexpr void gradient_of_sigmoid(GradientScope& s);
constexpr void gradient_of_softplus(GradientScope& s);
}  // namespace detail

namespace op {
inline constexpr Op relu = detail::unary("relu", detail::gradient_of_relu);
/// inputs = {upstream, relu's result}: the upstream where relu's result is positive, else 0.
inline constexpr Op relu_gradient = detail::binary("relu_gradient", nullptr);
inline constexpr Op tanh = detail::function("tanh", detail::gradient_of_tanh);
inline constexpr Op sigmoid = detail::function("sigmoid", detail::gradient_of_sigmoid);
inline constexpr Op softplus = detail::function("softplus", detail::gradient_of_softplus);
}  // namespace op

/// max(x, 0). The gradient at 0 is 0.
constexpr Tensor relu(Tensor x) { return x.graph->apply(op::relu, x); }
constexpr Tensor tanh(Tensor x) { return x.graph->apply(op::tanh, x); }
/// 1 / (1 + exp(-x)).
constexpr Tensor sigmoid(Tensor x) { return x.graph->apply(op::sigmoid, x); }
/// log(1 + exp(x)), without overflow. Its gradient is sigmoid(x).
constexpr Tensor softplus(Tensor x) { return x.graph->apply(op::softplus, x); }
/// x sigmoid(x) (Elfwing et al. 2017; swish, Ramachandran et al. 2017).
constexpr Tensor silu(Tensor x) { return x * sigmoid(x); }
/// x P(X <= x) for a standard normal X: x (1 + erf(x / sqrt(2))) / 2 (Hendrycks and Gimpel 2016).
constexpr Tensor gelu(Tensor x) { return x * 0.5 * (1 + erf(x * 0.70710678118654752440)); }
/// The tanh approximation of gelu (same paper): x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2.
constexpr Tensor gelu_tanh(Tensor x) {
  return x * 0.5 * (1 + tanh(x * 0.79788456080286535588 * (1 + square(x) * 0.044715)));
}
/// x if x >= 0, else alpha (exp(x) - 1) (Clevert et al. 2015). The gradient at 0 is 1.
constexpr Tensor elu(Tensor x, double alpha = 1) { return select(less(x, 0), expm1(minimum(x, 0)) * alpha, x); }
/// elu scaled so that activations keep mean 0 and variance 1 (Klambauer et al. 2017).
constexpr Tensor selu(Tensor x) { return elu(x, 1.6732632423543772) * 1.0507009873554805; }
/// x if x > 0, else alpha x (Maas et al. 2013; alpha as in TensorFlow). The gradient at 0 is alpha.
constexpr Tensor leaky_relu(Tensor x, double alpha = 0.2) { return select(greater(x, 0), x, x * alpha); }
/// (x + 3) / 6 clipped to [0, 1] (Howard et al. 2019), as in PyTorch and Keras 3. The gradient at -3 and 3 is 1/6.
// x + 3 is exact at the ends, so that clip() passes the gradient there; x / 6 + 1/2 is not.
constexpr Tensor hard_sigmoid(Tensor x) { return clip(x + 3, 0, 6) * (1.0 / 6); }
/// x / (1 + |x|).
constexpr Tensor softsign(Tensor x) { return x / (1 + abs(x)); }

namespace detail {
constexpr void gradient_of_relu(GradientScope& s) {
  s.give(0, s.graph().apply(op::relu_gradient, s.upstream(), s.output()));
}
constexpr void gradient_of_tanh(GradientScope& s) { s.give(0, s.upstream() * (1 - square(s.output()))); }
constexpr void gradient_of_sigmoid(GradientScope& s) { s.give(0, s.upstream() * (s.output() * (1 - s.output()))); }
constexpr void gradient_of_softplus(GradientScope& s) { s.give(0, s.upstream() * sigmoid(s.input(0))); }
}  // namespace detail

}  // namespace crochet
