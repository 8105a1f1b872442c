// SPDX-License-Identifier: Apache-2.0
// Reading event files: of this library, of TensorFlow 1 and 2, truncated and damaged ones.
#include <crochet/base/little_endian.hpp>
#include <crochet/io/event_reader.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <crochet/io/event_writer.hpp>
#include <crochet/testing/manual_clock.hpp>

#include "temporary_folder.hpp"
#include "wire_message.hpp"

namespace event_reader_test {

namespace io = crochet::io;
using crochet::test::event_of;
using crochet::test::Message;
using crochet::test::raw;
using crochet::test::record_file;
using crochet::test::TemporaryFolder;
using io::EventFileState;

void write_bytes(const std::filesystem::path& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<io::EventRecord> records_of(io::EventReader& reader) {
  std::vector<io::EventRecord> records;
  while (auto record = reader.next()) records.push_back(*std::move(record));
  return records;
}
/// "tag@step kind" of each record, or "kind".
std::vector<std::string> texts_of(const std::vector<io::EventRecord>& records) {
  std::vector<std::string> texts;
  for (const io::EventRecord& record : records) {
    const std::string at = record.tag.empty() ? "" : record.tag + "@" + std::to_string(record.step) + " ";
    texts.push_back(at + io::name_of(record.content));
  }
  return texts;
}

struct File {
  explicit File(std::string_view bytes) : path(folder / "events.out.tfevents.1.x") { write_bytes(path, bytes); }
  TemporaryFolder folder{};
  std::filesystem::path path;
};
/// The content of the only record of a file with this value.
template <class Content>
Content only(std::string_view value) {
  const File file(record_file({event_of(1, 2, {value})}));
  io::EventReader reader(file.path);
  const auto records = records_of(reader);
  EXPECT_EQ(reader.state(), EventFileState::whole) << reader.reason();
  EXPECT_EQ(records.size(), 1u);
  return std::get<Content>(records.at(0).content);
}

TEST(EventReader, ReadsWhatTheWriterWrites) {
  const TemporaryFolder folder;
  io::EventWriterOptions options;
  options.log.file.wall_clock = crochet::testing::ManualClock{1700000002.25};
  const io::EventWriter writer(folder.path(), options);
  writer.start(3);
  writer.add_scalar("train loss", 0.5, 3);
  writer.add_histogram("w", std::span<const float>(std::vector<float>{1, 2, 3}), 4);
  writer.add_image("digit", {{0, 50, 100, 255}, 2, 2, 1}, 5);
  writer.add_text("note", "*hello*", 6);
  writer.add_summary(io::Summary{}.scalar("a", 1).scalar("b", -2.5), 7);
  writer.add_run_metadata("step_7", "bytes");
  writer.stop(8, "done");
  writer.close();
  std::vector<io::EventRecord> records;
  const auto reports =
      io::for_each_event(folder.path(), [&](const auto&, const io::EventRecord& record) { records.push_back(record); });
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].state, EventFileState::whole);
  EXPECT_EQ(reports[0].records, 10u);
  EXPECT_EQ(texts_of(records), (std::vector<std::string>{"file version", "session log", "train_loss@3 scalar",
                                                         "w@4 histogram", "digit@5 image", "note@6 text", "a@7 scalar",
                                                         "b@7 scalar", "step_7@0 run metadata", "session log"}));
  EXPECT_EQ(std::get<io::EventFileVersion>(records[0].content).version, "brain.Event:2");
  EXPECT_EQ(std::get<io::EventSessionLog>(records[1].content).status, io::EventSessionLog::Status::start);
  EXPECT_EQ(records[2].wall_time, 1700000002.25);
  EXPECT_EQ(std::get<io::EventScalar>(records[2].content).value, 0.5);
  const auto& histogram = std::get<io::EventHistogram>(records[3].content);
  EXPECT_EQ(histogram.min, 1);
  EXPECT_EQ(histogram.max, 3);
  EXPECT_EQ(histogram.count, 3);
  EXPECT_EQ(histogram.sum, 6);
  EXPECT_EQ(histogram.sum_squares, 14);
  EXPECT_EQ(histogram.bucket_limits.size(), histogram.bucket_counts.size());
  const auto& image = std::get<io::EventImage>(records[4].content);
  EXPECT_EQ((std::vector{image.height, image.width, image.channels}), (std::vector<std::int64_t>{2, 2, 1}));
  EXPECT_EQ(image.encoded.at(0).substr(1, 3), "PNG");
  EXPECT_EQ(std::get<io::EventText>(records[5].content).texts, std::vector<std::string>{"*hello*"});
  EXPECT_EQ(records[5].plugin, "text");
  EXPECT_EQ(std::get<io::EventRunMetadata>(records[8].content).run_metadata, "bytes");
  EXPECT_EQ(std::get<io::EventSessionLog>(records[9].content).message, "done");
}

std::string metadata(std::string_view plugin) { return std::string(Message{}.text(1, Message{}.text(1, plugin))); }
std::string shape(std::initializer_list<std::uint64_t> sizes) {
  Message message;
  for (const std::uint64_t size : sizes) message.text(2, Message{}.number(1, size));
  return std::string(message);
}

TEST(EventReader, ScalarsOfTensorFlow2AreTensors) {
  const auto scalar = [](const Message& tensor) {
    return only<io::EventScalar>(Message{}.text(1, "loss").text(8, tensor).text(9, metadata("scalars"))).value;
  };
  EXPECT_EQ(scalar(Message{}.number(1, 1).text(2, "").text(4, raw({0.25F}))), 0.25);
  EXPECT_EQ(scalar(Message{}.number(1, 1).text(2, "").real(5, 0.25F)), 0.25) << "not packed";
  EXPECT_EQ(scalar(Message{}.number(1, 1).text(2, "").text(5, raw({0.25F}))), 0.25) << "packed";
  EXPECT_EQ(scalar(Message{}.number(1, 2).text(2, "").text(6, raw({0.1}))), 0.1);
  EXPECT_EQ(scalar(Message{}.number(1, 3).number(7, static_cast<std::uint64_t>(-5))), -5);
  EXPECT_EQ(scalar(Message{}.number(1, 9).text(10, "\x07")), 7);
}

TEST(EventReader, HistogramsOfTensorFlow2AreTensors) {
  const auto tensor = Message{}.number(1, 2).text(2, shape({2, 3})).text(4, raw({-1.0, 0.0, 2.0, 0.0, 4.0, 5.0}));
  const auto histogram =
      only<io::EventHistogram>(Message{}.text(1, "w").text(8, tensor).text(9, metadata("histograms")));
  EXPECT_EQ(histogram.bucket_limits, (std::vector<double>{0, 4}));
  EXPECT_EQ(histogram.bucket_counts, (std::vector<double>{2, 5}));
  EXPECT_EQ(histogram.min, -1);
  EXPECT_EQ(histogram.max, 4);
  EXPECT_EQ(histogram.count, 7);
  EXPECT_TRUE(std::isnan(histogram.sum));
}

TEST(EventReader, ImagesOfTensorFlow2AreTensors) {
  const auto tensor =
      Message{}.number(1, 7).text(2, shape({4})).text(8, "20").text(8, "10").text(8, "one").text(8, "two");
  const auto image = only<io::EventImage>(Message{}.text(1, "i").text(8, tensor).text(9, metadata("images")));
  EXPECT_EQ(image.width, 20);
  EXPECT_EQ(image.height, 10);
  EXPECT_EQ(image.encoded, (std::vector<std::string>{"one", "two"}));
}

TEST(EventReader, TensorsOfOtherPluginsStayTensors) {
  const auto tensor = Message{}.number(1, 1).text(2, shape({2, 1})).text(4, raw({1.0F, 2.0F}));
  const auto read = only<io::EventTensor>(Message{}.text(1, "pr").text(8, tensor).text(9, metadata("pr_curves")));
  EXPECT_EQ(read.type, io::DataType::float32);
  EXPECT_EQ(read.shape, (std::vector<std::int64_t>{2, 1}));
  EXPECT_EQ(read.bytes, raw({1.0F, 2.0F}));
}

// TensorFlow 1's writer stores the plug-in of a tag in its first summary only.
TEST(EventReader, ThePluginOfATagIsRemembered) {
  const auto tensor = Message{}.number(1, 7).text(2, shape({3})).text(8, "2").text(8, "1").text(8, "png");
  const std::string first(Message{}.text(1, "i").text(8, tensor).text(9, metadata("images")));
  const std::string later(Message{}.text(1, "i").text(8, tensor));
  const File file(record_file({event_of(1, 1, {first}), event_of(1, 2, {later})}));
  io::EventReader reader(file.path);
  EXPECT_EQ(texts_of(records_of(reader)), (std::vector<std::string>{"i@1 image", "i@2 image"}));
}

TEST(EventReader, OtherKindsOfEvents) {
  const std::string graph(Message{}.real(1, 1.5).text(4, "graph")), meta(Message{}.text(9, "meta"));
  const std::string log(Message{}.text(6, Message{}.number(1, 20).text(2, "words"))), nothing(Message{}.real(1, 2.0));
  const std::string no_value = event_of(1, 1, {});
  const File file(record_file({graph, meta, log, nothing, no_value}));
  io::EventReader reader(file.path);
  const auto records = records_of(reader);
  EXPECT_EQ(texts_of(records), (std::vector<std::string>{"graph", "meta graph", "log message", "nothing"}));
  EXPECT_EQ(std::get<io::EventGraph>(records[0].content).graph_def, "graph");
  EXPECT_EQ(records[0].wall_time, 1.5);
  EXPECT_EQ(std::get<io::EventLogMessage>(records[2].content).message, "words");
}

std::string scalar_event(std::uint64_t step) {
  return event_of(1, step, {Message{}.text(1, "loss").real(2, static_cast<float>(step))});
}

TEST(EventReader, WhereverAFileEndsWhatIsWholeIsRead) {
  const std::string one = record_file({scalar_event(1)}), two = one + record_file({scalar_event(2)});
  for (std::size_t size = 0; size <= two.size(); ++size) {
    SCOPED_TRACE(size);
    const File file(std::string_view{two}.substr(0, size));
    io::EventReader reader(file.path);
    EXPECT_EQ(records_of(reader).size(), size / one.size());
    EXPECT_EQ(reader.state(), size % one.size() == 0 ? EventFileState::whole : EventFileState::unfinished);
    EXPECT_EQ(reader.reason().empty(), size % one.size() == 0);
  }
}

TEST(EventReader, GoesOnWithWhatIsAppended) {
  const std::string one = record_file({scalar_event(1)});
  const File file(std::string_view{one}.substr(0, 20));
  io::EventReader reader(file.path);
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.state(), EventFileState::unfinished);
  write_bytes(file.path, one + one);
  EXPECT_EQ(records_of(reader).size(), 2u);
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(reader.state(), EventFileState::whole);
  write_bytes(file.path, one + one + one);
  EXPECT_EQ(records_of(reader).size(), 1u);
}

TEST(EventReader, EveryChangedBitIsNoticedAndWhatIsBeforeItIsRead) {
  const std::string one = record_file({scalar_event(1)});
  const File file(one);
  for (std::size_t bit = 0; bit < 8 * one.size(); ++bit) {
    SCOPED_TRACE(bit);
    std::string bad = one + one;
    bad[one.size() + bit / 8] = static_cast<char>(bad[one.size() + bit / 8] ^ 1 << bit % 8);
    write_bytes(file.path, bad);
    io::EventReader reader(file.path);
    EXPECT_EQ(records_of(reader).size(), 1u);
    EXPECT_EQ(reader.state(), EventFileState::damaged);
    EXPECT_NE(
        reader.reason().find(file.path.string() + " is damaged in the record at byte " + std::to_string(one.size())),
        std::string::npos)
        << reader.reason();
    EXPECT_FALSE(reader.next()) << "it stays so";
  }
}

TEST(EventReader, MessagesThatCannotBeAreDamage) {
  const auto value = [](const Message& message) { return event_of(1, 1, {message}); };
  const auto tensor = [&](const Message& message) { return value(Message{}.text(1, "t").text(8, message)); };
  std::string many;
  for (int i = 0; i < 300; ++i) many += std::string(Message{}.text(2, ""));
  for (const std::string& event :
       {std::string("\xff"), std::string("\x08"), std::string("\x09\x01"), std::string("\x0d\x01"),
        std::string("\x0b\x0c"), std::string(Message{}.lie(3, 100, "x")), std::string(Message{}.lie(5, ~0ULL, "x")),
        value(Message{}.lie(1, 2, "x")), value(Message{}.text(5, Message{}.text(6, "1234567"))),
        tensor(Message{}.number(1, 0)), tensor(Message{}.number(1, 99)), tensor(Message{}.number(1, ~0ULL)),
        tensor(Message{}.number(1, 1).text(2, many)), tensor(Message{}.number(1, 3).text(7, "\x80"))}) {
    SCOPED_TRACE(::testing::PrintToString(event));
    const File file(record_file({scalar_event(1), event}));
    io::EventReader reader(file.path);
    EXPECT_EQ(records_of(reader).size(), 1u);
    EXPECT_EQ(reader.state(), EventFileState::damaged);
  }
}

TEST(EventReader, ARecordThatPromisesMuchIsUnfinishedOrDamaged) {
  for (const auto& [length, state] : {std::pair{std::uint64_t{1} << 30, EventFileState::unfinished},
                                      {std::uint64_t{1} << 31, EventFileState::damaged},
                                      {~std::uint64_t{0}, EventFileState::damaged}}) {
    std::string head;
    crochet::append_little_endian(head, length);
    crochet::append_little_endian(head, io::detail::masked_crc_of(head));
    const File file(head + "some bytes");
    io::EventReader reader(file.path);
    EXPECT_FALSE(reader.next());
    EXPECT_EQ(reader.state(), state) << length;
  }
}

TEST(EventReader, LargeRecordsBehindSmallOnes) {
  const std::string large(300'000, 'g');
  const std::string graph(Message{}.text(4, large));
  std::string bytes;
  for (int i = 0; i < 2000; ++i) bytes += record_file({scalar_event(static_cast<std::uint64_t>(i))});
  const File file(bytes + record_file({graph}) + bytes + record_file({graph}));
  io::EventReader reader(file.path);
  const auto records = records_of(reader);
  EXPECT_EQ(reader.state(), EventFileState::whole) << reader.reason();
  ASSERT_EQ(records.size(), 4002u);
  EXPECT_EQ(std::get<io::EventGraph>(records[2000].content).graph_def, large);
  EXPECT_EQ(std::get<io::EventGraph>(records[4001].content).graph_def, large);
  EXPECT_EQ(records[4000].step, 1999);
}

TEST(EventReader, TheFilesOfAFolderInTheOrderOfTheirNames) {
  const TemporaryFolder folder;
  write_bytes(folder / "events.out.tfevents.0000000002.h", record_file({scalar_event(2)}));
  write_bytes(folder / "events.out.tfevents.0000000001.h", record_file({scalar_event(1)}) + "torn");
  write_bytes(folder / "events.out.tfevents.0000000003.h", std::string(100, 'x'));
  write_bytes(folder / "notes.txt", "no events");
  std::filesystem::create_directory(folder / "tfevents");
  std::vector<std::int64_t> steps;
  const auto reports = io::for_each_event(
      folder.path(), [&](const auto&, const io::EventRecord& record) { steps.push_back(record.step); });
  EXPECT_EQ(steps, (std::vector<std::int64_t>{1, 2}));
  ASSERT_EQ(reports.size(), 3u);
  EXPECT_EQ(reports[0].state, EventFileState::unfinished);
  EXPECT_EQ(reports[1].state, EventFileState::whole);
  EXPECT_EQ(reports[2].state, EventFileState::damaged);
  EXPECT_THROW(io::for_each_event(folder / "none", [](const auto&, const auto&) {}), crochet::IoError);
  EXPECT_THROW((void)io::event_files(folder / "none"), crochet::IoError);
}

}  // namespace event_reader_test
