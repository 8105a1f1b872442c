// SPDX-License-Identifier: Apache-2.0
// A loop without a graph: a user-written solver under stock hooks.
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace no_graph_test {

namespace cr = crochet;
using namespace cr::literals;

/// The temperature of a rod with the left end at 1 and the right end at 0. Independent of hooks.
class HeatSolver {
 public:
  explicit HeatSolver(std::size_t points) : now_(points), before_(points) { now_[0] = before_[0] = 1; }

  /// One time step; unstable for `dt` above 0.5.
  void advance(double dt) {
    std::swap(now_, before_);
    for (std::size_t i = 1; i + 1 < now_.size(); ++i) {
      now_[i] = before_[i] + dt * (before_[i - 1] - 2 * before_[i] + before_[i + 1]);
    }
  }
  double residual() const {
    double largest = 0;
    for (std::size_t i = 0; i < now_.size(); ++i) largest = std::max(largest, std::abs(now_[i] - before_[i]));
    return largest;
  }
  std::span<const double> field() const { return now_; }

 private:
  std::vector<double> now_, before_;
};

constexpr double second_per_step = 0.5;

/// The solver as a program uses it, with counters for the test.
struct Program {
  HeatSolver solver{11};
  cr::testing::ManualClock clock{};
  int fields = 0;
  double dt = 0.4;

  auto step() {
    return cr::StepExecutor{[this](auto& out) {
                              clock.advance(second_per_step);
                              solver.advance(out.input("dt"_n, dt));
                              out["residual"_n] = solver.residual();
                              if (!out.due("temperature"_n)) return;
                              ++fields;
                              out["temperature"_n] = solver.field();  // a view, not a copy
                            },
                            cr::output<double, "residual">, cr::output<std::span<const double>, "temperature">,
                            cr::input<double, "dt">};
  }
};

class NoGraph : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::remove_all(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }

  const std::filesystem::path folder =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("crochet_no_graph_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

/// The last `count` numbers of a .npy file.
std::vector<double> numbers_in(const std::filesystem::path& path, std::size_t count) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<double> numbers(count);
  if (bytes.size() < count * sizeof(double)) return {};
  std::copy_n(bytes.end() - static_cast<std::ptrdiff_t>(count * sizeof(double)), count * sizeof(double),
              reinterpret_cast<char*>(numbers.data()));
  return numbers;
}

TEST_F(NoGraph, RunsUntilNothingChangesAnyMore) {
  Program program;
  const cr::testing::RecordingSink log;
  cr::HookChain chain{cr::StopWhen<"residual">{.below = 1e-8},
                      cr::EverySeconds<60, cr::Snapshot<"temperature">>{{folder}, {.clock = program.clock}},
                      cr::StepCounter{.every_seconds = 10, .sink = log, .clock = program.clock}};
  const cr::StopReason why = cr::run(program.step(), chain);

  EXPECT_EQ(why.hook, "StopWhen<\"residual\">");
  EXPECT_TRUE(why.reason.starts_with("residual = ")) << why.reason;
  EXPECT_TRUE(why.reason.ends_with(" is below 1e-08")) << why.reason;
  EXPECT_LT(program.solver.residual(), 1e-8);
  const auto field = program.solver.field();
  for (std::size_t i = 0; i < field.size(); ++i) EXPECT_NEAR(field[i], 1 - 0.1 * static_cast<double>(i), 1e-6);

  const double seconds = program.clock();
  ASSERT_GT(seconds, 120) << "or the rest shows nothing";
  const auto rates = static_cast<std::ptrdiff_t>(seconds / 10);
  const auto is_rate = [](const std::string& line) { return line.ends_with(": global_step/sec = 2"); };
  EXPECT_EQ(std::count_if(log.lines().begin(), log.lines().end(), is_rate), rates) << log.text();
  EXPECT_EQ(log.lines().size(), static_cast<std::size_t>(rates));

  // One snapshot in the first run, then one in the first run that begins at least 60 s after the last snapshot.
  EXPECT_EQ(program.fields, 1 + static_cast<int>((seconds - second_per_step) / (60 + second_per_step)));
  EXPECT_EQ(numbers_in(folder / "temperature-1.npy", 3), (std::vector<double>{0, 0, 0})) << "the far end";
  const auto early = numbers_in(folder / "temperature-1.npy", 11);
  EXPECT_EQ(early[0], 1);
  EXPECT_EQ(early[1], 0.4) << "one step";
  EXPECT_EQ(static_cast<int>(std::distance(std::filesystem::directory_iterator(folder), {})), program.fields);
}

TEST_F(NoGraph, MakesACostlyOutputOnlyWhenItIsDue) {
  Program program;
  cr::run(program.step(),
          cr::HookChain{cr::StopAtStep{.last_step = 20}, cr::EveryN<10, cr::Snapshot<"temperature">>{{folder}}});
  EXPECT_EQ(program.fields, 2);
  EXPECT_TRUE(std::filesystem::exists(folder / "temperature-10.npy"));
  EXPECT_TRUE(std::filesystem::exists(folder / "temperature-20.npy"));

  cr::run(program.step(), cr::HookChain{cr::StopAtStep{.last_step = 20}, cr::StopWhen<"residual">{.below = 0}});
  EXPECT_EQ(program.fields, 2) << "nobody wants it";
}

TEST_F(NoGraph, IsFedByAHook) {
  Program program;
  Program halved;
  cr::run(program.step(),
          cr::HookChain{cr::StopAtStep{.last_step = 1}, cr::FeedFn{[] { return cr::feed<"dt">(0.2); }}});
  EXPECT_EQ(program.solver.field()[1], 0.2);
  cr::run(halved.step(), cr::HookChain{cr::StopAtStep{.last_step = 1}});
  EXPECT_EQ(halved.solver.field()[1], 0.4) << "its own step, as nobody feeds one";
}

TEST_F(NoGraph, IsStoppedWhenItBlowsUp) {
  Program program;
  program.dt = 2;  // unstable
  EXPECT_THROW(
      cr::run(program.step(), cr::HookChain{cr::NanTensor<"residual">{}, cr::StopWhen<"residual">{.below = 1e-8}}),
      cr::NanLossError);

  Program watched;
  watched.dt = 2;
  const cr::StopReason why =
      cr::run(watched.step(), cr::HookChain{cr::StopWhen<"residual">{.below = 1e-8, .above = 1e6}});
  EXPECT_NE(why.reason.find("is above 1000000.0"), std::string::npos) << why.reason;
}

}  // namespace no_graph_test
