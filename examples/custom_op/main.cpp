// SPDX-License-Identifier: Apache-2.0
// User-defined operations without a change of the library: an elementwise one (soft_shrink.hpp) and one with a kernel
// (leaky_integral.hpp), each with shape rule, gradient and computation; and an optimizer made of them.
//
// A sensor responds to each event with a jump that decays, and adds noise. The program reconstructs the events. It
// looks for few events that explain the signal: it minimizes |leaky_integral(events) - signal|^2 / 2 + sparsity * sum
// |events| by ISTA (Daubechies, Defrise and De Mol 2004), whose step is a gradient step followed by a soft threshold.
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>

#include <cmath>
#include <cstdio>
#include <vector>

#include "leaky_integral.hpp"
#include "soft_shrink.hpp"

namespace custom {

using namespace cr::literals;

constexpr std::int64_t moments = 120;
constexpr double decay = 0.8;

/// w <- soft_shrink(w - rate * gradient, rate * sparsity): any type with `update` is an optimizer.
struct Ista {
  double rate = 0.04;  // below 1 / |leaky_integral|^2, which is (1 - decay)^2
  double sparsity = 0.2;

  constexpr cr::Tensor update(cr::Tensor w, cr::Tensor gradient) const {
    return w.graph->assign(w, soft_shrink(w - gradient * rate, rate * sparsity));
  }
};

struct Events {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto signal = g.placeholder<float>("signal", {moments});
    const auto events = g.variable<float>("events", {moments}, cr::zeros());
    const auto loss = g.name("loss", reduce_sum(square(leaky_integral(events, decay) - signal)) * 0.5);
    g.name("train", minimize(loss, Ista{}));
  }
};

/// The sensor's signal of events at three moments.
std::vector<float> measured() {
  std::vector<float> signal(moments);
  double level = 0;
  for (std::size_t t = 0; t < signal.size(); ++t) {
    level = decay * level + (t == 20 ? 1.0 : t == 26 ? 0.7 : t == 81 ? 1.5 : 0.0);
    signal[t] = static_cast<float>(level + 0.03 * std::sin(37.0 * static_cast<double>(t)));
  }
  return signal;
}

}  // namespace custom

int main() {
  using namespace custom;
  const std::vector<float> signal = measured();
  cr::MonitoredSession session{cr::Cpu{}.compile<Events>(), cr::HookChain{cr::StopAtStep{.last_step = 1000}}};
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, cr::feed<"signal">(signal));
  });
  const auto events = session.executor().variable("events"_n);
  for (std::size_t t = 0; t < events.size(); ++t) {
    if (events[t] > 0.1f) std::printf("an event of size %.2f at %d\n", events[t], static_cast<int>(t));
  }
}
