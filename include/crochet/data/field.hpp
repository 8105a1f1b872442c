// SPDX-License-Identifier: Apache-2.0
// Field: a named array of a data set, one row for each example. `field<"x">(...)` makes one of what holds the elements.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/data/shared_array.hpp>

namespace crochet {

/// A named array [rows, ...]. Copies share the elements. `Array`: a SharedArray, or a WindowArray of overlapping rows.
template <class N, DataElement T, std::size_t Rank, class Array = SharedArray<T, Rank>>
struct Field {
  using name = N;
  using value_type = T;
  using View = TensorView<T, Rank>;
  static constexpr std::size_t rank = Rank;

  Array array;
};

namespace detail {

/// The shape of `size` elements in rows of shape `row`. Throws LogicError if they do not divide into whole rows.
template <std::size_t Rank>
std::array<std::int64_t, Rank + 1> shape_of_rows(std::string_view name, std::size_t size,
                                                 const std::int64_t (&row)[Rank]) {
  std::array<std::int64_t, Rank + 1> shape{};
  std::uint64_t left = size;  // the number of rows in the end
  bool whole = true;
  for (std::size_t i = 0; i < Rank; ++i) {
    shape[i + 1] = row[i];
    const auto extent = static_cast<std::uint64_t>(row[i]);
    whole = whole && row[i] > 0 && left % extent == 0;
    if (whole) left /= extent;
  }
  if (!whole)
    throw LogicError("crochet: field " + std::string(name) + ": " + std::to_string(size) +
                     " elements do not divide into rows " + shape_text(row) +
                     "; set the shape of one row, without the number of rows");
  shape[0] = static_cast<std::int64_t>(left);
  return shape;
}

/// Eigen's matrices, arrays, maps and expressions of them, by their members: no header of Eigen is included.
template <class M>
concept EigenMatrix = requires(const M& m) {
  typename M::Scalar;
  { M::IsVectorAtCompileTime } -> std::convertible_to<bool>;
  { m.coeff(m.rows(), m.cols()) } -> std::convertible_to<typename M::Scalar>;
}
&&DataElement<typename M::Scalar>;

}  // namespace detail

/// A field that shares the array's elements: `field<"x">(table.columns<"height", "width">())`.
template <FixedString Text, class T, std::size_t Rank>
Field<Name<Text>, T, Rank> field(SharedArray<T, Rank> array) {
  return {std::move(array)};
}

/// A field [n] of n elements. Moves or copies the vector.
template <FixedString Text, DataElement T>
Field<Name<Text>, T, 1> field(std::vector<T> values) {
  const auto rows = static_cast<std::int64_t>(values.size());
  return {SharedArray<T, 1>{std::move(values), {rows}}};
}

/// A field of rows of this shape: `field<"image">(pixels, {28, 28})` is [n, 28, 28]. Throws LogicError if the elements
/// do not divide into whole rows.
template <FixedString Text, DataElement T, std::size_t Rank>
Field<Name<Text>, T, Rank + 1> field(std::vector<T> values, const std::int64_t (&row)[Rank]) {
  const auto shape = detail::shape_of_rows(Text.view(), values.size(), row);
  return {SharedArray<T, Rank + 1>{std::move(values), shape}};
}

/// A copy of elements elsewhere: [n].
template <FixedString Text, class T, std::size_t Extent>
requires DataElement<std::remove_const_t<T>>
auto field(std::span<T, Extent> values) {
  return field<Text>(std::vector<std::remove_const_t<T>>(values.begin(), values.end()));
}

/// A copy of elements elsewhere, in rows of this shape.
template <FixedString Text, class T, std::size_t Extent, std::size_t Rank>
requires DataElement<std::remove_const_t<T>>
auto field(std::span<T, Extent> values, const std::int64_t (&row)[Rank]) {
  return field<Text>(std::vector<std::remove_const_t<T>>(values.begin(), values.end()), row);
}

/// A copy of a tensor; its first dimension counts the rows.
template <FixedString Text, DataElement T, std::size_t Rank>
Field<Name<Text>, T, Rank> field(TensorView<T, Rank> view) {
  return {SharedArray<T, Rank>{std::vector<T>(view.begin(), view.end()), view.shape()}};
}

/// A copy of an Eigen matrix, array or map, in either storage order: [rows, cols]. One with a single row or column at
/// compile time is [n]. Throws LogicError for a matrix without columns.
template <FixedString Text, detail::EigenMatrix M>
auto field(const M& matrix) {
  std::vector<typename M::Scalar> values;
  values.reserve(static_cast<std::size_t>(matrix.rows() * matrix.cols()));
  for (decltype(matrix.rows()) i = 0; i < matrix.rows(); ++i) {
    for (decltype(matrix.cols()) j = 0; j < matrix.cols(); ++j) values.push_back(matrix.coeff(i, j));
  }
  if constexpr (M::IsVectorAtCompileTime) {
    return field<Text>(std::move(values));
  } else {
    const std::int64_t row[] = {matrix.cols()};
    return field<Text>(std::move(values), row);
  }
}

}  // namespace crochet
