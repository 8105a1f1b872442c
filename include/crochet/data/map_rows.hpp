// SPDX-License-Identifier: Apache-2.0
// What DataSet::map computes: a function of each row of an array.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/data/shared_array.hpp>

namespace crochet::detail {

/// One row: the element of an array [n], otherwise a view of the row.
template <class Array>
auto row_of(const Array& array, std::size_t index) {
  constexpr std::size_t rank = Array::rank;
  if constexpr (rank == 1) {
    return *array.row(index);
  } else {
    std::array<std::int64_t, rank - 1> shape{};
    for (std::size_t i = 1; i < rank; ++i) shape[i - 1] = array.shape()[i];
    return TensorView<typename Array::value_type, rank - 1>{array.row(index), shape};
  }
}

/// Appends one result of the function. Throws LogicError unless it is as long as the others.
template <class T, class Range>
void append_row(std::string_view name, std::vector<T>& values, std::size_t index, const Range& row) {
  values.insert(values.end(), std::data(row), std::data(row) + std::size(row));
  const std::size_t length = std::size(row);
  if (length * (index + 1) != values.size())
    throw LogicError("crochet: field " + std::string(name) + ": the function returned " + std::to_string(length) +
                     " elements for row " + std::to_string(index) + ", and for the first row " +
                     std::to_string((values.size() - length) / index) + "; return equally many for each row");
}

/// The results of `f` for each row: [n] if it returns an element, [n, k] if it returns a range of k elements.
template <class Array, class Function>
auto map_rows(std::string_view name, const Array& array, Function&& f) {
  using Result = std::remove_cvref_t<decltype(f(row_of(array, 0)))>;
  const auto rows = static_cast<std::size_t>(array.rows());
  if constexpr (DataElement<Result>) {
    std::vector<Result> values(rows);
    for (std::size_t i = 0; i < rows; ++i) values[i] = f(row_of(array, i));
    return SharedArray<Result, 1>{std::move(values), {array.rows()}};
  } else {
    using Element = std::remove_cvref_t<decltype(*std::data(std::declval<const Result&>()))>;
    static_assert(DataElement<Element>, "crochet: a data set holds float, double, int32, int64 and uint8");
    std::vector<Element> values;
    for (std::size_t i = 0; i < rows; ++i) append_row(name, values, i, f(row_of(array, i)));
    // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): a data set has rows
    const auto length = static_cast<std::int64_t>(values.size() / rows);
    return SharedArray<Element, 2>{std::move(values), {array.rows(), length}};
  }
}

}  // namespace crochet::detail
