// SPDX-License-Identifier: Apache-2.0
// TensorView: read access to a tensor for hooks and callers. A pointer and a shape, row-major and contiguous, no copy.
#pragma once

#include <crochet/base/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace crochet {

/// A read-only view of a row-major, contiguous tensor. It owns nothing; the function that returns the view documents
/// how long the values live (a fetched value: until the next run). Scalars are plain `T`, not views. Cost: one pointer
/// and `Rank` extents; passed by value.
template <class T, std::size_t Rank>
class TensorView {
 public:
  using value_type = std::remove_const_t<T>;
  using Shape = std::array<std::int64_t, Rank>;

  static constexpr std::size_t rank = Rank;

  constexpr TensorView() = default;
  constexpr TensorView(const T* data, const Shape& shape) : data_(data), shape_(shape) {}

  [[nodiscard]] constexpr const T* data() const { return data_; }
  [[nodiscard]] constexpr const Shape& shape() const { return shape_; }
  /// Extent of dimension `axis`. Requires `axis < Rank`.
  [[nodiscard]] constexpr std::int64_t extent(std::size_t axis) const { return shape_[axis]; }

  /// Number of elements.
  [[nodiscard]] constexpr std::size_t size() const {
    std::size_t count = 1;
    for (const std::int64_t extent : shape_) count *= static_cast<std::size_t>(extent);
    return data_ == nullptr ? 0 : count;
  }
  [[nodiscard]] constexpr bool empty() const { return size() == 0; }

  /// Element at one index per dimension. Not checked: every index must be in range.
  template <class... Index>
  requires(sizeof...(Index) == Rank && (std::is_convertible_v<Index, std::int64_t> && ...))
      [[nodiscard]] constexpr const T&
      operator()(Index... index) const {
    std::int64_t offset = 0;
    std::size_t axis = 0;
    ((offset = offset * shape_[axis++] + static_cast<std::int64_t>(index)), ...);
    return data_[offset];
  }
  /// Element at a flat, row-major index.
  [[nodiscard]] constexpr const T& operator[](std::size_t flat) const { return data_[flat]; }

  [[nodiscard]] constexpr const T* begin() const { return data_; }
  [[nodiscard]] constexpr const T* end() const { return data_ + size(); }

  // NOLINTNEXTLINE(google-explicit-constructor): every tensor is also a flat range of its elements
  [[nodiscard]] constexpr operator std::span<const T>() const { return {data_, size()}; }

 private:
  const T* data_ = nullptr;
  Shape shape_{};
};

template <class T>
inline constexpr bool is_tensor_view = false;
template <class T, std::size_t Rank>
inline constexpr bool is_tensor_view<TensorView<T, Rank>> = true;

}  // namespace crochet
