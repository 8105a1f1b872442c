// SPDX-License-Identifier: Apache-2.0
// Standardize: each column of a field minus its mean, divided by its standard deviation. Fitted on the training set,
// applied to all data.
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/diagnostics.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/data/data_set.hpp>
#include <crochet/data/field.hpp>
#include <crochet/data/shared_array.hpp>
#include <crochet/hook/phase.hpp>

namespace crochet {

/// The mean and standard deviation of each column of the field Text; a column is one element of a row. Made by
/// fit_standardize().
/// - As a hook in a chain it saves the numbers in checkpoints and loads them from there. A program that only predicts
///   passes an empty one to its Predictor, which loads it. In a session with must_restore() the hook of the chain is
///   loaded: read it from the session's hooks. A training that is resumed with other numbers prints a line.
/// - Fires: only in save_state and load_state. Fetches: nothing.
template <FixedString Text>
struct Standardize {
  using handles = Phases<phase::save_state, phase::load_state>;

  std::vector<double> mean;
  std::vector<double> deviation;  ///< 1 for a column whose values are all equal

  /// The data set with the field standardized: double if it was double, else float. Throws LogicError for another
  /// number of columns.
  template <class... F>
  [[nodiscard]] auto apply(const DataSet<F...>& data) const {
    const auto& array = data.template array<Text>();
    using T = typename std::remove_cvref_t<decltype(array)>::value_type;
    using Result = std::conditional_t<std::is_same_v<T, double>, double, float>;
    require_columns(array.row_size());
    const auto view = array.view();
    std::vector<Result> values;
    values.reserve(view.size());
    // Not converted to Result before the mean is subtracted: large integers would lose what differs between them.
    for (std::size_t i = 0; i < view.size(); ++i) values.push_back(standardized<Result>(view.data()[i], i));
    return data.with(field<Text>(SharedArray{std::move(values), array.shape()}));
  }
  /// Standardizes rows in place, one behind the other: the inputs of a prediction. Elements of integers do not
  /// compile. Throws LogicError unless they are whole rows.
  template <class T, std::size_t Extent>
  void apply(std::span<T, Extent> rows) const {
    static_assert(!std::is_integral_v<T>,
                  "crochet: standardized values are fractions; convert integers to float or double first");
    require_rows(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = standardized<T>(rows[i], i);
  }
  /// The reverse of apply(rows): predictions of a standardized target in its own unit.
  template <class T, std::size_t Extent>
  void undo(std::span<T, Extent> rows) const {
    static_assert(!std::is_integral_v<T>,
                  "crochet: standardized values are fractions; convert integers to float or double first");
    require_rows(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t column = i % mean.size();
      rows[i] = static_cast<T>(static_cast<double>(rows[i]) * deviation[column] + mean[column]);
    }
  }

  void save_state(auto& out) const {
    out.put("mean", mean);
    out.put("deviation", deviation);
  }
  /// Unchanged if the checkpoint does not have both, equally long, finite, and with positive deviations. Reports to
  /// diagnose() if the numbers until then were others, by more than 1e-6 of a deviation.
  void load_state(auto& in) {
    Standardize loaded;
    if (!in.get("mean", loaded.mean) || !in.get("deviation", loaded.deviation) || !loaded.is_usable()) return;
    if (is_usable()) report_difference(loaded);
    *this = std::move(loaded);
  }

 private:
  /// Element i of whole rows.
  template <class Result>
  [[nodiscard]] Result standardized(auto element, std::size_t i) const {
    const std::size_t column = i % mean.size();
    return static_cast<Result>((static_cast<double>(element) - mean[column]) / deviation[column]);
  }
  [[nodiscard]] bool is_usable() const {
    return mean.size() == deviation.size() &&
           std::all_of(mean.begin(), mean.end(), [](double m) { return std::isfinite(m); }) &&
           std::all_of(deviation.begin(), deviation.end(), [](double d) { return std::isfinite(d) && d > 0; });
  }
  CROCHET_COLD void report_difference(const Standardize& there) const {
    if (mean.empty()) return;
    if (mean.size() != there.mean.size())
      return report(std::to_string(mean.size()) + " columns, there " + std::to_string(there.mean.size()));
    for (std::size_t i = 0; i < mean.size(); ++i) {
      const double least = 1e-6 * deviation[i];  // sums may be rounded otherwise
      const bool other_mean = std::abs(mean[i] - there.mean[i]) > least;
      if (!other_mean && std::abs(deviation[i] - there.deviation[i]) <= least) continue;
      return report("column " + std::to_string(i) +
                    (other_mean ? ": mean " + number(mean[i]) + ", there " + number(there.mean[i])
                                : ": deviation " + number(deviation[i]) + ", there " + number(there.deviation[i])));
    }
  }
  CROCHET_COLD static void report(const std::string& difference) {
    diagnose("crochet: Standardize<\"" + std::string(Text.view()) +
             "\"> was fitted to other data than the checkpoint's (" + difference +
             "); the session has the numbers of the checkpoint, and data standardized before have the others");
  }
  CROCHET_COLD static std::string number(double value) {
    char buffer[32];
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
  }
  void require_columns(std::size_t columns) const {
    if (columns != mean.size() || columns != deviation.size())
      throw LogicError("crochet: Standardize<\"" + std::string(Text.view()) + "\"> of " + std::to_string(mean.size()) +
                       " columns, applied to rows of " + std::to_string(columns) +
                       "; fit it on data with the same columns");
  }
  void require_rows(std::size_t elements) const {
    if (mean.empty() || mean.size() != deviation.size() || elements % mean.size() != 0)
      throw LogicError("crochet: Standardize<\"" + std::string(Text.view()) + "\"> of " + std::to_string(mean.size()) +
                       " columns, applied to " + std::to_string(elements) +
                       " elements; fit it or load it first, and give it whole rows");
  }
};

/// Mean and standard deviation (of the n rows, divided by n) of each column of a field, in double precision:
/// `auto scale = fit_standardize<"x">(training); validation = scale.apply(validation);`
/// Throws DataError for a value that is not finite, and if the variance exceeds a double. Cost: two passes over the
/// field.
template <FixedString Text, class... F>
Standardize<Text> fit_standardize(const DataSet<F...>& training) {
  const auto& array = training.template array<Text>();
  const std::size_t columns = array.row_size();
  const auto rows = static_cast<double>(array.rows());
  const auto view = array.view();
  Standardize<Text> fitted{std::vector<double>(columns), std::vector<double>(columns)};
  for (std::size_t i = 0; i < view.size(); ++i) {
    const auto value = static_cast<double>(view[i]);
    if (!std::isfinite(value))
      throw DataError("field " + std::string(Text.view()) + ": the value in row " + std::to_string(i / columns) +
                      ", column " + std::to_string(i % columns) + " is not finite; remove or fill such rows first");
    const auto first = static_cast<double>(view[i % columns]);  // so equal values have exactly their mean
    fitted.mean[i % columns] += (value - first) / rows;
  }
  for (std::size_t i = 0; i < columns; ++i) fitted.mean[i] += static_cast<double>(view[i]);
  for (std::size_t i = 0; i < view.size(); ++i) {
    const double distance = static_cast<double>(view[i]) - fitted.mean[i % columns];
    fitted.deviation[i % columns] += distance * distance / rows;
  }
  for (std::size_t i = 0; i < columns; ++i) {
    double& deviation = fitted.deviation[i];
    deviation = deviation > 0 ? std::sqrt(deviation) : 1;
    if (!std::isfinite(deviation) || !std::isfinite(fitted.mean[i]))
      throw DataError("field " + std::string(Text.view()) + ": the values of column " + std::to_string(i) +
                      " are too far apart for their variance to be a double; scale them first");
  }
  return fitted;
}

}  // namespace crochet
