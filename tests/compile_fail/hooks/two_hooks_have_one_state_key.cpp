// SPDX-License-Identifier: Apache-2.0
// Two hooks that would save their state under the same key.
// expect-error: has_the_state_key_of_another_hook<
// expect-error: Second
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/keyed.hpp>

#include "toy.hpp"

namespace cr = crochet;

struct First {
  static constexpr std::string_view state_key = "count";
  void save_state(auto& out) const { out.put("runs", runs); }
  void load_state(auto& in) { in.get("runs", runs); }
  int runs = 0;
};
struct Second : First {};
struct Saves {
  static constexpr bool saves_hook_state = true;  // as a CheckpointSaver does
  void end(auto&) {}
};

#ifdef CROCHET_FIXED
using Chain = cr::HookChain<First, cr::EveryN<2, cr::Keyed<"every second", Second>>, Saves>;
#else
using Chain = cr::HookChain<First, cr::EveryN<2, Second>, Saves>;
#endif

int main() {
  cr::MonitoredSession session{Toy{}, Chain{}};
  session.close();
}
