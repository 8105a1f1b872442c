// SPDX-License-Identifier: Apache-2.0
// A saver that would save the state of a later hook as it was before the run.
// expect-error: hook_is_usable<0, crochet::error::saves_the_state_of_a_hook_that_is_listed_behind_it<Saves, History
#include "../hooks/toy.hpp"

struct Saves {
  static constexpr bool saves_hook_state = true;  // as a CheckpointSaver does
  void after_run(auto&, const auto&) {}
};
struct History {
  void save_state(auto& out) const { out.put("runs", runs); }
  void load_state(auto& in) { in.get("runs", runs); }
  int runs = 0;
};

void train() {
#ifdef CROCHET_FIXED
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Counter{}, History{}, Saves{}}};
#else
  crochet::MonitoredSession session{Toy{}, crochet::HookChain{Saves{}, Counter{}, History{}}};
#endif
  session.close();
}
