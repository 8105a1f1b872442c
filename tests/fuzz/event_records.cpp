// SPDX-License-Identifier: Apache-2.0
// Event files: records with repaired checksums. The first byte selects the form of the input: a file, or lengths of two
// bytes, each followed by a record.
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <crochet/io/event_reader.hpp>
#include <crochet/io/tfrecord.hpp>

#include "event_records.hpp"
#include "file_reader.hpp"

using namespace crochet;

namespace {

std::string joined(Input in) {
  std::string file;
  while (!in.empty()) io::append_tfrecord(file, in.take(in.word() % 4096));
  return file;
}

/// The number of records that next_tfrecord() finds.
std::size_t count(std::string_view rest) {
  std::size_t records = 0;
  try {
    while (io::next_tfrecord(rest)) ++records;
  } catch (const DataLossError&) {
  }
  return records;
}

}  // namespace

void fuzz(std::string_view input) {
  Input in{input};
  const std::string file = in.byte() % 2 == 0 ? test::repair_records(std::string(in.all())) : joined(in);
  test::MemoryFiles files;
  files["events"] = file;
  require_within(test::event_budget, file.size(), [&] {
    io::EventReader reader{"events", files};
    while (const std::optional<io::EventRecord> record = reader.next()) {
      require(reader.state() == io::EventFileState::whole && reader.reason().empty());
      if (const auto* tensor = std::get_if<io::EventTensor>(&record->content)) {
        require(tensor->bytes.size() <= 16 * file.size() && tensor->strings.size() <= file.size());
      }
    }
    require(!reader.next() && (reader.state() == io::EventFileState::whole) == reader.reason().empty());
  });
  require_within(test::event_budget, file.size(), [&] {
    io::RecordFile records{"events", files};
    std::size_t number = 0;
    try {
      while (records.next()) ++number;
    } catch (const DataLossError&) {
    }
    require(number == count(file));
  });
}
