// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::feeds_a_name_that_is_not_a_placeholder<crochet::error::the_caller, .*("z"|'z')
// A field of the training data is not a placeholder of the model.
#include <crochet/executor/cpu.hpp>

#include "line.hpp"

void train() {
#ifdef CROCHET_FIXED
  cr::fit<Line, "loss">(cr::Cpu{}, Points<"y">{}, {.epochs = 2});
#else
  cr::fit<Line, "loss">(cr::Cpu{}, Points<"z">{}, {.epochs = 2});
#endif
}
