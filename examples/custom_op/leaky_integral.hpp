// SPDX-License-Identifier: Apache-2.0
// A user's own operation with its own kernel: a recurrence, which no elementwise operation can express.
#pragma once
#include <crochet/executor/cpu.hpp>

namespace custom {

namespace cr = crochet;

constexpr cr::TypedShape infer_leaky_integral(const cr::OpInputs& in) {
  in.want_floating(0);
  if (in.shape(0).rank == 0) cr::graph_error::wrong_rank(1, 0);
  return in[0];
}
constexpr void gradient_of_leaky_integral(cr::GradientScope& s);

/// ints = {backwards in time, whether there are rows before the time axis}, reals[0] = decay.
inline constexpr cr::Op leaky_integral_op{
    .name = "leaky_integral",
    .kind = cr::OpKind::kernel,
    .infer = infer_leaky_integral,
    .gradient = gradient_of_leaky_integral,
    // Item i of the result depends only on item i of input 0, unless the items are the time steps.
    .itemwise = [](const cr::Attributes& a) { return a.ints[1] != 0 ? 1U : 0U; }};

struct Direction {
  bool backwards = false;
};

/// y[..., t] = x[..., t] + decay * y[..., t - 1] along the last axis, from y = 0; backwards: from the end, with t + 1.
/// x [..., steps] of a floating type -> the same shape.
constexpr cr::Tensor leaky_integral(cr::Tensor x, double decay, Direction direction = {}) {
  const bool rows = x.shape().rank > 1;
  const cr::Attributes attributes{.ints = {direction.backwards ? 1 : 0, rows ? 1 : 0}, .reals = {decay, 0}};
  return x.graph->apply(leaky_integral_op, attributes, x);
}

/// The map is linear, and its transpose is the same map in the other direction.
constexpr void gradient_of_leaky_integral(cr::GradientScope& s) {
  const cr::Attributes a = s.attributes();
  s.give(0, leaky_integral(s.full_upstream(), a.reals[0], {.backwards = a.ints[0] == 0}));
}

}  // namespace custom

/// Called by every thread of the team; each computes its part of the rows.
template <>
struct crochet::Kernel<&custom::leaky_integral_op> {
  template <class Backend, class Types>
  static void run(const kernel::Call& call) {
    using T = typename Types::out;
    const std::int64_t steps = call.out[call.out.rank - 1], rows = steps == 0 ? 0 : call.out.size() / steps;
    const auto decay = static_cast<T>(call.attributes.reals[0]);
    const bool backwards = call.attributes.ints[0] != 0;
    const kernel::Range mine = call.worker.part(rows);
    for (std::int64_t r = mine.from; r < mine.to; ++r) {
      const T* x = call.in[0].as<const T>() + r * steps;
      T* y = call.out.as<T>() + r * steps;
      T kept = 0;
      for (std::int64_t k = 0; k < steps; ++k) {
        const std::int64_t t = backwards ? steps - 1 - k : k;
        y[t] = kept = x[t] + decay * kept;
      }
    }
  }
};
