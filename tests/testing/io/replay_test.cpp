// SPDX-License-Identifier: Apache-2.0
// RecordRun and replay: a replayed chain gives the results of the recorded one; damaged and other files.
#include <crochet/crochet.hpp>
#include <crochet/executor/step/step_executor.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/io/record_run.hpp>
#include <crochet/testing.hpp>
#include <crochet/testing/io/replay.hpp>

#include <gtest/gtest.h>

#include <sys/stat.h>

#include "../../io/process.hpp"
#include "../../io/temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace replay_test {

namespace cr = crochet;
using namespace cr::literals;
using cr::testing::Script;
using crochet::test::TemporaryFolder;

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}
std::string what(auto&& call) {
  try {
    call();
  } catch (const cr::Error& error) {
    return error.what();
  }
  return "no error";
}

float loss_at(int step) { return 1.0f / static_cast<float>(1 + (step < 12 ? step : 24 - step)); }

/// Runs `steps` steps with a loss that falls until step 12; every fourth has logits.
template <class... H>
auto recorded_script(const std::filesystem::path& path, int steps, H... hooks) {
  cr::HookChain chain{cr::RecordRun{.path = path, .wall_clock = [] { return 5.0; }}, std::move(hooks)...};
  Script run{std::move(chain)};
  const std::array<float, 6> logits{1, 2, 3, 4, 5, 6};
  for (int step = 1; step <= steps && !run.should_stop(); ++step) {
    run.step(cr::value<"loss">(loss_at(step)), cr::value<"logits">(cr::TensorView<float, 2>{logits.data(), {2, 3}}));
  }
  run.end();
  return run.stop_reason();
}

/// Sums the logits of every fourth step.
struct SumOfLogits {
  static constexpr auto fetches = cr::fetches<"logits">;
  cr::MaybeFetch<"logits"> before_run(auto& run) {
    if ((run.step() + 1) % 4 != 0) return {};
    return cr::RunArgs{cr::fetches<"logits">};
  }
  void after_run(auto& run, const auto& values) {
    if (!values.requested()) return;
    const auto logits = values["logits"_n];
    sum += static_cast<float>(logits(1, 2)), rows = logits.extent(0), last_step = run.step();
  }
  float sum = 0;
  std::int64_t rows = 0, last_step = 0;
};

TEST(Replay, EarlyStoppingStopsAtTheSameStep) {
  const TemporaryFolder folder;
  using Stop = cr::EarlyStopping<"loss">;
  const std::string reason = recorded_script(folder / "run.events", 24, Stop{.aim = cr::Aim::lowest, .patience = 5});
  cr::HookChain chain{Stop{.aim = cr::Aim::lowest, .patience = 5}};
  const cr::Replayed result = cr::replay(chain, folder / "run.events");
  EXPECT_EQ(result.stop.reason, reason);
  EXPECT_EQ(result.step, 17);  // the loss is lowest in step 12
  EXPECT_EQ(result.runs, 17);
  EXPECT_EQ(chain.get<Stop>().seen.best, loss_at(12));
}

TEST(Replay, AnotherPatienceStopsEarlierOrNotAtAll) {
  const TemporaryFolder folder;
  recorded_script(folder / "run.events", 20, cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = 100});
  const auto with = [&](std::int64_t patience) {
    return cr::replay(cr::HookChain{cr::EarlyStopping<"loss">{.aim = cr::Aim::lowest, .patience = patience}},
                      folder / "run.events");
  };
  EXPECT_EQ(with(2).step, 14);
  const cr::Replayed all = with(50);
  EXPECT_EQ(all.runs, 20);
  EXPECT_EQ(cr::to_string(all.stop), "the recording: came to its end");
}

TEST(Replay, TheLogHasTheSameLines) {
  const TemporaryFolder folder;
  std::vector<std::string> real, again;
  const auto log = [](std::vector<std::string>& to) {
    return cr::LoggingTensor<"loss">{
        .every_steps = 3, .sink = [&to](std::string_view line) { to.emplace_back(line); }, .clock = [] { return 0.0; }};
  };
  recorded_script(folder / "run.events", 10, log(real));
  cr::replay(cr::HookChain{log(again)}, folder / "run.events");
  ASSERT_EQ(real.size(), 3U);
  EXPECT_EQ(again, real);
}

TEST(Replay, SummariesAreTheSame) {
  const TemporaryFolder folder;
  cr::testing::RecordedSummaries real, again;
  const auto saver = [](auto& to) {
    return cr::SummarySaver<cr::summary::Scalar<"loss">>{.every_steps = 4, .summaries = to};
  };
  recorded_script(folder / "run.events", 9, saver(real));
  cr::replay(cr::HookChain{saver(again)}, folder / "run.events");
  EXPECT_EQ(again.text(), real.text());
  EXPECT_FALSE(real.text().empty());
}

TEST(Replay, TensorsAreThoseOfTheRunsInWhichTheyWereRequested) {
  const TemporaryFolder folder;
  recorded_script(folder / "run.events", 9, SumOfLogits{});
  cr::HookChain chain{SumOfLogits{}};
  cr::replay(chain, folder / "run.events", cr::recorded<cr::TensorView<float, 2>, "logits">);
  EXPECT_EQ(chain.get<SumOfLogits>().sum, 12.0f);
  EXPECT_EQ(chain.get<SumOfLogits>().rows, 2);
  EXPECT_EQ(chain.get<SumOfLogits>().last_step, 8);
}

TEST(Replay, ANanTensorThrowsInTheSameRunAndTheErrorIsInTheFile) {
  const TemporaryFolder folder;
  {
    cr::HookChain chain{cr::RecordRun{folder / "run.events"}, cr::NanTensor<"loss">{}};
    Script run{std::move(chain)};
    run.step(cr::value<"loss">(1.0f));
    try {
      run.step(cr::value<"loss">(std::numeric_limits<float>::quiet_NaN()));
      FAIL();
    } catch (const cr::NanLossError& error) {
      run.fail(error);
    }
  }
  EXPECT_THROW(cr::replay(cr::HookChain{cr::NanTensor<"loss">{}}, folder / "run.events"), cr::NanLossError);
  const cr::Replayed without = cr::replay(cr::HookChain{cr::StopAtStep{.last_step = 50}}, folder / "run.events");
  EXPECT_EQ(without.runs, 2);
  EXPECT_NE(without.error.find("loss"), std::string::npos);
}

struct NeedsAccuracy {
  static constexpr auto fetches = cr::fetches<"accuracy">;
  void after_run(auto&, const auto& values) { last = values["accuracy"_n]; }
  float last = 0;
};
TEST(Replay, AValueThatTheFileDoesNotHaveIsOneError) {
  const TemporaryFolder folder;
  recorded_script(folder / "run.events", 3, cr::NanTensor<"loss">{});
  const std::string text = what([&] { cr::replay(cr::HookChain{NeedsAccuracy{}}, folder / "run.events"); });
  EXPECT_NE(text.find("reads \"accuracy\" in the run of step 1"), std::string::npos) << text;
  EXPECT_NE(text.find("it has: loss."), std::string::npos) << text;
}
TEST(Replay, AValueOfAnotherTypeIsAnError) {
  const TemporaryFolder folder;
  recorded_script(folder / "run.events", 4, SumOfLogits{}, cr::NanTensor<"loss">{});
  const std::string text = what([&] {
    cr::replay(cr::HookChain{SumOfLogits{}}, folder / "run.events", cr::recorded<cr::TensorView<double, 2>, "logits">);
  });
  EXPECT_NE(text.find("\"logits\" as a float32 of shape [2, 3], and the replay reads a float64"), std::string::npos)
      << text;
}

/// Notes its phases.
struct Phased {
  static constexpr auto fetches = cr::fetches<"loss">;
  void begin() { text = "begin"; }
  void after_create_session(auto& session, auto&) { text += " create" + std::to_string(session.step()); }
  void before_run(auto& run) { text += " b" + std::to_string(run.step()); }
  void after_run(auto& run, const auto& values) { text += " a" + std::to_string(run.step()), sum += values["loss"_n]; }
  void end(auto&) { text += " end"; }
  void on_error(const std::exception_ptr&) { text += " error"; }
  std::string text;
  float sum = 0;
};
TEST(Replay, EveryPhaseIsCalledWithTheStepsOfTheRecording) {
  const TemporaryFolder folder;
  recorded_script(folder / "run.events", 3, Phased{});
  cr::HookChain chain{Phased{}};
  cr::replay(chain, folder / "run.events");
  EXPECT_EQ(chain.get<Phased>().text, "begin create0 b0 a1 b1 a2 b2 a3 end");
  EXPECT_EQ(chain.get<Phased>().sum, loss_at(1) + loss_at(2) + loss_at(3));
}

TEST(Replay, EveryCutOffFileGivesTheRunsBeforeTheCutAndAnError) {
  const TemporaryFolder folder;
  recorded_script(folder / "run.events", 3, Phased{});
  const std::string whole = contents(folder / "run.events");
  std::size_t runs_before = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write(folder / "cut.events", whole.substr(0, size));
    cr::HookChain chain{Phased{}};
    EXPECT_THROW(cr::replay(chain, folder / "cut.events"), cr::DataLossError) << size;
    const std::string& text = chain.get<Phased>().text;
    const auto runs = static_cast<std::size_t>(std::count(text.begin(), text.end(), 'a')) -
                      (text.find("create") == std::string::npos ? 0U : 1U);
    EXPECT_GE(runs, runs_before);
    EXPECT_LE(runs, 3U);
    EXPECT_TRUE(text.empty() || text.ends_with(" error")) << text;
    runs_before = runs;
  }
  EXPECT_EQ(runs_before, 3U);
}
TEST(Replay, AFlippedByteIsNeverReplayedAsAnotherValue) {
  const TemporaryFolder folder;
  recorded_script(folder / "run.events", 2, Phased{});
  const std::string whole = contents(folder / "run.events");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ 0x10);
    write(folder / "flipped.events", flipped);
    cr::HookChain chain{Phased{}};
    EXPECT_THROW(cr::replay(chain, folder / "flipped.events"), cr::DataLossError) << at;
  }
}
TEST(Replay, AFileThatIsNoRecordingIsNamed) {
  const TemporaryFolder folder;
  write(folder / "empty", "");
  EXPECT_NE(what([&] { cr::replay(cr::HookChain{Phased{}}, folder / "empty"); }).find("no session of RecordRun"),
            std::string::npos);
  EXPECT_THROW(cr::replay(cr::HookChain{Phased{}}, folder / "missing"), cr::IoError);
}

struct OnTheSide {
  static constexpr auto fetches = cr::fetches<"loss">;
  void after_run(auto& run, const auto&) { run.session().run(cr::fetches<"loss">); }
};
TEST(Replay, ARunOfAHooksOwnIsAnError) {
  const TemporaryFolder folder;
  recorded_script(folder / "run.events", 2, Phased{});
  EXPECT_NE(what([&] { cr::replay(cr::HookChain{OnTheSide{}}, folder / "run.events"); }).find("run of its own"),
            std::string::npos);
}

TEST(Replay, HooksOfOneTargetAreCalledInItsRuns) {
  const TemporaryFolder folder;
  {
    cr::HookChain chain{cr::RecordRun{folder / "run.events"}, Phased{}};
    Script run{std::move(chain), cr::value<"loss">(1.0f), cr::targets<"train", "count">};
    run.step(cr::targets<"train">);
    run.step();
    run.step(cr::targets<"train">);
    run.step(cr::targets<"train", "count">);
    run.end();
  }
  cr::HookChain chain{cr::OnlyIn<"train", Phased>{}, cr::OnlyIn<"count", Phased>{}};
  const cr::Replayed result = cr::replay(chain, folder / "run.events");
  EXPECT_EQ(result.runs, 4);
  EXPECT_EQ(chain.at<0>().hook.text, "begin create0 b0 a1 b2 a3 b3 a4 end");
  EXPECT_EQ(chain.at<1>().hook.text, "begin create0 b3 a4 end");
}

TEST(Replay, ASessionThatWasCreatedAnewIsSoInTheReplay) {
  const TemporaryFolder folder;
  const auto path = folder / "run.events";
  {
    cr::io::RecordingWriter writer{path};
    const float loss = 0.5f;
    const auto run = [&](std::int64_t step) {
      writer.begin_run(step - 1, "");
      writer.add(cr::io::tensor_record("loss", std::span<const float>{&loss, 1}, {}));
      writer.finish_run(step, 1);
    };
    writer.create(0, 1), run(1), run(2), writer.create(1, 1), run(2), writer.end(2, 1, true);
  }
  cr::HookChain chain{Phased{}};
  const cr::Replayed result = cr::replay(chain, path);
  EXPECT_EQ(chain.get<Phased>().text, "begin create0 b0 a1 b1 a2 b2 create1 b1 a2 end");
  EXPECT_EQ(result.stop.kind, cr::StopKind::interruption);
}

TEST(Replay, ASessionThatWasCreatedAnewAndDidNotRunAgainIsSoInTheReplay) {
  const TemporaryFolder folder;
  const auto path = folder / "run.events";
  const auto phases_of = [&](auto&& record) {
    {
      cr::io::RecordingWriter writer{path};
      const auto run = [&](std::int64_t step) {
        const float loss = 0.5f;
        writer.begin_run(step - 1, "");
        writer.add(cr::io::tensor_record("loss", std::span<const float>{&loss, 1}, {}));
        writer.finish_run(step, 1);
      };
      writer.create(0, 1), run(1), run(2);
      record(writer, run);
    }
    cr::HookChain chain{Phased{}};
    std::int64_t step = -1;
    try {
      step = cr::replay(chain, path).step;
    } catch (const cr::DataLossError&) {
    }
    return chain.get<Phased>().text + ", " + std::to_string(step);
  };
  const std::string begin = "begin create0 b0 a1 b1 a2";
  EXPECT_EQ(phases_of([](auto& to, auto&) { to.create(1, 1), to.end(1, 1, true); }), begin + " create1 end, 1");
  EXPECT_EQ(phases_of([](auto& to, auto&) { to.create(1, 1), to.error(1, 1, "bad"); }), begin + " create1 error, 1");
  EXPECT_EQ(phases_of([](auto& to, auto&) { to.create(1, 1); }), begin + " create1 error, -1") << "a cut-off file";
  EXPECT_EQ(phases_of([](auto& to, auto& run) { to.create(1, 1), to.create(0, 1), run(1), to.end(1, 1, false); }),
            begin + " create1 b1 create0 b0 a1 end, 1");
}

TEST(RecordRun, WithoutAPathItThrows) { EXPECT_THROW((Script{cr::HookChain{cr::RecordRun{}}}), cr::LogicError); }
TEST(RecordRun, TakesThePlaceOfNothingButAFile) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder / "empty");
  ASSERT_EQ(::mkfifo((folder / "pipe").c_str(), 0600), 0);
  for (const auto& path : {folder / "empty", folder / "pipe", std::filesystem::path("/dev/null")}) {
    EXPECT_NE(what([&] { recorded_script(path, 1); }).find("no regular file"), std::string::npos) << path;
    EXPECT_TRUE(std::filesystem::exists(path) && !std::filesystem::is_regular_file(path)) << path;
  }
}
TEST(RecordRun, IsWrittenByOneProcessAtATime) {
  const TemporaryFolder folder;
  const auto path = folder / "run.events";
  std::optional<cr::io::RecordingWriter> writer(std::in_place, path);
  const cr::test::Process other{[&] {
    cr::io::RecordingWriter{path};
    return std::string{};
  }};
  EXPECT_NE(other.report().find("is in use by process "), std::string::npos) << other.report();
  writer->create(0, 1);
  writer->sync();
  std::filesystem::remove(path);
  EXPECT_NE(what([&] { writer->sync(); }).find("was removed"), std::string::npos);
}
TEST(RecordRun, AFileThatCannotBeMadeEndsNothingInsideIsolated) {
  cr::HookChain chain{cr::Isolated<cr::RecordRun>{{"/proc/none/run.events"}, {.sink = cr::no_lines}}};
  Script run{std::move(chain), cr::value<"loss">(0.25f)};
  for (int i = 0; i < 2000; ++i) run.step();
  run.end();
  EXPECT_EQ(run.hook().policy.failures(), 1);
}
TEST(RecordRun, StoresWhatDecoratorsAdmit) {
  const TemporaryFolder folder;
  {
    cr::HookChain chain{cr::EveryN<2, cr::RecordRun>{{folder / "run.events"}}, Phased{}};
    Script run{std::move(chain), cr::value<"loss">(0.25f)};
    for (int i = 0; i < 5; ++i) run.step();
    run.end();
  }
  cr::HookChain chain{Phased{}};
  EXPECT_EQ(cr::replay(chain, folder / "run.events").runs, 2);
  EXPECT_EQ(chain.get<Phased>().text, "begin create0 b1 a2 b3 a4 end");
}

}  // namespace replay_test
