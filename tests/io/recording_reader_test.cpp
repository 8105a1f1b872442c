// SPDX-License-Identifier: Apache-2.0
// Recordings that RecordRun would not write. tests/testing/io/replay_test.cpp has those that it writes.
#include <crochet/io/recording_reader.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "memory_files.hpp"
#include "wire_message.hpp"

namespace recording_reader_test {

namespace io = crochet::io;
using crochet::test::event_of;
using crochet::test::Message;

std::string value(std::string_view tag, const Message& tensor) {
  const Message plugin = Message{}.text(1, Message{}.text(1, "crochet_run"));
  return std::string(Message{}.text(1, tag).text(9, plugin).text(8, tensor));
}
std::string shape(std::uint64_t size) { return std::string(Message{}.text(2, Message{}.number(1, size))); }
std::string mark(std::string_view kind, std::string_view step) {
  return value("crochet/run", Message{}.number(1, 7).text(2, shape(3)).text(8, kind).text(8, step).text(8, ""));
}

/// The first value of a recording with this tensor.
io::RecordedValue read(const Message& tensor) {
  const std::string event = event_of(1, 1, {mark("run", "0"), value("x", tensor)});
  const std::string file = crochet::test::record_file({event});
  crochet::test::MemoryFiles files;
  std::string_view& bytes = files["run.events"];
  bytes = file;
  io::RecordingReader reader{"run.events", files};
  const std::optional<io::RecordedRun> run = reader.next();
  return run->values.at(0);
}

/// Hooks read them as bool; any other byte is undefined behavior.
TEST(RecordingReader, BoolsHaveTwoValues) {
  const io::RecordedValue read_value = read(Message{}.number(1, 10).text(2, shape(4)).text(4, {"\0\1\2\xff", 4}));
  EXPECT_EQ(read_value.bytes, std::string("\0\1\1\1", 4));
  const io::RecordedValue bytes = read(Message{}.number(1, 4).text(2, shape(2)).text(4, {"\2\xff", 2}));
  EXPECT_EQ(bytes.bytes, "\2\xff") << "of uint8";
}

TEST(RecordingReader, RefusesAShapeThatDoesNotFit) {
  for (const std::uint64_t size : {std::uint64_t{3}, ~std::uint64_t{0}, std::uint64_t{1} << 62}) {
    EXPECT_THROW(read(Message{}.number(1, 1).text(2, shape(size)).text(4, "12345678")), crochet::DataLossError) << size;
  }
}

}  // namespace recording_reader_test
