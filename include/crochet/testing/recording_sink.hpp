// SPDX-License-Identifier: Apache-2.0
// A sink that records its lines.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace crochet::testing {

/// A sink is a copyable callable that takes one line of text. Copies of a RecordingSink share one record.
class RecordingSink {
 public:
  RecordingSink() : lines_(std::make_shared<std::vector<std::string>>()) {}

  void operator()(std::string_view line) const { lines_->emplace_back(line); }

  [[nodiscard]] const std::vector<std::string>& lines() const { return *lines_; }
  /// All lines, each with an end-of-line.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& line : *lines_) (all += line) += '\n';
    return all;
  }
  void clear() { lines_->clear(); }

 private:
  std::shared_ptr<std::vector<std::string>> lines_;
};

}  // namespace crochet::testing
