// SPDX-License-Identifier: Apache-2.0
// crochet-dump plot: its pictures, its limits, and its exit status.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include <crochet/proto/event.pb.h>
#include <crochet/io/event_writer.hpp>
#include <crochet/io/recording_writer.hpp>
#include <crochet/io/tfrecord.hpp>
#include <crochet/storage/tensor_record.hpp>
#include <crochet/testing/manual_clock.hpp>

#include "../../tools/crochet_dump/crochet_dump.hpp"
#include "../../tools/crochet_dump/text_plot.hpp"
#include "../io/temporary_folder.hpp"

namespace crochet_dump_plot_test {

namespace io = crochet::io;
using crochet::test::TemporaryFolder;
using Words = std::vector<std::string>;

struct Result {
  int status = -1;
  std::string out, err;
};
Result plot(const Words& arguments) {
  Words words{"plot"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::ostringstream out, err;
  const int status = crochet_dump::run(words, out, err);
  return {status, out.str(), err.str()};
}
template <class F>
void write(const std::filesystem::path& to, F add) {
  io::EventWriterOptions options;
  options.log.file.wall_clock = crochet::testing::ManualClock{1700000000.0};
  const io::EventWriter writer(to, options);
  add(writer);
  writer.flush();
}
/// The displayed columns of a line of UTF-8.
std::size_t columns(const std::string& line) {
  std::size_t count = 0;
  for (const char c : line) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1U : 0U;
  return count;
}
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}
std::size_t widest(const std::string& text) {
  std::size_t most = 0;
  for (const std::string& line : lines_of(text)) most = std::max(most, columns(line));
  return most;
}

struct FallingLoss {
  FallingLoss() {
    write(folder.path() / "train", [](const io::EventWriter& writer) {
      for (int step = 0; step <= 8; ++step) writer.add_scalar("loss", static_cast<float>(8 - step), step);
      writer.add_scalar("a/val_loss", 1.0F, 3);
    });
  }
  TemporaryFolder folder;
  std::string path = folder.path().string();
};

TEST(Plot, OneRunInAscii) {
  const FallingLoss run;
  const Result shown = plot({run.path, "loss", "--ascii", "--width", "60", "--height", "5"});
  std::ostringstream axis;
  axis << "          +" << std::string(49, '-') << "\n";
  EXPECT_EQ(shown.out.substr(0, 5), "loss\n");
  const std::vector<std::string> lines = lines_of(shown.out);
  ASSERT_EQ(lines.size(), 9U);
  EXPECT_EQ(lines[1].substr(0, 14), "        8 |aaa");
  EXPECT_EQ(lines[3].substr(0, 12), "        4 | ");
  EXPECT_EQ(lines[5].substr(0, 11), "        0 |");
  EXPECT_EQ(lines[5].size(), 60U);  // ends in the last column
  EXPECT_EQ(lines[6] + "\n", axis.str());
  EXPECT_EQ(lines[7], "           0" + std::string(47, ' ') + "8");
  EXPECT_EQ(lines[8], "a  train  9 values  min 0  max 8  last 0");
  EXPECT_EQ(shown.status, 0);
}
TEST(Plot, BrailleHasTheSameWidth) {
  const FallingLoss run;
  const Result shown = plot({run.path, "loss", "--width", "40", "--height", "4"});
  EXPECT_EQ(widest(shown.out), 40U);
  EXPECT_NE(shown.out.find("\xe2\xa0\x89"), std::string::npos) << shown.out;  // two points in the first row
  EXPECT_NE(shown.out.find("│"), std::string::npos);
}
TEST(Plot, NoLineIsWiderThanRequested) {
  const FallingLoss run;
  write(run.folder.path() / std::string(100, 'r'), [](const io::EventWriter& writer) {
    writer.add_scalar("loss", -1.2345e-30F, 1);
    writer.add_scalar("loss", 3e38F, 9'000'000'000'000);
  });
  for (const std::string width : {"20", "33", "100"}) {
    EXPECT_LE(widest(plot({run.path, "--width", width}).out), std::stoul(width));
    EXPECT_LE(widest(plot({run.path, "--ascii", "--width", width}).out), std::stoul(width));
  }
}
TEST(Plot, ALegendTakesSeveralLinesWhereItIsLong) {
  const FallingLoss run;
  const std::vector<std::string> lines = lines_of(plot({run.path, "loss", "--ascii", "--width", "24"}).out);
  ASSERT_GE(lines.size(), 2U);
  EXPECT_EQ(lines[lines.size() - 2], "a  train  9 values");
  EXPECT_EQ(lines.back(), "  min 0  max 8  last 0");
}
TEST(Plot, RunsShareAPlotAndHaveLetters) {
  const FallingLoss run;
  write(run.folder.path() / "eval", [](const io::EventWriter& writer) { writer.add_scalar("loss", 16, 4); });
  const Result shown = plot({run.path, "loss"});
  EXPECT_NE(shown.out.find("a  eval  1 values  min 16  max 16  last 16"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("b  train  9 values"), std::string::npos);
  EXPECT_NE(shown.out.find("       16 │"), std::string::npos);
}
TEST(Plot, AnEqualTagIsPreferredToAPattern) {
  const FallingLoss run;
  EXPECT_EQ(plot({run.path, "loss"}).out.find("val_loss"), std::string::npos);
  EXPECT_NE(plot({run.path, "val"}).out.find("a/val_loss"), std::string::npos);
  EXPECT_NE(plot({run.path, "los+$"}).out.find("a/val_loss"), std::string::npos);
}
/// An event file of another library, whose tags have any characters.
void write_tag(const std::filesystem::path& folder, const std::string& tag) {
  std::string file;
  for (int step = 0; step < 9; ++step) {
    crochet::proto::Event event;
    event.set_step(step);
    auto* value = event.mutable_summary()->add_value();
    value->set_tag(tag);
    value->set_simple_value(static_cast<float>(step));
    io::append_tfrecord(file, event.SerializeAsString());
  }
  std::ofstream(folder / "events.out.tfevents.1700000000.host", std::ios::binary) << file;
}
TEST(Plot, ATagMayHaveCharactersOfPatterns) {
  const TemporaryFolder folder;
  write_tag(folder.path(), "accuracy (top-5)");
  const Result result = plot({folder.path().string(), "accuracy (top-5)"});
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(lines_of(result.out).front(), "accuracy (top-5)");
}
TEST(Plot, ATagMayBeNoPattern) {
  for (const std::string tag : {"acc[0", "(x", "*best"}) {
    const TemporaryFolder folder;
    write_tag(folder.path(), tag);
    const std::string path = folder.path().string();
    const Result result = plot({path, tag});
    EXPECT_EQ(result.status, 0) << result.err;
    EXPECT_EQ(lines_of(result.out).front(), tag);
    const Result late = plot({path, tag, "--steps", "100:"});
    EXPECT_EQ(late.status, 1);
    EXPECT_NE(late.err.find("no scalar matches, in 1 file; the steps are "), std::string::npos) << late.err;
    const Result other = plot({path, tag + "("});
    EXPECT_EQ(other.status, 2);
    EXPECT_NE(other.err.find("the pattern \"" + tag + "(\" cannot be used"), std::string::npos) << other.err;
  }
}
TEST(Plot, ALongTagIsCutBetweenCharacters) {
  const TemporaryFolder folder;
  std::string tag;
  for (int i = 0; i < 60; ++i) tag += "é";
  write_tag(folder.path(), tag);
  const Result result = plot({folder.path().string(), "--width", "40"});
  EXPECT_EQ(lines_of(result.out).front(), tag.substr(0, 36) + "...") << "37 bytes would be half of a character more";
}

TEST(Plot, ATagThatIsNotThereNamesTheOthers) {
  const FallingLoss run;
  const Result similar = plot({run.path, "losss"}), other = plot({run.path, "accuracy"});
  EXPECT_EQ(similar.status, 1);
  EXPECT_EQ(similar.err, "crochet-dump: no scalar matches, in 1 file; did you mean loss?\n");
  EXPECT_EQ(other.err, "crochet-dump: no scalar matches, in 1 file; there are a/val_loss, loss\n");
  const Result late = plot({run.path, "loss", "--steps", "100000:"});
  EXPECT_EQ(late.status, 1);
  EXPECT_NE(late.err.find("no scalar matches, in 1 file; the steps are "), std::string::npos) << late.err;
}
TEST(Plot, ValuesThatAreNotFiniteAreCounted) {
  const TemporaryFolder folder;
  write(folder.path(), [](const io::EventWriter& writer) {
    writer.add_scalar("loss", NAN, 1);
    writer.add_scalar("loss", INFINITY, 2);
  });
  const Result none = plot({folder.path().string()});
  EXPECT_EQ(none.status, 0);
  EXPECT_NE(none.out.find("2 values  last inf  not finite 2"), std::string::npos) << none.out;
}
TEST(Plot, EveryTruncatedFileIsDrawnAsFarAsItGoes) {
  const FallingLoss run;
  const std::filesystem::path file = *std::filesystem::directory_iterator(run.folder.path() / "train");
  for (std::uintmax_t size = std::filesystem::file_size(file); size > 0; size -= 7) {
    std::filesystem::resize_file(file, size);
    const Result shown = plot({file.string(), "loss", "--ascii"});
    EXPECT_TRUE(shown.status == 0 || shown.status == 1) << size << shown.err;
    if (size < 7) break;
  }
}
TEST(Plot, ADamagedFileIsReported) {
  const FallingLoss run;
  const std::filesystem::path file = *std::filesystem::directory_iterator(run.folder.path() / "train");
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(-20, std::ios::end).put('\x7f');
  bytes.close();
  const Result shown = plot({run.path, "loss"});
  EXPECT_EQ(shown.status, 2);
  EXPECT_NE(shown.out.find("9 values"), std::string::npos) << shown.out;
  EXPECT_NE(shown.err.find("is damaged"), std::string::npos);
}
TEST(Plot, TheScalarsOfARecordingAreDrawn) {
  const TemporaryFolder folder;
  const auto path = folder / "run.events";
  io::RecordingWriter writer{path};
  writer.create(0, 1);
  const double energy = 2.5;
  writer.begin_run(0, "");
  writer.add(io::tensor_record("energy", std::span<const double>{&energy, 1}, {}));
  writer.finish_run(1, 1), writer.end(1, 1, false);
  const Result shown = plot({path.string(), "energy"});
  EXPECT_NE(shown.out.find("run.events  1 values  min 2.5  max 2.5  last 2.5"), std::string::npos) << shown.out;
}
TEST(Plot, OptionsOutOfRangeAreErrors) {
  const FallingLoss run;
  for (const Words& bad : {Words{"--width", "5"}, Words{"--height", "0"}, Words{"--steps", "x"}}) {
    EXPECT_EQ(plot({run.path, "loss", bad[0], bad[1]}).status, 2) << bad[0];
  }
}
TEST(Plot, StepsSelectAPart) {
  const FallingLoss run;
  EXPECT_NE(plot({run.path, "loss", "--steps", "2:4"}).out.find("3 values  min 4  max 6"), std::string::npos);
}

TEST(Curve, KeepsExtremesInBoundedMemory) {
  crochet_dump::Curve curve;
  constexpr std::int64_t steps = 1'000'000;
  for (std::int64_t step = 0; step < steps; ++step)
    curve.add(step, step == 777'777 ? 100.0 : step == 13 ? -100.0 : 0.0);
  double least = 0, greatest = 0;
  for (const auto& part : curve.parts())
    least = std::min(least, part.least), greatest = std::max(greatest, part.greatest);
  EXPECT_LT(curve.parts().size(), 2 * crochet_dump::Curve::most_parts);
  EXPECT_EQ(curve.count(), static_cast<std::size_t>(steps));
  EXPECT_EQ(least, -100.0);
  EXPECT_EQ(greatest, 100.0);
}
TEST(CurvePainter, StaysOnTheCanvasForExtremeNumbers) {
  crochet_dump::Curve curve;
  constexpr double huge = std::numeric_limits<double>::max();
  constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max();
  curve.add(-far, -huge), curve.add(far, huge), curve.add(0, 0);
  crochet_dump::Canvas canvas{10, 3, true};
  const crochet_dump::CurvePainter painter{{&curve}, canvas};
  painter.draw(curve, 'a');
  EXPECT_EQ(painter.first(), -far);
  EXPECT_EQ(columns(canvas.row(0)), 10U);
  EXPECT_EQ(columns(canvas.row(2)), 4U);  // a third of the diagonal
}

}  // namespace crochet_dump_plot_test
