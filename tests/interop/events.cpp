// SPDX-License-Identifier: Apache-2.0
// events write FOLDER EXPECTED: writes the event files of two sessions with stock hooks, as two processes do. The
//   second session resumes from an earlier step. Writes the expected content as JSON into the folder EXPECTED, for
//   events.py and the judge events_check.py.
// events read FILE|FOLDER: prints the records of event files, a line of JSON each.
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/hooks/io/write_graph.hpp>
#include <crochet/io/event_reader.hpp>
#include <crochet/io/event_writer.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace {

namespace cr = crochet;
namespace io = crochet::io;
using namespace cr::literals;

struct Line {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("x", {batch, 3});
    const auto y = g.placeholder<float>("y", {batch, 1});
    const auto loss = g.name("loss", reduce_mean(square(dense(x, 1, "line") - y)));
    g.name("train", minimize(loss, cr::SGD{.learning_rate = 0.05}));
  }
};

const std::vector<float> x{1, 2, 3, -1, 0, 2}, y{1, -1};

/// The losses of the steps, from a plain loop.
std::vector<double> losses(int steps) {
  cr::MonitoredSession session{cr::Cpu{.threads = 1}.compile<Line>(), cr::HookChain<>{}};
  std::vector<double> all;
  for (int i = 0; i < steps; ++i) {
    const auto [loss] = session.run(cr::fetches<"loss">, "train"_n, cr::feed<"x">(x), cr::feed<"y">(y));
    all.push_back(static_cast<double>(loss));
  }
  session.close();
  return all;
}

/// A session creator that initializes nothing: the executor already has its values.
struct AsItIs {
  void create_session(auto&, auto&) {}
};

/// Trains from step `first` to `last`, as one process does. Training up to `first` gives the state there.
void train(const std::string& folder, int first, int last) {
  auto executor = cr::Cpu{.threads = 1}.compile<Line>();
  {
    cr::MonitoredSession<decltype(executor)&, cr::HookChain<>> before{executor};
    for (int i = 0; i < first; ++i) before.run("train"_n, cr::feed<"x">(x), cr::feed<"y">(y));
    before.close();
  }
  const io::EventWriter events(folder);
  {
    cr::MonitoredSession session{
        std::move(executor),
        cr::HookChain{cr::StopAtStep{.last_step = last}, cr::WriteGraph{.events = events},
                      cr::SummarySaver<cr::summary::Scalar<"loss">, cr::summary::Histogram<"line/kernel">>{
                          .every_steps = 2, .anchor = cr::Anchor::first_run, .summaries = events}},
        AsItIs{}};
    cr::run_session(session, [](auto& s) {
      while (!s.should_stop()) s.run("train"_n, cr::feed<"x">(x), cr::feed<"y">(y));
    });
  }
  events.close();
}

/// One event of each kind, with numbers that are difficult to represent.
void more_kinds(const std::string& folder) {
  const io::EventWriter events(folder);
  std::vector<float> values;
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<float>(i * 37 % 101 - 50) / 7.0F);
  values.insert(values.end(), {0.0F, -0.0F, 1e-13F, -1e-13F, 1e-12F, 3e38F, -3e38F, 1e20F});
  events.start(1);
  events.add_histogram("values", std::span<const float>(values), 1);
  events.add_histogram("empty", std::span<const double>(), 1);
  events.add_scalar("odd name!", std::numeric_limits<double>::infinity(), 1);
  events.add_scalar("odd name!", std::numeric_limits<double>::quiet_NaN(), 2);
  events.add_scalar("odd name!", 0.1, 3);
  io::ImagePixels image{{}, 3, 5, 3};
  for (int i = 0; i < 45; ++i) image.pixels.push_back(static_cast<std::uint8_t>(5 * i));
  events.add_image("picture", image, 1);
  events.add_text("note", "*hello*", 1);
  events.checkpoint(3, "some/folder/model.ckpt");
  events.add_run_metadata("step_3", "");
  events.stop(3, "done");
  events.close();
}

void write(const std::string& folder, const std::string& expected) {
  train(folder + "/run", 0, 7);  // as if killed after step 7, with a checkpoint of step 4
  train(folder + "/run", 4, 9);
  more_kinds(folder + "/kinds");
  const std::vector<double> loss = losses(9);
  using Points = std::vector<std::pair<int, double>>;
  nlohmann::json run, kinds;
  run["scalars"]["loss"] = Points{{1, loss[0]}, {3, loss[2]}, {5, loss[4]}, {7, loss[6]}, {9, loss[8]}};
  run["histograms"]["line/kernel"] = Points{{1, 3}, {3, 3}, {5, 3}, {7, 3}, {9, 3}};
  run["start_steps"] = {1, 5};
  run["graph"] = true;
  run["files"] = 2;
  kinds["scalars"]["odd_name_"] = {{1, "inf"}, {2, "nan"}, {3, 0.1}};
  kinds["histograms"] = {{"values", {{1, 1008}}}, {"empty", {{1, 0}}}};
  kinds["start_steps"] = {1};
  kinds["checkpoint_steps"] = {3};
  kinds["checkpoint_path"] = "some/folder/model.ckpt";
  kinds["run_metadata"] = {"step_3"};
  kinds["files"] = 1;
  kinds["kinds"] = {"file_version",
                    "session_log",
                    "summary",
                    "summary",
                    "summary",
                    "summary",
                    "summary",
                    "summary",
                    "summary",
                    "session_log",
                    "tagged_run_metadata",
                    "session_log"};
  std::ofstream(expected + "/run.json") << run.dump(1);
  std::ofstream(expected + "/kinds.json") << kinds.dump(1);
}

/// The content of a record as JSON, with the values of numbers, images and texts.
nlohmann::json described(const io::EventContent& content) {
  if (const auto* scalar = std::get_if<io::EventScalar>(&content)) return scalar->value;
  if (const auto* text = std::get_if<io::EventText>(&content)) return text->texts;
  if (const auto* image = std::get_if<io::EventImage>(&content))
    return {image->height, image->width, image->encoded.size()};
  if (const auto* histogram = std::get_if<io::EventHistogram>(&content)) {
    return {histogram->count, histogram->bucket_limits, histogram->bucket_counts};
  }
  if (const auto* version = std::get_if<io::EventFileVersion>(&content)) return version->version;
  return nullptr;
}

/// Prints a line of JSON for each record of a file or folder: step, wall time, tag, plug-in, kind, values.
void read(const std::string& path) {
  const auto reports = io::for_each_event(path, [](const auto&, const io::EventRecord& record) {
    std::cout << nlohmann::json({record.step, record.wall_time, record.tag, record.plugin, io::name_of(record.content),
                                 described(record.content)})
                     .dump()
              << '\n';
  });
  for (const io::EventFileReport& report : reports) {
    if (report.state != io::EventFileState::whole) throw cr::DataLossError(report.reason);
  }
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "write" && argc == 4) return write(argv[2], argv[3]), 0;
  if (what == "read" && argc == 3) return read(argv[2]), 0;
  std::fprintf(stderr, "usage: events write FOLDER EXPECTED | events read FILE|FOLDER\n");
  return 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
