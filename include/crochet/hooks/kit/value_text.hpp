// SPDX-License-Identifier: Apache-2.0
// Text of fetched values: scalars in the shortest lossless form, tensors by their first elements and their shape.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/base/bfloat16.hpp>
#include <crochet/base/tensor_view.hpp>
#include <crochet/hook/run_args.hpp>

namespace crochet::detail {

template <class T>
concept Scalar = NumberElement<T>;

/// Appends the text of to_chars for the arguments.
template <class... A>
void append_chars(std::string& out, A... args) {
  char buffer[64];
  const auto done = std::to_chars(buffer, buffer + sizeof buffer, args...);
  out.append(buffer, done.ptr);
}

/// Appends a scalar: `0.5`, `1.0`, `1e-08`, `7`, `true`, `nan`.
template <Scalar T>
void append_value(std::string& out, T value) {
  if constexpr (std::same_as<T, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::same_as<T, bfloat16>) {
    append_value(out, float{value});
  } else if constexpr (!std::floating_point<T>) {
    append_chars(out, value);
  } else {
    const T size = std::abs(value);
    const bool plain = size == 0 || (size >= T(1e-4) && size < T(1e16));
    const std::size_t start = out.size();
    append_chars(out, value, plain ? std::chars_format::fixed : std::chars_format::scientific);
    if (plain && out.find('.', start) == std::string::npos) out += ".0";
  }
}

/// Appends the first of `size` elements, each by append_at(i): `[1.0, 2.0]`, `[1.0, 2.0, 3.0, ... 1000]`.
template <class AppendAt>
void append_list(std::string& out, std::size_t size, const AppendAt& append_at) {
  constexpr std::size_t shown = 6;
  const std::size_t count = size <= shown ? size : shown / 2;
  out += '[';
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ", ";
    append_at(i);
  }
  if (count < size) append_chars(out += ", ... ", size);
  out += ']';
}
template <class T>
void append_elements(std::string& out, std::span<const T> values) {
  append_list(out, values.size(), [&](std::size_t i) { append_value(out, values[i]); });
}

/// Appends a view or any contiguous range: its elements, and its shape from rank 2 on: `[...] (2x3)`.
template <class T>
requires(is_tensor_view<T> || ContiguousRange<T>) void append_value(std::string& out, const T& value) {
  using Element = std::remove_cvref_t<decltype(*std::data(value))>;
  append_elements(out, std::span<const Element>(std::data(value), std::size(value)));
  if constexpr (is_tensor_view<T>) {
    if constexpr (T::rank > 1) {
      for (std::size_t axis = 0; axis < T::rank; ++axis)
        append_chars(out += axis == 0 ? " (" : "x", value.extent(axis));
      out += ')';
    }
  }
}

template <class T>
std::string value_text(const T& value) {
  std::string text;
  append_value(text, value);
  return text;
}

/// The prefix of a line for a step: `step 100: `; with an epoch `epoch 2, step 100: `.
inline std::string step_text(std::int64_t step, std::int64_t epoch = -1) {
  std::string text;
  if (epoch >= 0) {
    append_chars(text += "epoch ", epoch);
    text += ", ";
  }
  append_chars(text += "step ", step);
  return text += ": ";
}

}  // namespace crochet::detail
