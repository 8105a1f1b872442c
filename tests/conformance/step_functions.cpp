// SPDX-License-Identifier: Apache-2.0
// run_step_fn and StepContext: spec 3.6, 5.7.
#include <string>
#include <string_view>
#include <type_traits>

#include "behaviour.hpp"
#include "scenario.hpp"

namespace crochet::conformance {
namespace step_functions_scenarios {

using A = Spy<'a'>;

/// One hooked training run; returns the step.
constexpr auto hooked_step = [](auto& context) {
  return context.run_with_hooks(fetches<"step">, targets<"train">)["step"_n];
};

SAME(P1, "a step function returns the value of its hooked run", "run_step_fn returns it") {
  World world;
  auto session = monitored(world, A{world});
  EXPECT_EQ(session.run_step_fn(hooked_step), 1);
  session.close();
}

SAME(P2, "request_stop in a step function, inside the scope", "leaves the scope cleanly") {
  World world;
  auto session = monitored(world, A{world});
  world.news();
  EXPECT_NO_THROW(run_session(session, [](auto& s) { s.run_step_fn([](auto& context) { context.request_stop(); }); }));
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(world.news(), "a.E(1) cl#1");
}

DIFFERENT(P3, "how-it-stops", "the same without a scope", "StopIteration reaches the caller; should_stop() stays False",
          "StopIteration reaches the caller; should_stop() is true, since a stop was requested") {
  World world;
  auto session = monitored(world, A{world});
  EXPECT_FALSE(session.should_stop());
  EXPECT_THROW(session.run_step_fn([](auto& context) { context.request_stop("done"); }), StopIteration);
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(session.stop_reason().reason, "done");
  session.close();
}

SAME(P4, "request_stop in a loop `while not should_stop()`", "the statement after the call is never reached") {
  World world;
  auto session = monitored(world, A{world});
  run_session(session, [](auto& s) {
    while (!s.should_stop()) {
      s.run_step_fn([](auto& context) { context.request_stop(); });
      ADD_FAILURE() << "not reached";
    }
  });
}

SAME(P5, "a step function returns something that no run gave", "it is passed through") {
  World world;
  auto session = monitored(world, A{world});
  EXPECT_EQ(session.run_step_fn([](auto&) { return std::string("anything"); }), "anything");
  static_assert(std::is_void_v<decltype(session.run_step_fn([](auto&) {}))>);
  session.close();
}

/// Whether run_step_fn accepts a function of that type.
template <class F>
constexpr bool is_taken = std::is_same_v<
    typename decltype(detail::step_function_reason<F, StepContext<MonitoredSession<Machine, HookChain<>>>>())::type,
    error::none>;

DIFFERENT(P6, "making-a-session-ready", "a step function with a further parameter, or a method with one",
          "ValueError, which lists the required parameters",
          "does not compile, with one error (tests/compile_fail/session/step_function_takes_no_context.cpp). The "
          "parameter's name does not matter") {
  const auto right = [](auto& /*context*/) {};
  const auto none = [] {};
  const auto two = [](auto& /*context*/, int /*extra*/) {};
  EXPECT_TRUE(is_taken<decltype(right)>);
  EXPECT_FALSE(is_taken<decltype(none)>);
  EXPECT_FALSE(is_taken<decltype(two)>);
}

struct Trainer {
  int calls = 0;
  std::int64_t step(auto& context) {
    ++calls;
    return hooked_step(context);
  }
};

SAME(P7, "a method of an object with one parameter", "works") {
  World world;
  auto session = monitored(world, A{world});
  Trainer trainer;
  EXPECT_EQ(session.run_step_fn([&](auto& context) { return trainer.step(context); }), 1);
  EXPECT_EQ(trainer.calls, 1);
  session.close();
}

/// Fetches the weight, records the step before and after the run, and trains once more in a side run.
struct Watcher {
  static constexpr auto fetches = crochet::fetches<"weight">;
  std::int64_t step_before = -1, step_in_run = -1, step_after_side_run = -1;
  float weight = -1;
  void before_run(auto& run) { step_before = run.step(); }
  void after_run(auto& run, const auto& values) {
    weight = values["weight"_n];
    step_in_run = run.step();
    step_after_side_run = run.session().run(crochet::fetches<"step">, targets<"train">)["step"_n];
  }
};

/// A raw run, then a hooked one.
template <class Session>
void expect_order_of_runs(Session& session) {
  const std::int64_t got = session.run_step_fn([](auto& context) {
    EXPECT_EQ(context.session().run(fetches<"step">, targets<"train">)["step"_n], 1);
    return hooked_step(context);
  });
  const Watcher& seen = session.hooks().template get<Watcher>();
  EXPECT_EQ(seen.step_before, 1) << "the raw run came first";
  EXPECT_EQ(seen.step_in_run, 2);
  EXPECT_EQ(seen.weight, 1.0f) << "fetched in the same run as the caller's step";
  EXPECT_EQ(seen.step_after_side_run, 3);
  EXPECT_EQ(got, 2) << "what the caller fetched, not what the hook did then";
}

SAME(P8, "a step function makes a raw run and then a hooked one; a hook fetches, and runs on the side in after_run",
     "the raw run comes first, then one run with the hook's fetch and the caller's, then after_run, which sees its own "
     "value and may run; returned is the caller's fetch") {
  World world;
  auto session = monitored(world, Watcher{});
  expect_order_of_runs(session);
  EXPECT_EQ(world.runs, 3);
  session.close();
}

SAME(P9, "the same on a singular session", "the same") {
  World world;
  auto session = singular(world, Watcher{});
  expect_order_of_runs(session);
  EXPECT_EQ(world.runs, 3);
  session.close();
}

SAME(P10, "request_stop before any hooked run", "hooks see neither before_run nor after_run") {
  World world;
  auto session = monitored(world, A{world});
  world.news();
  EXPECT_THROW(session.run_step_fn([](auto& context) {
    context.request_stop();
    hooked_step(context);
  }),
               StopIteration);
  EXPECT_EQ(world.news(), "");
  session.close();
}

SAME(P11, "the first call of the step function is aborted", "it is called again, and its value returned") {
  World world;
  auto session = monitored(world, A{world});
  int calls = 0;
  EXPECT_EQ(session.run_step_fn([&](auto& context) {
    if (++calls == 1) throw AbortedError("gone");
    return hooked_step(context);
  }),
            1);
  EXPECT_EQ(calls, 2);
  session.close();
}

SAME(P12, "it is aborted after its hooked run", "the whole function runs again; what it did is done twice") {
  World world;
  auto session = monitored(world, A{world});
  world.news();
  int calls = 0;
  EXPECT_EQ(session.run_step_fn([&](auto& context) {
    const auto step = hooked_step(context);
    if (++calls == 1) throw AbortedError("gone");
    return step;
  }),
            1);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(world.news(), "a.b run#1 a.a cl#1 mk#2 a.C a.b run#2 a.a");
  session.close();
}

SAME(P13, "the same in a singular session", "Aborted is not tried again") {
  World world;
  auto session = singular(world, A{world});
  int calls = 0;
  EXPECT_THROW(session.run_step_fn([&](auto& context) {
    hooked_step(context);
    if (++calls == 1) throw AbortedError("gone");
  }),
               AbortedError);
  EXPECT_EQ(calls, 1);
  session.close();
}

SAME(P14, "a hook's before_run is aborted in the hooked run of a step function",
     "the whole function is repeated; after_run then sees what the hook fetched") {
  World world;
  auto session = monitored(world, A{world}.failing('b', AbortedError("gone")), Watcher{});
  world.news();
  int calls = 0;
  EXPECT_EQ(session.run_step_fn([&](auto& context) {
    ++calls;
    return hooked_step(context);
  }),
            1);
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(world.news(), "a.b cl#1 mk#2 a.C a.b run#2 a.a run#2");
  EXPECT_EQ(session.hooks().template get<Watcher>().weight, 0.5f);
  session.close();
}

}  // namespace step_functions_scenarios
}  // namespace crochet::conformance
