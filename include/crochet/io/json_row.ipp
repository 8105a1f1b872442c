// SPDX-License-Identifier: Apache-2.0
// The compiled half of json_row.hpp.
#pragma once

#include <crochet/io/json_row.hpp>

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace crochet::io::detail {

/// A number or a text in JSON; NaN and infinity are null.
template <class T>
std::string json_of(const T& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE JsonRow::JsonRow(std::int64_t step) : text_(std::string(start) + detail::json_of(step)) {}

CROCHET_INLINE std::optional<std::int64_t> JsonRow::step_of(std::string_view line) {
  const nlohmann::json row = nlohmann::json::parse(line, nullptr, false);
  if (!row.is_object()) return {};
  const auto step = row.find("step");
  if (step == row.end() || !step->is_number_integer()) return {};
  if (step->is_number_unsigned() && step->get<std::uint64_t>() >> 63 != 0) return {};  // beyond int64
  return step->get<std::int64_t>();
}

CROCHET_INLINE void JsonRow::begin_member(std::string_view name) {
  text_ += ',' + detail::json_of(name) + ':';
  fresh_ = true;
}
CROCHET_INLINE void JsonRow::begin_array() {
  separate();
  text_ += '[';
  fresh_ = true;
}
CROCHET_INLINE void JsonRow::end_array() {
  text_ += ']';
  fresh_ = false;
}
CROCHET_INLINE void JsonRow::separate() {
  if (!std::exchange(fresh_, false)) text_ += ',';
}
CROCHET_INLINE void JsonRow::put(bool value) {
  separate();
  text_ += value ? "true" : "false";
}
CROCHET_INLINE void JsonRow::put(std::int64_t value) {
  separate();
  text_ += detail::json_of(value);
}
CROCHET_INLINE void JsonRow::put(std::uint64_t value) {
  separate();
  text_ += detail::json_of(value);
}
CROCHET_INLINE void JsonRow::put(double value) {
  separate();
  text_ += detail::json_of(value);
}
/// Converts the float to the double with the same shortest text.
CROCHET_INLINE void JsonRow::put(float value) {
  char text[32];
  const char* end = std::to_chars(text, text + sizeof text, value).ptr;
  double number = value;
  std::from_chars(text, end, number);
  put(number);
}

}  // namespace crochet::io
