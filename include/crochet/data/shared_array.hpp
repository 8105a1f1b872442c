// SPDX-License-Identifier: Apache-2.0
// SharedArray: an immutable, row-major array in memory that its copies share. The fields of data sets are such arrays.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/tensor_view.hpp>

namespace crochet {

namespace detail {

template <class T, class... Options>
inline constexpr bool is_one_of = (std::same_as<T, Options> || ...);

/// "[3, 4]".
CROCHET_COLD inline std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t extent : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(extent);
  return text + "]";
}

/// True if an array of this shape has `size` elements. Cannot overflow.
inline bool shape_holds(std::span<const std::int64_t> shape, std::uint64_t size) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent < 0; })) return false;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return size == 0;
  std::uint64_t count = 1;
  for (const std::int64_t extent : shape) {
    if (static_cast<std::uint64_t>(extent) > size / count) return false;
    count *= static_cast<std::uint64_t>(extent);
  }
  return count == size;
}

}  // namespace detail

/// The element types of data sets.
template <class T>
concept DataElement = detail::is_one_of<T, float, double, std::int32_t, std::int64_t, std::uint8_t>;

/// An array [rows, ...]. A copy shares the elements, so it is cheap.
template <DataElement T, std::size_t Rank>
class SharedArray {
 public:
  using value_type = T;
  using Shape = std::array<std::int64_t, Rank>;
  static constexpr std::size_t rank = Rank;
  static_assert(Rank > 0, "crochet: the first dimension of a SharedArray counts its rows");

  /// Takes the elements in row-major order. Throws LogicError if their number is not that of the shape.
  SharedArray(std::vector<T> values, const Shape& shape)
      : values_(std::make_shared<const std::vector<T>>(std::move(values))), shape_(shape) {
    if (!detail::shape_holds(shape_, values_->size()))
      throw LogicError("crochet: an array of shape " + detail::shape_text(shape_) + " from " +
                       std::to_string(values_->size()) + " elements; set the shape to that of the elements");
  }

  /// Valid while any copy of this array exists; so not for a temporary one.
  [[nodiscard]] TensorView<T, Rank> view() const&& = delete;
  [[nodiscard]] TensorView<T, Rank> view() const& { return {values_->data(), shape_}; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// The first extent.
  [[nodiscard]] std::int64_t rows() const { return shape_[0]; }
  /// Elements of one row: the product of the other extents. 0 for an array without elements.
  [[nodiscard]] std::size_t row_size() const {
    return shape_[0] == 0 ? 0 : values_->size() / static_cast<std::size_t>(shape_[0]);
  }
  /// The elements of row `index`, which is in range.
  [[nodiscard]] const T* row(std::size_t index) const { return values_->data() + index * row_size(); }
  /// A copy of the rows of these indices, which are in range.
  [[nodiscard]] SharedArray gathered(std::span<const std::uint32_t> indices) const {
    const std::size_t size = row_size();
    std::vector<T> values(indices.size() * size);
    for (std::size_t i = 0; i < indices.size(); ++i) std::copy_n(row(indices[i]), size, values.data() + i * size);
    Shape shape = shape_;
    shape[0] = static_cast<std::int64_t>(indices.size());
    return {std::move(values), shape};
  }

 private:
  std::shared_ptr<const std::vector<T>> values_;
  Shape shape_;
};

}  // namespace crochet
