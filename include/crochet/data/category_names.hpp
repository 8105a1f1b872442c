// SPDX-License-Identifier: Apache-2.0
// CategoryNames: the names of a column's categories, saved with the model.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet {

/// The names of the categories of a column, in the order of their indices:
/// `CategoryNames<"species"> names{species.names}`.
/// - As a hook in the chain of the training it saves the names in checkpoints. A program that only predicts passes one
///   without names to its Predictor, which loads them: `names[argmax]` is the name of the predicted category.
/// - Fires: only in save_state and load_state. Fetches: nothing.
template <FixedString Column>
class CategoryNames {
 public:
  using handles = Phases<phase::save_state, phase::load_state>;

  /// Without names, to be loaded.
  CategoryNames() = default;
  explicit CategoryNames(std::vector<std::string> names) : names_(std::move(names)) {}

  /// All names, as Table::categories takes them for another file.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The name of a category. Throws LogicError for an index out of range.
  [[nodiscard]] const std::string& operator[](std::int64_t index) const {
    if (index < 0 || index >= std::ssize(names_)) {
      throw LogicError("category " + std::to_string(index) + " of the " + std::to_string(names_.size()) +
                       " categories of \"" + std::string(Column.view()) + "\"; load the names of the training");
    }
    return names_[static_cast<std::size_t>(index)];
  }

  void save_state(auto& out) const { out.put("names", names_); }
  void load_state(auto& in) { in.get("names", names_); }

 private:
  std::vector<std::string> names_;
};

}  // namespace crochet
