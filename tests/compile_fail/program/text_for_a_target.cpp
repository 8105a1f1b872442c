// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::a_text_is_a_name_with_the_suffix_n<char
// A target is a name, "train"_n.
#include "program.hpp"

void train(const Batch& batch) {
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), hooks()};
#ifdef CROCHET_FIXED
  session.run(cr::no_hooks, "train"_n, feeds_of(batch));
#else
  session.run(cr::no_hooks, "train", feeds_of(batch));
#endif
}
