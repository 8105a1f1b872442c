// SPDX-License-Identifier: Apache-2.0
// SingularMonitoredSession: spec 3.1, 5.8.
#include <string>

#include "behaviour.hpp"
#include "scenario.hpp"

namespace crochet::conformance {
namespace singular_scenarios {

using A = Spy<'a'>;

SAME(G1, "a singular session", "variables are initialized") {
  World world;
  auto session = singular(world);
  EXPECT_TRUE(session.executor().variables_initialized());
  EXPECT_EQ(session.run(fetches<"weight">)["weight"_n], 0.0f);
  session.close();
}

SAME(G2, "a hook's before_run is aborted",
     "run raises it; caught in the body, the exit is fine; else it leaves the scope") {
  World world;
  auto caught = singular(world, A{world}.failing('b', AbortedError("gone")));
  EXPECT_NO_THROW(run_session(caught, [](auto& s) { EXPECT_THROW(train(s), AbortedError); }));
  auto uncaught = singular(world, A{world}.failing('b', AbortedError("gone")));
  EXPECT_THROW(run_session(uncaught, [](auto& s) { train(s); }), AbortedError);
  EXPECT_EQ(world.sessions, 2) << "none was made anew";
}

SAME(G3, "a hook reports the end of the data", "a clean exit; stopped afterwards") {
  World world;
  auto session = singular(world, A{world}.failing('b', OutOfRangeError{}));
  EXPECT_NO_THROW(run_session(session, [](auto& s) {
    train(s);
    ADD_FAILURE() << "not reached";
  }));
  EXPECT_TRUE(session.should_stop());
}

SAME(G4, "a thread reports an error to the coordinator", "the next run works; the error leaves the scope") {
  World world;
  auto session = singular(world, A{world});
  EXPECT_EQ(thrown_by<DataError>([&] {
              run_session(session, [](auto& s) {
                report_from_a_thread(s.coordinator(), DataError("a reader broke"));
                EXPECT_EQ(train(s), 1);
              });
            }),
            "a reader broke");
}

DIFFERENT(G5, "how-a-session-ends", "the scope ends without an error", "stopped; raw_session() is None",
          "stopped and closed; raw_session() is a reference and cannot be None, but a run below the hooks throws") {
  World world;
  auto session = singular(world, A{world});
  run_session(session, [](auto& s) { train(s); });
  EXPECT_TRUE(session.should_stop());
  EXPECT_TRUE(session.closed());
  EXPECT_THROW(session.run(no_hooks, fetches<"step">), LogicError);
}

NOT_APPLICABLE(G6, "the session's `graph`", "is the default graph",
               "as S17. Shown: the executor is the caller's own when it is borrowed") {
  World world;
  Machine machine{world};
  SingularMonitoredSession<Machine&, HookChain<>> session{machine};
  EXPECT_EQ(&session.executor(), &machine);
  session.close();
}

SAME(G7, "raw_session() while the session is open", "a session without hooks") {
  World world;
  auto session = singular(world, A{world});
  world.news();
  EXPECT_EQ(session.raw_session().run(fetches<"step">, targets<"train">)["step"_n], 1);
  EXPECT_EQ(world.news(), "run#1");
  session.close();
}

}  // namespace singular_scenarios
}  // namespace crochet::conformance
