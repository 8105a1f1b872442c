// SPDX-License-Identifier: Apache-2.0
// Listeners of a CheckpointSaver, and complete sessions that save: spec 4.3, 5.10.
#include <crochet/checkpoint/saver.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/testing/manual_clock.hpp>

#include <ostream>

#include "behaviour.hpp"
#include "hook_loop.hpp"
#include "saves.hpp"
#include "scenario.hpp"

namespace crochet::conformance {
namespace checkpoint_listeners_scenarios {

using testing::ManualClock;
using Options = CheckpointSaverOptions;

/// The number of calls of each member of a listener.
struct Counts {
  int begin = 0, before = 0, after = 0, end = 0;
  friend bool operator==(const Counts&, const Counts&) = default;
};
std::ostream& operator<<(std::ostream& out, const Counts& counts) {
  return out << "begin " << counts.begin << ", before " << counts.before << ", after " << counts.after << ", end "
             << counts.end;
}
/// Counts its calls, and requests a stop after save number `stop_at`. `Number` distinguishes two types.
template <int Number = 0>
struct Listener {
  Counts* counts;
  int stop_at = -1;

  void begin() { ++counts->begin; }
  void before_save(auto& /*session*/, std::int64_t /*step*/) { ++counts->before; }
  bool after_save(auto& /*session*/, std::int64_t /*step*/) { return ++counts->after == stop_at; }
  void end(auto& /*session*/, std::int64_t /*step*/) { ++counts->end; }
};

SAME(V5, "by seconds: creation, two quick runs, end", "the listener counts: begin 1, before 2, after 2, end 1") {
  Folder folder;
  Counts counts;
  const ManualClock clock;
  HookLoop loop{CheckpointSaver{keeping_all(folder), Options{.save_secs = 2.0, .clock = clock}, Listener<>{&counts}}};
  loop.create();
  loop.train(2);
  loop.end();
  EXPECT_EQ(counts, (Counts{1, 2, 2, 1}));
}

/// Two steps of a singular session with a CheckpointSaver and these listeners.
template <class Saver, class... L>
void two_steps(World& world, Saver saver, L... listeners) {
  auto session = singular(world, CheckpointSaver{saver, Options{.save_steps = 1}, listeners...});
  run_session(session, [](auto& s) {
    train(s);
    train(s);
  });
}

SAME(V6, "a singular session, every step, two steps",
     "the listener counts: begin 1, before 3, after 3 (one at the creation), end 1") {
  Folder folder;
  World world;
  Counts counts;
  two_steps(world, keeping_all(folder), Listener<>{&counts});
  EXPECT_EQ(counts, (Counts{1, 3, 3, 1}));
}

SAME(V7, "a listener that returns True from the third save", "the session stops after that run, not before") {
  Folder folder;
  World world;
  Counts counts;
  auto session =
      singular(world, CheckpointSaver{keeping_all(folder), Options{.save_steps = 1}, Listener<>{&counts, 3}});
  EXPECT_FALSE(session.should_stop());
  train(session);
  EXPECT_FALSE(session.should_stop());
  train(session);
  EXPECT_TRUE(session.should_stop());
  session.close();
}

SAME(V8, "the default saver", "the same counts as in V6; a later session restores step 2") {
  Folder folder;
  World world;
  Counts counts;
  two_steps(world, Saver<>{folder.path()}, Listener<>{&counts});
  EXPECT_EQ(counts, (Counts{1, 3, 3, 1}));
  MonitoredSession later{Machine{world}, HookChain<>{}, restore_latest(Saver<>{folder.path()})};
  EXPECT_EQ(later.step(), 2);
  EXPECT_EQ(later.run(fetches<"weight">)["weight"_n], 1.0f);
  later.close();
}

SAME(V9, "two listeners", "get identical counts") {
  Folder folder;
  World world;
  Counts first, second;
  two_steps(world, keeping_all(folder), Listener<0>{&first}, Listener<1>{&second});
  EXPECT_EQ(first, (Counts{1, 3, 3, 1}));
  EXPECT_EQ(second, first);
}

SAME(V11, "every 2 s, created at 0; runs at 0.5, 0.5, 3, 3.5, 4, 6.5 and 7 s, end", "four saves") {
  Folder folder;
  Counts counts;
  ManualClock clock;
  HookLoop loop{CheckpointSaver{keeping_all(folder), Options{.save_secs = 2.0, .clock = clock}, Listener<>{&counts}}};
  loop.create();
  for (const double time : {0.5, 0.5, 3.0, 3.5, 4.0, 6.5, 7.0}) {
    clock.set(time);
    loop.train();
  }
  loop.end();
  EXPECT_EQ(counts, (Counts{1, 4, 4, 1}));
  EXPECT_EQ(saved_in(folder), (Steps{0, 3, 6, 7}));
}

}  // namespace checkpoint_listeners_scenarios
}  // namespace crochet::conformance
