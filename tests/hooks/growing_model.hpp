// SPDX-License-Identifier: Apache-2.0
// GrowingModel: an executor whose weights are known after every step.
#pragma once

#include <crochet/crochet.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace crochet::test {

/// Adds one to every weight in each step.
struct GrowingModel {
  std::vector<float> w{0, 10};
  double b = 100;
  std::int64_t count = 0;

  auto executor() {
    using namespace literals;
    return StepExecutor{[this](auto& out) {
                          for (float& x : w) ++x;
                          ++b, ++count;
                          out["sum"_n] = static_cast<double>(w[0]) + static_cast<double>(w[1]) + b;
                        },
                        output<double, "sum">, variable<"w">(w), variable<"b">(b), variable<"count">(count)};
  }
};

/// A session of a GrowingModel.
template <class Chain>
using SessionOf = MonitoredSession<decltype(std::declval<GrowingModel&>().executor())&, Chain&>;

}  // namespace crochet::test
