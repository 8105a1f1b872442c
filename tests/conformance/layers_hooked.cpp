// SPDX-License-Identifier: Apache-2.0
// The hooked layer: the requests, feeds and results of one run under hooks. Spec 1.2, 2, 5.5.
#include <crochet/session/run_session.hpp>
#include <crochet/testing/scripted_executor.hpp>

#include <array>
#include <string>
#include <type_traits>

#include "behaviour.hpp"

namespace crochet::conformance {
namespace layers_hooked_scenarios {

using testing::ScriptedExecutor;
using testing::ScriptLog;

/// Values a, b, c; placeholders x, y, z; target train.
auto machine(ScriptLog& log) {
  return ScriptedExecutor{log,
                          value<"a">(1.0f),
                          value<"b">(std::int32_t{2}),
                          value<"c">(3.0),
                          placeholder<float, "x">,
                          placeholder<float, "y">,
                          placeholder<std::int32_t, "z">,
                          targets<"train">};
}

constexpr const char* no_options =
    "There is no options object and no metadata object. A hook's recording is part of its type, so a run without "
    "recording has no cost for it. The rest is the same";

DIFFERENT(H1, "requests-of-a-run", "no hooks: a run with fetches and feeds, options and metadata",
          "all four reach the session below unchanged", no_options) {
  ScriptLog log;
  MonitoredSession session{machine(log), HookChain<>{}};
  const auto got = session.run(fetches<"b">, targets<"train">, feed<"x">(0.5f), feed<"z">(std::int32_t{7}));
  EXPECT_EQ(got["b"_n], 2);
  ASSERT_EQ(log.runs.size(), 1u);
  EXPECT_EQ(log.runs[0].fetched, "b");
  EXPECT_EQ(log.runs[0].targets, "train");
  EXPECT_EQ(log.runs[0].fed, "x z");
  EXPECT_EQ(log.fed_scalars.at("x"), 0.5);
  EXPECT_EQ(log.fed_scalars.at("z"), 7.0);
  session.close();
}

/// Counts its phases, and checks the caller's request and the session of the run.
template <int Number>
struct Idle {
  int begins = 0, creates = 0, befores = 0, afters = 0;
  void* session = nullptr;
  bool same_request = false;

  void begin() { ++begins; }
  void after_create_session(auto&, auto&) { ++creates; }
  void before_run(auto& run) {
    using Request = typename std::remove_reference_t<decltype(run)>::original_args_type;
    if constexpr (std::is_same_v<Request, RunArgs<Fetches<Name<"a">>, Targets<>, Feeds<Feed<Name<"x">, float>>>>) {
      same_request = run.original_args().feeds.template get<Name<"x">>().value == 0.5f;
    }
    session = &run.session();
    ++befores;
  }
  void after_run(auto& run, const auto& values) {
    static_assert(!std::remove_reference_t<decltype(values)>::has(Name<"a">{}), "it asked for nothing");
    EXPECT_EQ(&run.session(), session);
    ++afters;
  }
};

DIFFERENT(H2, "requests-of-a-run", "two hooks without requests: one run",
          "each sees one before_run and one after_run, no result, default options and metadata, the caller's request, "
          "and the raw session",
          no_options) {
  ScriptLog log;
  MonitoredSession session{machine(log), HookChain{Idle<0>{}, Idle<1>{}}};
  session.run(fetches<"a">, feed<"x">(0.5f));
  const auto check = [&](auto& hook) {
    EXPECT_EQ(hook.befores, 1);
    EXPECT_EQ(hook.afters, 1);
    EXPECT_EQ(hook.begins, 1) << "from the constructor, not from the run";
    EXPECT_EQ(hook.creates, 1);
    EXPECT_TRUE(hook.same_request);
    EXPECT_EQ(hook.session, &session.raw_session());
  };
  check(session.hooks().get<Idle<0>>());
  check(session.hooks().get<Idle<1>>());
  EXPECT_EQ(log.runs.at(0).fetched, "a");
  session.close();
}

struct StopsAfter {
  static constexpr auto fetches = crochet::fetches<"a">;
  float seen = 0;
  void before_run(auto& run) { EXPECT_FALSE(run.stop_requested()); }
  void after_run(auto& run, const auto& values) {
    seen = values["a"_n];
    run.request_stop();
  }
};

SAME(H3, "a hook requests a stop in after_run; it fetches by name",
     "should_stop() is true after that run and not before; the name gives the value") {
  ScriptLog log;
  MonitoredSession session{machine(log), HookChain{StopsAfter{}}};
  EXPECT_FALSE(session.should_stop());
  session.run("train"_n);
  EXPECT_TRUE(session.should_stop());
  EXPECT_EQ(session.hooks().get<StopsAfter>().seen, 1.0f);
  session.close();
}

struct WantsA {
  float a = 0;
  auto before_run(auto&) { return RunArgs{fetches<"a">}; }
  void after_run(auto&, const auto& values) {
    static_assert(!std::remove_reference_t<decltype(values)>::has(Name<"b">{}));
    a = values["a"_n];
  }
};
struct WantsBAndC {
  std::int32_t b = 0;
  double c = 0;
  auto before_run(auto&) { return RunArgs{fetches<"b", "c">}; }
  void after_run(auto&, const auto& values) {
    static_assert(!std::remove_reference_t<decltype(values)>::has(Name<"a">{}));
    b = values["b"_n];
    c = values["c"_n];
  }
};

SAME(H4, "two hooks request values of their own, the caller another",
     "each gets exactly what it requested, in that shape; the caller gets only its own") {
  ScriptLog log;
  MonitoredSession session{machine(log), HookChain{WantsA{}, WantsBAndC{}}};
  const auto got = session.run(fetches<"c">);
  static_assert(std::is_same_v<decltype(got["c"_n]), double> || std::is_same_v<decltype(got["c"_n]), const double&>);
  EXPECT_EQ(got["c"_n], 3.0);
  EXPECT_EQ(session.hooks().get<WantsA>().a, 1.0f);
  EXPECT_EQ(session.hooks().get<WantsBAndC>().b, 2);
  EXPECT_EQ(session.hooks().get<WantsBAndC>().c, 3.0);
  EXPECT_EQ(log.runs.at(0).fetched, "a b c") << "one run gives all of it";
  session.close();
}

/// Feeds Text a constant.
template <FixedString Text>
struct Feeder {
  float value = 0;
  auto before_run(auto&) { return RunArgs{feed<Text>(value)}; }
};

SAME(H5, "two hooks feed two placeholders", "both are fed") {
  ScriptLog log;
  MonitoredSession session{machine(log), HookChain{Feeder<"x">{5}, Feeder<"y">{10}}};
  session.run(fetches<"a">);
  EXPECT_EQ(log.runs.at(0).fed, "x y");
  EXPECT_EQ(log.fed_scalars.at("x"), 5.0);
  EXPECT_EQ(log.fed_scalars.at("y"), 10.0);
  session.close();
}

SAME(H6, "two hooks and the caller feed three placeholders",
     "all three are fed; the caller's own feeds are not modified") {
  ScriptLog log;
  MonitoredSession session{machine(log), HookChain{Feeder<"x">{5}, Feeder<"y">{10}}};
  const auto callers = feeds(feed<"z">(std::int32_t{20}));
  session.run(fetches<"a">, callers);
  EXPECT_EQ(log.fed_scalars.at("x"), 5.0);
  EXPECT_EQ(log.fed_scalars.at("y"), 10.0);
  EXPECT_EQ(log.fed_scalars.at("z"), 20.0);
  EXPECT_EQ(callers.get<Name<"z">>().value, 20);
  static_assert(std::is_same_v<decltype(callers), const Feeds<Feed<Name<"z">, std::int32_t>>>);
  session.close();
}

using Machine = decltype(machine(std::declval<ScriptLog&>()));
/// Whether a session on that machine, under that chain, has a `run` that accepts these feeds.
template <class Chain, class... F>
constexpr bool run_compiles =
    detail::all_hooks_ok<detail::run_verdict<true, Machine, Chain, RunArgs<Fetches<>, Targets<>, Feeds<F...>>>>;

DIFFERENT(H7, "requests-of-a-run", "two hooks feed one placeholder",
          "the run is refused: \"Same tensor is fed by two hooks\"",
          "does not compile, whatever the values: the names are part of the hooks' types. One error names both hooks "
          "and the placeholder (tests/compile_fail/hooks/two_hooks_feed_one_name.cpp)") {
  EXPECT_TRUE((run_compiles<HookChain<Feeder<"x">, Feeder<"y">>>));
  EXPECT_FALSE((run_compiles<HookChain<Feeder<"x">, Idle<0>, Feeder<"x">>>));
}

DIFFERENT(H8, "requests-of-a-run", "a hook and the caller feed one placeholder, even the same value",
          "the run is refused: \"Same tensor is fed by a hook and the user\"",
          "that call of run does not compile; one error names the hook and the placeholder "
          "(tests/compile_fail/hooks/caller_feeds_what_a_hook_feeds.cpp)") {
  EXPECT_TRUE((run_compiles<HookChain<Feeder<"x">>, Feed<Name<"y">, float>>));
  EXPECT_FALSE((run_compiles<HookChain<Feeder<"x">>, Feed<Name<"x">, float>>));
}

}  // namespace layers_hooked_scenarios
}  // namespace crochet::conformance
