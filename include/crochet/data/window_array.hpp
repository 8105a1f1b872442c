// SPDX-License-Identifier: Apache-2.0
// WindowArray: windows of a sequence as the rows of an array. They overlap without being copied.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <crochet/data/shared_array.hpp>

namespace crochet {

/// An array [rows, length], made by Sequence::windows(). A copy shares the elements. A selection of rows takes 4 bytes
/// for each, whatever the length.
template <DataElement T>
class WindowArray {
 public:
  using value_type = T;
  using Shape = std::array<std::int64_t, 2>;
  static constexpr std::size_t rank = 2;

  /// Row i has the `length` elements from first[i * stride] on; these exist.
  WindowArray(std::shared_ptr<const T> first, std::int64_t rows, std::int64_t length, std::int64_t stride)
      : first_(std::move(first)), shape_{rows, length}, stride_(static_cast<std::size_t>(stride)) {}

  [[nodiscard]] const Shape& shape() const { return shape_; }
  /// Number of windows.
  [[nodiscard]] std::int64_t rows() const { return shape_[0]; }
  /// Elements of one window.
  [[nodiscard]] std::size_t row_size() const { return static_cast<std::size_t>(shape_[1]); }
  /// The elements of window `index`, which is in range.
  [[nodiscard]] const T* row(std::size_t index) const { return first_.get() + window(index) * stride_; }
  /// The windows of these indices, which are in range.
  [[nodiscard]] WindowArray gathered(std::span<const std::uint32_t> indices) const {
    std::vector<std::uint32_t> windows(indices.begin(), indices.end());
    for (std::uint32_t& index : windows) index = static_cast<std::uint32_t>(window(index));
    WindowArray selected = *this;
    selected.shape_[0] = static_cast<std::int64_t>(windows.size());
    selected.windows_ = std::make_shared<const std::vector<std::uint32_t>>(std::move(windows));
    return selected;
  }

 private:
  [[nodiscard]] std::size_t window(std::size_t index) const { return windows_ ? (*windows_)[index] : index; }

  std::shared_ptr<const T> first_;
  Shape shape_;
  std::size_t stride_;
  std::shared_ptr<const std::vector<std::uint32_t>> windows_;  // null: all, in order
};

}  // namespace crochet
