// SPDX-License-Identifier: Apache-2.0
// expect-error: fetches_a_name_that_is_not_in_the_graph<crochet::error::the_caller, .*("lose"|'l', 'o', 's', 'e')
// A value of a misspelt name, compared and printed.
#include "program.hpp"

#include <iostream>
void train(const Batch& batch) {
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks()};
#ifdef CROCHET_FIXED
  const auto [loss] = session.run("train"_n, cr::fetches<"loss">, feeds_of(batch));
#else
  const auto [loss] = session.run("train"_n, cr::fetches<"lose">, feeds_of(batch));
#endif
  if (loss < 0.1F || 0.5F * loss > 2) std::cout << "loss " << loss << '\n';
}
