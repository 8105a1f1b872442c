// SPDX-License-Identifier: Apache-2.0
// The text of a checkpoint is gone when the session is restored.
// expect-error: a text is loaded into a std::string; a std::string_view would refer to memory that is gone
#include <crochet/crochet.hpp>

#include <string>
#include <string_view>

struct Latest {
  void save_state(auto& out) const { out.put("latest", latest); }
  void load_state(auto& in) { in.get("latest", latest); }
#ifdef CROCHET_FIXED
  std::string latest;
#else
  std::string_view latest;
#endif
};

void load(crochet::HookChain<Latest>& chain, crochet::StateReader& in) { chain.load_state(in); }
