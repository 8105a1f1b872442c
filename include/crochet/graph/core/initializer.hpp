// SPDX-License-Identifier: Apache-2.0
// Initial values of variables. Random numbers are drawn when a session is created (kernels/random.hpp). They depend on
// the executor's seed and the variable's name and are the same for every run and number of threads.
#pragma once
#include <cstdint>

#include <crochet/graph/core/op.hpp>

namespace crochet {

struct Initializer {
  enum class Kind : std::uint8_t { constant, uniform, truncated_normal };
  /// The scale of `b`: unchanged, or divided by the square root of the fan (inputs per unit, or the average of inputs
  /// and outputs).
  enum class Scale : std::uint8_t { none, fan_in, fan_average };

  Kind kind = Kind::constant;
  double a = 0;  ///< constant: the value; uniform: the lower bound; truncated normal: the mean
  double b = 0;  ///< uniform: the upper bound; truncated normal: the standard deviation, truncated at two of them
  Scale scale = Scale::none;

  /// As node attributes: ints = {kind, trainable}, reals = {a, b}, scaled by the fans of `shape`.
  constexpr Attributes attributes(const Shape& shape, bool trainable) const;
};

namespace detail {
constexpr double square_root(double x) {
  if (x == 0) return 0;
  double scale = 1;
  for (; x > 4; x /= 4) scale *= 2;
  for (; x < 1; x *= 4) scale /= 2;
  double r = x;
  for (int i = 0; i < 8; ++i) r = 0.5 * (r + x / r);
  return r * scale;
}
}  // namespace detail

constexpr Attributes Initializer::attributes(const Shape& shape, bool trainable) const {
  // The fan-in of a filter [height, width, in, out] is height * width * in, that of a matrix [in, out] is `in`.
  const double receptive = shape.rank > 2 ? static_cast<double>(shape.product(0, shape.rank - 2).factor) : 1.0;
  const double in = shape.rank > 1 ? receptive * static_cast<double>(shape[shape.rank - 2].factor)
                                   : (shape.rank == 1 ? static_cast<double>(shape[0].factor) : 1.0);
  const double out = shape.rank > 1 ? receptive * static_cast<double>(shape[shape.rank - 1].factor) : in;
  double factor = 1;
  if (scale == Scale::fan_in) factor = 1 / detail::square_root(in);
  if (scale == Scale::fan_average) factor = 1 / detail::square_root((in + out) / 2);
  return {.ints = {static_cast<std::int32_t>(kind), trainable ? 1 : 0}, .reals = {a * factor, b * factor}};
}

constexpr Initializer zeros() { return {}; }
constexpr Initializer ones() { return {.a = 1}; }
constexpr Initializer constant_initializer(double value) { return {.a = value}; }
/// Uniform in [low, high); as a float it can be rounded up to `high`.
constexpr Initializer uniform(double low, double high) {
  return {.kind = Initializer::Kind::uniform, .a = low, .b = high};
}
/// Normal; values beyond two standard deviations are drawn again (TensorFlow's truncated_normal).
constexpr Initializer truncated_normal(double mean, double stddev) {
  return {.kind = Initializer::Kind::truncated_normal, .a = mean, .b = stddev};
}
/// Uniform in +-sqrt(6 / (fan_in + fan_out)). Glorot and Bengio, AISTATS 2010, eq. 16.
constexpr Initializer glorot_uniform() {
  const double limit = detail::square_root(3);
  return {Initializer::Kind::uniform, -limit, limit, Initializer::Scale::fan_average};
}
/// Truncated normal with standard deviation sqrt(2 / fan_in) after truncation. He et al., ICCV 2015, eq. 10. Truncation
/// at two standard deviations reduces it by a factor of 0.8796, which is compensated as in TensorFlow's
/// variance_scaling.
constexpr Initializer he_normal() {
  return {Initializer::Kind::truncated_normal, 0, detail::square_root(2) / 0.87962566103423978,
          Initializer::Scale::fan_in};
}
/// Uniform in +-sqrt(1 / fan_in): PyTorch's default for linear and convolution layers.
constexpr Initializer lecun_uniform() { return {Initializer::Kind::uniform, -1, 1, Initializer::Scale::fan_in}; }

}  // namespace crochet
