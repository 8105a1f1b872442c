// SPDX-License-Identifier: Apache-2.0
// KeptValue: a copy of a fetched value of any type, which outlives its run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/base/bfloat16.hpp>
#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/hook/compiler_spelling.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/hooks/kit/value_text.hpp>

namespace crochet {

/// Holds a scalar, or the elements and shape of a view or range. Empty until keep().
class KeptValue {
 public:
  /// Copies the value. Reuses the memory: keeping a value of the same size does not allocate.
  template <class T>
  void keep(const T& value) {
    if constexpr (NumberElement<T>) {
      copy(&value, 1);
      shape_.clear();
    } else {
      copy(std::data(value), std::size(value));
      if constexpr (is_tensor_view<T>) {
        shape_.assign(value.shape().begin(), value.shape().end());
      } else {
        shape_.assign(1, static_cast<std::int64_t>(std::size(value)));
      }
    }
    text_.clear();
    detail::append_value(text_, value);
  }

  [[nodiscard]] bool empty() const { return type_.empty(); }
  /// The extents; empty for a scalar.
  [[nodiscard]] std::span<const std::int64_t> shape() const { return shape_; }
  /// The text, in LoggingTensor's format.
  [[nodiscard]] const std::string& text() const { return text_; }

  /// The elements, row-major. Throws LogicError if it is empty or T is not the element type.
  template <class T>
  [[nodiscard]] std::span<const T> elements() const {
    if (type_ != detail::compiler_type_name<T>()) refuse(detail::compiler_type_name<T>());
    return {reinterpret_cast<const T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }
  /// The scalar. Throws LogicError if it is empty, T is not its type, or the value is no scalar.
  template <class T>
  [[nodiscard]] T as() const {
    if (!shape_.empty()) throw LogicError("crochet: a kept value is a tensor and was asked for as a scalar");
    return elements<T>().front();
  }

 private:
  template <class T>
  void copy(const T* data, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    type_ = detail::compiler_type_name<T>();
    bytes_.resize(count * sizeof(T));
    if (count > 0) std::memcpy(bytes_.data(), data, bytes_.size());
  }
  [[noreturn]] CROCHET_COLD void refuse(std::string_view wanted) const {
    if (empty()) throw LogicError("crochet: there is no value yet; it is there after the end of the session");
    throw LogicError("crochet: a kept value has elements of type " + detail::readable_type_name(type_) +
                     " and was asked for as " + detail::readable_type_name(wanted));
  }

  std::vector<std::byte> bytes_;  // from operator new: aligned for every arithmetic type
  std::vector<std::int64_t> shape_;
  std::string_view type_;
  std::string text_;
};

}  // namespace crochet
