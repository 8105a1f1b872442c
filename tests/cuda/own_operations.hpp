// SPDX-License-Identifier: Apache-2.0
// Operations of a user's program with code for a GPU, and a model of them. own_operations_test.cpp runs it on a device
// in software, nvcc_session.cu on a GPU.
#pragma once
#include <crochet/kernels/cuda/call.hpp>
#include <crochet/model.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <vector>

namespace own {

namespace cr = crochet;

constexpr cr::TypedShape infer_same(const cr::OpInputs& in) {
  in.want_floating(0);
  return in[0];
}

constexpr void gradient_of_smooth_abs(cr::GradientScope& s);
inline constexpr cr::Op smooth_abs_op{"smooth_abs", cr::OpKind::elementwise, infer_same, gradient_of_smooth_abs};
/// sqrt(x^2 + 1).
constexpr cr::Tensor smooth_abs(cr::Tensor x) { return x.graph->apply(smooth_abs_op, x); }
constexpr void gradient_of_smooth_abs(cr::GradientScope& s) {
  s.give(0, s.upstream() * s.input(0) / smooth_abs(s.input(0)));
}

constexpr void gradient_of_leaky_integral(cr::GradientScope& s);
/// ints = {backwards}, reals = {decay}.
inline constexpr cr::Op leaky_integral_op{"leaky_integral", cr::OpKind::kernel, infer_same, gradient_of_leaky_integral};
/// y[..., t] = x[..., t] + decay * y[..., t - 1] along the last axis, from y = 0; backwards: from the end, with t + 1.
constexpr cr::Tensor leaky_integral(cr::Tensor x, double decay, bool backwards = false) {
  return x.graph->apply(leaky_integral_op, cr::Attributes{.ints = {backwards ? 1 : 0}, .reals = {decay}}, x);
}
constexpr void gradient_of_leaky_integral(cr::GradientScope& s) {
  const cr::Attributes a = s.attributes();
  s.give(0, leaky_integral(s.full_upstream(), a.reals[0], a.ints[0] == 0));
}

inline constexpr std::size_t rows = 300, steps = 5;  // more rows than threads of a block

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("rows"), steps});
    const auto w = g.variable<float>("w", {steps}, cr::ones());
    const auto loss = g.name("loss", reduce_mean(smooth_abs(leaky_integral(x * w, 0.5) - 1)));
    g.name("train", minimize(loss, cr::SGD{.learning_rate = 0.25}));
  }
};

inline std::vector<float> input() {
  std::vector<float> x(rows * steps);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i) * 0.7F);
  return x;
}

/// The loss before each of `updates` updates, and the weights after them, in double.
struct Expected {
  std::vector<double> losses;
  std::array<double, steps> w;

  explicit Expected(int updates) {
    w.fill(1);
    for (int i = 0; i < updates; ++i) update(input());
  }

 private:
  void update(const std::vector<float>& x) {
    constexpr double decay = 0.5, rate = 0.25, n = rows * steps;
    double loss = 0;
    std::array<double, steps> gradient{};
    for (std::size_t r = 0; r < rows; ++r) {
      const float* const in = x.data() + r * steps;
      std::array<double, steps> slope{};
      double y = 0, back = 0;
      for (std::size_t t = 0; t < steps; ++t) {
        y = in[t] * w[t] + decay * y;
        loss += std::sqrt((y - 1) * (y - 1) + 1) / n;
        slope[t] = (y - 1) / std::sqrt((y - 1) * (y - 1) + 1) / n;
      }
      for (std::size_t t = steps; t-- > 0;) gradient[t] += (back = slope[t] + decay * back) * in[t];
    }
    losses.push_back(loss);
    for (std::size_t t = 0; t < steps; ++t) w[t] -= rate * gradient[t];
  }
};

}  // namespace own

template <>
struct crochet::Elementwise<&own::smooth_abs_op> {
  template <class T, class V>
  CROCHET_ALWAYS_INLINE static V apply(const V& a) {
    return simd::sqrt(static_cast<V>(a * a + T(1)));
  }
};

template <>
struct crochet::cuda::Kernel<&own::leaky_integral_op> {
  template <class Types, class Block>
  CROCHET_DEVICE static void run(Block& block, const Call& call, NoEpilogue) {
    using T = typename Types::out;
    const int steps = call.out().columns();
    const T decay = static_cast<T>(call.real(0));
    const bool backwards = call.attribute(0) != 0;
    each_element(block, call.first(), steps == 0 ? 0 : call.out().size() / steps, [&](int row) {
      const T* const x = call.in(0).template as<const T>() + row * steps;
      T* const y = call.out().template as<T>() + row * steps;
      T kept = 0;
      for (int k = 0; k < steps; ++k) {
        const int t = backwards ? steps - 1 - k : k;
        y[t] = kept = x[t] + decay * kept;
      }
    });
  }
};
