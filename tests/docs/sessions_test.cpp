// SPDX-License-Identifier: Apache-2.0
// The programs of docs/sessions.md, and those of README.md, docs/debugging.md and docs/operations.md that need a
// session on the CPU.
#include <crochet/checkpoint/async_saver.hpp>
#include <crochet/checkpoint/monitored_training_session.hpp>
#include <crochet/checkpoint/predictor.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/data.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/io/dumping_debug.hpp>
#include <crochet/io/event_reader.hpp>
#include <crochet/io/event_writer.hpp>
#include <crochet/session/prefetch.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include "../io/current_folder.hpp"
#include "../io/temporary_folder.hpp"

namespace sessions_page_test {

// clang-format off
namespace cr = crochet;
using namespace cr::literals;

struct Regressor {
  static constexpr void define(cr::GraphBuilder& g) {
    auto x = g.placeholder<float>("x", {g.dynamic("batch"), 2});
    auto y = g.placeholder<float>("y", {g.dynamic("batch"), 1});
    auto guess = g.name("guess", dense(tanh(dense(x, 16, "hidden")), 1, "output"));
    auto loss = g.name("loss", mean_squared_error(guess, y));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 1e-3}));
  }
};

/// Custom data: a batch is a function of the number of batches drawn, so only that number is saved.
struct Data {
  auto next() {
    std::mt19937_64 random{++drawn};
    for (std::size_t i = 0; i < y.size(); ++i) {
      const float a = x[2 * i] = draw(random), b = x[2 * i + 1] = draw(random);
      y[i] = std::sin(3 * a) + b * b;
    }
    return cr::feeds(cr::feed<"x">(x), cr::feed<"y">(y));
  }
  static float draw(std::mt19937_64& random) { return static_cast<float>(random() >> 40) * 0x1p-23F - 1; }
  void save_state(auto& out) const { out.put("drawn", drawn); }
  void load_state(auto& in) { in.get("drawn", drawn); }

  std::uint64_t drawn = 0;
  std::vector<float> x = std::vector<float>(64), y = std::vector<float>(32);
};

int main() {
  Data data;
  const cr::Saver saver{"checkpoints"};
  cr::MonitoredSession session{
      cr::Cpu{.threads = 1, .seed = 7}.compile<Regressor>(),
      cr::HookChain{cr::StopOnSignal{}, cr::StopAtStep{.last_step = 1'000'000},
                    cr::LoggingTensor<"loss">{.every_steps = 10'000},
                    cr::CheckpointInputPipeline{data},                   // the data's state is saved, too
                    cr::CheckpointSaver{saver, {.save_secs = 60}}},      // behind every hook with state
      cr::restore_latest(saver)};                                        // initialized if there is no checkpoint
  std::printf("begins at step %lld\n", static_cast<long long>(session.step()));
  cr::run_session(session, [&](auto& s) {
    while (!s.should_stop()) s.run("train"_n, data.next());
    const std::vector<float> point{0.5F, -0.5F};                         // a batch of one
    const auto [guess] = s.run(cr::no_hooks, cr::fetches<"guess">, cr::feed<"x">(point));
    std::printf("guess %g\n", guess(0, 0));
  });
  std::printf("%s\n", to_string(session.stop_reason()).c_str());
  return cr::StopOnSignal::exit_code();
}
// clang-format on

namespace inference {

// clang-format off
int main() {
  cr::Predictor<Regressor, "guess"> predict{cr::Cpu{}, "checkpoints"};   // the model of the training
  const std::vector<float> points{0.5F, -0.5F, 0.25F, 1.0F};             // a batch of two
  const auto [guess] = predict(cr::feed<"x">(points));
  std::printf("guess %g and %g\n", guess(0, 0), guess(1, 0));
  return 0;
}
// clang-format on

}  // namespace inference

/// The points of one request, and its result.
struct Request {
  std::vector<float> points;
  float* result = nullptr;
  void reply(const cr::TensorView<float, 2>& guess) const { *result = guess(0, 0); }
};

/// The requests for one thread.
class Queue {
 public:
  explicit Queue(std::vector<Request> requests) : requests_(std::move(requests)) {}
  std::optional<Request> next() {
    if (requests_.empty()) return std::nullopt;
    Request last = std::move(requests_.back());
    requests_.pop_back();
    return last;
  }

 private:
  std::vector<Request> requests_;
};

void answer(std::vector<Queue>& queues) {
  cr::Predictor<Regressor, "guess"> predict{cr::Cpu{}, "checkpoints"};
  // clang-format off
  std::vector<std::thread> threads;
  for (Queue& requests : queues) {
    threads.emplace_back([&] {
      auto worker = predict.worker();                                    // one for each thread
      while (auto request = requests.next()) request->reply(worker(cr::feed<"x">(request->points))["guess"_n]);
    });
  }
  // clang-format on
  for (std::thread& thread : threads) thread.join();
}

float guess_of_a_session(const std::vector<float>& point) {
  // clang-format off
  cr::MonitoredSession session{cr::Cpu{}.compile<Regressor>(), cr::HookChain{}, cr::must_restore(cr::Saver{"checkpoints"})};
  const auto [guess] = session.run(cr::fetches<"guess">, cr::feed<"x">(point));
  // clang-format on
  return guess(0, 0);
}

/// Each test in a temporary folder of its own.
class SessionsPage : public testing::Test {
  const crochet::test::TemporaryFolder folder_;
  const crochet::test::CurrentFolder here_{folder_.path()};
};

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Starts the program and interrupts it at its first line of the log. Its process ends then.
[[noreturn]] void start_and_interrupt() {
  std::signal(SIGINT, SIG_DFL);  // a process in the background ignores it
  if (std::freopen("output.txt", "w", stdout) == nullptr || std::freopen("log.txt", "w", stderr) == nullptr)
    std::exit(1);
  std::thread user([] {
    while (text_of("log.txt").find("loss = ") == std::string::npos) std::this_thread::yield();
    kill(getpid(), SIGINT);  // Ctrl-C
  });
  user.detach();
  std::exit(sessions_page_test::main());
}
std::string output_of_an_interrupted_start() {
  EXPECT_EXIT(start_and_interrupt(), testing::ExitedWithCode(130), "");
  return text_of("output.txt");
}

/// The text of the line that begins with these words, behind them.
std::string line_behind(const std::string& output, const std::string& words) {
  const std::size_t found = output.find(words);
  EXPECT_NE(found, std::string::npos) << output;
  const std::size_t begin = found + words.size();
  return output.substr(begin, output.find_first_of(" \n", begin) - begin);
}

TEST_F(SessionsPage, AnInterruptedProgramAndItsInference) {
  EXPECT_EQ(line_behind(output_of_an_interrupted_start(), "begins at step "), "0");
  const std::string output = output_of_an_interrupted_start();
  EXPECT_NE(line_behind(output, "begins at step "), "0");

  testing::internal::CaptureStdout();
  inference::main();
  EXPECT_EQ(line_behind(testing::internal::GetCapturedStdout(), "guess "), line_behind(output, "guess "));

  const std::vector<float> point{0.5F, -0.5F};
  std::vector<float> results(4);
  std::vector<Queue> queues;
  for (std::size_t i = 0; i < 2; ++i)
    queues.emplace_back(std::vector<Request>{{point, &results[2 * i]}, {point, &results[2 * i + 1]}});
  answer(queues);
  EXPECT_EQ(results, std::vector<float>(4, guess_of_a_session(point)));
}

TEST_F(SessionsPage, ThePredictorHasLearntWhatTheTrainingHas) {
  const std::vector<float> points{0.5F, -0.5F, 0.25F, 1.0F}, values{0.75F, -0.25F};
  {
    cr::Saver saver{"checkpoints"};
    cr::MonitoredSession session{
        cr::Cpu{.threads = 1, .seed = 7}.compile<Regressor>(),
        cr::HookChain{cr::StopAtStep{.last_step = 2'000}, cr::CheckpointSaver{saver, {.save_secs = 60}}}};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) s.run("train"_n, cr::feed<"x">(points), cr::feed<"y">(values));
    });
  }

  cr::Predictor<Regressor, "guess"> predict{cr::Cpu{}, "checkpoints"};
  EXPECT_EQ(predict.restored().step, 2'000);
  const auto [guess] = predict(cr::feed<"x">(points));
  EXPECT_NEAR(guess(0, 0), values[0], 0.05F);
  EXPECT_NEAR(guess(1, 0), values[1], 0.05F);

  std::vector<float> results(2);
  std::vector<Queue> queues;
  for (std::size_t i = 0; i < 2; ++i)
    queues.emplace_back(std::vector<Request>{{{points[2 * i], points[2 * i + 1]}, &results[i]}});
  answer(queues);
  EXPECT_NEAR(results[0], guess(0, 0), 1e-6F);
  EXPECT_NEAR(results[1], guess(1, 0), 1e-6F);
}

/// The loop at the top of the page.
template <class Executor>
int run_a_loop(Executor& executor) {
  Data data;
  const auto next_batch = [&] { return data.next(); };
  // clang-format off
cr::MonitoredSession session{executor, cr::HookChain{cr::StopOnSignal{}, cr::StopAtStep{.last_step = 2000}}};
cr::run_session(session, [&](auto& s) {
  while (!s.should_stop()) s.run("train"_n, next_batch());
});
std::printf("%s\n", to_string(session.stop_reason()).c_str());   // StopAtStep: step 2000 was reached
return cr::StopOnSignal::exit_code();
  // clang-format on
}

TEST_F(SessionsPage, ALoop) {
  auto executor = cr::Cpu{.threads = 1}.compile<Regressor>();
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_a_loop(executor), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "StopAtStep: step 2000 was reached\n");
}

TEST_F(SessionsPage, EarlyStoppingAndTheBestWeights) {
  Data data, unseen{.drawn = 1'000'000};
  const cr::Saver saver{"checkpoints"};
  const std::vector held_out{unseen.next()};
  // clang-format off
  const cr::MetricChannel metrics;
  cr::BestCheckpoint best{cr::Saver{"best", {.max_to_keep = 0}}, metrics, "loss", {.aim = cr::Aim::lowest, .keep = 3}};
  cr::HookChain chain{cr::StopOnSignal{}, cr::StopAtStep{.last_step = 1'000'000}, cr::CheckpointInputPipeline{data},
                      cr::Evaluate{cr::fetches<"loss">, held_out, {.every_steps = 1'000, .then = metrics}},
                      cr::stop_if_no_decrease(metrics, "loss", 20'000),  // in the step of the evaluation
                      best,
                      cr::CheckpointSaver{saver, {.save_secs = 60}},
                      best.restore_at_end()};                            // the session ends with the best weights
  // clang-format on
  cr::MonitoredSession session{cr::Cpu{.threads = 1, .seed = 7}.compile<Regressor>(), std::move(chain)};
  cr::run_session(session, [&](auto& s) {
    while (s.step() < 4'000) s.run("train"_n, data.next());
  });
  EXPECT_EQ(best.kept().size(), 3U);
}

TEST_F(SessionsPage, ACurveOfHeldOutDataInAnEventFile) {
  Data data, unseen{.drawn = 1'000'000};
  const std::vector held_out{unseen.next()};
  const cr::MetricChannel metrics;
  const cr::io::EventWriter events{"logs"};
  // clang-format off
cr::Evaluate validation{cr::fetches<"loss">, held_out, {.every_steps = 100, .then = [&](const auto& result) {
  metrics(result);                                                // for early stopping and the best checkpoint
  events.add_scalar("validation/loss", result["loss"_n], result.step);
}}};
  // clang-format on
  cr::train<Regressor>(
      cr::Cpu{.threads = 1, .seed = 7}, [&] { return data.next(); },
      cr::HookChain{cr::StopAtStep{.last_step = 300}, std::move(validation)});
  events.close();
  std::vector<cr::MetricChannel::Entry> written;
  cr::io::for_each_event("logs", [&](const auto&, const cr::io::EventRecord& record) {
    if (record.tag != "validation/loss") return;
    written.push_back({record.step, std::get<cr::io::EventScalar>(record.content).value});
  });
  const auto published = metrics.history("loss");
  ASSERT_EQ(written.size(), 3U);
  ASSERT_EQ(published.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(written[i].step, published[i].step);
    EXPECT_FLOAT_EQ(static_cast<float>(written[i].value), static_cast<float>(published[i].value));
  }
}

TEST_F(SessionsPage, RecoveryAndBatchesInsideTheStep) {
  Data data;
  auto executor = cr::Cpu{.threads = 1}.compile<Regressor>();
  cr::HookChain chain{cr::StopAtStep{.last_step = 2}};
  // clang-format off
cr::MonitoredSession session{executor, chain,
                             cr::SessionOptions{.stop_grace_period_secs = 30,
                                                .recovery = {.max_attempts = 5, .initial_backoff_secs = 1}}};
  // clang-format on
  session.run_step_fn([&](auto& step) { return step.run_with_hooks("train"_n, data.next()); });
  EXPECT_EQ(session.step(), 1);
  EXPECT_EQ(data.drawn, 1U);
  session.close();
}

/// Its first run sets the variable that the others use.
struct WarmedUp {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto w = g.variable<float>("w", {}, cr::zeros());
    g.name("warm_up", g.assign(w, w + 4.0F));
    g.name("train", minimize(g.name("loss", w * w), cr::SGD{.learning_rate = 0.25}));
  }
};

TEST_F(SessionsPage, AStepOfSeveralRuns) {
  cr::MonitoredSession session{cr::Cpu{.threads = 1}.compile<WarmedUp>(), cr::HookChain{}};
  // clang-format off
session.run_step_fn([&](auto& step) {
  step.session().run("warm_up"_n);                       // without hooks
  return step.run_with_hooks(cr::fetches<"loss">, "train"_n);
});
  // clang-format on
  EXPECT_EQ(session.executor().variable("w"_n)[0], 2);
  session.close();
}

TEST_F(SessionsPage, AMonitoredTrainingSession) {
  auto executor = cr::Cpu{.threads = 1}.compile<WarmedUp>();
  const auto load_pretrained = [](auto& session) { session.executor().variable("w"_n)[0] = 4; };
  // clang-format off
cr::MonitoredTrainingSession session{executor, cr::HookChain{cr::StopAtStep{.last_step = 10'000}}, {.checkpoint_dir = "run"},
                                     cr::summaries<cr::summary::Scalar<"loss">>, cr::HookChain{/* of the chief only */},
                                     cr::Scaffold{}.with_init_fn(load_pretrained)};
  // clang-format on
  const auto [loss] = session.run(cr::fetches<"loss">, "train"_n);
  EXPECT_EQ(loss, 16);
  session.close();
}

/// A model of labelled images, as in the demo.
struct Classifier {
  static constexpr cr::Tensor network(cr::Tensor images, bool training) {
    return dense(relu(batch_norm(dense(images, 8, "hidden"), "norm", training)), 3, "output");
  }
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto images = g.placeholder<float>("images", {batch, 4});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    // clang-format off
auto loss = sparse_softmax_cross_entropy(network(images, true), labels);
const cr::SharedVariables same(g);                  // while it lives, layers use the variables of these names
g.name("logits", network(images, false));
    // clang-format on
    g.name("train", minimize(g.name("loss", loss), cr::SGD{0.1}));
  }
};

cr::LabelledImages labelled_images() {
  cr::LabelledImages::Images pixels{{64, 2, 2}, std::vector<std::uint8_t>(64 * 4, 100)};
  return {std::move(pixels), cr::LabelledImages::Labels{{64}, std::vector<std::uint8_t>(64, 1)}};
}
auto as_feeds(const cr::Batch& batch) {
  return cr::feeds(cr::feed<"images">(batch.images), cr::feed<"labels">(batch.labels));
}

TEST_F(SessionsPage, Prefetch) {
  cr::Batches data = cr::Batches(labelled_images(), 16).repeat();
  auto executor = cr::Cpu{.threads = 1}.compile<Classifier>();
  // clang-format off
cr::Prefetch<cr::BufferedBatch> batches{[&](cr::BufferedBatch& ahead) { ahead.take_from(data); }};
cr::MonitoredSession session{executor, cr::HookChain{batches.hook(), cr::StopAtStep{.last_step = 100}}};
const auto draw = [&](auto& /*step*/) { return as_feeds(batches.next().batch); };
while (!session.should_stop()) session.run("train"_n, session.run_step_fn(draw));
  // clang-format on
  session.close();
  EXPECT_EQ(session.step(), 100);
}

TEST_F(SessionsPage, TheReadmesInterruptAndResume) {
  cr::Batches data = cr::Batches(labelled_images(), 16).repeat();
  // clang-format off
cr::Saver saver{"checkpoints"};
cr::MonitoredSession session{
    cr::Cpu{.threads = 4}.compile<Classifier>(),
    cr::HookChain{cr::StopOnSignal{}, cr::StopAtStep{.last_step = 200'000}, cr::CheckpointInputPipeline{data},
                  cr::CheckpointSaver{cr::AsyncSaver{saver}, {.save_secs = 600}}},
    cr::restore_latest(saver)};
  // clang-format on
  session.run("train"_n, as_feeds(data.next()));
  session.close();
  EXPECT_TRUE(std::filesystem::exists("checkpoints/model.ckpt-1.index"));
}

TEST_F(SessionsPage, ADumpOfTheRunWithANan) {
  // clang-format off
auto session = cr::MonitoredSession{
    cr::Cpu{}.compile<Classifier>(),
    cr::HookChain{cr::NanTensor<"loss">{},  // throws NanLossError; {.fail_on_nan = false} requests a stop
                  cr::DumpingDebugHook{"dumps", cr::when_not_finite<"loss">}}};
  // clang-format on
  const std::vector<float> images{1, 2, 3, std::numeric_limits<float>::infinity()};
  const std::vector<std::int32_t> labels{1};
  const auto body = [&](auto& s) { s.run("train"_n, cr::feed<"images">(images), cr::feed<"labels">(labels)); };
  EXPECT_THROW(cr::run_session(session, body), cr::NanLossError);
  EXPECT_FALSE(std::filesystem::is_empty("dumps"));
}

}  // namespace sessions_page_test
