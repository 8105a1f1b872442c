// SPDX-License-Identifier: Apache-2.0
// Learning-rate schedules: nodes that compute a scalar from the number of completed steps (float64, 0 in the first
// step). `Adam{.learning_rate = CosineDecay{.initial = 3e-4, .decay_steps = 1000}}`. A custom schedule is a type with
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

/// initial * decay_rate^(step / decay_steps), decay_rate > 0. With `staircase` the exponent is rounded down.
/// TensorFlow's exponential_decay.
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

/// initial * ((1 - alpha) * (1 + cos(pi * min(step / decay_steps, 1))) / 2 + alpha): half a cosine wave down to alpha *
/// initial, then constant. Source: Loshchilov and Hutter, ICLR 2017 (SGDR), eq. 5 without restarts; TensorFlow's
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

/// (initial - end) * (1 - min(step / decay_steps, 1))^power + end, power > 0; power 1 is linear. TensorFlow's
/// polynomial_decay without cycles.
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

/// values[i] from step boundaries[i - 1] up to, not including, step boundaries[i]; values[0] for the first
/// boundaries[0] steps. Boundaries must ascend; there is one value more than boundaries. Counts as PyTorch's
/// MultiStepLR; TensorFlow's piecewise_constant changes one step later.
struct PiecewiseConstant {
  std::vector<double> boundaries;
  std::vector<double> values;

  constexpr void check() const {
    if (values.size() != boundaries.size() + 1) graph_error::piecewise_schedule_needs_one_value_more_than_boundaries();
    for (std::size_t i = 1; i < boundaries.size(); ++i) {
      if (!(boundaries[i - 1] < boundaries[i])) graph_error::boundaries_of_a_piecewise_schedule_must_ascend();
    }
  }
  constexpr Tensor operator()(Tensor step) const {
    Tensor rate = step.graph->constant<double>(values[0]);
    for (std::size_t i = 0; i < boundaries.size(); ++i) {
      rate = select(less(step, boundaries[i]), rate, step.graph->constant<double>(values[i + 1]));
    }
    return rate;
  }
};

/// Linear from `from` to the initial rate of `then` in `steps` steps, followed by `then`, whose steps count from there.
/// With from = 0 the first step changes nothing. Source: Goyal et al., 2017, section 2.2.
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
