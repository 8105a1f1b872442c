// SPDX-License-Identifier: Apache-2.0
// Columns as wide as their contents: the first left-aligned, the others right-aligned.
#pragma once

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

namespace crochet_dump {

class Table {
 public:
  using Row = std::vector<std::string>;

  explicit Table(Row titles) : rows_{std::move(titles)} {}
  void add(Row row) { rows_.push_back(std::move(row)); }

  void print(std::ostream& out) const {
    std::vector<std::size_t> widths(rows_.front().size());
    for (const Row& row : rows_) {
      for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
    }
    for (const Row& row : rows_) {
      std::string line;
      for (std::size_t i = 0; i < row.size(); ++i) {
        const std::string gap(widths[i] - row[i].size(), ' ');
        line += "  " + (i == 0 ? row[i] + gap : gap + row[i]);
      }
      out << line << "\n";
    }
  }

 private:
  std::vector<Row> rows_;
};

}  // namespace crochet_dump
