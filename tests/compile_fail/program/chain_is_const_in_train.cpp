// SPDX-License-Identifier: Apache-2.0
// expect-error: crochet::error::this_chain_is_const<crochet::HookChain<
// The loop borrows a chain that is an lvalue, and a run changes its hooks.
#include "program.hpp"

void train(const Batch& batch) {
#ifdef CROCHET_FIXED
  auto chain = hooks();
#else
  const auto chain = hooks();
#endif
  cr::train<Classifier>(
      cr::Cpu{}, [&] { return feeds_of(batch); }, chain);
}
