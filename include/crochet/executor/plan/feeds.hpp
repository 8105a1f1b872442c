// SPDX-License-Identifier: Apache-2.0
// Feeds at run time. The caller's memory is used in place. The size of a feed is checked and determines the dynamic
// dimensions.
#pragma once
#include <span>
#include <string>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/base/message.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/executor/plan/sizes.hpp>
#include <crochet/graph/core/graph.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// Whether an X can be fed to a placeholder of element type T and this rank. Accepted are a T for a scalar, a
/// TensorView of the rank, or any contiguous range of T, whose length then determines at most one dynamic dimension.
template <class T, std::size_t Rank, class X>
constexpr bool accepts() {
  using Plain = std::remove_cvref_t<X>;
  if constexpr (is_tensor_view<Plain>) {
    return std::is_same_v<typename Plain::value_type, T> && Plain::rank == Rank;
  } else if constexpr (crochet::detail::ContiguousRange<Plain>) {
    return std::is_same_v<std::remove_cvref_t<decltype(*std::data(std::declval<const Plain&>()))>, T>;
  } else {
    return Rank == 0 && std::is_same_v<Plain, T>;
  }
}

/// The properties of a placeholder, for the message of an error.
struct Expected {
  std::string_view name;
  const Shape& shape;
  std::span<const std::string_view> symbols;
};

namespace detail {

CROCHET_COLD inline std::string spell(const Extent& e, const Expected& what, const Dims& dims) {
  std::string s;
  if (e.factor != 1 || e.is_static()) s.append(std::to_string(e.factor));
  for (std::size_t i = 0; i < what.symbols.size(); ++i) {
    if (e.power(i) == 0) continue;
    if (!s.empty()) s.append("*");
    s.append(what.symbols[i]);
    if (dims[i] != unknown_dim) s.append("=").append(std::to_string(dims[i]));
  }
  return s;
}

[[noreturn]] CROCHET_COLD inline void refuse(const Expected& what, const Dims& dims, const std::string& given) {
  std::string shape;
  for (std::size_t i = 0; i < what.shape.rank; ++i)
    shape.append(i == 0 ? "" : ", ").append(spell(what.shape[i], what, dims));
  throw ShapeError(crochet::detail::message(
      {"crochet: placeholder '", what.name, "' expects shape [", shape, "] and was given ", given}));
}

/// Solves `e` == size for its one unknown dimension, or checks it if all are known. Returns false if there is no
/// solution, if `size` is negative, or if the product of the known dimensions overflows.
// Not inlined: many feeds use it, and its time is negligible.
[[gnu::noinline]] inline bool settle(const Extent& e, std::int64_t size, Dims& dims) {
  std::int64_t known = e.factor;
  std::size_t open = max_symbols;
  CROCHET_SHORT_LOOP
  for (std::size_t s = 0; s < max_symbols; ++s) {
    CROCHET_SHORT_LOOP
    for (int p = e.power(s); p > 0; --p) {
      if (dims[s] != unknown_dim) {
        if (__builtin_mul_overflow(known, dims[s], &known)) return false;
      } else if (open == max_symbols && e.power(s) == 1) {
        open = s;
      } else {
        return false;
      }
    }
  }
  if (open == max_symbols) return known == size;
  if (known == 0 || size < 0 || size % known != 0) return false;
  dims[open] = size / known;
  return true;
}

CROCHET_COLD inline std::string spell(std::span<const std::int64_t> extents) {
  std::string s = "shape [";
  for (std::size_t i = 0; i < extents.size(); ++i) s.append(i == 0 ? "" : ", ").append(std::to_string(extents[i]));
  return s.append("]");
}

/// Checks a feed with a null pointer, which is valid only for a tensor without elements.
CROCHET_COLD inline void check_null(const Expected& what, const Dims& dims, const std::string& given) {
  for (std::size_t i = 0; i < what.shape.rank; ++i) {
    if (what.shape[i].at(dims) == 0) return;
  }
  refuse(what, dims, "a null pointer with " + given);
}

}  // namespace detail

/// Checks a fed value against its placeholder, determines dynamic dimensions, and returns the address of the elements.
/// Throws ShapeError, with the placeholder, the expected and the given shape, if an extent does not match or is
/// negative, or if the pointer of a non-empty tensor is null.
template <class X>
const void* bind(const X& x, const Expected& what, Dims& dims) {
  if constexpr (is_tensor_view<X>) {
    for (std::size_t i = 0; i < X::rank; ++i) {
      if (!detail::settle(what.shape[i], x.extent(i), dims)) detail::refuse(what, dims, detail::spell(x.shape()));
    }
    if (x.data() == nullptr) [[unlikely]] {
      detail::check_null(what, dims, detail::spell(x.shape()));
    }
    return x.data();
  } else if constexpr (crochet::detail::ContiguousRange<X>) {
    const auto n = static_cast<std::int64_t>(std::size(x));
    if (!detail::settle(what.shape.size(), n, dims))
      detail::refuse(what, dims, crochet::detail::message({n, " elements"}));
    if (std::data(x) == nullptr) [[unlikely]] {
      detail::check_null(what, dims, crochet::detail::message({n, " elements"}));
    }
    return std::data(x);
  } else {
    return &x;
  }
}

}  // namespace crochet::cpu::CROCHET_ISA
