// SPDX-License-Identifier: Apache-2.0
// Rows of JSON Lines (jsonlines.org): one JSON object per line. Uses nlohmann_json (component crochet::io).
#pragma once

#include <crochet/base/bfloat16.hpp>
#include <crochet/io/needs_io.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <crochet/base/tensor_view.hpp>

namespace crochet::io {

/// A row that begins with a step, a format for RowLogger: {"step":100,"loss":0.5}
class JsonRow {
 public:
  template <class... Text>
  static std::string first_line(Text...) {
    return "";
  }

  /// How each row begins.
  static constexpr std::string_view start = "{\"step\":";
  /// Whether a value cannot have this name.
  static constexpr bool reserves(std::string_view name) { return name == "step"; }

  explicit JsonRow(std::int64_t step);

  /// Adds a member. A scalar becomes a number, or null if it is not finite (JSON has no such number). A tensor or range
  /// becomes an array of these, row-major, with one array level per dimension. A float is written as the shortest text
  /// that reads back as the same float.
  template <class T>
  void add(std::string_view name, const T& value) {
    begin_member(name);
    put_any(value);
  }
  [[nodiscard]] std::string text() const { return text_ + "}"; }

  static std::optional<std::int64_t> step_of(std::string_view line);

 private:
  template <class T>
  void put_any(const T& value) {
    if constexpr (std::same_as<T, bool> || std::same_as<T, float>) {
      put(value);
    } else if constexpr (std::same_as<T, bfloat16>) {
      put(float{value});
    } else if constexpr (std::is_arithmetic_v<T>) {
      using Signed = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
      put(static_cast<std::conditional_t<std::is_floating_point_v<T>, double, Signed>>(value));
    } else if constexpr (is_tensor_view<T>) {
      const auto* next = value.data();
      put_nested(next, value.shape());
    } else {
      begin_array();
      for (const auto& element : value) put_any(element);
      end_array();
    }
  }
  template <class T, class Shape>
  void put_nested(const T*& next, const Shape& shape, std::size_t axis = 0) {
    if (axis == shape.size()) return put_any(*next++);
    begin_array();
    for (std::int64_t i = 0; i < shape[axis]; ++i) put_nested(next, shape, axis + 1);
    end_array();
  }

  // put() writes the value of the current member, or an element of the array that was begun last.
  void begin_member(std::string_view name);
  void begin_array();
  void end_array();
  void put(bool value);
  void put(std::int64_t value);
  void put(std::uint64_t value);
  void put(float value);
  void put(double value);

  /// Before a value: a comma behind another one.
  void separate();

  // As text, not as a tree of nlohmann_json, whose destructor allocates: without memory it would end the program.
  std::string text_;    // without the brace at the end
  bool fresh_ = false;  // nothing is before the next value
};

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/json_row.ipp>
#endif
