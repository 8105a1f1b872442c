// SPDX-License-Identifier: Apache-2.0
// The tutorials docs/tutorials/resume.md and debug-a-nan.md: their programs are here, and run.
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/data.hpp>
#include <crochet/debug/dump/dump_reader.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/io/dumping_debug.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "../io/current_folder.hpp"
#include "../io/temporary_folder.hpp"
#include "page.hpp"

namespace session_tutorials_test {

namespace cr = crochet;

// clang-format off
namespace resume {

struct Curve {
  static constexpr void define(cr::GraphBuilder& g) {
    auto x = g.placeholder<float>("x", {g.dynamic("batch"), 1});
    auto y = g.placeholder<float>("y", {g.dynamic("batch"), 1});
    auto guess = g.name("guess", dense(tanh(dense(x, 16, "hidden")), 1, "output"));
    auto loss = g.name("loss", mean_squared_error(guess, y));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 0.01F}));
  }
};

auto points() {
  std::vector<float> x, y;
  for (int i = 0; i < 100; ++i) {
    x.push_back(static_cast<float>(i) / 50 - 1);
    y.push_back(std::sin(3 * x.back()));
  }
  return cr::data_set(cr::field<"x">(std::move(x), {1}), cr::field<"y">(std::move(y), {1}));
}

/// Trains until this step, and returns the loss of all points.
float train(const std::filesystem::path& folder, std::int64_t last_step) {
  const auto data = points();
  cr::DataBatches batches = data.shuffle(1).batch(32).repeat();
  const cr::Saver saver{folder};
  cr::MonitoredSession session{
      cr::Cpu{.threads = 1, .seed = 1}.compile<Curve>(),
      cr::HookChain{cr::StopOnSignal{}, cr::StopAtStep{.last_step = last_step},
                    cr::CheckpointInputPipeline{batches},                // the position in the data is saved, too
                    cr::CheckpointSaver{saver, {.save_steps = 100}}},    // behind every hook with state
      cr::restore_latest(saver)};                                        // initialized if there is no checkpoint
  std::printf("begins at step %lld\n", static_cast<long long>(session.step()));
  float loss = 0;
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run(cr::targets<"train">, batches.next());
    const auto [all] = s.run(cr::no_hooks, cr::fetches<"loss">, cr::feed<"x">(data.view<"x">()),
                             cr::feed<"y">(data.view<"y">()));
    loss = all;
  });
  std::printf("%s\nloss %.9g\n", to_string(session.stop_reason()).c_str(), static_cast<double>(loss));
  return loss;
}

int main(int argc, char** argv) {
  train(argc > 1 ? argv[1] : "run", argc > 2 ? std::atoll(argv[2]) : 2000);
  return cr::StopOnSignal::exit_code();
}

}  // namespace resume

namespace debug_a_nan {

struct Faulty {
  static constexpr void define(cr::GraphBuilder& g) {
    auto x = g.placeholder<float>("x", {g.dynamic("batch"), 2});
    auto y = g.placeholder<float>("y", {g.dynamic("batch"), 1});
    auto p = g.name("p", sigmoid(dense(relu(dense(x, 16, "hidden")), 1, "output")));
    auto log_p = g.name("log_p", log(p));
    auto log_rest = g.name("log_rest", log(1.0F - p));
    auto rest = g.name("rest", (1.0F - y) * log_rest);
    auto loss = g.name("loss", -reduce_mean(y * log_p + rest));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 0.05F}));
  }
};

struct Repaired {
  static constexpr void define(cr::GraphBuilder& g) {
    auto x = g.placeholder<float>("x", {g.dynamic("batch"), 2});
    auto y = g.placeholder<float>("y", {g.dynamic("batch"), 1});
    auto logits = dense(relu(dense(x, 16, "hidden")), 1, "output");
    g.name("p", sigmoid(logits));
    auto loss = g.name("loss", sigmoid_cross_entropy(logits, y));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 0.05F}));
  }
};

/// Two clouds of points, around (-3, -1) and (3, 1).
auto clouds() {
  cr::SplitMix64 random{1};
  std::vector<float> x, y;
  for (int i = 0; i < 256; ++i) {
    const float side = i % 2 == 0 ? -1.0F : 1.0F;
    for (const float center : {3.0F, 1.0F}) x.push_back(side * center + static_cast<float>(random() >> 40) * 0x1p-24F);
    y.push_back(i % 2 == 0 ? 0.0F : 1.0F);
  }
  return cr::data_set(cr::field<"x">(std::move(x), {2}), cr::field<"y">(std::move(y), {1}));
}

template <class Model>
void train(const std::filesystem::path& dumps) {
  cr::DataBatches batches = clouds().shuffle(1).batch(64).repeat();
  cr::train<Model>(cr::Cpu{.threads = 1, .seed = 1}, batches,
                   cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::NanTensor<"loss">{},
                                 cr::DumpingDebugHook{dumps, cr::when_not_finite<"loss">}});
}

int main() {
  try {
    train<Faulty>("dumps");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

std::string first_with_nan(const std::filesystem::path& dumps) {
  const cr::debug::DumpReader reader{dumps};
  const cr::debug::DumpRun run = reader.open(0);
  for (const cr::debug::DumpEntry& entry : run.tensors())
    if (run.open(entry).statistics().nan() > 0) return entry.tensor();
  return "none";
}

}  // namespace debug_a_nan
// clang-format on

/// The file of the weights of a step.
std::filesystem::path data_file(const std::filesystem::path& folder, std::int64_t step) {
  const std::string start = "model.ckpt-" + std::to_string(step) + ".data";
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(start)) return entry.path();
  ADD_FAILURE() << folder << " has no " << start;
  return {};
}

TEST(ResumeTutorial, AnInterruptedTrainingHasTheSameLoss) {
  const crochet::test::TemporaryFolder folder;
  const float whole = resume::train(folder.path() / "a", 600);
  EXPECT_NE(resume::train(folder.path() / "b", 230), whole);
  EXPECT_EQ(resume::train(folder.path() / "b", 600), whole);
}

TEST(ResumeTutorial, TheCheckpointBeforeADamagedOneHasTheSameLoss) {
  const crochet::test::TemporaryFolder folder;
  const float whole = resume::train(folder.path() / "a", 600);
  resume::train(folder.path() / "b", 230);
  std::filesystem::resize_file(data_file(folder.path() / "b", 230), 100);
  EXPECT_EQ(resume::train(folder.path() / "b", 600), whole);
}

TEST(ResumeTutorial, MainTakesTheFolderAndTheLastStep) {
  const crochet::test::TemporaryFolder folder;
  std::string program = "resume", run = (folder.path() / "run").string(), steps = "50";
  std::vector<char*> arguments{program.data(), run.data(), steps.data()};
  EXPECT_EQ(resume::main(3, arguments.data()), 0);
  EXPECT_TRUE(std::filesystem::exists(data_file(folder.path() / "run", 50)));
}

TEST(DebugANanTutorial, TheDumpNamesTheFaultAndTheRepairedModelHasNone) {
  const crochet::test::TemporaryFolder folder;
  std::string first;
  {
    const crochet::test::CurrentFolder here{folder.path()};
    EXPECT_EQ(debug_a_nan::main(), 1);
    first = debug_a_nan::first_with_nan("dumps");
  }
  EXPECT_NE(crochet::test::text_of("docs/tutorials/debug-a-nan.md").find(first + "  Mul"), std::string::npos) << first;
  EXPECT_NO_THROW(debug_a_nan::train<debug_a_nan::Repaired>(folder.path() / "repaired"));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path() / "repaired"));
}

}  // namespace session_tutorials_test
