// SPDX-License-Identifier: Apache-2.0
// Scaffold: spec 3.8, 5.1.
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/session/scaffold.hpp>
#include <crochet/session/session_manager.hpp>

#include <string>
#include <type_traits>
#include <vector>

#include "behaviour.hpp"
#include "scenario.hpp"

namespace crochet::conformance {
namespace scaffold_scenarios {

using Names = std::vector<std::string>;

constexpr const char* no_finalize =
    "there is nothing to finalize: the graph was final before the program began, and a piece that is not given has its "
    "default when a session is made";

SAME(F1, "a new scaffold", "all its pieces are unset") {
  static_assert(
      std::is_same_v<decltype(Scaffold{}),
                     Scaffold<DefaultPiece, DefaultPiece, DefaultPiece, DefaultPiece, DefaultPiece, DefaultPiece>>);
  EXPECT_FALSE(decltype(Scaffold{})::has_saver);
}

DIFFERENT(F2, "making-a-session-ready", "finalize, on a graph with variables",
          "init and local-init are ops, both checks tensors, the saver a Saver; init_fn stays None",
          std::string(no_finalize) + ". Only a saver has none: without one, nothing is restored") {
  World world;
  Machine machine{world};
  RawSession session{machine};
  Scaffold scaffold;
  EXPECT_EQ(scaffold.missing(session), (Names{"global_step", "weight"}));
  scaffold.initialize(session);
  EXPECT_TRUE(scaffold.local_initialize(session).empty());
  EXPECT_TRUE(scaffold.missing(session).empty());
  EXPECT_EQ(world.news(), "mk#1");
}

/// The variables of a worker: one shared by all workers, and one of its own.
struct Flags {
  bool shared = false, own = false;
  [[nodiscard]] Names missing_shared() const { return shared ? Names{} : Names{"shared"}; }
  [[nodiscard]] Names missing() const {
    Names names = missing_shared();
    if (!own) names.push_back("own");
    return names;
  }
};
/// A scaffold for these variables with all pieces given.
auto scaffold_of(Flags& flags) {
  return Scaffold{}
      .with_init([&](auto&) { flags.shared = true; })
      .with_local_init([&](auto&) { flags.own = true; })
      .with_ready_for_local_init([&](auto&) { return flags.missing_shared(); })
      .with_ready([&](auto&) { return flags.missing(); });
}

DIFFERENT(
    F3, "making-a-session-ready", "what is ready, in a graph with a global and a local variable",
    "ready lists both, ready-for-local only the global one; after init ready-for-local is empty, after local init "
    "ready is",
    "an executor has one kind of variables; for others the scaffold takes the checks, which then give these results") {
  World world;
  Machine machine{world};
  RawSession session{machine};
  Flags flags;
  auto scaffold = scaffold_of(flags);
  EXPECT_EQ(scaffold.missing(session), (Names{"shared", "own"}));
  EXPECT_EQ(scaffold.local_initialize(session), Names{"shared"}) << "and it was not run";
  EXPECT_FALSE(flags.own);
  scaffold.initialize(session);
  EXPECT_EQ(scaffold.missing(session), Names{"own"});
  EXPECT_TRUE(scaffold.local_initialize(session).empty());
  EXPECT_TRUE(flags.own);
  EXPECT_TRUE(scaffold.missing(session).empty());
}

SAME(F4, "a graph without variables", "the defaults are there, and say that it is ready") {
  StepExecutor step{[](auto&) {}};
  RawSession session{step};
  Scaffold scaffold;
  scaffold.initialize(session);
  EXPECT_TRUE(scaffold.local_initialize(session).empty());
  EXPECT_TRUE(scaffold.missing(session).empty());
}

NOT_APPLICABLE(
    F5, "two scaffolds that are finalized on one graph", "share the pieces that were made",
    "scaffolds do not add parts to a graph, so their order does not matter. Shown: two scaffolds of one executor "
    "give the same results") {
  World world;
  Machine machine{world};
  RawSession session{machine};
  Scaffold first, second;
  EXPECT_EQ(first.missing(session), second.missing(session));
  first.initialize(session);
  EXPECT_TRUE(second.missing(session).empty());
}

/// A saver without anything to restore.
struct NoSaver {
  int number = 0;
  static void restore(auto& /*session*/, const std::string& /*path*/) {}
  static std::string latest_checkpoint(const std::string& /*folder*/) { return {}; }
};

NOT_APPLICABLE(F6, "two savers in the collection of savers", "RuntimeError: more than one item",
               "there are no collections that could hold two. Shown: a scaffold has the saver that it was given last") {
  EXPECT_EQ(Scaffold{}.with_saver(NoSaver{1}).with_saver(NoSaver{2}).saver().number, 2);
}

SAME(F7, "every piece is given", "the scaffold has these, and init_fn can be called") {
  World world;
  Machine machine{world};
  RawSession session{machine};
  NoSaver saver{7};
  auto scaffold = Scaffold{}
                      .with_init([&](auto&) { world.note("init"); })
                      .with_init_fn([&](auto&) { world.note("init_fn"); })
                      .with_local_init([&](auto&) { world.note("local_init"); })
                      .with_ready_for_local_init([&](auto&) { return world.note("ready_for_local"), true; })
                      .with_ready([&](auto&) { return world.note("ready"), true; })
                      .with_saver(&saver);
  Coordinator coordinator;
  SessionManager manager{scaffold};
  manager.prepare_session(session, coordinator);
  EXPECT_EQ(world.news(), "init init_fn ready_for_local local_init ready");
  EXPECT_EQ(&manager.scaffold().saver(), &saver);
}

struct ExtendsInEnd {
  void end(GraphBuilder&);
};

NOT_APPLICABLE(F8, "an op is added after finalize", "RuntimeError: the graph is finalized",
               "as S18: no member of a graph could add one. Shown: a hook that takes the builder in `end` does not "
               "compile") {
  EXPECT_FALSE((HookedLayer<Machine, HookChain<ExtendsInEnd>>::usable));
}

/// The trace of the scaffold's initialization.
template <class S>
std::string called(World& world, S scaffold) {
  Machine machine{world};
  RawSession session{machine};
  world.news();
  scaffold.initialize(session);
  return world.news();
}

SAME(F9, "a scaffold made from an empty one, with all pieces given", "has the given ones") {
  World world;
  const Scaffold empty;
  EXPECT_EQ(called(world, empty.with_init([&](auto&) { world.note("mine"); }).with_init_fn([&](auto&) {
              world.note("my fn");
            })),
            "mine my fn");
}

SAME(F10, "a scaffold made from a filled one, with all pieces given", "the given ones win") {
  World world;
  const auto filled =
      Scaffold{}.with_init([&](auto&) { world.note("old"); }).with_init_fn([&](auto&) { world.note("old fn"); });
  EXPECT_EQ(called(world, filled.with_init([&](auto&) { world.note("mine"); }).with_init_fn([&](auto&) {
              world.note("my fn");
            })),
            "mine my fn");
  EXPECT_EQ(called(world, filled.with_init([&](auto&) { world.note("mine"); })), "mine old fn")
      << "what is not given is the source's";
  EXPECT_EQ(called(world, filled), "old old fn") << "and the source is as it was";
}

DIFFERENT(F11, "making-a-session-ready", "the source of the copy is no scaffold", "TypeError",
          "does not compile: only a scaffold has with_init and the like") {
  static_assert(!std::is_constructible_v<Scaffold<>, int>);
  static_assert(!std::is_constructible_v<Scaffold<>, NoSaver>);
  static_assert(std::is_copy_constructible_v<Scaffold<>>);
}

}  // namespace scaffold_scenarios
}  // namespace crochet::conformance
