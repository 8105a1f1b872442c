// SPDX-License-Identifier: Apache-2.0
// MonitoredTrainingSession: spec 3.11, 5.2.
#include <crochet/checkpoint/monitored_training_session.hpp>
#include <crochet/io/file_writer_cache.hpp>
#include <crochet/testing/manual_clock.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "behaviour.hpp"
#include "folder.hpp"
#include "scenario.hpp"

namespace crochet::conformance {
namespace training_scenarios {

using A = Spy<'a'>;
using Options = MonitoredTrainingOptions;
using Training = MonitoredTrainingSession<Machine, HookChain<>, Summaries<summary::Scalar<"weight">>, HookChain<A>>;

/// A session of that machine, with a hook for the chief only, and a summary of the weight.
Training training(World& world, Machine machine, const Options& options) {
  return Training{machine, {}, options, {}, HookChain{A{world}}};
}

/// The first step of a session with these options, and the step after `steps` more, each of the given duration.
struct Job {
  std::int64_t first = -1, last = -1;

  Job(World& world, Options options, int steps, double seconds = 0)
      : Job(world, Machine{world}, options, steps, seconds) {}
  Job(World& world, const Machine& machine, Options options, int steps, double seconds = 0) {
    options.clock = world.clock;
    options.session.clock = world.clock;
    options.waiting.clock = world.clock;
    auto session = training(world, machine, options);
    first = session.step();
    run_session(session, [&](auto& s) {
      for (int i = 0; i < steps; ++i) {
        train(s);
        world.clock.advance(seconds);
      }
    });
    last = session.step();
    io::FileWriterCache::clear();
  }
};

/// The bytes of all event files in the folder.
std::string events_in(const Folder& folder) {
  std::ostringstream bytes;
  for (const std::string& name : folder.names()) {
    if (name.find("tfevents") == std::string::npos) continue;
    bytes << std::ifstream(folder.path() / name, std::ios::binary).rdbuf();
  }
  return bytes.str();
}
/// Whether there are summaries of the weight and of the rate.
bool has_both_tags(const Folder& folder) {
  const std::string events = events_in(folder);
  return events.find("weight") != std::string::npos && events.find("global_step/sec") != std::string::npos;
}

/// A worker of a machine that the chief has initialized.
Job worker(World& world, Options options, int steps) {
  Machine machine{world};
  machine.initialize();
  options.is_chief = false;
  return Job{world, machine, options, steps, 1.0};
}

SAME(M1, "a chief with a folder: two steps, then another session on the folder", "begins at step 2") {
  World world;
  Folder folder;
  EXPECT_EQ(Job(world, {.checkpoint_dir = folder.path()}, 2).last, 2);
  EXPECT_EQ(Job(world, {.checkpoint_dir = folder.path()}, 0).first, 2);
}

SAME(M2, "save_checkpoint_steps = 100, 100 steps, then another session", "begins at step 100") {
  World world;
  Folder folder;
  EXPECT_EQ(Job(world, {.checkpoint_dir = folder.path(), .save_checkpoint_steps = 100}, 100).first, 0);
  EXPECT_EQ(Job(world, {.checkpoint_dir = folder.path()}, 0).first, 100);
}

SAME(M3, "save_checkpoint_secs = 0.1, 11 steps in more than 0.2 s, then another session", "begins at step 11") {
  World world;
  Folder folder;
  EXPECT_EQ(Job(world, {.checkpoint_dir = folder.path(), .save_checkpoint_secs = 0.1}, 11, 0.025).last, 11);
  EXPECT_EQ(Job(world, {.checkpoint_dir = folder.path()}, 0).first, 11);
}

NOT_APPLICABLE(M4, "variables of a loaded saved model",
               "are initialized from it, trained, saved, and resumed as trained",
               "there are no saved models to load. Shown: the same for a step that a scaffold's init_fn sets") {
  World world;
  Folder folder;
  int loaded = 0;
  for (const std::int64_t first : {10, 12}) {
    auto scaffold = Scaffold{}.with_init_fn([&](auto& session) {
      ++loaded;
      session.executor().set_step(10);
    });
    MonitoredTrainingSession session{Machine{world}, HookChain<>{}, Options{.checkpoint_dir = folder.path()},
                                     Summaries<>{},  HookChain<>{}, scaffold};
    EXPECT_EQ(session.step(), first);
    run_session(session, [](auto& s) {
      train(s);
      train(s);
    });
  }
  EXPECT_EQ(loaded, 1) << "the second session was restored";
  io::FileWriterCache::clear();
}

SAME(M5, "summaries every 100 steps, 101 steps", "the user's tag and that of the rate are in the event file") {
  World world;
  Folder folder;
  Job(world, {.checkpoint_dir = folder.path(), .save_summaries_steps = 100}, 101, 0.125);
  EXPECT_TRUE(has_both_tags(folder));
}

SAME(M6, "summaries every 0.1 s", "both tags, too") {
  World world;
  Folder folder;
  Job(world, {.checkpoint_dir = folder.path(), .save_summaries_secs = 0.1}, 101, 0.125);
  EXPECT_TRUE(has_both_tags(folder));
}

SAME(M7, "save_checkpoint_secs = 0, and a hook for the chief only",
     "nothing is saved: another session begins at 0; the hook's begin is called once") {
  World world;
  Folder folder;
  const Options options{.checkpoint_dir = folder.path(), .save_checkpoint_secs = 0};
  EXPECT_EQ(Job(world, options, 2).last, 2);
  EXPECT_EQ(world.news(), "a.B mk#1 a.C a.b run#1 a.a a.b run#1 a.a a.E(1) cl#1");
  EXPECT_EQ(Job(world, options, 0).first, 0);
}

/// Whether the folder has neither a graph nor a meta graph.
bool has_no_graph(const Folder& folder) {
  for (const std::string& name : folder.names()) {
    if (name == "graph.pbtxt" || name.ends_with(".meta")) return false;
  }
  return true;
}

DIFFERENT(M8, "checkpoints", "save_graph_def = True: what is in the folder after the creation and after one step",
          "a graph file at once, one meta file, then two",
          "neither: a checkpoint is state, and the graph is part of the program") {
  World world;
  Folder folder;
  Job(world, {.checkpoint_dir = folder.path(), .save_checkpoint_steps = 1}, 1);
  EXPECT_TRUE(has_no_graph(folder));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "model.ckpt-0.index"));
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "model.ckpt-1.index"));
}

SAME(M9, "save_graph_def = False", "no graph file, and never a meta file") {
  World world;
  Folder folder;
  Job(world, {.checkpoint_dir = folder.path(), .save_checkpoint_steps = 1}, 2);
  EXPECT_TRUE(has_no_graph(folder));
}

constexpr const char* no_strategies =
    "there are no distribution strategies; an option states whether a program is the chief. ";

NOT_APPLICABLE(M10, "a distribute context that allows summaries", "both tags are written",
               std::string(no_strategies) + "Shown: a chief writes both, into the folder that is named for them") {
  World world;
  Folder checkpoints, logs;
  Job(world, {.checkpoint_dir = checkpoints.path(), .summary_dir = logs.path()}, 101, 0.125);
  EXPECT_TRUE(has_both_tags(logs));
  EXPECT_EQ(events_in(checkpoints), "");
}

NOT_APPLICABLE(M11, "a context that forbids summaries", "nothing is written",
               std::string(no_strategies) + "Shown: a worker writes nothing, and has none of the chief's hooks") {
  World world;
  Folder folder;
  EXPECT_EQ(worker(world, {.checkpoint_dir = folder.path()}, 101).last, 101);
  EXPECT_TRUE(folder.names().empty());
  EXPECT_EQ(world.news().find("a."), std::string::npos);
}

NOT_APPLICABLE(M12, "a context that allows checkpoints: 100 steps, then a plain chief on the folder",
               "begins at step 100",
               std::string(no_strategies) +
                   "Shown: another chief continues from what a chief has saved, every 600 s by default") {
  World world;
  Folder folder;
  Job(world, {.checkpoint_dir = folder.path()}, 100, 7.0);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "model.ckpt-87.index")) << "600 s after the first";
  EXPECT_EQ(Job(world, {.checkpoint_dir = folder.path()}, 0).first, 100);
}

NOT_APPLICABLE(M13, "a context that forbids checkpoints", "there is no latest checkpoint",
               std::string(no_strategies) + "Shown: a worker saves none") {
  World world;
  Folder folder;
  worker(world, {.checkpoint_dir = folder.path(), .save_checkpoint_steps = 1}, 5);
  EXPECT_FALSE(latest_checkpoint(folder.path()).has_value());
}

NOT_APPLICABLE(M14, "a non-chief of a collective strategy",
               "saves into the folder's sub-folder tmp_worker_1, not into the folder",
               std::string(no_strategies) + "Shown: a worker saves nothing and needs no folder") {
  World world;
  Folder folder;
  const std::filesystem::path missing = folder.path() / "job";
  EXPECT_EQ(worker(world, {.checkpoint_dir = missing, .save_checkpoint_steps = 1}, 5).last, 5);
  EXPECT_TRUE(folder.names().empty());
}

}  // namespace training_scenarios
}  // namespace crochet::conformance
