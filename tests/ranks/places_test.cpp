// SPDX-License-Identifier: Apache-2.0
// Files of several ranks: profiles and dumps have a folder for each, and devices that name the rank; rows are written
// once.
#include <crochet/proto/perfetto.pb.h>
#include <crochet/checkpoint/monitored_training_session.hpp>
#include <crochet/checkpoint/restore_latest.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/checkpoint_saver.hpp>
#include <crochet/hooks/csv_logger.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/in_memory_evaluator.hpp>
#include <crochet/hooks/io/dumping_debug.hpp>
#include <crochet/hooks/io/json_lines_logger.hpp>
#include <crochet/hooks/io/profiler_hook.hpp>
#include <crochet/hooks/isolated.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/nan_tensor.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/hooks/timed.hpp>
#include <crochet/io/file_writer_cache.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "../executor/device_under_test.hpp"
#include "../io/temporary_folder.hpp"

namespace ranks_places_test {

namespace cr = crochet;
namespace fs = std::filesystem;
using namespace cr::literals;
using crochet::test::TemporaryFolder;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const auto w = g.variable<float>("w", {3, 1}, cr::ones());
    const auto loss = g.name("loss", cr::reduce_mean(cr::square(cr::matmul(x, w))));
    g.name("train", cr::minimize(loss, cr::SGD{0.01}));
  }
};

const std::string kind = cr::on_device_under_test ? "GPU" : "CPU";

/// Trains four steps on two ranks. chain(): the hooks of a rank.
void train(auto chain) {
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    std::vector<float> rows{1, 2, static_cast<float>(me.rank())};
    cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(),
                                 chain(me.rank())};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
    });
  });
}

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::set<std::string> entries_of(const fs::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}
/// The number of files below a folder whose names begin like this.
std::ptrdiff_t files_below(const fs::path& folder, std::string_view begin) {
  const auto all = fs::recursive_directory_iterator(folder);
  return std::count_if(fs::begin(all), fs::end(all), [&](const fs::directory_entry& entry) {
    return entry.is_regular_file() && entry.path().filename().string().starts_with(begin);
  });
}

TEST(RankPlaces, EachRankDumpsIntoItsOwnSessionRoot) {
  const TemporaryFolder test;
  train([&](int) {
    // LoggingTensor requests its value in some of the runs: a run with a probe then chooses among plans, too.
    return cr::HookChain{cr::StopAtStep{.last_step = 4}, cr::EveryN<2, cr::DumpingDebugHook<>>{{test / "dumps"}},
                         cr::LoggingTensor<"loss">{.every_steps = 3, .sink = cr::no_lines}};
  });
  EXPECT_EQ(entries_of(test / "dumps"), (std::set<std::string>{"rank_0", "rank_1"}));
  for (const std::string rank : {"0", "1"}) {
    const fs::path root = test / "dumps" / ("rank_" + rank);
    const auto runs = entries_of(root);
    ASSERT_EQ(runs.size(), 2U);
    const std::string device = "_tfdbg_device_,job_worker,replica_0,task_" + rank + ",device_" + kind + "_0";
    for (const std::string& run : runs) EXPECT_TRUE(fs::is_directory(root / run / device)) << root / run;
    EXPECT_EQ(files_below(root, "w_0_DebugIdentity"), 2);
  }
}

TEST(RankPlaces, ADumpUnderAGuardIsThatOfOneRank) {
  const TemporaryFolder test;
  train([&](int) {
    return cr::HookChain{cr::StopAtStep{.last_step = 4}, cr::OnRank<1, cr::DumpingDebugHook<>>{{test / "dumps"}}};
  });
  EXPECT_EQ(entries_of(test / "dumps"), std::set<std::string>{"rank_1"});
}

TEST(RankPlaces, RowsAreWrittenOnce) {
  const TemporaryFolder test;
  train([&](int) {
    return cr::HookChain{cr::StopAtStep{.last_step = 4},
                         cr::CsvLogger<"loss">{.path = test / "run.csv", .every_steps = 2},
                         cr::JsonLinesLogger<"loss">{.path = test / "run.jsonl", .every_steps = 1}};
  });
  const std::string csv = text_of(test / "run.csv"), json = text_of(test / "run.jsonl");
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3) << csv;
  EXPECT_EQ(std::count(json.begin(), json.end(), '\n'), 4) << json;
}

using Lines = std::vector<std::string>;
/// Trains as `train`; chain(sink): the hooks of a rank, which write to the sink. Returns the lines of each rank.
std::vector<Lines> lines_of(auto chain) {
  std::vector<Lines> lines(2);
  train([&](int rank) {
    return chain([&mine = lines[static_cast<std::size_t>(rank)]](std::string_view line) { mine.emplace_back(line); });
  });
  return lines;
}
/// A part of a data set of two ranks: one batch.
std::vector<cr::Feed<cr::Name<"x">, cr::TensorView<float, 2>>> one_batch() {
  static std::vector<float> row{1, 1, 1};
  return {cr::feed<"x">(cr::TensorView<float, 2>{row.data(), {1, 3}})};
}

/// Writes a line for each run.
struct Says {
  static constexpr auto runs_on = cr::RunsOn::chief;
  cr::Sink sink;
  void after_run(auto& /*run*/, const auto& /*values*/) const { sink("run"); }
};
TEST(RankPlaces, HooksOfANestedChainAreInTheirPlaces) {
  const auto lines = lines_of([](auto keep) {
    const cr::InMemoryEvaluatorOptions<cr::Name<"loss">> options{.every_steps = 4, .sink = cr::no_lines};
    return cr::HookChain{cr::StopAtStep{.last_step = 4},
                         cr::InMemoryEvaluator{cr::fetches<"loss">, one_batch(), cr::HookChain{Says{keep}}, options}};
  });
  EXPECT_EQ(lines[0].size(), 2U);  // at the start, and at step 4
  EXPECT_EQ(lines[1], Lines{});
}

/// A training may move from one machine to several ranks: its hooks' states have the same keys.
TEST(RankPlaces, AHookInItsPlaceHasTheKeyOfItsState) {
  using Executor =
      decltype(cr::Parallel{cr::DeviceUnderTest{}, std::declval<cr::testing::ThreadRank>()}.compile<Model>());
  using Passes = cr::InMemoryEvaluator<cr::Fetches<cr::Name<"loss">>, decltype(one_batch()), cr::HookChain<Says>>;
  using Logger = cr::CsvLogger<"loss">;
  using Placed = cr::detail::placed_chain<Executor, cr::HookChain<Logger, Passes>>;
  using PlacedLogger = std::remove_reference_t<decltype(std::declval<Placed&>().at<0>())>;
  using PlacedPasses = std::remove_reference_t<decltype(std::declval<Placed&>().at<1>())>;
  static_assert(!std::is_same_v<PlacedLogger, Logger> && !std::is_same_v<PlacedPasses, Passes>);
  EXPECT_EQ(cr::state_key_of<PlacedLogger>(), cr::state_key_of<Logger>());
  EXPECT_EQ(cr::state_key_of<PlacedPasses>(), cr::state_key_of<Passes>());
  struct Mine : Passes {
    using Passes::Passes;
  };
  using Derived = cr::detail::placed_chain<Executor, cr::HookChain<Mine>>;
  static_assert(std::is_same_v<Derived, cr::HookChain<Mine>>, "it is not replaced by its base");
}

TEST(RankPlaces, NestedGuardsHoldOnTheirRank) {
  const auto lines = lines_of([](auto keep) {
    const cr::InMemoryEvaluatorOptions<cr::Name<"loss">> options{.every_steps = 4, .sink = cr::no_lines};
    return cr::HookChain{
        cr::StopAtStep{.last_step = 4},
        cr::InMemoryEvaluator{cr::fetches<"loss">, one_batch(), cr::HookChain{cr::OnRank<1, Says>{{keep}}}, options}};
  });
  EXPECT_EQ(lines[0], Lines{});
  EXPECT_EQ(lines[1].size(), 2U);
}

TEST(RankPlaces, LinesThatAllRanksHaveAreWrittenOnce) {
  const auto lines = lines_of([](auto keep) {
    using Stop = cr::StopAtStep;
    return cr::HookChain{cr::Timed<Stop>{{.last_step = 4}, {.sink = keep}}};
  });
  EXPECT_EQ(lines[0].size(), 1U);
  EXPECT_EQ(lines[1], Lines{});
}

struct Fails {
  void after_run(auto& /*run*/, const auto& /*values*/) { throw cr::Error("crochet: full"); }
};
TEST(RankPlaces, AHookWritesItsLinesWhereItsGuardCallsIt) {
  const auto lines = lines_of([](auto keep) {
    using Stop = cr::StopAtStep;
    return cr::HookChain{Stop{.last_step = 1}, cr::OnRank<1, cr::Timed<Stop>>{{{.last_step = 9}, {.sink = keep}}},
                         cr::OnRank<1, cr::Isolated<Fails>>{{{}, {.sink = keep}}}};
  });
  EXPECT_EQ(lines[0], Lines{});
  ASSERT_EQ(lines[1].size(), 2U);
  EXPECT_NE(lines[1][0].find("crochet: rank 1: "), std::string::npos) << lines[1][0];
  const auto all = lines_of([](auto keep) {
    using Stop = cr::StopAtStep;
    return cr::HookChain{cr::OnEveryRank<cr::Timed<Stop>>{{{.last_step = 1}, {.sink = keep}}}};
  });
  EXPECT_EQ(all[0].size(), 1U);
  EXPECT_EQ(all[1].size(), 1U);
}

TEST(RankPlaces, ANanIsReportedOnce) {
  std::vector<Lines> lines(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    auto keep = [&mine = lines[static_cast<std::size_t>(me.rank())]](std::string_view line) {
      mine.emplace_back(line);
    };
    std::vector<float> rows{1, 2, me.rank() == 1 ? std::numeric_limits<float>::quiet_NaN() : 0.0F};
    cr::MonitoredSession session{
        cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(),
        cr::HookChain{cr::StopAtStep{.last_step = 4}, cr::NanTensor<"loss">{.fail_on_nan = false, .sink = keep}}};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
    });
  });
  EXPECT_EQ(lines[0].size(), 1U);
  EXPECT_EQ(lines[1], Lines{});
}

/// Exchanges of different sizes, of which a plan with probes could have another order.
struct Network {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const auto h = cr::batch_norm(cr::tanh(cr::dense(x, 700, "first")), "norm", true);
    const auto k = cr::batch_norm(cr::relu(cr::dense(h, 30, "second")), "other", true);
    const auto loss = g.name("loss", cr::reduce_mean(cr::square(cr::dense(k, 200, "third"))));
    g.name("train", cr::minimize(loss, cr::SGD{0.01}));
  }
};

/// Trains two steps on three ranks, of which one shows all values of its runs. Returns the number of dumped gradients.
template <class Exchange>
std::ptrdiff_t train_with_probes_on_one_rank(Exchange exchange) {
  const TemporaryFolder test;
  cr::testing::run_ranks(3, [&](cr::testing::ThreadRank me) {
    std::vector<float> rows{1, 2, static_cast<float>(me.rank()), 3, 4, 5};
    cr::HookChain chain{cr::StopAtStep{.last_step = 2}, cr::OnRank<1, cr::DumpingDebugHook<>>{{test / "dumps"}}};
    cr::MonitoredSession session{
        cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me, exchange}.template compile<Network>(), chain};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {2, 3}}));
    });
  });
  return files_below(test / "dumps", "");
}

// ThreadRank compares the sizes of what ranks exchange.
TEST(RankPlaces, ARankWithProbesExchangesInTheOrderOfTheOthers) {
  EXPECT_GT(train_with_probes_on_one_rank(cr::BlockingExchange{}), 50);
  EXPECT_GT(train_with_probes_on_one_rank(cr::OverlappedExchange{}), 50);
}

/// The variables of rank 1 after `last_step` steps on two ranks, of a training that may go on from a checkpoint.
std::vector<float> trained_until(std::int64_t last_step, const fs::path& folder) {
  std::vector<float> all;
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    const cr::Saver saver{folder};
    cr::MonitoredSession session{
        cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Network>(),
        cr::HookChain{cr::StopAtStep{.last_step = last_step}, cr::CheckpointSaver{saver, {.save_steps = 3}}},
        cr::restore_latest(saver)};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) {
        std::vector<float> rows{1, 2, static_cast<float>(me.rank()), static_cast<float>(s.step()), 4, 5};
        s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {2, 3}}));
      }
    });
    if (me.rank() == 0) return;
    std::as_const(session.executor()).for_each_variable([&](std::string_view, auto elements, auto) {
      for (const auto e : elements) all.push_back(static_cast<float>(e));
      return false;
    });
  });
  return all;
}
TEST(RankPlaces, ATrainingGoesOnBitForBitFromTheChiefsCheckpoint) {
  const TemporaryFolder test;
  const std::vector<float> undisturbed = trained_until(7, test / "undisturbed");
  trained_until(4, test / "interrupted");
  EXPECT_EQ(trained_until(7, test / "interrupted"), undisturbed);
}

TEST(RankPlaces, EachRankProfilesIntoItsOwnFolder) {
  const TemporaryFolder test;
  std::vector<std::vector<std::string>> tables(2);
  train([&](int rank) {
    const auto keep = [&tables, rank](std::string_view line) {
      tables[static_cast<std::size_t>(rank)].emplace_back(line);
    };
    return cr::HookChain{cr::StopAtStep{.last_step = 4}, cr::ProfilerHook{{.save_steps = 2,
                                                                           .output_dir = test / "out",
                                                                           .perfetto = test / "traces" / "run.pftrace",
                                                                           .table = cr::Sink{keep}}}};
  });
  EXPECT_EQ(entries_of(test / "out"), (std::set<std::string>{"rank_0", "rank_1"}));
  for (const std::string rank : {"0", "1"}) {
    const fs::path folder = test / "out" / ("rank_" + rank);
    const auto names = entries_of(folder);
    EXPECT_TRUE(names.contains("timeline-2.json") && names.contains("timeline-4.json"));
    EXPECT_EQ(names.size(), 3U) << "and an event file";
    const std::string timeline = text_of(folder / "timeline-4.json");
    EXPECT_NE(timeline.find("/job:worker/replica:0/task:" + rank + "/device:" + kind + ":0"), std::string::npos);
    EXPECT_EQ(timeline.find("/job:localhost"), std::string::npos);
  }
  cr::io::FileWriterCache::clear();  // before the folder is removed
  EXPECT_FALSE(tables[0].empty());
  EXPECT_TRUE(tables[1].empty());
}

TEST(RankPlaces, TheTracesOfRanksAreOneTraceWhenTheyAreConcatenated) {
  const TemporaryFolder test;
  train([&](int) {
    return cr::HookChain{
        cr::StopAtStep{.last_step = 4},
        cr::ProfilerHook{
            {.save_steps = 2, .output_dir = test / "out", .event_file = false, .perfetto = test / "run.pftrace"}}};
  });
  crochet::proto::perfetto::Trace trace;
  ASSERT_TRUE(
      trace.ParseFromString(text_of(test / "rank_0" / "run.pftrace") + text_of(test / "rank_1" / "run.pftrace")));
  std::map<std::int32_t, std::string> processes;
  std::map<std::int32_t, std::set<std::int64_t>> threads;
  std::set<std::uint64_t> tracks;
  std::size_t described = 0;
  for (const auto& packet : trace.packet()) {
    if (!packet.has_track_descriptor()) continue;
    const auto& track = packet.track_descriptor();
    tracks.insert(track.uuid());
    ++described;
    if (track.has_process()) processes[track.process().pid()] = track.process().process_name();
    if (track.has_thread()) threads[track.thread().pid()].insert(track.thread().tid());
  }
  EXPECT_EQ(tracks.size(), described) << "no track of one rank is one of the other";
  EXPECT_EQ(processes, (std::map<std::int32_t, std::string>{{1, "crochet, rank 0"}, {4097, "crochet, rank 1"}}));
  EXPECT_EQ(threads, (std::map<std::int32_t, std::set<std::int64_t>>{{1, {1}}, {4097, {4097}}}));
}

/// Notes the rank in each run.
struct NotesTheRank {
  using handles = cr::Phases<cr::phase::after_run>;
  int rank;
  std::array<int, 2>* runs;
  void after_run(auto& /*run*/, const auto& /*values*/) const { ++(*runs)[static_cast<std::size_t>(rank)]; }
};
TEST(RankPlaces, HooksOfTheChiefOnlyRunOnRank0) {
  std::array<int, 2> runs{};
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    std::vector<float> rows{1, 2, 3};
    cr::MonitoredTrainingSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, me}.compile<Model>(),
                                         cr::HookChain{cr::StopAtStep{.last_step = 4}}, cr::MonitoredTrainingOptions{},
                                         cr::summaries<>, cr::HookChain{NotesTheRank{me.rank(), &runs}}};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) s.run("train"_n, cr::feed<"x">(cr::TensorView<float, 2>{rows.data(), {1, 3}}));
    });
  });
  EXPECT_EQ(runs, (std::array<int, 2>{4, 0}));
}

}  // namespace ranks_places_test
