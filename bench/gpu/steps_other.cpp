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
    const auto step = [](auto& session) { session.run(crochet::targets<"train">); };
    measure_mode<Scalar>(
        {"W6", options}, "resident", {}, crochet::HookChain{}, [](auto&) {}, step);
    measure_mode<Scalar>(
        {"W6", options}, "one run a launch", {.steps = 1}, crochet::HookChain{}, [](auto&) {}, step);
  });
}

}  // namespace bench
