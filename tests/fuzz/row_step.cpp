// SPDX-License-Identifier: Apache-2.0
// The steps of rows in a log file that is continued: CSV, and JSON lines.
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/io/json_row.hpp>
#include <crochet/storage/csv_row.hpp>

#include "fuzz_target.hpp"

using namespace crochet;

void fuzz(std::string_view input) {
  const std::string_view line = input.substr(0, input.find('\n'));
  if (const auto step = io::CsvRow::step_of(line)) {
    require(io::CsvRow::step_of(io::CsvRow{*step}.text()) == step);
    require((line.front() == '-') == (*step < 0 || line.starts_with("-0")));
  }
  if (const auto step = io::JsonRow::step_of(line)) {
    require(io::JsonRow::step_of(io::JsonRow{*step}.text()) == step);
    require(line.find('-') != std::string_view::npos || *step >= 0);
  }
  const std::string field = io::csv_field(line);
  require(field.size() >= line.size());
}
