// SPDX-License-Identifier: Apache-2.0
// The chain has two hooks of the type before which the new one is inserted.
// expect-error: the chain has more than one hook of the type that this edit names
// expect-error: named_hook_is_in_the_chain_once<Hook<1>, 2
#include <crochet/hana/edit.hpp>

namespace cr = crochet;

template <int I>
struct Hook {
  void begin() {}
};

#ifdef CROCHET_FIXED
using Second = Hook<2>;
#else
using Second = Hook<1>;
#endif

auto longer = cr::insert_before<Hook<1>>(cr::HookChain{Hook<1>{}, Second{}}, Hook<3>{});
