// SPDX-License-Identifier: Apache-2.0
// A pointer is meaningless in the program that reads the checkpoint.
// expect-error: a hook saves arithmetic values, enums, strings, and contiguous ranges of them
#include <crochet/crochet.hpp>

struct Latest {
  void save_state(auto& out) const { out.put("latest", latest); }
  void load_state(auto& in) {
#ifdef CROCHET_FIXED
    in.get("latest", latest);
#endif
  }
#ifdef CROCHET_FIXED
  int latest = 0;
#else
  int* latest = nullptr;
#endif
};

void save(const crochet::HookChain<Latest>& chain, crochet::StateWriter& out) { chain.save_state(out); }
