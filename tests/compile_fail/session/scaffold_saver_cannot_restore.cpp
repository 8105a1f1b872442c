// SPDX-License-Identifier: Apache-2.0
// expect-error: the saver of a scaffold cannot restore
// at-most-bytes: 7500
// A saver that saves only.
#include <crochet/crochet.hpp>
#include <crochet/session/session_creators.hpp>

#include <string>

struct Archive {
  std::string save(auto& /*session*/, long /*step*/) { return {}; }
#ifdef CROCHET_FIXED
  bool restore_latest(auto& /*session*/, const std::string& /*directory*/) { return false; }
#endif
};

void train(double& field) {
  crochet::StepExecutor step{[&](auto&) { field += 1; }, crochet::variable<"field">(field)};
  const auto scaffold = crochet::Scaffold{}.with_saver(Archive{});
  crochet::MonitoredSession session{step, crochet::HookChain{}, crochet::ChiefSessionCreator{scaffold}};
  session.run();
}
