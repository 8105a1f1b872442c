// SPDX-License-Identifier: Apache-2.0
// crochet-dump events: its output for event files, and its exit status.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <crochet/io/event_reader.hpp>
#include <crochet/io/event_writer.hpp>
#include <crochet/testing/manual_clock.hpp>

#include "../../tools/crochet_dump/crochet_dump.hpp"
#include "../io/temporary_folder.hpp"

namespace crochet_dump_events_test {

namespace io = crochet::io;
using crochet::test::TemporaryFolder;
using Words = std::vector<std::string>;

struct Result {
  int status = -1;
  std::string out, err;
};
Result events(const Words& arguments) {
  Words words{"events"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::ostringstream out, err;
  const int status = crochet_dump::run(words, out, err);
  return {status, out.str(), err.str()};
}

/// The folder of a run, with an event file of its own and one of its evaluation.
struct RunFolder {
  RunFolder() {
    write(folder.path(), [](const io::EventWriter& writer) {
      writer.add_scalar("loss", 0.5F, 0);
      writer.add_scalar("loss", 0.1F, 100);
      writer.add_scalar("rate", 1e-3, 100);
      writer.add_histogram("weights", std::span<const float>(std::vector<float>{1, 2, 3, 4}), 100);
      writer.add_text("note", std::string(100, 'x') + "\x1b", 200);
      writer.add_scalar("loss", NAN, 300);
    });
    write(folder.path() / "eval", [](const io::EventWriter& writer) { writer.add_scalar("accuracy", 0.75, 100); });
  }
  template <class F>
  static void write(const std::filesystem::path& to, F add) {
    io::EventWriterOptions options;
    options.log.file.wall_clock = crochet::testing::ManualClock{1700000000.0};
    const io::EventWriter writer(to, options);
    add(writer);
    writer.flush();
  }
  [[nodiscard]] std::string path() const { return folder.path().string(); }
  [[nodiscard]] std::filesystem::path file() const { return io::event_files(folder.path()).at(0); }
  TemporaryFolder folder{};
};

/// The output without the names of the files, and without lines that have no tag.
std::string lines_of(const std::string& out) {
  std::istringstream text{out};
  std::string lines;
  for (std::string line; std::getline(text, line);) {
    if (line.front() == ' ' && line.find("  -   ") == line.npos) lines += line + "\n";
  }
  return lines;
}

TEST(CrochetDumpEvents, PrintsALineARecord) {
  const RunFolder run;
  const Result all = events({run.path()});
  EXPECT_EQ(all.status, 0) << all.err;
  const std::string lines = lines_of(all.out);
  const std::string expected =
      "        step       seconds  tag\n"
      "           0         0.000  loss                            0.5\n"
      "         100         0.000  loss                            0.1\n"
      "         100         0.000  rate                            0.001\n"
      "         100         0.000  weights                         histogram of 4  min 1  max 4  mean 2.5  "
      "deviation 1.11803  ";
  EXPECT_EQ(lines.substr(0, expected.size()), expected);
  EXPECT_NE(lines.find(" buckets\n         200         0.000  note                            text  xxx"),
            std::string::npos)
      << lines;
  EXPECT_NE(all.out.find("file version  brain.Event:2"), std::string::npos);
  EXPECT_NE(all.out.find("accuracy                        0.75\n"), std::string::npos);
}

TEST(CrochetDumpEvents, ChoosesTagsAndSteps) {
  const RunFolder run;
  EXPECT_EQ(lines_of(events({run.path(), "--tag", "^loss$", "--steps", "100:"}).out),
            "        step       seconds  tag\n"
            "         100         0.000  loss                            0.1\n"
            "         300         0.000  loss                            nan\n");
  EXPECT_EQ(lines_of(events({run.path(), "--tag", "accuracy"}).out),
            "        step       seconds  tag\n"
            "         100         0.000  accuracy                        0.75\n");
  EXPECT_EQ(lines_of(events({run.file().string(), "--tag", ".", "--steps", "100"}).out).find("accuracy"),
            std::string::npos);
  const Result none = events({run.path(), "--tag", "losss"});
  EXPECT_EQ(none.status, 1);
  EXPECT_EQ(none.err, "crochet-dump: nothing matches, in 2 files; did you mean loss?\n");
  const Result late = events({run.path(), "--tag", "loss", "--steps", "1000:"});
  EXPECT_EQ(late.status, 1);
  EXPECT_EQ(late.err, "crochet-dump: nothing matches, in 2 files; the steps are 0 to 300\n");
  EXPECT_EQ(events({run.path(), "--tag", "losss", "--json"}).err, "");
  EXPECT_EQ(events({run.path(), "--steps", "400:500"}).status, 1);
  for (const char* wrong : {"a", "1:b", ":x", "1:2:3", "-"}) {
    const Result result = events({run.path(), "--steps", wrong});
    EXPECT_EQ(result.status, 2) << wrong;
    EXPECT_NE(result.err.find("FIRST:LAST"), std::string::npos) << result.err;
  }
}

TEST(CrochetDumpEvents, JsonHasTheBuckets) {
  const RunFolder run;
  std::istringstream text{events({run.path(), "--json", "--tag", "."}).out};
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(nlohmann::json::parse(line));
  ASSERT_EQ(lines.size(), 7u);
  EXPECT_EQ(lines[0]["tag"], "loss");
  EXPECT_EQ(lines[0]["kind"], "scalar");
  EXPECT_EQ(lines[0]["value"], 0.5);
  EXPECT_EQ(lines[0]["wall_time"], 1700000000.0);
  EXPECT_EQ(lines[3]["kind"], "histogram");
  EXPECT_EQ(lines[3]["count"], 4.0);
  EXPECT_EQ(lines[3]["bucket_limits"].size(), lines[3]["bucket_counts"].size());
  EXPECT_GT(lines[3]["bucket_limits"].size(), 0u);
  EXPECT_EQ(lines[5]["value"], "nan");
  EXPECT_NE(lines[6]["file"].get<std::string>().find("/eval/"), std::string::npos);
}

TEST(CrochetDumpEvents, TextsDoNotReachTheTerminalAsTheyAre) {
  const RunFolder run;
  const std::string out = events({run.path(), "--tag", "note"}).out;
  EXPECT_EQ(out.find('\x1b'), std::string::npos);
  EXPECT_NE(out.find("text  " + std::string(60, 'x') + "...\n"), std::string::npos) << out;
}

TEST(CrochetDumpEvents, WhatIsWholeIsPrintedOfADamagedFile) {
  const RunFolder run;
  const auto size = std::filesystem::file_size(run.file());
  std::filesystem::resize_file(run.file(), size - 1);
  const Result cut = events({run.path(), "--tag", "^loss$"});
  EXPECT_EQ(cut.status, 0);
  EXPECT_NE(cut.err.find("it is being written, or its writer was killed"), std::string::npos) << cut.err;
  std::fstream(run.file(), std::ios::binary | std::ios::in | std::ios::out).seekp(200).write("xxxx", 4);
  const Result damaged = events({run.path(), "--tag", "."});
  EXPECT_EQ(damaged.status, 2);
  EXPECT_NE(damaged.err.find("is damaged in the record at byte"), std::string::npos) << damaged.err;
  EXPECT_NE(damaged.out.find("accuracy"), std::string::npos) << "the other file is printed all the same";
}

TEST(CrochetDumpEvents, FollowsLinksOnce) {
  const RunFolder run;
  const TemporaryFolder chosen;
  std::filesystem::create_directory_symlink(run.folder.path(), chosen / "run");
  std::filesystem::create_directory_symlink(run.folder.path(), chosen / "again");
  std::filesystem::create_directory_symlink(chosen.path(), chosen / "circle");
  const Result result = events({chosen.path().string(), "--tag", "accuracy"});
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out.find("accuracy"), result.out.rfind("accuracy")) << result.out;
  EXPECT_NE(result.out.find("accuracy"), std::string::npos) << result.out;
}

TEST(CrochetDumpEvents, NothingToRead) {
  const TemporaryFolder folder;
  const Result empty = events({folder.path().string()});
  EXPECT_EQ(empty.status, 2);
  EXPECT_NE(empty.err.find("holds no event files"), std::string::npos) << empty.err;
  EXPECT_EQ(events({"/no/such/file"}).status, 2);
  EXPECT_EQ(events({}).status, 2);
}

}  // namespace crochet_dump_events_test
