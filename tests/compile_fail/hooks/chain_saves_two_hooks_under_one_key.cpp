// SPDX-License-Identifier: Apache-2.0
// The same hook occurs twice in a chain whose state the caller saves.
// expect-error: has_the_state_key_of_another_hook<Count<7>, Count<7>
#include <crochet/hook/chain_state.hpp>

template <int I>
struct Count {
  void save_state(auto& out) const { out.put("runs", runs); }
  void load_state(auto& in) { in.get("runs", runs); }
  int runs = 0;
};
#ifdef CROCHET_FIXED
constexpr int other = 8;
#else
constexpr int other = 7;
#endif

crochet::ChainState saved(const crochet::HookChain<Count<7>, Count<other>>& chain) {
  return crochet::ChainState::of([&](crochet::StateWriter& out) { chain.save_state(out); });
}
