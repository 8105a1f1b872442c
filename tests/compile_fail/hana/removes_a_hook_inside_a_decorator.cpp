// SPDX-License-Identifier: Apache-2.0
// The hook to remove is inside a decorator, but the edit names it without the decorator.
// expect-error: the chain has no hook of the type that this edit names
#include <crochet/hana/edit.hpp>
#include <crochet/hooks/every_n.hpp>

namespace cr = crochet;

struct Hook {
  void after_run(auto&, const auto&) {}
};

#ifdef CROCHET_FIXED
using Named = cr::EveryN<10, Hook>;
#else
using Named = Hook;
#endif

auto rest = cr::without<Named>(cr::HookChain{cr::EveryN<10, Hook>{}});
