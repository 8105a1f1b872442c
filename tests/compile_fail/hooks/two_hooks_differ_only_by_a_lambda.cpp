// SPDX-License-Identifier: Apache-2.0
// Two hooks with state of one template, with different lambdas: the key of a state does not contain a lambda.
// expect-error: has_the_state_key_of_another_hook<
#include <crochet/hooks/keyed.hpp>

#include "toy.hpp"

namespace cr = crochet;

template <class F>
struct Count {
  explicit Count(F counted) : counts(counted) {}
  void after_run(auto& run, const auto&) { runs += counts(run.step()) ? 1 : 0; }
  void save_state(auto& out) const { out.put("runs", runs); }
  void load_state(auto& in) { in.get("runs", runs); }
  F counts;
  int runs = 0;
};
struct Saves {
  static constexpr bool saves_hook_state = true;  // as a CheckpointSaver does
  void end(auto&) {}
};

int main() {
  Count even{[](long step) { return step % 2 == 0; }};
  Count small{[](auto step) { return step < 10; }};
#ifdef CROCHET_FIXED
  cr::Keyed<"small", decltype(small)> second{small};
#else
  auto second = small;
#endif
  cr::MonitoredSession session{Toy{}, cr::HookChain{even, second, Saves{}}};
  session.close();
}
