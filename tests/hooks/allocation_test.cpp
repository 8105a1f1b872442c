// SPDX-License-Identifier: Apache-2.0
// A step allocates nothing if no stock hook is due, or if the hooks that are due only read scalars.
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>

#include <gtest/gtest.h>

#include <crochet/testing/counting_new.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

namespace {

namespace cr = crochet;
using namespace cr::literals;

constexpr auto in_session = [](auto& run) { return run.step() >= 0; };
const auto quiet = [](std::string_view) {};
struct Forget {
  void add_summary(const cr::io::Summary&, std::int64_t) const {}
};

struct Allocates {
  void after_run(auto&, const auto&) const { ::operator delete(::operator new(1)); }
};

template <class Chain>
std::size_t allocations_in_steps(Chain chain) {
  double loss = 1;
  cr::StepExecutor step{[&](auto& out) { out["loss"_n] = loss *= 0.999; }, cr::output<double, "loss">,
                        cr::input<double, "rate">};
  cr::MonitoredSession session{step, std::move(chain)};
  for (int i = 0; i < 3; ++i) session.run();
  const std::size_t before = crochet::testing::allocations();
  for (int i = 0; i < 1000; ++i) session.run();
  const std::size_t after = crochet::testing::allocations();
  session.close();
  return after - before;
}

TEST(Allocations, AreCounted) { EXPECT_EQ(allocations_in_steps(cr::HookChain{Allocates{}}), 1000U); }

TEST(Allocations, NoneByHooksThatAreNotDue) {
  EXPECT_EQ(
      allocations_in_steps(cr::HookChain{
          cr::StopAtStep{.last_step = 100000}, cr::LoggingTensor<"loss">{.every_steps = 5000, .sink = quiet},
          cr::LoggingTensor<"loss">{.every_seconds = 5000, .sink = quiet}, cr::StepCounter{.every_steps = 5000},
          cr::LearningRateMonitor<"loss">{.every_steps = 5000, .sink = quiet}, cr::FinalOps<"loss">{},
          cr::Progress<"loss">{.columns = 0, .write = quiet},
          cr::Evaluate{
              cr::fetches<"loss">, [] { return std::optional<cr::Feeds<>>{}; }, {.every_steps = 5000, .at_end = false}},
          cr::SummarySaver<cr::summary::Scalar<"loss">>{.every_steps = 5000, .summaries = Forget{}},
          cr::EveryN<5000, cr::Snapshot<"loss">>{{::testing::TempDir()}}}),
      0U);
}

TEST(Allocations, NoneByHooksThatReadScalars) {
  EXPECT_EQ(
      allocations_in_steps(cr::HookChain{
          cr::NanTensor<"loss">{}, cr::StopWhen<"loss">{.below = 0},
          cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 5000},
          cr::LoggingTensor<"loss">{.at_end = true, .sink = quiet}, cr::FeedFn{[] { return cr::feed<"rate">(0.5); }},
          cr::EveryN<2, cr::StopWhen<"loss">>{{.below = 0}}, cr::When<in_session, cr::StopWhen<"loss">>{{.below = 0}},
          cr::Isolated<cr::EarlyStopping<"loss">>{{.aim = cr::Aim::lowest, .patience = 5000}},
          cr::Timed<cr::StopWhen<"loss">>{{.below = 0}, {.sink = quiet}},
          cr::EverySeconds<1, cr::StopWhen<"loss">>{{.below = 0}}}),
      0U);
}

}  // namespace
