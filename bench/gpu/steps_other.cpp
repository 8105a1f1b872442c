// SPDX-License-Identifier: Apache-2.0
// W5: a chain of elementwise operations and its gradient. W6: one parameter. Neither has data.
#include "steps.hpp"

namespace bench {

void steps_of_other(const Options& options) {
  try_case("steps", "W5", options, [&] {
    measure_resident<Chain>(
        {"W5", options}, Requests<"loss", "gradient">{},
        [](auto& executor) {
          std::ranges::copy(noise(Chain::size, 1), executor.variable(crochet::Name<"x">{}).begin());
        },
        [](auto& session) { session.run(crochet::targets<"gradient">); });
  });
  try_case("steps", "W6", options, [&] {
    using R = Requests<"w">;
    const auto step = [](auto& session) { session.run(crochet::targets<"train">); };
    for (const int runs : {32, 1}) {
      measure_mode<Scalar, R>(
          {"W6", options}, runs == 1 ? "one run a launch" : "resident", {.steps = runs}, crochet::HookChain{R{}},
          [](auto&) {}, step);
    }
  });
}

}  // namespace bench
