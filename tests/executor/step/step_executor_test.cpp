// SPDX-License-Identifier: Apache-2.0
#include <crochet/executor/step/step_executor.hpp>

#include <gtest/gtest.h>

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include <crochet/session/run_session.hpp>

namespace crochet {
namespace step_executor_test {

template <int Every>
struct Snapshot {
  static constexpr auto fetches = crochet::fetches<"field">;
  std::optional<RunArgs<Fetches<Name<"field">>>> before_run(auto& run) {
    if (run.step() % Every != 0) return std::nullopt;
    return RunArgs{fetches};
  }
  void after_run(auto&, const auto& values) {
    if (values.requested()) taken.push_back(values["field"_n].front());
  }
  std::vector<double> taken;
};
struct StopBelow {
  static constexpr auto fetches = crochet::fetches<"residual">;
  double below = 0;
  void after_run(auto& run, const auto& values) {
    if (values["residual"_n] < below) run.request_stop("converged");
  }
};

TEST(StepExecutor, GivesALoopOfOnesOwnTheSameHooks) {
  std::vector<double> field(3, 16.0);
  StepExecutor step{[&](auto& out) {
                      for (double& x : field) x /= 2;
                      out["residual"_n] = field[0];
                      out["field"_n] = field;
                    },
                    output<double, "residual">, output<std::span<const double>, "field">};
  HookChain chain{StopBelow{.below = 0.3}, Snapshot<2>{}};
  const StopReason why = run(step, chain);
  EXPECT_EQ(why.reason, "converged");
  EXPECT_EQ(field[0], 0.25);
  EXPECT_EQ(chain.get<Snapshot<2>>().taken, (std::vector<double>{8, 2, 0.5}));
}

TEST(StepExecutor, SaysWhetherAnybodyWantsAnOutput) {
  int requested = 0;
  int made = 0;
  StepExecutor step{[&](auto& out) {
                      ++requested;
                      if (out.due("field"_n)) ++made;
                      if constexpr (std::remove_reference_t<decltype(out)>::due("field"_n))
                        out["field"_n] = std::vector{1.0};
                    },
                    output<std::vector<double>, "field">};
  MonitoredSession session{step, HookChain{Snapshot<3>{}}};
  run_session(session, [](auto& s) {
    for (int i = 0; i < 7; ++i) s.run();
  });
  EXPECT_EQ(requested, 7);
  EXPECT_EQ(made, 3);
}

/// Counts its assignments.
struct Costly {
  int* assigned = nullptr;
  Costly() = default;
  explicit Costly(int* counter) : assigned(counter) {}
  Costly(const Costly&) = default;
  Costly& operator=(const Costly& other) {
    assigned = other.assigned;
    ++*assigned;
    return *this;
  }
};

TEST(StepExecutor, DropsAnOutputThatNobodyWants) {
  int assigned = 0;
  const Costly value{&assigned};
  StepExecutor step{[&](auto& out) { out["state"_n] = value; }, output<Costly, "state">};
  MonitoredSession session{step, HookChain<>{}};
  session.run();
  EXPECT_EQ(assigned, 0);
  session.run(fetches<"state">);
  EXPECT_EQ(assigned, 1);
  session.close();
}

TEST(StepExecutor, HandsOutTrivialOutputsByValueAndOthersByReference) {
  StepExecutor step{[](auto& out) {
                      out["loss"_n] = 1.5;
                      out["text"_n] = "abc";
                    },
                    output<double, "loss">, output<std::string, "text">};
  using E = decltype(step);
  static_assert(std::is_same_v<E::fetched_t<Name<"loss">>, double>);
  static_assert(std::is_same_v<E::fetched_t<Name<"text">>, const std::string&>);
  MonitoredSession session{step, HookChain<>{}};
  auto [loss, text] = session.run(fetches<"loss", "text">);
  EXPECT_EQ(loss, 1.5);
  EXPECT_EQ(text, "abc");
  session.close();
}

TEST(StepExecutor, ReadsItsInputs) {
  double t = 0;
  StepExecutor step{[&](auto& out) { t += out.input("dt"_n, 0.5); }, input<double, "dt">};
  MonitoredSession session{step, HookChain<>{}};
  session.run();
  session.run(feed<"dt">(0.25));
  EXPECT_EQ(t, 0.75);
  session.close();
}

TEST(StepExecutor, PassesOnWhatTheStepThrows) {
  StepExecutor step{[](auto&) { throw std::runtime_error("diverged"); }};
  EXPECT_THROW(run(step, HookChain<>{}), std::runtime_error);
}

}  // namespace step_executor_test
}  // namespace crochet
