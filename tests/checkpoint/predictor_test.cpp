// SPDX-License-Identifier: Apache-2.0
// Predictors: results, threads, and what they restore.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <crochet/checkpoint/predictor.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/session/monitored_session.hpp>
#include <crochet/session/raw_session.hpp>

#include "../io/faulty_files.hpp"
#include "directory.hpp"

namespace crochet {
namespace predictor_test {

/// An operation that no device can run: a program that compiles a run of it does not compile.
constexpr TypedShape infer_nowhere(const OpInputs& in) { return in[0]; }
inline constexpr Op nowhere{.name = "nowhere", .kind = OpKind::elementwise, .infer = infer_nowhere};

constexpr Tensor network(Tensor images, bool training) {
  const Tensor hidden = relu(dense(images, 48, "hidden"));
  return dense(training ? dropout(hidden, 0.2) : hidden, 5, "output");
}

/// Of the training: what the logits do not need cannot be compiled.
struct Training {
  static constexpr void define(GraphBuilder& g) {
    const Tensor images = g.placeholder<float>("images", {g.dynamic("batch"), 33}),
                 labels = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    const Tensor loss = sparse_softmax_cross_entropy(network(images, true), labels);
    g.name("train", minimize(loss, Adam{}));
    g.name("loss", g.apply(nowhere, loss));
    const SharedVariables same(g);
    const Tensor logits = g.name("logits", network(images, false));
    g.name("classes", softmax(logits));
    g.name("most", reduce_max(logits));
  }
};
/// The same network alone, without slots.
struct Network {
  static constexpr void define(GraphBuilder& g) {
    const Tensor images = g.placeholder<float>("images", {g.dynamic("batch"), 33});
    g.name("logits", network(images, false));
    g.name("energy", reduce_sum(square(cast<double>(images))));  // its parts depend on the limit of threads
  }
};
/// Another number of classes, and a further variable of another type.
struct Other {
  static constexpr void define(GraphBuilder& g) {
    const Tensor images = g.placeholder<float>("images", {g.dynamic("batch"), 33});
    const Tensor hidden = relu(dense(images, 48, "hidden"));
    const Tensor count = g.variable<std::int32_t>("count", {}, zeros());
    g.name("logits", dense(hidden, 6, "output") + cast<float>(count));
  }
};
struct Counted {
  static constexpr void define(GraphBuilder& g) {
    const Tensor count = g.variable<float>("count", {}, zeros());
    g.name("sum", dense(g.placeholder<float>("images", {1, 33}), 6, "output") + count);
  }
};

std::vector<std::string> diagnosed;

using Bits = std::vector<float>;

class PredictorTest : public ::testing::Test {
 protected:
  Directory dir;
  test::LocalFilesWithoutSync quick;
  std::vector<std::string> said;
  std::vector<float> pixels = std::vector<float>(std::size_t{33} * 300);

  PredictorTest() {
    for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * 7919 % 1009) / 1009 - 0.4F;
  }
  Saver<> saver() {
    return Saver{dir.path(), {.say = [this](std::string_view line) { said.emplace_back(line); }, .files = &quick}};
  }
  /// Saves the initial weights of a model.
  template <class Model>
  void save(std::int64_t step, std::uint64_t seed = 3) {
    auto executor = Cpu{.threads = 1, .seed = seed}.compile<Model>();
    executor.initialize();
    if constexpr (detail::CountsSteps<decltype(executor)>) executor.variable("global_step"_n)[0] = step;
    RawSession session{executor};
    saver().save(session, step);
  }
  std::span<const float> images(std::size_t batch) const { return std::span(pixels).first(33 * batch); }

  template <class View>
  static Bits copy_of(const View& v) {
    return Bits(v.data(), v.data() + v.size());
  }
  /// The logits of a session of one program thread, with the saved weights.
  Bits expected(std::size_t batch, int threads) {
    auto executor = Cpu{.threads = threads, .seed = 3}.compile<Network>();
    executor.initialize();
    RawSession session{executor};
    const auto [logits] = session.run(fetches<"logits">, feed<"images">(images(batch)));
    return copy_of(logits);
  }
  template <class Error, class Model>
  std::string refusal() {
    try {
      Predictor<Model, "logits">{Cpu{.threads = 1}, saver()};
    } catch (const Error& error) {
      return error.what();
    }
    ADD_FAILURE() << "it predicts without the weights of the checkpoint";
    return "";
  }
};

TEST_F(PredictorTest, HasTheBitsOfASession) {
  save<Training>(12);
  for (const int threads : {1, 3}) {
    Predictor<Training, "logits"> predict{Cpu{.threads = threads}, saver()};
    auto worker = predict.worker();
    for (const std::size_t batch : {std::size_t{1}, std::size_t{300}, std::size_t{7}}) {
      const auto [logits] = predict(feed<"images">(images(batch)));
      ASSERT_EQ(logits.extent(0), static_cast<std::int64_t>(batch));
      EXPECT_EQ(copy_of(logits), expected(batch, threads)) << batch;
      EXPECT_EQ(copy_of(worker(feed<"images">(images(batch)))["logits"_n]), expected(batch, threads)) << batch;
    }
  }
}

TEST_F(PredictorTest, AWorkerDividesSumsAsThePredictorDoes) {
  save<Network>(1);
  std::vector<float> many(33 * 4000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = 1 / static_cast<float>(1 + i * 7919 % 10'007);
  std::vector<double> sums;
  for (const int threads : {1, 3}) {
    auto executor = Cpu{.threads = threads}.compile<Network>();
    RawSession session{executor};
    sums.push_back(session.run(fetches<"energy">, feed<"images">(many))["energy"_n]);
    Predictor<Network, "energy"> predict{Cpu{.threads = threads}, saver()};
    EXPECT_EQ(predict(feed<"images">(many))["energy"_n], sums.back());
    auto worker = predict.worker();
    EXPECT_EQ(worker(feed<"images">(many))["energy"_n], sums.back());
  }
  EXPECT_NE(sums[0], sums[1]) << "the sum does not show its parts";
}

TEST_F(PredictorTest, ManyThreadsShareTheWeights) {
  save<Network>(1);
  Predictor<Network, "logits"> predict{Cpu{.threads = 2}, saver()};
  const std::size_t batches[] = {1, 40, 3, 300};
  std::vector<Bits> right;
  for (const std::size_t batch : batches) right.push_back(expected(batch, 2));
  std::vector<int> wrong(4);
  std::vector<std::thread> threads;
  for (std::size_t t = 1; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      auto worker = predict.worker();
      for (std::size_t i = t; i < 24 + t; ++i) {
        const auto [logits] = worker(feed<"images">(images(batches[i % 4])));
        if (copy_of(logits) != right[i % 4]) ++wrong[t];
      }
    });
  }
  for (std::size_t i = 0; i < 24; ++i) {
    const auto [logits] = predict(feed<"images">(images(batches[i % 4])));
    if (copy_of(logits) != right[i % 4]) ++wrong[0];
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST_F(PredictorTest, AViewStaysWhileOtherWorkersPredict) {
  save<Network>(1);
  std::optional<Predictor<Network, "logits">> predict{std::in_place, Cpu{.threads = 1}, saver()};
  auto first = predict->worker(), second = predict->worker();
  const auto [logits] = first(feed<"images">(images(2)));
  second(feed<"images">(images(40).subspan(33 * 20)));
  auto moved = std::move(*predict);
  predict.reset();
  moved(feed<"images">(images(7)));
  auto third = std::move(second);
  EXPECT_EQ(copy_of(logits), expected(2, 1));
  { const auto gone = std::move(moved); }
  EXPECT_EQ(copy_of(third(feed<"images">(images(7)))["logits"_n]), expected(7, 1)) << "a worker keeps the weights";
}

TEST_F(PredictorTest, SeveralOutputsInTheOrderOfTheirNames) {
  save<Training>(5);
  Predictor<Training, "most", "logits", "classes"> predict{Cpu{.threads = 1}, saver()};
  const std::vector<std::int32_t> labels(4);  // the outputs do not need them
  const auto [most, logits, classes] =
      predict(feeds(feed<"labels">(labels), feed<"images">(std::vector<float>(pixels.begin(), pixels.begin() + 132))));
  EXPECT_EQ(copy_of(logits), expected(4, 1));
  EXPECT_EQ(most, *std::max_element(logits.begin(), logits.end()));
  float sum = 0;
  for (std::int64_t i = 0; i < 5; ++i) sum += classes(0, i);
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST_F(PredictorTest, AnotherDevice) {
  save<Network>(1);
  BasicPredictor<ExactCpu, Network, "logits"> predict{ExactCpu{.threads = 1}, saver()};
  auto worker = predict.worker();
  EXPECT_EQ(copy_of(worker(feed<"images">(images(3)))["logits"_n]), expected(3, 1));
}

TEST_F(PredictorTest, RestoresTheNewestIntactOneAndChangesNoFile) {
  save<Training>(3, 8);
  save<Training>(12);
  save<Training>(20, 8);
  Directory::write(dir / "model.ckpt-20.index", "damaged");
  const auto before = dir.names();
  std::filesystem::remove(dir / ".crochet-lock");
  diagnosed.clear();
  const DiagnosticSink sink = set_diagnostic_sink([](std::string_view line) { diagnosed.emplace_back(line); });
  Predictor<Training, "logits"> predict{Cpu{.threads = 1}, dir.path()};
  set_diagnostic_sink(sink);
  EXPECT_EQ(predict.restored().step, 12);
  EXPECT_EQ(predict.restored().prefix, dir / "model.ckpt-12");
  EXPECT_EQ(copy_of(predict(feed<"images">(images(3)))["logits"_n]), expected(3, 1));
  EXPECT_EQ(dir.names(), before);
  EXPECT_FALSE(std::filesystem::exists(dir / ".crochet-lock"));
  ASSERT_EQ(diagnosed.size(), 2U);
  EXPECT_TRUE(diagnosed[0].ends_with("; it is passed over")) << diagnosed[0];
  EXPECT_TRUE(diagnosed[1].starts_with("crochet: restored " + (dir / "model.ckpt-12").string())) << diagnosed[1];
}

TEST_F(PredictorTest, NeedsOnlyTheVariablesOfItsOutputs) {
  save<Network>(9);  // has no slots of Adam
  Predictor<Training, "logits"> predict{Cpu{.threads = 1}, saver()};
  EXPECT_EQ(copy_of(predict(feed<"images">(images(3)))["logits"_n]), expected(3, 1));
  save<Training>(10);
  Predictor<Training, "logits"> next{Cpu{.threads = 1}, saver()};
  EXPECT_FALSE(next.restored().ignored.empty()) << "the slots";
}

TEST_F(PredictorTest, RefusesWhatIsNoCheckpointOfTheModel) {
  const std::string pattern = (dir / "model.ckpt-*").string();
  EXPECT_EQ((refusal<IoError, Network>()), "crochet: there is no checkpoint " + pattern +
                                               ": the directory does not exist; save one first, or correct the path");
  save<Network>(1);
  const std::string prefix = "crochet: " + (dir / "model.ckpt-1").string() + " is not a checkpoint of this model: ";
  const std::string missing = refusal<CheckpointMismatchError, Other>();
  EXPECT_TRUE(missing.starts_with(prefix)) << missing;
  EXPECT_NE(missing.find("count int32 [] is not in it"), std::string::npos) << missing;
  EXPECT_NE(missing.find("output/kernel is float32 [48, 5] in it and float32 [48, 6] here"), std::string::npos)
      << missing;
  save<Counted>(2);
  const std::string other = refusal<CheckpointMismatchError, Other>();
  EXPECT_NE(other.find("count is float32 [] in it and int32 [] here"), std::string::npos) << other;
  for (const char* part : {"model.ckpt-1.index", "model.ckpt-2.index"}) Directory::write(dir / part, "damaged");
  const std::string damaged = refusal<DataLossError, Network>();
  EXPECT_TRUE(damaged.starts_with("crochet: no checkpoint " + pattern + " is whole")) << damaged;
}

template <class T>
struct Factor {
  static constexpr std::string_view state_key = "factor";
  void save_state(auto& out) const { out.put("factor", factor); }
  void load_state(auto& in) { in.get("factor", factor); }
  T factor = 1;
};

TEST_F(PredictorTest, AHookWithOtherFieldsThanThoseOfTheTrainingIsAnError) {
  auto executor = Cpu{.threads = 1, .seed = 3}.compile<Network>();
  HookChain chain{Factor<double>{7}, CheckpointSaver{saver(), {.save_steps = 100}}};
  MonitoredSession<decltype(executor)&, decltype(chain)&> session{executor, chain};
  session.close();
  Factor<double> same;
  Predictor<Network, "logits">{Cpu{.threads = 1}, saver(), same};
  EXPECT_EQ(same.factor, 7);
  Factor<float> other;
  try {
    Predictor<Network, "logits">{Cpu{.threads = 1}, saver(), other};
    ADD_FAILURE() << "it predicts without the state of the hook";
  } catch (const CheckpointMismatchError& error) {
    EXPECT_NE(std::string(error.what()).find("factor: lost factor float64, new factor float32"), std::string::npos)
        << error.what();
  }
}

TEST_F(PredictorTest, AFeedOfAnotherSizeIsAnErrorAndTheNextCallIsRight) {
  save<Network>(1);
  Predictor<Network, "logits"> predict{Cpu{.threads = 1}, saver()};
  auto worker = predict.worker();
  const TensorView<float, 2> wide{pixels.data(), {2, 34}};
  EXPECT_THROW(predict(feed<"images">(wide)), ShapeError);
  EXPECT_THROW(worker(feed<"images">(wide)), ShapeError);
  EXPECT_EQ(copy_of(worker(feed<"images">(images(2)))["logits"_n]), expected(2, 1));
  EXPECT_EQ(worker(feed<"images">(images(0)))["logits"_n].size(), 0);
}

}  // namespace predictor_test
}  // namespace crochet
