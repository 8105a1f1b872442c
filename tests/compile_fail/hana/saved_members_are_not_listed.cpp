// SPDX-License-Identifier: Apache-2.0
// A hook that saves its listed members, but lists none.
// expect-error: has CROCHET_SAVED_MEMBERS and lists no members
// expect-error: saved_members_are_listed<Hook>
#include <crochet/hana/saved_members.hpp>
#include <crochet/hook/chain_state.hpp>

struct Hook {
  CROCHET_SAVED_MEMBERS;
  int count = 0;
};

#ifdef CROCHET_FIXED
BOOST_HANA_ADAPT_STRUCT(Hook, count);
#endif

crochet::ChainState saved(const crochet::HookChain<Hook>& chain) {
  return crochet::ChainState::of([&](crochet::StateWriter& out) { chain.save_state(out); });
}
