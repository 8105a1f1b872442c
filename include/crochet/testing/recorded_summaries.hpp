// SPDX-License-Identifier: Apache-2.0
// A SummarySink that records the summaries.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <crochet/base/number_text.hpp>
#include <crochet/storage/summary.hpp>

namespace crochet::testing {

/// Records summaries as text, one per line: `1: loss = 0.5, w = [12 values]`; the end of a session, a checkpoint and a
/// flush are the lines `stop 9`, `checkpoint 9 path` and `flush`. A start is not recorded. Copies share one record.
class RecordedSummaries {
 public:
  void add_summary(const io::Summary& summary, std::int64_t step) const {
    std::string line = std::to_string(step) + ": ";
    std::string_view before;
    for (const io::Summary::Value& value : summary.values()) {
      line.append(before).append(value.tag).append(" = ").append(text_of(value.content));
      before = ", ";
    }
    lines_->push_back(line);
    summaries_->push_back(summary);
  }
  void stop(std::int64_t step, std::string_view /*why*/) const { lines_->push_back("stop " + std::to_string(step)); }
  void checkpoint(std::int64_t step, std::string_view path) const {
    lines_->push_back("checkpoint " + std::to_string(step) + " " + std::string(path));
  }
  void flush() const { lines_->emplace_back("flush"); }

  [[nodiscard]] const std::vector<std::string>& lines() const { return *lines_; }
  /// All lines, each with an end-of-line.
  [[nodiscard]] std::string text() const {
    std::string all;
    for (const std::string& line : *lines_) (all += line) += '\n';
    return all;
  }
  [[nodiscard]] const std::vector<io::Summary>& summaries() const { return *summaries_; }

 private:
  static std::string text_of(const io::Summary::Content& content) {
    if (const auto* number = std::get_if<float>(&content)) return crochet::detail::general_text(*number);
    if (const auto* floats = std::get_if<std::vector<float>>(&content)) return values(floats->size());
    if (const auto* doubles = std::get_if<std::vector<double>>(&content)) return values(doubles->size());
    if (const auto* image = std::get_if<io::ImagePixels>(&content)) {
      return "[image " + std::to_string(image->height) + "x" + std::to_string(image->width) + "x" +
             std::to_string(image->channels) + "]";
    }
    return "'" + std::get<std::string>(content) + "'";
  }
  static std::string values(std::size_t count) { return "[" + std::to_string(count) + " values]"; }

  std::shared_ptr<std::vector<std::string>> lines_ = std::make_shared<std::vector<std::string>>();
  std::shared_ptr<std::vector<io::Summary>> summaries_ = std::make_shared<std::vector<io::Summary>>();
};

}  // namespace crochet::testing
