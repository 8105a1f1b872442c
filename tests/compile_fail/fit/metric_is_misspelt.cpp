// SPDX-License-Identifier: Apache-2.0
// expect-error: fetches_a_name_that_is_not_in_the_graph<crochet::EpochMeans<
// expect-error: did_you_mean<.*("loss"|'l', 'o', 's', 's')
// The scalar of a training is misspelt.
#include <crochet/executor/cpu.hpp>

#include "line.hpp"

void train() {
#ifdef CROCHET_FIXED
  cr::fit<Line, "loss">(cr::Cpu{}, Points<"y">{}, {.epochs = 2});
#else
  cr::fit<Line, "losss">(cr::Cpu{}, Points<"y">{}, {.epochs = 2});
#endif
}
