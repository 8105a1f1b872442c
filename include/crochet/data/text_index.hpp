// SPDX-License-Identifier: Apache-2.0
// TextIndex: the different texts of a column, each with a number.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/data/table_column.hpp>

namespace crochet::detail {

/// Numbers texts in the order of their first occurrence; finish() renumbers them in alphabetical order.
class TextIndex {
 public:
  /// The texts that stand for a missing value have the number -1.
  explicit TextIndex(const std::vector<std::string>& missing) {
    for (const std::string& text : missing) numbers_.emplace(text, -1);
  }

  /// The number of a text. Cost: a hash.
  std::int32_t operator()(std::string_view text) {
    auto found = numbers_.find(text);
    if (found == numbers_.end()) found = numbers_.emplace(std::string(text), count_++).first;
    return found->second;
  }

  /// Sorts the texts into `column.texts` and renumbers `column.indices`, which have the numbers from above.
  CROCHET_COLD void finish(TableColumn& column) && {
    std::vector<std::pair<std::string, std::int32_t>> sorted;
    sorted.reserve(static_cast<std::size_t>(count_));
    while (!numbers_.empty()) {
      auto node = numbers_.extract(numbers_.begin());
      if (node.mapped() >= 0) sorted.emplace_back(std::move(node.key()), node.mapped());
    }
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::int32_t> place(sorted.size());
    column.texts.reserve(sorted.size());
    for (auto& [text, number] : sorted) {
      place[static_cast<std::size_t>(number)] = static_cast<std::int32_t>(column.texts.size());
      column.texts.push_back(std::move(text));
    }
    for (std::int32_t& index : column.indices)
      if (index >= 0) index = place[static_cast<std::size_t>(index)];
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> numbers_;
  std::int32_t count_ = 0;
};

}  // namespace crochet::detail
