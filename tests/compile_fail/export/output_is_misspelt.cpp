// SPDX-License-Identifier: Apache-2.0
// expect-error: fetches_a_name_that_is_not_in_the_graph<
// An exported output is misspelt.
#include "network.hpp"

void write() {
#ifdef CROCHET_FIXED
  cr::export_header<Classifier, "scores">("folder", "digits.hpp");
#else
  cr::export_header<Classifier, "score">("folder", "digits.hpp");
#endif
}
