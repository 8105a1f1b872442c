// SPDX-License-Identifier: Apache-2.0
// EarlyStopping does not state whether low or high values are better.
// expect-error: set .aim: Aim::lowest for a loss, or Aim::highest for an accuracy
// expect-error: early_stopping_without_an_aim.cpp:1[5-9]
#include <crochet/hooks/early_stopping.hpp>

#include "../hooks/toy.hpp"

void train() {
#ifdef CROCHET_FIXED
  crochet::MonitoredSession session{
      Toy{}, crochet::HookChain{Counter{}, crochet::EarlyStopping<"loss">{.aim = crochet::Aim::lowest, .patience = 5}}};
#else
  crochet::MonitoredSession session{Toy{},
                                    crochet::HookChain{Counter{}, crochet::EarlyStopping<"loss">{.patience = 5}}};
#endif
  session.run(crochet::targets<"train">);
}
