// SPDX-License-Identifier: Apache-2.0
// The programs of docs/step-functions.md.
#include <crochet/checkpoint/monitored_training_session.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "../io/temporary_folder.hpp"
#include "page.hpp"

namespace step_functions_test {

using crochet::test::text_of;

// clang-format off
namespace cr = crochet;
using namespace cr::literals;

struct Orbit {
  std::array<double, 2> position{1, 0}, velocity{0, 1};
  double time = 0;

  void advance(double dt) {
    const double pull = -std::pow(std::hypot(position[0], position[1]), -3);
    for (std::size_t i = 0; i < 2; ++i) velocity[i] += dt * pull * position[i];
    for (std::size_t i = 0; i < 2; ++i) position[i] += dt * velocity[i];
    time += dt;
  }
  double energy() const {
    return (velocity[0] * velocity[0] + velocity[1] * velocity[1]) / 2 - 1 / std::hypot(position[0], position[1]);
  }
};

auto step_of(Orbit& orbit) {
  return cr::StepExecutor{[&orbit](auto& out) {
                            orbit.advance(out.input("dt"_n, 0.01));
                            if (out.due("drift"_n)) out["drift"_n] = std::abs(orbit.energy() + 0.5);
                          },
                          cr::input<double, "dt">, cr::output<double, "drift">,
                          cr::variable<"position">(orbit.position), cr::variable<"velocity">(orbit.velocity),
                          cr::variable<"time">(orbit.time)};
}

std::string simulate(const std::filesystem::path& folder, int last_step) {
  Orbit orbit;
  const cr::Saver saver{folder / "checkpoints"};
  cr::MonitoredSession session{
      step_of(orbit),
      cr::HookChain{cr::StopOnSignal{}, cr::StopAtStep{.last_step = last_step},
                    cr::EveryN<100, cr::StopWhen<"drift">>{{.above = 0.1}},
                    cr::LoggingTensor<"drift">{.every_steps = 1000},
                    cr::Progress<"drift">{.total = last_step},
                    cr::CsvLogger<"drift">{.path = folder / "drift.csv", .every_steps = 100},
                    cr::CheckpointSaver{saver, {.save_steps = 1000}}},   // behind every hook with state
      cr::restore_latest(saver)};
  cr::run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run();
  });
  return to_string(session.stop_reason());                               // StopAtStep: step 3000 was reached
}
// clang-format on

Orbit saved_in(const std::filesystem::path& folder) {
  Orbit orbit;
  cr::MonitoredSession session{step_of(orbit), cr::HookChain{}, cr::must_restore(cr::Saver{folder / "checkpoints"})};
  session.close();
  return orbit;
}

TEST(StepFunctionsPage, TheProgramContinuesWithTheSameBits) {
  const crochet::test::TemporaryFolder folder;
  EXPECT_EQ(simulate(folder.path() / "whole", 3000), "StopAtStep: step 3000 was reached");
  simulate(folder.path() / "parts", 1234);
  EXPECT_EQ(simulate(folder.path() / "parts", 3000), "StopAtStep: step 3000 was reached");
  EXPECT_EQ(text_of(folder.path() / "whole/drift.csv"), text_of(folder.path() / "parts/drift.csv"));
  const Orbit whole = saved_in(folder.path() / "whole"), parts = saved_in(folder.path() / "parts");
  EXPECT_EQ(whole.position, parts.position);
  EXPECT_EQ(whole.velocity, parts.velocity);
  EXPECT_EQ(whole.time, parts.time);
  EXPECT_NEAR(whole.time, 30, 1e-9);
}

double drift_of_the_first_step() {
  Orbit orbit;
  orbit.advance(0.01);
  return std::abs(orbit.energy() + 0.5);
}

TEST(StepFunctionsPage, OutputsAndInputsFromOutside) {
  Orbit orbit;
  cr::MonitoredSession session{step_of(orbit), cr::HookChain{}};
  // clang-format off
const auto [drift] = session.run(cr::fetches<"drift">);     // an output
session.run(cr::feed<"dt">(0.005));                         // an input, for this run
  // clang-format on
  EXPECT_EQ(drift, drift_of_the_first_step());
  EXPECT_EQ(orbit.time, 0.01 + 0.005);
  session.close();
}

struct RandomState {
  std::mt19937_64* random = nullptr;

  void save_state(auto& out) const {
    std::ostringstream text;
    text << *random;
    out.put("random", text.str());
  }
  void load_state(auto& in) {
    std::string saved;
    if (in.get("random", saved)) std::istringstream(saved) >> *random;
  }
  void after_create_session(auto& /*session*/, auto& /*coordinator*/) { ++created; }
  int created = 0;
};

double walk(const std::filesystem::path& folder, int last_step) {
  std::mt19937_64 random{1};
  double place = 0;
  const cr::Saver saver{folder};
  cr::MonitoredSession session{cr::StepExecutor{[&](auto&) { place += static_cast<double>(random() >> 11) * 0x1p-53; },
                                                cr::variable<"place">(place)},
                               cr::HookChain{cr::StopAtStep{.last_step = last_step}, RandomState{&random},
                                             cr::CheckpointSaver{saver, {.save_steps = 10}}},
                               cr::restore_latest(saver)};
  cr::run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run();
  });
  EXPECT_EQ(session.hooks().template get<RandomState>().created, 1);
  return place;
}

TEST(StepFunctionsPage, StateThatIsNoVariable) {
  const crochet::test::TemporaryFolder folder;
  const double at_once = walk(folder.path() / "whole", 20);
  walk(folder.path() / "parts", 7);
  EXPECT_EQ(walk(folder.path() / "parts", 20), at_once);
}

TEST(StepFunctionsPage, SeveralExecutors) {
  Orbit coarse, fine;
  auto coarse_step = step_of(coarse);
  auto fine_step = step_of(fine);
  cr::MonitoredSession rough{coarse_step, cr::HookChain{cr::StopAtStep{.last_step = 10}}};
  cr::MonitoredSession exact{fine_step, cr::HookChain{}};
  while (!rough.should_stop()) {
    rough.run();
    for (int i = 0; i < 10; ++i) exact.run(cr::feed<"dt">(0.001));
  }
  rough.close();
  exact.close();
  EXPECT_NEAR(coarse.time, 0.1, 1e-12);
  EXPECT_NEAR(fine.time, 0.1, 1e-12);
  EXPECT_GT(std::abs(coarse.energy() + 0.5), std::abs(fine.energy() + 0.5));
}

TEST(StepFunctionsPage, AnExecutorIsUsedAgain) {
  Orbit orbit;
  auto step = step_of(orbit);
  for (int part = 0; part < 3; ++part) cr::run(step, cr::HookChain{cr::StopAtStep{.last_step = 100}});
  EXPECT_NEAR(orbit.time, 3, 1e-12);
}

struct FromTheStart {
  Orbit* orbit;
  void create_session(auto& /*session*/, cr::Coordinator& /*coordinator*/) { *orbit = Orbit{}; }
};

TEST(StepFunctionsPage, ACreator) {
  Orbit orbit;
  orbit.time = 5;
  cr::MonitoredSession session{step_of(orbit), cr::HookChain{}, FromTheStart{&orbit}};
  EXPECT_EQ(orbit.time, 0);
  session.close();
}

double train(const std::filesystem::path& folder, double* velocity) {
  Orbit orbit;
  cr::MonitoredTrainingSession session{step_of(orbit),
                                       cr::HookChain{cr::StopAtStep{.last_step = 500}},
                                       {.checkpoint_dir = folder, .save_checkpoint_steps = 200},
                                       cr::summaries<cr::summary::Scalar<"drift">>,
                                       cr::HookChain<>{},
                                       cr::Scaffold{}.with_init_fn([&](auto&) { orbit.velocity[1] = 1.1; })};
  *velocity = orbit.velocity[1];
  cr::run_session(session, [](auto& s) {
    while (!s.should_stop()) s.run();
  });
  return orbit.time;
}

TEST(StepFunctionsPage, AMonitoredTrainingSession) {
  const crochet::test::TemporaryFolder folder;
  double begins = 0, resumes = 0;
  EXPECT_NEAR(train(folder.path(), &begins), 5, 1e-9);
  EXPECT_EQ(begins, 1.1);
  EXPECT_NEAR(train(folder.path(), &resumes), 5, 1e-9);
  EXPECT_NE(resumes, 1.1);
}

}  // namespace step_functions_test
