// SPDX-License-Identifier: Apache-2.0
// The edit adds the hook's options instead of the hook.
// expect-error: what this edit adds to the chain has no member named as a phase
// expect-error: added_hook_is_a_hook<Options>
#include <crochet/hana/edit.hpp>

namespace cr = crochet;

struct Options {
  int patience = 10;
};
struct Hook {
  void begin() {}
  Options options;
};

#ifdef CROCHET_FIXED
auto chain = cr::append(cr::HookChain<>{}, Hook{.options = {.patience = 5}});
#else
auto chain = cr::append(cr::HookChain<>{}, Options{.patience = 5});
#endif
