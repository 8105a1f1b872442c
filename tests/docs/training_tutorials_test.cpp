// SPDX-License-Identifier: Apache-2.0
// The tutorials docs/tutorials/first-training.md and deploy.md: their programs are here, and run one after the other.
// And the program of README.md that is about the same.
#include <crochet/checkpoint/fit.hpp>
#include <crochet/checkpoint/predictor.hpp>
#include <crochet/crochet.hpp>
#include <crochet/data.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/export/export_header.hpp>
#include <crochet/export/export_onnx.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "../io/current_folder.hpp"
#include "../io/temporary_folder.hpp"

namespace training_tutorials_test {

namespace cr = crochet;
using namespace cr::literals;

// clang-format off
struct Houses {
  static constexpr void define(cr::GraphBuilder& g) {
    auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    auto y = g.placeholder<float>("y", {g.dynamic("batch"), 1});
    auto hidden = tanh(dense(x * 0.03F, 16, "hidden"));          // areas and ages are some hundreds at most
    auto price = g.name("price", dense(hidden, 1, "output") * 100.0F);
    auto loss = g.name("loss", mean_squared_error(price * 0.01F, y * 0.01F));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 0.02F}));
  }
};

namespace first_training {

int main() {
  const cr::Table table = cr::read_csv("houses.csv").drop_missing();
  const auto all = cr::data_set(cr::field<"x">(table.columns<"area", "rooms", "age">()),
                                cr::field<"y">(table.columns<"price">()));
  const auto [training, validation] = all.split(0.8, 1);

  const cr::FitHistory history = cr::fit<Houses, "loss">(
      cr::Cpu{.threads = 1, .seed = 1}, training.shuffle(1).batch(16),
      {.epochs = 100, .validation = validation.batch(64), .patience = 20, .folder = "houses"});
  std::puts(history.text().c_str());
  std::printf("%s\n", to_string(history.reason).c_str());
  return 0;
}

}  // namespace first_training

namespace deploy {

int main() {
  cr::Predictor<Houses, "price"> predict{cr::Cpu{.threads = 1}, "houses/best"};
  const std::vector<float> houses{120, 4, 30,   // area, rooms and age of one house,
                                  60, 2, 5};    // and of another
  const auto [price] = predict(cr::feed<"x">(houses));
  std::printf("%.0f and %.0f thousand\n", price(0, 0), price(1, 0));
  return 0;
}

std::vector<float> prices(const cr::Predictor<Houses, "price">& predictor, const std::vector<std::vector<float>>& requests) {
  std::vector<float> answers(requests.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    threads.emplace_back([&, i, predict = predictor.worker()]() mutable {
      const auto [price] = predict(cr::feed<"x">(requests[i]));
      answers[i] = price(0, 0);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return answers;
}

}  // namespace deploy
// clang-format on

/// The current folder is a new one, with the data of the page.
class TrainingTutorials : public testing::Test {
 protected:
  TrainingTutorials() {
    std::filesystem::copy_file(std::filesystem::path(CROCHET_SOURCE_DIR) / "docs/tutorials/houses.csv",
                               folder_.path() / "houses.csv");
  }

  const crochet::test::TemporaryFolder folder_;
  const crochet::test::CurrentFolder here_{folder_.path()};
};

/// The formula of which houses.csv is made, without its noise of 10.
float right_price(float area, float rooms, float age) {
  return 50 + 3 * area + 10 * rooms - 2 * age + 0.02F * age * age;
}

TEST_F(TrainingTutorials, ATrainingThenADeployment) {
  EXPECT_THROW(deploy::main(), cr::IoError);  // nothing is trained
  ASSERT_EQ(first_training::main(), 0);
  ASSERT_EQ(deploy::main(), 0);
  const cr::Predictor<Houses, "price"> predictor{cr::Cpu{.threads = 1}, "houses/best"};
  const auto answers = deploy::prices(predictor, {{120, 4, 30}, {60, 2, 5}, {180, 5, 60}});
  EXPECT_NEAR(answers[0], right_price(120, 4, 30), 20);
  EXPECT_NEAR(answers[1], right_price(60, 2, 5), 20);
  EXPECT_NEAR(answers[2], right_price(180, 5, 60), 20);
}

TEST_F(TrainingTutorials, TheReadmesTrainingInOneCall) {
  const cr::Table table = cr::read_csv("houses.csv").drop_missing();
  const auto data =
      cr::data_set(cr::field<"x">(table.columns<"area", "rooms", "age">()), cr::field<"y">(table.columns<"price">()));
  // clang-format off
const auto [training, validation] = data.split(0.8, 1);   // from a CSV file, .npy files or arrays
const cr::FitHistory history = cr::fit<Houses, "loss">(cr::Cpu{}, training.shuffle(1).batch(32),
    {.epochs = 100, .validation = validation.batch(64), .patience = 10, .folder = "run"});
cr::Predictor<Houses, "price"> predict{cr::Cpu{}, "run/best"};
cr::export_onnx<Houses, "price">("run/best", "houses.onnx");
cr::export_header<Houses, "price">("run/best", "houses.hpp");   // one C++17 header without dependencies
  // clang-format on
  EXPECT_TRUE(history.best.has_value());
  const std::vector<float> house{120, 4, 30};
  EXPECT_EQ(predict(cr::feed<"x">(house))["price"_n].shape(), (std::array<std::int64_t, 2>{1, 1}));
  EXPECT_GT(std::filesystem::file_size("houses.onnx"), 16U * 3 * sizeof(float));
  EXPECT_GT(std::filesystem::file_size("houses.hpp"), 16U * 3 * sizeof(float));
}

}  // namespace training_tutorials_test
