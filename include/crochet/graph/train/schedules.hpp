// SPDX-License-Identifier: Apache-2.0
// Learning-rate schedules: nodes that make a scalar of the number of steps taken so far (float64, 0 in the first step).
// `Adam{.learning_rate = CosineDecay{.initial = 3e-4, .decay_steps = 1000}}`. One of your own is a type with
// `constexpr Tensor operator()(Tensor step) const`. A constant rate is a number.
#pragma once
#include <vector>

#include <crochet/graph/train/rate.hpp>

namespace crochet {

namespace detail {
constexpr void want_steps(double steps) {
  if (!(steps > 0)) graph_error::schedule_has_no_steps();
}
/// min(step / steps, 1).
constexpr Tensor progress(Tensor step, double steps) { return minimum(step / steps, 1); }
}  // namespace detail

/// initial * decay_rate^(step / decay_steps); with `staircase` the exponent is a whole number, rounded down.
/// TensorFlow's exponential_decay. decay_rate > 0.
struct ExponentialDecay {
  double initial = 1e-3;
  double decay_steps = 1000;
  double decay_rate = 0.96;
  bool staircase = false;

  constexpr void check() const { detail::want_steps(decay_steps); }
  constexpr Tensor operator()(Tensor step) const {
    const Tensor times = step / decay_steps;
    return initial * pow(decay_rate, staircase ? floor(times) : times);
  }
};

/// initial * ((1 - alpha) * (1 + cos(pi * min(step / decay_steps, 1))) / 2 + alpha): half a wave down to
/// alpha * initial, and then constant. Loshchilov and Hutter, ICLR 2017 (SGDR), eq. 5 without restarts; TensorFlow's
/// cosine_decay.
struct CosineDecay {
  double initial = 1e-3;
  double decay_steps = 1000;
  double alpha = 0;

  constexpr void check() const { detail::want_steps(decay_steps); }
  constexpr Tensor operator()(Tensor step) const {
    constexpr double pi = 3.14159265358979323846;
    const Tensor wave = 1 + cos(detail::progress(step, decay_steps) * pi);
    return wave * (initial * (1 - alpha) / 2) + initial * alpha;
  }
};

/// (initial - end) * (1 - min(step / decay_steps, 1))^power + end. TensorFlow's polynomial_decay without cycles; power
/// 1 is a straight line. power > 0.
struct PolynomialDecay {
  double initial = 1e-3;
  double decay_steps = 1000;
  double end = 1e-4;
  double power = 1;

  constexpr void check() const { detail::want_steps(decay_steps); }
  constexpr Tensor operator()(Tensor step) const {
    const Tensor left = 1 - detail::progress(step, decay_steps);
    return pow(left, power) * (initial - end) + end;
  }
};

/// values[i] for the steps from boundaries[i - 1] on and before boundaries[i]: `boundaries[0]` steps take values[0].
/// Boundaries ascend; there is one value more than there are boundaries. As PyTorch's MultiStepLR counts; TensorFlow's
/// piecewise_constant changes one step later.
struct PiecewiseConstant {
  std::vector<double> boundaries;
  std::vector<double> values;

  constexpr void check() const {
    if (values.size() != boundaries.size() + 1) graph_error::piecewise_schedule_needs_one_value_more_than_boundaries();
  }
  constexpr Tensor operator()(Tensor step) const {
    Tensor rate = step.graph->constant<double>(values[0]);
    for (std::size_t i = 0; i < boundaries.size(); ++i) {
      rate = select(less(step, boundaries[i]), rate, step.graph->constant<double>(values[i + 1]));
    }
    return rate;
  }
};

/// From `from` in a straight line, in `steps` steps, to the rate with which `then` begins; after that what `then` says,
/// whose steps count from there. With from = 0 the first step changes nothing. Goyal et al., 2017, section 2.2.
struct LinearWarmup {
  double steps = 100;
  Rate then = 1e-3;
  double from = 0;

  constexpr void check() const { detail::want_steps(steps); }
  constexpr Tensor operator()(Tensor step) const {
    const Tensor after = then.at(maximum(step - steps, 0));
    const Tensor share = detail::progress(step, steps);
    return from == 0 ? after * share : after * share + (1 - share) * from;
  }
};

}  // namespace crochet
