// SPDX-License-Identifier: Apache-2.0
// fit: a whole training in one call.
#include <crochet/checkpoint/fit.hpp>
#include <crochet/checkpoint/latest_step.hpp>
#include <crochet/checkpoint/predictor.hpp>
#include <crochet/crochet.hpp>
#include <crochet/data.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/testing.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace fit_test {

namespace cr = crochet;
namespace fs = std::filesystem;

struct Line {
  static constexpr void define(cr::GraphBuilder& g) {
    auto x = g.placeholder<float>("x", {g.dynamic("batch"), 2});
    auto y = g.placeholder<float>("y", {g.dynamic("batch"), 1});
    auto prediction = g.name("prediction", dense(x, 1, "output"));
    auto loss = g.name("loss", mean_squared_error(prediction, y));
    g.name("squares", reduce_mean(square(prediction)));
    g.name("train", minimize(loss, cr::SGD{.learning_rate = 0.05}));
  }
};

/// y = 2 a - b + 1, for `rows` rows.
auto points(int rows, float shift = 0) {
  std::vector<float> x, y;
  for (int i = 0; i < rows; ++i) {
    const float a = static_cast<float>(i % 7) / 7, b = static_cast<float>(i % 5) / 5;
    x.insert(x.end(), {a, b});
    y.push_back(2 * a - b + 1 + shift);
  }
  return cr::data_set(cr::field<"x">(std::move(x), {2}), cr::field<"y">(std::move(y), {1}));
}
fs::path fresh(const std::string& name) {
  const fs::path folder = fs::path(testing::TempDir()) / "fit_test" / name;
  fs::remove_all(folder);
  return folder;
}
cr::Cpu cpu() { return {.threads = 1, .seed = 1}; }
cr::Sink quiet() {
  return [](std::string_view) {};
}

struct Digits {
  static constexpr void define(cr::GraphBuilder& g) {
    auto images = g.placeholder<float>("images", {g.dynamic("batch"), 2});
    auto labels = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    auto logits = dense(images, 2, "output");
    g.name("accuracy", accuracy(logits, labels));
    auto loss = g.name("loss", sparse_softmax_cross_entropy(logits, labels));
    g.name("train", minimize(loss, cr::SGD{.learning_rate = 1}));
  }
};
/// Images of two pixels; the label says which one is the brighter.
cr::LabelledImages bright(std::uint8_t images) {
  cr::LabelledImages::Images pixels{{images, 1, 2}, {}};
  cr::LabelledImages::Labels labels{{images}, {}};
  for (std::uint8_t i = 0; i < images; ++i) {
    const auto level = static_cast<std::uint8_t>(100 + i), other = static_cast<std::uint8_t>(i);
    pixels.data.insert(pixels.data.end(), {i % 2 == 0 ? level : other, i % 2 == 0 ? other : level});
    labels.data.push_back(static_cast<std::uint8_t>(i % 2));
  }
  return {std::move(pixels), std::move(labels)};
}

TEST(Fit, TakesImagesWithLabels) {
  auto executor = cpu().compile<Digits>();
  const auto history = cr::fit<"loss", "accuracy">(
      executor, bright(60).batch(8).shuffle(1).feeds<"images", "labels">(),
      {.epochs = 20, .validation = bright(20).batch(8).feeds<"images", "labels">(), .bar = false, .sink = quiet()});
  ASSERT_EQ(history.epochs.size(), 20U);
  EXPECT_EQ(history.epochs[0].step, 8);
  EXPECT_LT(history.epochs[19].validation[0], history.epochs[0].validation[0]);
  EXPECT_EQ(history.epochs[19].validation[1], 1.0);
}

TEST(Fit, WithImagesItContinuesBitForBit) {
  const auto trained = [](const fs::path& folder, std::int64_t epochs) {
    auto executor = cpu().compile<Digits>();
    cr::fit<"loss">(executor, bright(50).batch(8).shuffle(1).feeds<"images", "labels">(),
                    {.epochs = epochs, .folder = folder, .bar = false, .sink = quiet()});
    const auto kernel = executor.variable(cr::Name<"output/kernel">{});
    return std::vector<float>(kernel.begin(), kernel.end());
  };
  const fs::path folder = fresh("images");
  trained(folder, 2);
  EXPECT_EQ(trained(folder, 5), trained(fresh("images at once"), 5));
}

TEST(Fit, TrainsOverEpochsAndReturnsATable) {
  auto executor = cpu().compile<Line>();
  const auto history =
      cr::fit<"loss">(executor, points(50).shuffle(1).batch(16),
                      {.epochs = 5, .validation = points(20).batch(16), .bar = false, .sink = quiet()});
  ASSERT_EQ(history.epochs.size(), 5U);
  EXPECT_EQ(history.names, std::vector<std::string>{"loss"});
  for (std::size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(history.epochs[i].epoch, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(history.epochs[i].step, 4 * (static_cast<std::int64_t>(i) + 1)) << "50 rows in batches of 16";
    ASSERT_EQ(history.epochs[i].training.size(), 1U);
    ASSERT_EQ(history.epochs[i].validation.size(), 1U);
  }
  EXPECT_LT(history.epochs[4].validation[0], history.epochs[0].validation[0]);
  EXPECT_EQ(to_string(history.reason), "StopAtEpoch: epoch 5 was completed");
  const std::string text = history.text();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6) << text;
}

/// Records the loss of each run.
struct Records {
  using handles = cr::Phases<cr::phase::after_run>;
  static constexpr cr::Fetches<cr::Name<"loss">> fetches{};
  std::vector<double>* losses;
  void after_run(auto& /*run*/, const auto& values) const {
    losses->push_back(static_cast<double>(values[cr::Name<"loss">{}]));
  }
};
TEST(Fit, TheTrainingLossIsTheMeanOverTheRowsOfTheEpoch) {
  std::vector<double> losses;
  auto executor = cpu().compile<Line>();
  const auto history = cr::fit<"loss">(executor, points(50).batch(16), {.epochs = 2, .bar = false, .sink = quiet()},
                                       cr::HookChain{Records{&losses}});
  ASSERT_EQ(losses.size(), 8U);
  const auto mean = [&](std::size_t i) {
    return (16 * (losses[i] + losses[i + 1] + losses[i + 2]) + 2 * losses[i + 3]) / 50;
  };
  EXPECT_DOUBLE_EQ(history.epochs[0].training[0], mean(0));
  EXPECT_DOUBLE_EQ(history.epochs[1].training[0], mean(4));
  EXPECT_TRUE(history.epochs[0].validation.empty());
}

TEST(Fit, BeginsWithTheFirstBatchOfDataThatWereIteratedBefore) {
  auto data = points(40).shuffle(3).batch(10);
  const auto text = [&] {
    auto executor = cpu().compile<Line>();
    return cr::fit<"loss">(executor, data, {.epochs = 2, .bar = false, .sink = quiet()}).text();
  };
  const std::string fresh_data = text();
  (void)data.next();
  EXPECT_EQ(text(), fresh_data);
  for (const auto& batch : data) (void)batch;
  EXPECT_EQ(text(), fresh_data);
}

TEST(Fit, EarlyStoppingRestoresTheBestEpoch) {
  auto executor = cpu().compile<Line>();
  // Validation data of another line: the loss on them falls at first and then rises.
  const auto validation = points(20, -0.8f).batch(20);
  const auto history =
      cr::fit<"loss">(executor, points(50).batch(16),
                      {.epochs = 500, .validation = validation, .patience = 3, .bar = false, .sink = quiet()});
  ASSERT_TRUE(history.best.has_value());
  const auto best = static_cast<std::size_t>(*history.best);
  EXPECT_EQ(history.epochs.size(), best + 4) << to_string(history.reason);
  for (const auto& epoch : history.epochs) EXPECT_GE(epoch.validation[0], history.epochs[best].validation[0]);
  // The executor has the weights of that epoch.
  cr::RawSession session{executor};
  double loss = 0;
  auto batches = validation;
  while (!batches.done()) {
    const auto [value] = session.run(cr::fetches<"loss">, batches.next());
    loss = static_cast<double>(value);
  }
  EXPECT_EQ(loss, history.epochs[best].validation[0]);
}

TEST(Fit, ContinuesInAFolderAsIfUninterrupted) {
  const auto whole_folder = fresh("whole"), folder = fresh("parts");
  const auto validation = points(20).batch(16);
  const auto options = [&](const fs::path& in, std::int64_t epochs) {
    return cr::FitOptions<std::remove_const_t<decltype(validation)>>{
        .epochs = epochs, .validation = validation, .folder = in, .bar = false, .sink = quiet()};
  };
  const auto data = points(50).shuffle(3).batch(16);
  const auto whole = cr::fit<Line, "loss">(cpu(), data, options(whole_folder, 6));
  cr::fit<Line, "loss">(cpu(), data, options(folder, 2));
  // A part of an epoch: the run in the middle of the third one stops the training.
  cr::fit<Line, "loss">(cpu(), data, options(folder, 6), cr::HookChain{cr::StopAtStep{.last_step = 10}});
  const auto parts = cr::fit<Line, "loss">(cpu(), data, options(folder, 6));
  ASSERT_EQ(parts.epochs.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(parts.epochs[i].step, whole.epochs[i].step);
    EXPECT_EQ(parts.epochs[i].training, whole.epochs[i].training) << "epoch " << i + 1;
    EXPECT_EQ(parts.epochs[i].validation, whole.epochs[i].validation) << "epoch " << i + 1;
  }
  EXPECT_EQ(parts.best, whole.best);

  cr::Predictor<Line, "prediction"> predict{cpu(), folder / "best"};
  cr::Predictor<Line, "prediction"> expected{cpu(), whole_folder / "best"};
  const std::vector<float> x{0.5F, 0.25F};
  const cr::TensorView<const float, 2> row{x.data(), {1, 2}};
  const auto [a] = predict(cr::feed<"x">(row));
  const auto [b] = expected(cr::feed<"x">(row));
  EXPECT_EQ(a(0, 0), b(0, 0));
}

/// Fails the run that makes a step, once.
struct LosesItsMachine {
  using handles = cr::Phases<cr::phase::after_run>;
  std::int64_t at;
  bool* done;
  void after_run(auto& run, const auto& /*values*/) const {
    if (run.step() == at && !std::exchange(*done, true)) throw cr::AbortedError("the machine is gone");
  }
};
TEST(Fit, ARecoveryInAnEpochChangesNothing) {
  const auto options = [](const fs::path& folder) {
    return cr::FitOptions<decltype(points(1).batch(1))>{
        .epochs = 4, .validation = points(20).batch(16), .folder = folder, .bar = false, .sink = quiet()};
  };
  const auto data = points(50).shuffle(3).batch(16);
  const auto whole = cr::fit<Line, "loss">(cpu(), data, options(fresh("undisturbed")));
  bool done = false;
  const auto recovered =
      cr::fit<Line, "loss">(cpu(), data, options(fresh("recovered")), cr::HookChain{LosesItsMachine{10, &done}});
  EXPECT_TRUE(done);
  ASSERT_EQ(recovered.epochs.size(), whole.epochs.size());
  for (std::size_t i = 0; i < whole.epochs.size(); ++i) {
    EXPECT_EQ(recovered.epochs[i].step, whole.epochs[i].step);
    EXPECT_EQ(recovered.epochs[i].training, whole.epochs[i].training);
    EXPECT_EQ(recovered.epochs[i].validation, whole.epochs[i].validation);
  }
}
TEST(Fit, WithoutAFolderThereIsNoRecovery) {
  bool done = false;
  EXPECT_THROW((cr::fit<Line, "loss">(cpu(), points(50).batch(16), {.epochs = 4, .bar = false, .sink = quiet()},
                                      cr::HookChain{LosesItsMachine{10, &done}})),
               cr::AbortedError);
}
TEST(Fit, ContinuesWithOtherValidationData) {
  const auto folder = fresh("other_metric");
  const auto data = points(50).batch(16);
  cr::fit<Line, "loss">(cpu(), data, {.epochs = 2, .patience = 5, .folder = folder, .bar = false, .sink = quiet()});
  const auto history = cr::fit<Line, "loss">(cpu(), data,
                                             {.epochs = 4,
                                              .validation = points(20).batch(16),
                                              .patience = 5,
                                              .folder = folder,
                                              .bar = false,
                                              .sink = quiet()});
  ASSERT_EQ(history.epochs.size(), 4U);
  EXPECT_EQ(history.best, 3) << "of the validation data, which the first two epochs did not have";
}

TEST(Fit, ContinuesWithoutValidationData) {
  const auto folder = fresh("no_validation");
  const auto data = points(50).batch(16);
  cr::FitOptions<decltype(points(1).batch(16))> options{.epochs = 2, .folder = folder, .bar = false, .sink = quiet()};
  options.aim = cr::Aim::highest;
  options.validation = points(20).batch(16);
  cr::fit<Line, "loss">(cpu(), data, options);
  options.validation.reset();
  options.epochs = 4;
  const auto history = cr::fit<Line, "loss">(cpu(), data, options);
  ASSERT_TRUE(history.best.has_value());
  EXPECT_EQ(history.epochs.at(static_cast<std::size_t>(*history.best)).step,
            cr::latest_checkpoint_step(folder / "best").value())
      << "the epoch whose weights were restored";
}
TEST(Fit, ContinuesAfterTwoInterruptionsInTheFirstEpoch) {
  const auto folder = fresh("first_epoch");
  const auto data = points(50).batch(16);
  const auto until = [&](std::int64_t steps) {
    return cr::fit<Line, "loss">(cpu(), data, {.epochs = 3, .folder = folder, .bar = false, .sink = quiet()},
                                 cr::HookChain{cr::StopAtStep{.num_steps = steps}});
  };
  EXPECT_TRUE(until(1).epochs.empty());
  EXPECT_TRUE(until(1).epochs.empty());
  EXPECT_EQ(until(100).epochs.size(), 3U);
}

TEST(Fit, RefusesSettings) {
  auto executor = cpu().compile<Line>();
  const auto data = points(50).batch(16);
  EXPECT_THROW(cr::fit<"loss">(executor, data, {.epochs = 0}), cr::LogicError);
  EXPECT_THROW(cr::fit<"loss">(executor, data, {.patience = -1}), cr::LogicError);
  const auto refused = [&](auto options) -> std::string {
    try {
      static_cast<void>(cr::fit<"loss", "squares">(executor, data, options));
    } catch (const cr::LogicError& error) {
      return error.what();
    }
    return "";
  };
  using Options = cr::FitOptions<decltype(points(50).batch(16))>;
  EXPECT_EQ(refused(Options{.monitor = "squares"}),
            "crochet: fit: set .aim for the monitored \"squares\": Aim::lowest or Aim::highest");
  EXPECT_EQ(refused(Options{.monitor = "accuracy", .aim = cr::Aim::highest}),
            "crochet: fit: .monitor \"accuracy\" is none of its scalars: loss, squares");
}

}  // namespace fit_test
