// SPDX-License-Identifier: Apache-2.0
// CsvOptions: the form of a CSV file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace crochet {

/// The form of a CSV file, and a limit.
struct CsvOptions {
  char separator = ',';
  std::vector<std::string> missing{"", "NA", "nan", "NaN", "?"};  ///< cells that stand for a missing value
  std::uint64_t max_bytes = std::uint64_t{1} << 30;               ///< of the text, unpacked
  std::vector<std::string> texts{};  ///< names of columns of texts, also where all cells are numbers
};

namespace detail {

inline bool csv_missing(std::string_view cell, const CsvOptions& options) {
  return std::find(options.missing.begin(), options.missing.end(), cell) != options.missing.end();
}

}  // namespace detail

}  // namespace crochet
