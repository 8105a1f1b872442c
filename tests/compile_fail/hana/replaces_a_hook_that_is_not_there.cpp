// SPDX-License-Identifier: Apache-2.0
// The type of a chain in which a missing hook is replaced.
// expect-error: the chain has no hook of the type that this edit names
// expect-error: named_hook_is_in_the_chain_once<Other
#include <crochet/hana/edit_types.hpp>

namespace cr = crochet;

template <int I>
struct Hook {
  void begin() {}
};
struct Other {
  void begin() {}
};

#ifdef CROCHET_FIXED
using Old = Hook<2>;
#else
using Old = Other;
#endif

cr::Replace<cr::HookChain<Hook<1>, Hook<2>>, Old, Hook<3>> chain;
