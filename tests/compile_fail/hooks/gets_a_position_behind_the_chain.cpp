// SPDX-License-Identifier: Apache-2.0
// expect-error: is_not_in_this_chain_exactly_once<std::integral_constant<
// at<Position>() behind the last hook of a chain. Positions count from 0.
#include "toy.hpp"

void train() {
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}}};
#ifdef CROCHET_FIXED
  static_cast<void>(session.hooks().at<0>());
#else
  static_cast<void>(session.hooks().at<1>());
#endif
}
