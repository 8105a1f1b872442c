// SPDX-License-Identifier: Apache-2.0
// The programs of docs/writing-hooks.md.
#include <crochet/base/clock.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hook/dynamic_hooks.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/kit/cadence_of.hpp>
#include <crochet/session/threads.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace writing_hooks_test {

// clang-format off
namespace cr = crochet;
using namespace cr::literals;

/// Stops when the loss has not improved by `min_delta` for `patience` steps.
struct Plateau {
  static constexpr auto fetches = cr::fetches<"loss">;

  void after_run(auto& run, const auto& values) {
    const float loss = values["loss"_n];
    if (loss < best - min_delta) {
      best = loss, since = 0;
    } else if (++since >= patience) {
      run.request_stop("no improvement in loss");
    }
  }

  float min_delta = 1e-4f;
  int patience = 500;
  float best = std::numeric_limits<float>::infinity();
  int since = 0;
};
// clang-format on

/// A step function with the values of these tests.
auto constant_loss() {
  return cr::StepExecutor{[](auto& out) { out["loss"_n] = 1.0F; }, cr::output<float, "loss">};
}

TEST(WritingHooksPage, AChain) {
  cr::HookChain chain{cr::StopAtStep{.last_step = 2000}, Plateau{.patience = 100}};
  EXPECT_EQ(cr::run(constant_loss(), chain).step, 101);
}

TEST(Plateau, StopsAfterPatience) {
  cr::testing::Script run{Plateau{.patience = 3}};
  for (int i = 0; i < 4; ++i) run.step(cr::value<"loss">(1.0f));
  EXPECT_EQ(run.stop_reason(), "no improvement in loss");
  EXPECT_EQ(run.trace(), "begin create b a b a b a b a end");
}

// The same hook with the members that the page adds to it one by one.
namespace continued {

// clang-format off
struct Plateau {
  static constexpr auto fetches = cr::fetches<"loss">;
  using handles = cr::Phases<cr::phase::begin, cr::phase::after_create_session, cr::phase::after_run,
                             cr::phase::save_state, cr::phase::load_state>;

void begin() { best = std::numeric_limits<float>::infinity(), since = 0; }
void after_create_session(auto&, cr::Coordinator& coordinator) {
  if (since >= patience) coordinator.request_stop("no improvement in loss", "Plateau");   // reason, name of the hook
}
void after_run(auto& run, const auto& values) {
  if (values["loss"_n] < best - min_delta) {
    best = values["loss"_n], since = 0;
  } else if (++since >= patience) {
    run.request_stop("no improvement in loss");
  }
}
void save_state(auto& out) const { out.put("best", best), out.put("since", since); }
void load_state(auto& in) { in.get("best", best), in.get("since", since); }

  float min_delta = 1e-4f;
  int patience = 500;
  float best = 0;
  int since = 0;
};
// clang-format on

TEST(Plateau, ContinuesFromItsState) {
  Plateau old{.patience = 3};
  old.best = 0.5F;
  // clang-format off
cr::testing::StateBox box;
old.save_state(box);                                  // a Plateau
cr::testing::Script run{Plateau{}};
run.hook().load_state(box);
EXPECT_EQ(run.hook().best, old.best);
  // clang-format on
}

TEST(Plateau, BreaksNoLaw) { EXPECT_EQ(cr::testing::broken_laws(Plateau{.patience = 3}, cr::value<"loss">(1.0f)), ""); }

TEST(Plateau, EndsATrainingThatHasEndedAtOnce) {
  cr::Coordinator coordinator;
  Plateau{.patience = 3, .since = 3}.after_create_session(coordinator, coordinator);
  EXPECT_EQ(coordinator.reason(), "no improvement in loss");
}

}  // namespace continued

TEST(WritingHooksPage, ThePlateauWithoutBeginBreaksALaw) {
  const std::string broken = cr::testing::broken_laws(Plateau{.patience = 3}, cr::value<"loss">(1.0f));
  EXPECT_TRUE(broken.starts_with("begin:")) << broken;
}

struct Reader {
  // clang-format off
void after_create_session(auto&, cr::Coordinator& coordinator) {
  cr::start_thread(coordinator, "reader", [this](std::stop_token stop) { read_until(stop); });
}
  // clang-format on
  void read_until(const std::stop_token& stop) const {
    while (!stop.stop_requested()) ++*reads;
  }
  std::atomic<int>* reads;
};

TEST(WritingHooksPage, AThreadOfTheSession) {
  std::atomic<int> reads = 0;
  cr::MonitoredSession session{constant_loss(), cr::HookChain{Reader{&reads}}};
  while (reads == 0) session.run();
  session.close();  // ends the thread
}

std::vector<double> inspected;
void inspect(double value) { inspected.push_back(value); }

struct EveryTenth {
  static constexpr auto fetches = cr::fetches<"logits">;  // declared and checked as above

  // clang-format off
  cr::MaybeFetch<"logits"> before_run(auto& run) {
    if ((run.step() + 1) % 10 != 0) return {};             // this run makes step 10, 20, 30, ...
    return cr::RunArgs{cr::fetches<"logits">};
  }
  void after_run(auto&, const auto& values) {
    if (values.requested()) inspect(values["logits"_n]);
  }
  // clang-format on
};

TEST(WritingHooksPage, ValuesOfSomeRuns) {
  double step = 0;
  cr::run(cr::StepExecutor{[&](auto& out) { out["logits"_n] = ++step; }, cr::output<double, "logits">},
          cr::HookChain{EveryTenth{}, cr::StopAtStep{.last_step = 25}});
  EXPECT_EQ(inspected, (std::vector<double>{10, 20}));
}

// clang-format off
struct Report {
  std::optional<std::int64_t> every_steps{};            // exactly one of the three
  std::optional<double> every_seconds{};
  std::optional<std::int64_t> every_epochs{};           // of the data: data.md#epochs
  cr::Anchor anchor = cr::Anchor::global_step;
  cr::Clock clock{};                                    // a test passes a ManualClock
  cr::Cadence timer{};

  void begin() { timer = cr::required_cadence_of<Report>({every_steps, every_seconds, every_epochs}, anchor); }
  void after_create_session(auto& session, auto&) { timer.session_begins(session, clock()); }
  void after_run(auto& run, const auto&) {
    if (!timer.due(run, clock)) return;
    std::printf("step %lld\n", static_cast<long long>(run.step()));
    timer.triggered(run.step(), clock());
  }
  void save_state(auto& out) const { timer.save_state(out, clock()); }
  void load_state(auto& in) { timer.load_state(in, clock()); }
};
// clang-format on

TEST(WritingHooksPage, ACadence) {
  testing::internal::CaptureStdout();
  cr::run(constant_loss(), cr::HookChain{Report{.every_steps = 10}, cr::StopAtStep{.last_step = 25}});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "step 10\nstep 20\n");
  EXPECT_EQ(cr::testing::broken_laws(Report{.every_steps = 2}), "");
}

struct Warmup {
  int steps = 1;
  int done = 0;

  void begin() { done = 0; }
  auto before_run(auto& /*run*/) {
    return cr::RunArgs{cr::feed<"rate">(static_cast<float>(++done) / static_cast<float>(steps))};
  }
};

TEST(WritingHooksPage, AHookThatFeeds) {
  // clang-format off
cr::testing::Script run{Warmup{.steps = 4}, cr::placeholder<float, "rate">};   // Warmup feeds "rate"
run.step();
EXPECT_EQ(run.log().runs.back().fed, "rate");                                   // the names, joined by spaces
EXPECT_EQ(run.log().fed_scalars["rate"], 0.25);                                 // the last value, as a double
                                                   // clang-format on
}

// clang-format off
struct Worst final : cr::DynamicHook {
  bool before_run(cr::DynamicRun&) override { return true; }   // requests the listed values for this run
  void after_run(cr::DynamicRun& run) override { worst = std::max(worst, run.value("loss")); }
  void end() override { std::printf("the worst loss was %g\n", worst); }
  double worst = 0;
};
// clang-format on

TEST(WritingHooksPage, APlugIn) {
  const std::string wanted = "worst";
  // clang-format off
  cr::DynamicHooks<"loss", "accuracy"> plugins;             // the names that plug-ins may read, as double
  if (wanted == "worst") plugins.add(std::make_unique<Worst>());
  cr::HookChain chain{cr::StopAtStep{.last_step = 2000}, std::move(plugins)};
  // clang-format on
  cr::StepExecutor step{[](auto& out) { out["loss"_n] = 3.0; }, cr::output<double, "loss">,
                        cr::output<double, "accuracy">};
  testing::internal::CaptureStdout();
  cr::run(step, chain);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "the worst loss was 3\n");
}

}  // namespace writing_hooks_test
