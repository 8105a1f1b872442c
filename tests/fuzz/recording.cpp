// SPDX-License-Identifier: Apache-2.0
// Recordings of runs: event files with repaired checksums.
#include <optional>
#include <string>
#include <string_view>

#include <crochet/io/recording_reader.hpp>
#include <crochet/storage/tensor_record.hpp>

#include "event_records.hpp"
#include "file_reader.hpp"

using namespace crochet;

void fuzz(std::string_view input) {
  const std::string file = test::repair_records(std::string(input));
  test::MemoryFiles files;
  files["events"] = file;
  require_within(test::event_budget, file.size(), [&] {
    io::RecordingReader reader{"events", files};
    while (const std::optional<io::RecordedRun> run = reader.next()) {
      for (const io::RecordedValue& value : run->values) {
        const auto elements = io::element_count(value.shape);
        require(elements && value.bytes.size() == *elements * io::size_of(value.type));
        if (value.type != io::DataType::boolean) continue;
        require(value.bytes.find_first_not_of(std::string("\0\1", 2)) == std::string::npos);
      }
    }
  });
}
