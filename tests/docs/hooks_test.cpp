// SPDX-License-Identifier: Apache-2.0
// docs/hooks.md against the code: the row of each hook agrees with its type, every header is listed, every doc comment
// is complete. And the chains of this page, docs/tensorboard.md, docs/profiling.md and docs/debugging.md.
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hook/describe.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/checkpoint_input_pipeline.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/cuda/device_monitor.hpp>
#include <crochet/hooks/cuda/nvtx_ranges.hpp>
#include <crochet/hooks/debug/grpc_debug.hpp>
#include <crochet/hooks/io/dumping_debug.hpp>
#include <crochet/hooks/io/json_lines_logger.hpp>
#include <crochet/hooks/io/profiler_hook.hpp>
#include <crochet/hooks/io/record_run.hpp>
#include <crochet/hooks/io/write_graph.hpp>
#include <crochet/hooks/switched.hpp>
#include <crochet/hooks/web/live_page.hpp>
#include <crochet/io/event_writer.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "../io/current_folder.hpp"
#include "../io/temporary_folder.hpp"

#ifndef CROCHET_SOURCE_DIR
#define CROCHET_SOURCE_DIR "."
#endif

namespace crochet {
namespace {

std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(std::filesystem::path(CROCHET_SOURCE_DIR) / path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}
const std::string& document() {
  static const std::string text = text_of("docs/hooks.md");
  return text;
}
std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
  return text;
}

/// The path of this header below the root: in hooks/ or one of its folders.
std::string path_of(const std::string& header) {
  for (const std::string folder : {"kit/", "io/", "cuda/", "debug/", "web/"}) {
    const std::string path = "include/crochet/hooks/" + folder + header + ".hpp";
    if (std::filesystem::exists(std::filesystem::path(CROCHET_SOURCE_DIR) / path)) return path;
  }
  return "include/crochet/hooks/" + header + ".hpp";
}

struct Row {
  std::string header;
  std::string begins;  // the required start of the row in the document
};
template <class H>
Row row_of(std::string_view header, std::string expression, const H& hook) {
  const auto [name, phases, cadence, fetches] = detail::described(hook);
  const std::string events = replaced(phases, "save_state load_state", "state");
  return {std::string(header), "| `" + expression + "` | " + events + " | " + (cadence.empty() ? "-" : cadence) +
                                   " | " + (fetches.empty() ? "nothing" : fetches) + " | "};
}
/// A hook as written in the document. It must compile, since it is code here.
#define HOOK(header, ...) row_of(#header, #__VA_ARGS__, __VA_ARGS__)

struct NoTracer {
  void start() {}
  void stop(std::int64_t) {}
  void abandon() {}
};
struct NoData {
  void save_state(auto&) const {}
  void load_state(auto&) {}
};
constexpr auto condition = [](auto&) { return true; };

std::vector<Row> rows() {
  const MetricChannel metrics;
  const StopSignal signal;
  const NoTracer tracer;
  NoData data;
  const Saver saver{"checkpoints"};
  const auto batches = std::vector(1, feeds(feed<"x">(1.0)));
  const auto too_hot = [] { return false; };
  const auto rate = [] { return feed<"rate">(0.1); };
  const auto step_of_checkpoint = [] { return std::optional<std::int64_t>{}; };
  BestCheckpoint best{saver, metrics, "accuracy", {.aim = Aim::highest, .keep = 3}};
  return {
      HOOK(stop_at_step, StopAtStep{.last_step = 2000}),
      HOOK(stop_at_epoch, StopAtEpoch{.last_epoch = 10}),
      HOOK(epoch_means, EpochMeans<"loss">{metrics}),
      HOOK(stop_if, stop_if_exhausted(metrics, "loss", Patience{.aim = Aim::lowest, .patience = 5})),
      HOOK(multi_step_stop_at_step, MultiStepStopAtStep<>{.last_step = 2000, .steps_per_run = 8}),
      HOOK(stop_at_checkpoint_step, StopAtCheckpointStep{.checkpoint_step = step_of_checkpoint, .last_step = 2000}),
      HOOK(terminate_on_time, TerminateOnTime{.seconds = 3600}),
      HOOK(stop_when, StopWhen<"residual">{.below = 1e-8}),
      HOOK(nan_tensor, NanTensor<"loss">{}),
      HOOK(early_stopping, EarlyStopping<"val_loss">{.aim = Aim::lowest, .patience = 5}),
      HOOK(stop_if, stop_if_no_increase(metrics, "accuracy", 5000)),
      HOOK(stop_if, stop_if_no_decrease(metrics, "loss", 5000)),
      HOOK(stop_if, stop_if_higher(metrics, "accuracy", 0.99)),
      HOOK(stop_if, stop_if_lower(metrics, "loss", 0.01, {.run_every_steps = 500})),
      HOOK(stop_on_predicate, make_early_stopping(too_hot, {.run_every_seconds = 10})),
      HOOK(stop_signal, CheckForStopping{.signal = signal}),
      HOOK(stop_on_signal, StopOnSignal{}),
      HOOK(global_step_waiter, GlobalStepWaiter{.wait_until_step = 1000}),
      HOOK(logging_tensor, LoggingTensor<"loss", "accuracy">{.every_steps = 100}),
      HOOK(step_counter, StepCounter{}),
      HOOK(learning_rate_monitor, LearningRateMonitor<>{}),
      HOOK(progress_bar, Progress<"loss">{.total = 2000}),
      HOOK(csv_logger, CsvLogger<"loss">{.path = "log.csv"}),
      HOOK(json_lines_logger, JsonLinesLogger<"loss">{.path = "log.jsonl", .every_seconds = 10}),
      HOOK(snapshot, Snapshot<"temperature">{"out/"}),
      HOOK(same_on_all_ranks, SameOnAllRanks{}),
      HOOK(memory_monitor, MemoryMonitor{}),
      HOOK(live_page, LivePage<"loss", "accuracy">{}),
      HOOK(device_monitor, DeviceMonitor{}),
      HOOK(profiler, Profiler{tracer, {.every_steps = 1000}}),
      HOOK(profiler_hook, ProfilerHook{{.save_steps = 1000}}),
      HOOK(record_run, RecordRun{"run.events"}),
      HOOK(nvtx_ranges, NvtxRanges{}),
      HOOK(summary_saver, SummarySaver<summary::Scalar<"loss">>{.every_steps = 100}),
      HOOK(weight_histograms, WeightHistograms{}),
      HOOK(gradient_histograms, GradientHistograms<"loss", "w">{{.every_steps = 1000}}),
      HOOK(write_graph, WriteGraph{}),
      HOOK(dumping_debug, DumpingDebugHook{"dumps/"}),
      HOOK(dumping_debug, DumpingDebugHook{"dumps/", when_not_finite<"loss">}),
      HOOK(grpc_debug, GrpcDebugHook{"localhost:6064"}),
      HOOK(grpc_debug, TensorBoardDebugHook{"localhost:6064"}),
      HOOK(evaluate, Evaluate{fetches<"accuracy">, batches, {.every_steps = 500}}),
      HOOK(in_memory_evaluator, InMemoryEvaluator{fetches<"accuracy">, batches, HookChain<>{}}),
      HOOK(final_ops, FinalOps<"accuracy">{}),
      HOOK(checkpoint_saver, CheckpointSaver{saver, {.save_secs = 600}}),
      HOOK(checkpoint_input_pipeline, CheckpointInputPipeline{data}),
      HOOK(best_checkpoint, BestCheckpoint{saver, metrics, "accuracy", {.aim = Aim::highest, .keep = 3}}),
      HOOK(best_checkpoint, best.restore_at_end()),
      HOOK(moving_average, MovingAverage{.decay = 0.999}),
      HOOK(feed_fn, FeedFn{rate}),
      HOOK(reduce_on_plateau, ReduceOnPlateau<"loss">{.rule = {.aim = Aim::lowest, .rate = 0.1}, .every_steps = 500}),
      HOOK(reduce_on_plateau,
           ReduceOnMetricPlateau<>{.metrics = metrics, .metric = "accuracy", .rule = {.aim = Aim::highest}}),
      HOOK(every_n, EveryN<10, NanTensor<"loss">>{}),
      HOOK(every_seconds, EverySeconds<60, Snapshot<"temperature">>{{"out/"}}),
      HOOK(when, When<condition, NanTensor<"loss">>{}),
      HOOK(switched, Switched<NanTensor<"loss">>{{}, {.on = true}}),
      HOOK(on_chief, OnChief<NanTensor<"loss">>{}),
      HOOK(on_chief, OnRank<2, NanTensor<"loss">>{}),
      HOOK(only_in, OnlyIn<"train", NanTensor<"loss">>{}),
      HOOK(isolated, Isolated<Snapshot<"temperature">>{{"out/"}}),
      HOOK(timed, Timed<NanTensor<"loss">>{}),
      HOOK(keyed, Keyed<"best", EarlyStopping<"loss">>{{.aim = Aim::lowest, .patience = 5}}),
  };
}

TEST(HooksDocument, EachRowSaysWhatTheTypeSays) {
  for (const Row& row : rows()) {
    const std::size_t at = ("\n" + document()).find("\n" + row.begins);
    EXPECT_NE(at, std::string::npos) << "docs/hooks.md has no row that begins with\n" << row.begins;
    if (at == std::string::npos) continue;
    const std::string line = document().substr(at, document().find('\n', at) - at);
    EXPECT_NE(line.find("](../" + path_of(row.header) + ")"), std::string::npos) << line;
  }
}

TEST(HooksDocument, HasNoRowsThatNobodyChecks) {
  std::size_t lines = 0;
  for (std::size_t at = document().find("\n| `"); at != std::string::npos; at = document().find("\n| `", at + 1))
    ++lines;
  EXPECT_EQ(lines, rows().size());
}

TEST(HooksDocument, ListsEachHeaderAndNoneThatThereIsNot) {
  const std::filesystem::path root = CROCHET_SOURCE_DIR;
  for (const auto& file : std::filesystem::recursive_directory_iterator(root / "include/crochet/hooks")) {
    if (file.path().extension() != ".hpp") continue;  // folders, and files of the compiled part
    const std::string link = "(../" + file.path().lexically_relative(root).generic_string() + ")";
    EXPECT_NE(document().find(link), std::string::npos) << "docs/hooks.md does not list " << link;
  }
  const std::string_view start = "(../include/";
  for (std::size_t at = document().find(start); at != std::string::npos; at = document().find(start, at + 1)) {
    const std::string path = document().substr(at + 4, document().find(')', at) - at - 4);
    EXPECT_TRUE(std::filesystem::exists(root / path)) << path;
  }
}

TEST(HooksDocument, EachHooksCommentSaysWhenItFiresWhatItFetchesAndWhatItCosts) {
  const std::vector<std::string> decorators{"every_n", "every_seconds", "when",     "only_in", "isolated",
                                            "timed",   "keyed",         "switched", "on_chief"};
  for (const Row& row : rows()) {
    if (std::find(decorators.begin(), decorators.end(), row.header) != decorators.end()) continue;
    std::string comment = text_of(path_of(row.header));
    std::transform(comment.begin(), comment.end(), comment.begin(), [](unsigned char c) { return std::tolower(c); });
    for (const std::string_view word : {"fires", "fetches", "cost"}) {
      EXPECT_NE(comment.find(word), std::string::npos) << row.header << ".hpp does not say: " << word;
    }
  }
}

}  // namespace
}  // namespace crochet

namespace hooks_page_test {

namespace cr = crochet;

/// Each test in a temporary folder of its own.
class Chains : public testing::Test {
  const crochet::test::TemporaryFolder folder_;
  const crochet::test::CurrentFolder here_{folder_.path()};
};

TEST_F(Chains, TheOrderOfHooks) {
  const auto batches = std::vector(1, cr::feeds(cr::feed<"x">(1.0)));
  // clang-format off
cr::MetricChannel metrics;
cr::WeightAverages averages;
cr::BestCheckpoint best{cr::AveragedSaver{cr::Saver{"out/best", {.max_to_keep = 0}}, averages}, metrics, "accuracy",
                        {.aim = cr::Aim::highest}};
cr::HookChain chain{
    cr::NanTensor<"loss">{},
    cr::MovingAverage{.averages = averages, .decay = 0.999},
    cr::Evaluate{cr::fetches<"accuracy">, batches, {.every_steps = 500, .during = averages.swapped(), .then = metrics}},
    cr::stop_if_no_increase(metrics, "accuracy", 5000, {.run_every_steps = 500}),
    best,
    cr::CheckpointSaver{cr::Saver{"out"}, {.save_secs = 600}},
    best.restore_at_end(),
};
  // clang-format on
  EXPECT_EQ(decltype(chain)::size, 7U);
}

TEST_F(Chains, EventFiles) {
  constexpr std::int64_t step = 5;
  {
    // clang-format off
cr::io::EventWriter events{"logs/run1"};

cr::HookChain chain{
    cr::WriteGraph{.events = events},
    cr::SummarySaver<cr::summary::Scalar<"loss">, cr::summary::Scalar<"learning_rate">,
                     cr::summary::Histogram<"hidden">, cr::summary::Image<"images", 28, 28>>{
        .every_steps = 100, .summaries = events},
    cr::WeightHistograms{.every_steps = 1000, .summaries = events},              // all weights of the model
    cr::GradientHistograms<"loss", "hidden/kernel">{{.every_steps = 1000, .summaries = events}},
    cr::StepCounter{.every_steps = 100, .summaries = events}};                   // global_step/sec

events.add_scalar("test/accuracy", 0.9, step);                                   // or directly, from any thread
                                                    // clang-format on
  }
  const auto files = std::filesystem::directory_iterator("logs/run1");
  const std::string written = crochet::text_of(std::filesystem::absolute(files->path()));
  EXPECT_NE(written.find("test/accuracy"), std::string::npos);
}

TEST_F(Chains, Profiles) {
  // clang-format off
cr::HookChain hooks{
    cr::NanTensor<"loss">{},
    cr::LoggingTensor<"loss">{.every_steps = 10},
    cr::ProfilerHook{{.save_steps = 10, .output_dir = "out", .table = cr::Sink{}, .table_rows = 12}},
};
  // clang-format on
  EXPECT_EQ(decltype(hooks)::size, 3U);
}

TEST_F(Chains, AStreamToAServer) {
  const auto stream =
      // clang-format off
cr::EveryN<100, cr::GrpcDebugHook<>>{{"localhost:6064"}}  // clang-format on
  ;
  EXPECT_TRUE((std::is_same_v<decltype(stream), const cr::EveryN<100, cr::GrpcDebugHook<>>>));
}

}  // namespace hooks_page_test
