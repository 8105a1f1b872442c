// SPDX-License-Identifier: Apache-2.0
// expect-error: a hook saves arithmetic values, enums, strings, and contiguous ranges of them
// expect-error: state_body.*(<|Position = )3
// expect-error: saves_a_map[a-z_]*.cpp:1[0-9]
// A map cannot be saved. Through train.
#include "program.hpp"

#include <map>
#include <string>
struct Plateau {
  void save_state(auto& out) const { out.put("best", best); }
  void load_state(auto& in) { in.get("best", best); }
  void begin() {}
#ifdef CROCHET_FIXED
  std::string best;
#else
  std::map<std::string, float> best;
#endif
};

void train(const Batch& batch) {
  cr::train<Classifier>(
      cr::Cpu{.threads = 2}, [&] { return feeds_of(batch); }, cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::LoggingTensor<"loss">{.every_steps = 100}, cr::NanTensor<"loss">{}, Plateau{}});
}
