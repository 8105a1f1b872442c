// SPDX-License-Identifier: Apache-2.0
// The programs of docs/sessions.md, Inference: a training, and what predicts with its checkpoints.
#include <crochet/checkpoint/predictor.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string_view>
#include <thread>
#include <vector>

#include "../checkpoint/directory.hpp"

namespace inference_program_test {

namespace cr = crochet;
using namespace cr::literals;

struct Regressor {
  static constexpr void define(cr::GraphBuilder& g) {
    auto x = g.placeholder<float>("x", {g.dynamic("batch"), 2});
    auto y = g.placeholder<float>("y", {g.dynamic("batch"), 1});
    auto guess = g.name("guess", dense(tanh(dense(x, 16, "hidden")), 1, "output"));
    auto loss = g.name("loss", mean_squared_error(guess, y));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 0.02}));
  }
};

TEST(InferencePrograms, ThePredictorHasLearntWhatTheTrainingHas) {
  const cr::Directory dir;
  const cr::DiagnosticSink before = cr::set_diagnostic_sink([](std::string_view) {});
  {
    const std::vector<float> x{0.5F, -0.5F, 0.25F, 1.0F}, y{0.75F, -0.25F};
    cr::Saver saver{dir.path()};
    cr::MonitoredSession session{
        cr::Cpu{.threads = 1, .seed = 7}.compile<Regressor>(),
        cr::HookChain{cr::StopAtStep{.last_step = 200}, cr::CheckpointSaver{saver, {.save_secs = 60}}}};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) s.run("train"_n, cr::feed<"x">(x), cr::feed<"y">(y));
    });
  }

  cr::Predictor<Regressor, "guess"> predict{cr::Cpu{}, dir.path()};
  const std::vector<float> points{0.5F, -0.5F, 0.25F, 1.0F};  // a batch of two
  const auto [guess] = predict(cr::feed<"x">(points));
  EXPECT_NEAR(guess(0, 0), 0.75F, 0.05F);
  EXPECT_NEAR(guess(1, 0), -0.25F, 0.05F);
  EXPECT_EQ(predict.restored().step, 200);

  std::array<float, 2> replies{};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    threads.emplace_back([&, i] {
      auto worker = predict.worker();  // one for each thread
      const std::vector<float> point{points[2 * i], points[2 * i + 1]};
      replies[i] = worker(cr::feed<"x">(point))["guess"_n](0, 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  cr::set_diagnostic_sink(before);
  EXPECT_NEAR(replies[0], guess(0, 0), 1e-6F);
  EXPECT_NEAR(replies[1], guess(1, 0), 1e-6F);
}

}  // namespace inference_program_test
