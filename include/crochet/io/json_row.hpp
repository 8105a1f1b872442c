// SPDX-License-Identifier: Apache-2.0
// Rows of JSON Lines (jsonlines.org): one JSON object in each line. By nlohmann_json: component crochet::io.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <nlohmann/json.hpp>

#include <crochet/base/tensor_view.hpp>

namespace crochet::io {

/// A row that begins with a step: what RowLogger is given as format. {"step":100,"loss":0.5}
class JsonRow {
  using Json = nlohmann::ordered_json;

 public:
  template <class... Text>
  static std::string first_line(Text...) {
    return "";
  }

  explicit JsonRow(std::int64_t step) { row_["step"] = step; }

  /// A scalar is a number, or null if it is not finite, which JSON has no number for; a tensor or range is an array of
  /// such, row-major, in one array for each of its dimensions. A float is written as short as it can be read back as a
  /// float.
  template <class T>
  void add(std::string_view name, const T& value) {
    row_[std::string(name)] = json_of(value);
  }
  [[nodiscard]] std::string text() const { return row_.dump(-1, ' ', false, Json::error_handler_t::replace); }

  static std::optional<std::int64_t> step_of(std::string_view line) {
    const Json row = Json::parse(line, nullptr, false);
    if (!row.is_object() || !row.contains("step") || !row["step"].is_number_integer()) return {};
    return row["step"].get<std::int64_t>();
  }

 private:
  template <class T>
  static Json json_of(const T& value) {
    if constexpr (std::same_as<T, float>) {
      return shortest(value);
    } else if constexpr (std::is_arithmetic_v<T>) {
      return value;
    } else if constexpr (is_tensor_view<T>) {
      const auto* next = value.data();
      return nested(next, value.shape());
    } else {
      Json all = Json::array();
      for (const auto& element : value) all.push_back(json_of(element));
      return all;
    }
  }
  template <class T, class Shape>
  static Json nested(const T*& next, const Shape& shape, std::size_t axis = 0) {
    if (axis == shape.size()) return json_of(*next++);
    Json all = Json::array();
    for (std::int64_t i = 0; i < shape[axis]; ++i) all.push_back(nested(next, shape, axis + 1));
    return all;
  }
  /// The double whose shortest text is the float's shortest text.
  static double shortest(float value) {
    char text[32];
    const char* end = std::to_chars(text, text + sizeof text, value).ptr;
    double number = value;
    std::from_chars(text, end, number);
    return number;
  }

  Json row_ = Json::object();
};

}  // namespace crochet::io
