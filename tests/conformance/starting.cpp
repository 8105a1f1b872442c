// SPDX-License-Identifier: Apache-2.0
// How a MonitoredSession starts and continues: init functions and checkpoints. Spec 3.9, 3.10, 5.6.
#include <crochet/checkpoint/saver.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/session/session_creators.hpp>

#include <string>

#include "behaviour.hpp"
#include "folder.hpp"
#include "scenario.hpp"

namespace crochet::conformance {
namespace starting_scenarios {

using A = Spy<'a'>;

/// A session with that init_fn.
template <class InitFn, class... H>
auto initialized_by(World& world, InitFn init_fn, H... hooks) {
  ChiefSessionCreator creator{Scaffold{}.with_init_fn(init_fn)};
  return MonitoredSession<Machine, HookChain<H...>, decltype(creator)>{
      Machine{world}, HookChain<H...>{std::move(hooks)...}, std::move(creator), SessionOptions{.clock = world.clock}};
}

constexpr auto restore_three = [](auto& session) { session.executor().set_step(3); };

SAME(S3, "init_fn restores step 3; StopAtStep with last_step = 5", "goes on with 4 and 5, then stops") {
  World world;
  auto session = initialized_by(world, restore_three, StopAtStep{.last_step = 5});
  EXPECT_EQ(session.step(), 3);
  EXPECT_EQ(train(session), 4);
  EXPECT_FALSE(session.should_stop());
  EXPECT_EQ(train(session), 5);
  EXPECT_TRUE(session.should_stop());
  session.close();
}

/// The number of runs until a session stops.
template <class Session>
int runs_until_stop(Session& session) {
  int runs = 0;
  for (; !session.should_stop(); ++runs) train(session);
  return runs;
}

SAME(S4, "StopAtStep with num_steps = 3; with num_steps = 4 after a restore of 3",
     "stops after three runs; after four, at step 7") {
  World world;
  auto fresh = monitored(world, StopAtStep{.num_steps = 3});
  EXPECT_EQ(runs_until_stop(fresh), 3);
  fresh.close();
  auto restored = initialized_by(world, restore_three, StopAtStep{.num_steps = 4});
  EXPECT_EQ(runs_until_stop(restored), 4);
  EXPECT_EQ(restored.step(), 7);
  restored.close();
}

/// A session that saves every step and starts as the options `from` state.
template <class... H>
auto saving(World& world, const Folder& folder, RestoreOptions from, H... hooks) {
  Saver<> saver{folder.path()};
  ChiefSessionCreator creator{Scaffold{}.with_saver(saver), std::move(from)};
  HookChain chain{std::move(hooks)..., CheckpointSaver{saver, CheckpointSaverOptions{.save_steps = 1}}};
  return MonitoredSession<Machine, decltype(chain), decltype(creator)>{
      Machine{world}, std::move(chain), std::move(creator), SessionOptions{.clock = world.clock}};
}

SAME(S5, "every step is saved; another session starts from the folder, and from a checkpoint's file",
     "both go on from step 2") {
  World world;
  Folder folder;
  auto first = saving(world, folder, {.checkpoint_dir = folder.text()});
  run_session(first, [](auto& s) {
    EXPECT_EQ(train(s), 1);
    EXPECT_EQ(train(s), 2);
  });
  for (const RestoreOptions& from :
       {RestoreOptions{.checkpoint_dir = folder.text()},
        RestoreOptions{.checkpoint_filename_with_path = (folder.path() / "model.ckpt-2").string()}}) {
    auto next = saving(world, folder, from);
    EXPECT_EQ(next.step(), 2);
    EXPECT_EQ(next.run(no_hooks, fetches<"weight">)["weight"_n], 1.0f);
    next.close();
  }
}

DIFFERENT(S6, "how-it-recovers", "init_fn is aborted once while the session is constructed", "tried again silently",
          "tried again after a pause, with one line: the second creation must be visible") {
  World world;
  int calls = 0;
  auto session = initialized_by(world, [&](auto&) {
    if (++calls == 1) throw AbortedError("gone");
  });
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(train(session), 1);
  EXPECT_EQ(said().size(), 1u);
  session.close();
}

SAME(S9, "Aborted comes from a hook's before_run; every step is saved",
     "the call is repeated from the restored step: its result is 3") {
  World world;
  Folder folder;
  int runs = 0;
  auto session = saving(world, folder, {.checkpoint_dir = folder.text()}, A{world}.on('b', [&] {
    if (++runs == 3) throw AbortedError("gone");
  }));
  EXPECT_EQ(train(session), 1);
  EXPECT_EQ(train(session), 2);
  EXPECT_EQ(train(session), 3) << "in the second session";
  EXPECT_EQ(session.recoveries(), 1);
  EXPECT_EQ(session.run(no_hooks, fetches<"weight">)["weight"_n], 1.5f);
  session.close();
}

}  // namespace starting_scenarios
}  // namespace crochet::conformance
