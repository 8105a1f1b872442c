// SPDX-License-Identifier: Apache-2.0
// DataSet: fields with one row for each example. Splits, shards, selections and maps of it are data sets again.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/data/field.hpp>
#include <crochet/data/map_rows.hpp>
#include <crochet/data/shared_array.hpp>
#include <crochet/data/shuffle.hpp>

namespace crochet {

template <class Data>
class DataBatches;
template <class Data>
class ShuffledData;

/// Fields of equally many rows, immutable: `data_set(field<"x">(...), field<"y">(...))`.
/// - A copy shares the elements, so it is cheap. What selects rows copies them.
/// - Throws LogicError if there is no row, if the numbers of rows differ, or for more than 2^32 - 1 rows.
/// - Thread: any, at the same time.
template <class... F>
class DataSet {
 public:
  static_assert(sizeof...(F) > 0, "crochet: a data set has at least one field");

  explicit DataSet(F... fields) : fields_(std::move(fields)...) {
    (check<F>(), ...);
    if (size() < 1) throw LogicError("crochet: a data set without rows; give its fields at least one row");
    if (size() > std::numeric_limits<std::uint32_t>::max())
      throw LogicError("crochet: a data set of more than 2^32 - 1 rows; divide it into several");
  }

  /// Number of rows.
  [[nodiscard]] std::int64_t size() const { return std::get<0>(fields_).array.rows(); }
  /// The array of a field, [size(), ...].
  template <FixedString Text>
  [[nodiscard]] const auto& array() const& {
    return std::get<index<Name<Text>>()>(fields_).array;
  }
  template <FixedString Text>
  void array() const&& = delete;
  /// The elements of a field, [size(), ...]. Valid while a copy of this data set exists; so not for a temporary one.
  template <FixedString Text>
  void view() const&& = delete;
  template <FixedString Text>
  [[nodiscard]] auto view() const& {
    constexpr bool contiguous = requires(const DataSet& data) { data.template array<Text>().view(); };
    static_assert(contiguous,
                  "crochet: windows have no view, their rows are not contiguous; use array<...>().row(i), or batches");
    if constexpr (contiguous) return array<Text>().view();
  }
  [[nodiscard]] const std::tuple<F...>& fields() const { return fields_; }

  /// The rows with these indices, in this order; an index may occur several times. Throws LogicError for an index out
  /// of range.
  [[nodiscard]] DataSet rows(std::span<const std::uint32_t> indices) const {
    for (const std::uint32_t index : indices)
      if (index >= size())
        throw LogicError("crochet: row " + std::to_string(index) + " of a data set of " + std::to_string(size()) +
                         " rows; rows are counted from 0");
    return DataSet{F{std::get<F>(fields_).array.gathered(indices)}...};
  }

  /// The first `count` rows. Throws LogicError unless 1 <= count <= size().
  [[nodiscard]] DataSet take(std::int64_t count) const {
    if (count < 1 || count > size())
      throw LogicError("crochet: the first " + std::to_string(count) + " rows of a data set of " +
                       std::to_string(size()) + "; take at least 1 and at most all");
    std::vector<std::uint32_t> indices(static_cast<std::size_t>(count));
    std::iota(indices.begin(), indices.end(), 0U);
    return rows(indices);
  }

  /// Two data sets that together have each row once. The first has round(fraction * size()) rows, drawn by the seed,
  /// the second the others; each in the order of this data set. Depends on size, fraction and seed only, so it is the
  /// same on every machine. Throws LogicError unless 0 < fraction < 1 and both have a row.
  [[nodiscard]] std::pair<DataSet, DataSet> split(double fraction, std::uint64_t seed) const {
    if (!(fraction > 0 && fraction < 1))
      throw LogicError("crochet: a split at " + std::to_string(fraction) +
                       "; set a fraction between 0 and 1, such as 0.8");
    const auto first = std::llround(fraction * static_cast<double>(size()));
    if (first < 1 || first >= size())
      throw LogicError("crochet: a split of " + std::to_string(size()) + " rows at " + std::to_string(fraction) +
                       " leaves a part without rows; use another fraction or more rows");
    std::vector<std::uint32_t> order(static_cast<std::size_t>(size()));
    shuffled_order(order, seed, 0);
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(first);
    std::sort(order.begin(), middle);
    std::sort(middle, order.end());
    return {rows({order.begin(), middle}), rows({middle, order.end()})};
  }

  /// The part of process `rank` of `processes`: rows rank, rank + processes, ... The sizes of the parts differ by at
  /// most one row. Throws LogicError unless 0 <= rank < processes and each part has a row.
  [[nodiscard]] DataSet shard(std::int64_t rank, std::int64_t processes) const {
    if (rank < 0 || rank >= processes || processes > size())
      throw LogicError("crochet: part " + std::to_string(rank) + " of " + std::to_string(processes) +
                       " of a data set of " + std::to_string(size()) +
                       " rows; parts are counted from 0, each with at least one row");
    std::vector<std::uint32_t> indices;
    for (std::int64_t row = rank; row < size(); row += processes) indices.push_back(static_cast<std::uint32_t>(row));
    return rows(indices);
  }

  /// This data set with one more field, or with this one in place of the field of the same name.
  template <class N, class T, std::size_t Rank, class Array>
  [[nodiscard]] auto with(Field<N, T, Rank, Array> field) const {
    using New = Field<N, T, Rank, Array>;
    return std::apply(
        [&](const auto&... old) {
          if constexpr ((std::is_same_v<typename F::name, N> || ...)) {
            return DataSet<std::conditional_t<std::is_same_v<typename F::name, N>, New, F>...>{either(old, field)...};
          } else {
            return DataSet<F..., New>{old..., std::move(field)};
          }
        },
        fields_);
  }

  /// This data set with f(row) in place of each row of a field, computed here and now. `f` gets the element of a field
  /// [n], otherwise a TensorView of the row. It returns an element, for a field [n], or a range of k elements (an array
  /// or a vector), for a field [n, k]. Throws LogicError if k differs from row to row.
  template <FixedString Text, class Function>
  [[nodiscard]] auto map(Function&& f) const {
    return with(field<Text>(detail::map_rows(Text.view(), array<Text>(), f)));
  }

  /// Batches of `rows` rows, in order, one epoch. Throws LogicError unless rows > 0. Defined in data_batches.hpp.
  [[nodiscard]] DataBatches<DataSet> batch(std::int64_t rows) const;
  /// `shuffle(seed).batch(n)` is `batch(n).shuffle(seed)`. Defined in data_batches.hpp.
  [[nodiscard]] ShuffledData<DataSet> shuffle(std::uint64_t seed) const;

 private:
  template <class N>
  static constexpr std::size_t index() {
    constexpr std::array<bool, sizeof...(F)> same{std::is_same_v<typename F::name, N>...};
    constexpr auto at = static_cast<std::size_t>(std::find(same.begin(), same.end(), true) - same.begin());
    static_assert(at < sizeof...(F), "crochet: the data set has no field of this name");
    return at < sizeof...(F) ? at : 0;
  }

  template <class One>
  void check() const {
    constexpr int same = (0 + ... + (std::is_same_v<typename F::name, typename One::name> ? 1 : 0));
    static_assert(same == 1, "crochet: two fields of a data set have the same name");
    const auto rows = std::get<index<typename One::name>()>(fields_).array.rows();
    if (rows != size())
      throw LogicError("crochet: field " + std::string(One::name::view()) + " has " + std::to_string(rows) +
                       " rows, and the first one " + std::to_string(size()) +
                       "; each field has one row for each example");
  }

  template <class Old, class New>
  static auto either(const Old& old, const New& replacement) {
    if constexpr (std::is_same_v<typename Old::name, typename New::name>) {
      return replacement;
    } else {
      return old;
    }
  }

  std::tuple<F...> fields_;
};

/// A data set of these fields. Throws LogicError as DataSet does.
template <class... N, class... T, std::size_t... Rank, class... Array>
DataSet<Field<N, T, Rank, Array>...> data_set(Field<N, T, Rank, Array>... fields) {
  return DataSet<Field<N, T, Rank, Array>...>{std::move(fields)...};
}

}  // namespace crochet
