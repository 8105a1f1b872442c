// SPDX-License-Identifier: Apache-2.0
// CheckpointSaver: spec 3.13, 4.3, 5.10.
#include <crochet/checkpoint/saver.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/testing/manual_clock.hpp>

#include <string>
#include <vector>

#include "behaviour.hpp"
#include "hook_loop.hpp"
#include "saves.hpp"

namespace crochet::conformance {
namespace checkpoints_scenarios {

using testing::ManualClock;
using Options = CheckpointSaverOptions;

/// A saver hook over a machine that only counts. The loop creates no session, so the hook saves in its first run.
using Loop = HookLoop<CheckpointSaver<Saver<>>>;

DIFFERENT(V1, "checkpoints", "neither a saver nor a scaffold is given", "the saver of the graph's collection is used",
          "there are no collections: the hook takes its saver, which has the folder and can be shared with the "
          "restoring creator") {
  Folder folder;
  Loop loop{CheckpointSaver{keeping_all(folder), Options{.save_steps = 1}}};
  loop.train();
  EXPECT_EQ(saved_in(folder), Steps{1});
}

NOT_APPLICABLE(V2, "a saver and a scaffold are given", "refused (ValueError)",
               "there is one place for the saver. Shown: a copy of a saver is the same saver, so hook and scaffold can "
               "share it") {
  Folder folder;
  Saver<> saver = keeping_all(folder);
  Loop loop{CheckpointSaver{saver, Options{.save_steps = 1}}};
  loop.train(2);
  EXPECT_EQ(saver.last_checkpoints().size(), 2u);
}

SAME(V3, "both intervals are given, or none", "refused (ValueError)") {
  Folder folder;
  EXPECT_THROW((Loop{CheckpointSaver{keeping_all(folder), Options{.save_secs = 10.0, .save_steps = 20}}}), LogicError);
  EXPECT_THROW((Loop{CheckpointSaver{keeping_all(folder), Options{}}}), LogicError);
}

SAME(V4, "by seconds and by steps, without the creation of a session", "the first run saves: the step in it is 1") {
  Folder by_seconds, by_steps;
  const ManualClock clock;
  Loop seconds{CheckpointSaver{keeping_all(by_seconds), Options{.save_secs = 2.0, .clock = clock}}};
  seconds.train();
  EXPECT_EQ(saved_in(by_seconds), Steps{1});
  Loop steps{CheckpointSaver{keeping_all(by_steps), Options{.save_steps = 2, .anchor = Anchor::first_run}}};
  steps.train();
  EXPECT_EQ(saved_in(by_steps), Steps{1});
}

SAME(V10, "every 2 s; runs at 0, 0.5, 2.5, 2.6, 2.7 and 10 s",
     "saved are the runs at 0, 2.5 and 10 s: steps 1, 3 and 6") {
  Folder folder;
  ManualClock clock;
  Loop loop{CheckpointSaver{keeping_all(folder), Options{.save_secs = 2.0, .clock = clock}}};
  for (const double time : {0.0, 0.5, 2.5, 2.6, 2.7, 10.0}) {
    clock.set(time);
    loop.train();
  }
  EXPECT_EQ(saved_in(folder), (Steps{1, 3, 6}));
}

SAME(V12, "every 2 steps", "saved at 1, 3 and 5") {
  Folder folder;
  Loop loop{CheckpointSaver{keeping_all(folder), Options{.save_steps = 2, .anchor = Anchor::first_run}}};
  loop.train(6);
  EXPECT_EQ(saved_in(folder), (Steps{1, 3, 5}));
}

SAME(V13, "every 2 steps; `end` after step 2", "saves step 2, which was not saved") {
  Folder folder;
  Loop loop{CheckpointSaver{keeping_all(folder), Options{.save_steps = 2, .anchor = Anchor::first_run}}};
  loop.train(2);
  EXPECT_EQ(saved_in(folder), Steps{1});
  loop.end();
  EXPECT_EQ(saved_in(folder), (Steps{1, 2}));
}

SAME(V15, "every 2 steps: creation, two runs", "step 0 is saved at the creation, 1 is not, 2 is") {
  Folder folder;
  Loop loop{CheckpointSaver{keeping_all(folder), Options{.save_steps = 2, .anchor = Anchor::first_run}}};
  loop.create();
  EXPECT_EQ(saved_in(folder), Steps{0});
  loop.train();
  EXPECT_EQ(saved_in(folder), Steps{0});
  loop.train();
  EXPECT_EQ(saved_in(folder), (Steps{0, 2}));
}

DIFFERENT(
    V16, "checkpoints", "with save_graph_def and without",
    "graph.pbtxt and a .meta file for each checkpoint are there only with it",
    "never: a checkpoint is state, and the graph is part of the program. WriteGraph puts it into the event file") {
  Folder folder;
  Loop loop{CheckpointSaver{keeping_all(folder), Options{.save_steps = 1}}};
  loop.create();
  loop.train();
  EXPECT_EQ(folder.names(),
            (std::vector<std::string>{".crochet-lock", "checkpoint", "model.ckpt-0.data-00000-of-00001",
                                      "model.ckpt-0.index", "model.ckpt-1.data-00000-of-00001", "model.ckpt-1.index"}));
}

SAME(V17, "5 steps a run, every 10 steps, 30 steps", "saved at 5, 15 and 25, not at 10 and 20") {
  Folder folder;
  Loop loop{CheckpointSaver{keeping_all(folder), Options{.save_steps = 10, .anchor = Anchor::first_run}},
            StepMachine{.stride = 5}};
  loop.train(6);
  EXPECT_EQ(saved_in(folder), (Steps{5, 15, 25}));
}

SAME(V18, "5 steps a run, every 10 steps; `end` after step 10", "saves step 10") {
  Folder folder;
  Loop loop{CheckpointSaver{keeping_all(folder), Options{.save_steps = 10, .anchor = Anchor::first_run}},
            StepMachine{.stride = 5}};
  loop.train(2);
  loop.end();
  EXPECT_EQ(saved_in(folder), (Steps{5, 10}));
}

NOT_APPLICABLE(
    V19, "V12 with a resource variable under a scope as global step", "as V12",
    "there is one kind of variables, and the step is the session's. Shown: V12 with an executor that has no step "
    "of its own, so that the session counts") {
  Folder folder;
  double x = 1;
  StepExecutor step{[&](auto&) { x *= 2; }, variable<"x">(x)};
  MonitoredSession session{
      step, HookChain{CheckpointSaver{keeping_all(folder), Options{.save_steps = 2, .anchor = Anchor::first_run}}}};
  for (int i = 0; i < 5; ++i) session.run();
  session.close();
  EXPECT_EQ(saved_in(folder), (Steps{0, 2, 4, 5})) << "0 at the creation, 5 at the end";
}

}  // namespace checkpoints_scenarios
}  // namespace crochet::conformance
