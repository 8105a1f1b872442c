// SPDX-License-Identifier: Apache-2.0
// Element types of tensors: the enum stored in the graph's table, and the corresponding C++ types.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <crochet/base/bfloat16.hpp>

namespace crochet {

/// The element type of a tensor.
enum class DType : std::uint8_t { float32, float64, int32, int64, uint8, boolean, bfloat16 };

namespace detail {
template <class T>
struct dtype_trait {
  static constexpr bool known = false;
};
template <DType D>
struct known_dtype {
  static constexpr bool known = true;
  static constexpr DType value = D;
};
template <>
struct dtype_trait<float> : known_dtype<DType::float32> {};
template <>
struct dtype_trait<double> : known_dtype<DType::float64> {};
template <>
struct dtype_trait<std::int32_t> : known_dtype<DType::int32> {};
template <>
struct dtype_trait<std::int64_t> : known_dtype<DType::int64> {};
template <>
struct dtype_trait<std::uint8_t> : known_dtype<DType::uint8> {};
template <>
struct dtype_trait<bool> : known_dtype<DType::boolean> {};
template <>
struct dtype_trait<bfloat16> : known_dtype<DType::bfloat16> {};

template <DType>
struct element {
  using type = float;
};
template <>
struct element<DType::float64> {
  using type = double;
};
template <>
struct element<DType::int32> {
  using type = std::int32_t;
};
template <>
struct element<DType::int64> {
  using type = std::int64_t;
};
template <>
struct element<DType::uint8> {
  using type = std::uint8_t;
};
template <>
struct element<DType::boolean> {
  using type = bool;
};
template <>
struct element<DType::bfloat16> {
  using type = bfloat16;
};
}  // namespace detail

/// A C++ type that can be a tensor's element: float, double, std::int32_t, std::int64_t, std::uint8_t, bool or
/// bfloat16.
template <class T>
concept Element = detail::dtype_trait<T>::known;

template <Element T>
inline constexpr DType dtype_of = detail::dtype_trait<T>::value;

/// The C++ type of a DType: `element_t<DType::float32>` is float.
template <DType D>
using element_t = typename detail::element<D>::type;

/// Whether there is floating-point arithmetic on the type. There is none on bfloat16, which is for storage.
constexpr bool is_floating(DType d) { return d == DType::float32 || d == DType::float64; }
/// Whether gradients flow through tensors of the type.
constexpr bool has_gradient(DType d) { return is_floating(d) || d == DType::bfloat16; }
/// The type in which values of a type are computed with, and of their gradients: float for bfloat16, else the type.
constexpr DType computed_as(DType d) { return d == DType::bfloat16 ? DType::float32 : d; }

/// Bytes of one element.
constexpr std::size_t size_of(DType d) {
  constexpr std::size_t sizes[] = {4, 8, 4, 8, 1, 1, 2};
  return sizes[static_cast<std::size_t>(d)];
}

constexpr std::string_view name_of(DType d) {
  constexpr std::string_view names[] = {"float32", "float64", "int32", "int64", "uint8", "bool", "bfloat16"};
  return names[static_cast<std::size_t>(d)];
}

}  // namespace crochet
