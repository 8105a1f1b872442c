// SPDX-License-Identifier: Apache-2.0
// docs/deploying.md against the code: the struct of the page is the one that is written, its calls those of this file.
#include <crochet/checkpoint/init_from_checkpoint.hpp>
#include <crochet/checkpoint/predictor.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/io/safetensors.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/export/export_header.hpp>
#include <crochet/graph/layers/layers.hpp>
#include <crochet/model.hpp>
#include <crochet/session/run_session.hpp>
#include <crochet/session/session_creators.hpp>
#include <crochet/storage/read_floats.hpp>

#include "../io/current_folder.hpp"
#include "../io/temporary_folder.hpp"

namespace deploying_test {

namespace cr = crochet;
using namespace cr::literals;

struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    const cr::Tensor x = g.placeholder<float>("images", {g.dynamic("batch"), 784});
    g.name("logits", dense(relu(dense(x, 128, "hidden")), 10, "output"));
  }
};

// clang-format off
/// Writes the weights of the newest checkpoint of "folder" as shared/model.ckpt-<step>.safetensors.
void share_weights() {
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), cr::HookChain{}, cr::must_restore(cr::Saver{"folder"})};
  cr::Saver<cr::io::Safetensors> shared{"shared", {.float_storage = cr::FloatStorage::bfloat16}};
  shared.save(session);
  session.close();
}
// clang-format on

// clang-format off
/// W: float for the training, bfloat16 for the service.
template <class W>
struct Ranker {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto items = g.placeholder<std::int32_t>("items", {g.dynamic("batch"), 4});
    const auto known = cr::embedding<W>(items, 1000, 64, "items/table");
    const auto hidden = cr::relu(cr::dense<W>(cr::reshape(known, {g.dynamic("batch"), 256}), 128, "hidden"));
    g.name("score", cr::dense<W>(hidden, 1, "score"));
  }
};

std::vector<float> scores(const std::vector<std::int32_t>& items) {
  cr::Predictor<Ranker<cr::bfloat16>, "score"> predict{cr::Cpu{}, "ranker"};  // a checkpoint of Ranker<float>
  const auto [score] = predict(cr::feed<"items">(items));
  return {score.begin(), score.end()};
}
// clang-format on

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(DeployingPage, ShowsTheStructThatIsWritten) {
  const std::string page = text_of(CROCHET_SOURCE_DIR "/docs/deploying.md");
  const std::string written = cr::header_text(cr::described<Classifier, "logits">(), {.name = "Digits"});
  const std::size_t begin = page.find("struct Digits {"), end = page.find("\n};", begin);
  ASSERT_NE(end, std::string::npos);
  std::istringstream lines(page.substr(begin, end - begin));
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(';')) line.pop_back();  // of the declaration of predict
    EXPECT_NE(written.find(line), std::string::npos) << line;
  }
}

TEST(DeployingPage, ItsCallCompiles) {
  const auto write = [] {
    // clang-format off
cr::export_header<Classifier, "logits">("folder", "digits.hpp", {.name = "Digits"});
    // clang-format on
  };
  EXPECT_THROW(write(), cr::IoError);  // there is no such folder
}

#if defined(__x86_64__)
#define PREDICT predict_x86_64
// clang-format off
std::vector<float> PREDICT(std::span<const float> images) {
  static cr::Predictor<Classifier, "logits"> predict{cr::Cpu{.threads = 1}, "folder"};
  const auto [logits] = predict(cr::feed<"images">(images));
  return {logits.begin(), logits.end()};
}
// clang-format on
#undef PREDICT
constexpr auto predict_x86_64_v3 = predict_x86_64;  // executor/cpu/instruction_sets has a program with two such files
TEST(DeployingPage, AProgramForSeveralProcessorsChoosesWhenItRuns) {
  const crochet::test::TemporaryFolder folder;
  const crochet::test::CurrentFolder here{folder.path()};
  const std::vector<float> images(2 * 784, 0.5F);
  cr::MonitoredSession session{cr::Cpu{.threads = 1, .seed = 1}.compile<Classifier>(), cr::HookChain{}};
  cr::Saver{"folder"}.save(session, 3);
  // clang-format off
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const auto predict = has_avx2 ? predict_x86_64_v3 : predict_x86_64;
  // clang-format on
  const auto [logits] = session.run(cr::fetches<"logits">, cr::feed<"images">(images));
  EXPECT_EQ(predict(images), std::vector<float>(logits.begin(), logits.end()));
  session.close();
}
#endif

TEST(DeployingPage, AModelIsServedInHalfTheMemory) {
  const crochet::test::TemporaryFolder folder;
  const crochet::test::CurrentFolder here{folder.path()};
  const std::vector<std::int32_t> items{1, 2, 3, 999, 7, 0, 7, 20};
  std::vector<float> trained;
  {
    cr::MonitoredSession session{cr::Cpu{.seed = 1}.compile<Ranker<float>>(), cr::HookChain{}};
    const auto [score] = session.run(cr::fetches<"score">, cr::feed<"items">(items));
    trained.assign(score.begin(), score.end());
    cr::Saver{"ranker"}.save(session, 3);
    session.close();
  }
  const std::vector<float> served = scores(items);
  ASSERT_EQ(served.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NE(served[i], trained[i]);
    EXPECT_NEAR(served[i], trained[i], 0.02 * std::abs(trained[i]) + 1e-4);
  }
}

TEST(DeployingPage, WeightsAreSharedInHalfTheBytes) {
  const crochet::test::TemporaryFolder folder;
  const crochet::test::CurrentFolder here{folder.path()};
  {
    cr::MonitoredSession session{cr::Cpu{.seed = 1}.compile<Classifier>(), cr::HookChain{}};
    cr::Saver{"folder"}.save(session, 3);
    session.close();
  }
  share_weights();
  const std::uintmax_t bytes = std::filesystem::file_size("shared/model.ckpt-3.safetensors");
  EXPECT_LT(bytes, 206'000) << "two for each of 101,770 weights, and a header";

  const std::vector<float> image(784, 0.5F);
  cr::Predictor<Classifier, "logits"> trained{cr::Cpu{}, "folder"};
  const auto [exact] = trained(cr::feed<"images">(image));
  // clang-format off
cr::Predictor<Classifier, "logits"> predict{cr::Cpu{}, cr::Saver<cr::io::Safetensors>{"shared"}};
  // clang-format on
  const auto [rounded] = predict(cr::feed<"images">(image));
  EXPECT_EQ(predict.restored().step, 3);
  EXPECT_EQ(predict.restored().converted.size(), 4U);

  cr::export_header<Classifier, "logits">(cr::Saver<cr::io::Safetensors>{"shared"}, "digits.hpp", {.name = "Digits"});
  EXPECT_NE(text_of("digits.hpp").find("struct Digits"), std::string::npos);

  std::filesystem::create_directory("weights");
  std::filesystem::copy("shared/model.ckpt-3.safetensors", "weights/model.safetensors");
  // clang-format off
  cr::MonitoredSession session{cr::Cpu{}.compile<Classifier>(), cr::HookChain{}};
  cr::Saver<cr::io::Safetensors>{"weights"}.restore(session, "weights/model");  // weights/model.safetensors
  // clang-format on
  const auto [logits] = session.run(cr::fetches<"logits">, cr::feed<"images">(image));
  for (int i = 0; i < 10; ++i) {
    EXPECT_NEAR(rounded(0, i), exact(0, i), 0.05);
    EXPECT_EQ(logits(0, i), rounded(0, i));
  }
  session.close();
}

struct Training {
  static constexpr void define(cr::GraphBuilder& g) {
    const cr::Tensor x = g.placeholder<float>("images", {g.dynamic("batch"), 784});
    const cr::Tensor logits = g.name("logits", dense(relu(dense(x, 128, "hidden")), 10, "output"));
    g.name("train", minimize(cr::reduce_mean(cr::square(logits)), cr::Adam{}));
  }
};

TEST(DeployingPage, ATrainingBeginsWithWeights) {
  const crochet::test::TemporaryFolder folder;
  const crochet::test::CurrentFolder here{folder.path()};
  std::vector<float> bias(10, 0.25F);
  {
    cr::MonitoredSession session{cr::Cpu{.seed = 1}.compile<Classifier>(), cr::HookChain{}};
    std::copy(bias.begin(), bias.end(), session.executor().variable("output/bias"_n).begin());
    cr::Saver<cr::io::Safetensors>{"weights", {.basename = "model"}}.save(session, 3);
    std::filesystem::rename("weights/model-3.safetensors", "weights/model.safetensors");
    session.close();
  }
  const cr::Saver saver{"run"};
  // clang-format off
  const cr::InitFromCheckpoint<cr::io::Safetensors> weights{"weights/model"};  // weights/model.safetensors
  cr::MonitoredSession session{cr::Cpu{}.compile<Training>(), cr::HookChain{cr::CheckpointSaver{saver, {.save_secs = 60}}},
                               cr::ChiefSessionCreator{cr::Scaffold{}.with_saver(saver).with_init_fn(weights)}};
  // clang-format on
  const auto read = session.executor().variable("output/bias"_n);
  EXPECT_EQ(std::vector<float>(read.begin(), read.end()), bias);
  session.run("train"_n, cr::feed<"images">(std::vector<float>(784, 0.5F)));
  EXPECT_NE(read[0], 0.25F) << "the training goes on from there";
  session.close();
}

}  // namespace deploying_test
