// SPDX-License-Identifier: Apache-2.0
// A checkpoint has numbers, and no structs.
// expect-error: takes a number or a contiguous range of numbers; of structs, give it their members as a std::span
#include <crochet/executor/step/step_executor.hpp>

#include <span>
#include <vector>

struct Body {
  double x, y;
};
void save(std::vector<Body>& bodies) {
#ifdef CROCHET_FIXED
  std::span<double> numbers{&bodies[0].x, 2 * bodies.size()};
  crochet::StepExecutor step{[&](auto&) { bodies[0].x += 1; }, crochet::variable<"bodies">(numbers)};
#else
  crochet::StepExecutor step{[&](auto&) { bodies[0].x += 1; }, crochet::variable<"bodies">(bodies)};
#endif
  step.for_each_variable([](auto, auto, auto) {});
}
