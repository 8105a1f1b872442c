// SPDX-License-Identifier: Apache-2.0
// expect-error: needs a local_init
// A readiness check for a local initialization, without a local initialization.
#include <crochet/session/scaffold.hpp>

void prepare() {
  auto always = [](auto&) { return true; };
#ifdef CROCHET_FIXED
  auto scaffold = crochet::Scaffold{}.with_local_init([](auto&) {}).with_ready_for_local_init(always);
#else
  auto scaffold = crochet::Scaffold{}.with_ready_for_local_init(always);
#endif
  static_assert(!decltype(scaffold)::has_saver);
}
