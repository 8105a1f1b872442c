// SPDX-License-Identifier: Apache-2.0
// CategoryNames: the names of a column's categories, saved with the model.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet {

/// The names of the categories of a column, in the order of their indices:
/// `CategoryNames<"species"> names{species.names}`.
/// - As a hook in the chain of the training it saves the names in checkpoints. A program that only predicts passes one
///   without names to its Predictor, which loads them: `names[argmax]` is the name of the predicted category. One that
///   was made of other names than the checkpoint's is an error when the training is resumed.
/// - Fires: only in save_state and load_state. Fetches: nothing.
template <FixedString Column>
class CategoryNames {
 public:
  using handles = Phases<phase::save_state, phase::load_state>;

  /// Without names, to be loaded.
  CategoryNames() = default;
  explicit CategoryNames(std::vector<std::string> names) : names_(std::move(names)), given_(!names_.empty()) {}

  /// All names, as Table::categories takes them for another file.
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  /// The name of a category. Throws LogicError for an index out of range.
  [[nodiscard]] const std::string& operator[](std::int64_t index) const {
    if (index < 0 || index >= std::ssize(names_)) {
      throw LogicError("crochet: category " + std::to_string(index) + " of the " + std::to_string(names_.size()) +
                       " categories of \"" + std::string(Column.view()) + "\"; load the names of the training");
    }
    return names_[static_cast<std::size_t>(index)];
  }

  void save_state(auto& out) const { out.put("names", names_); }
  /// Throws CheckpointMismatchError if this one was made of other names: the indices of the program's data would mean
  /// other categories to the model.
  void load_state(auto& in) {
    std::vector<std::string> loaded;
    if (!in.get("names", loaded)) return;
    if (given_ && loaded != names_) fail_other(loaded);
    names_ = std::move(loaded);
  }

 private:
  [[noreturn]] CROCHET_COLD void fail_other(const std::vector<std::string>& there) const {
    const auto first = std::mismatch(names_.begin(), names_.end(), there.begin(), there.end()).first;
    const auto at = static_cast<std::size_t>(first - names_.begin());
    const auto name = [&](const auto& names) {
      return at < names.size() ? '"' + names[at] + '"' : std::string("none");
    };
    throw CheckpointMismatchError(
        "the " + std::to_string(names_.size()) + " categories of \"" + std::string(Column.view()) +
        "\" are others than the checkpoint's " + std::to_string(there.size()) + ": category " + std::to_string(at) +
        " is " + name(names_) + " here and " + name(there) +
        " there; to continue the training, pass Table::categories the names of the checkpoint; for other categories "
        "start a new training");
  }

  std::vector<std::string> names_;
  bool given_ = false;  // by the program, and not loaded
};

}  // namespace crochet
