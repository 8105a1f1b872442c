// SPDX-License-Identifier: Apache-2.0
// expect-error: call_is_usable<crochet::error::exports_a_change_of_a_variable<
// expect-error: "random_state"|'r', 'a', 'n', 'd', 'o', 'm', '_', 's', 't', 'a', 't', 'e'
// The exported logits are those of the training, with dropout.
#include "network.hpp"

void write() {
#ifdef CROCHET_FIXED
  cr::export_header<Classifier, "scores">("folder", "digits.hpp");
#else
  cr::export_header<Classifier, "logits">("folder", "digits.hpp");
#endif
}
