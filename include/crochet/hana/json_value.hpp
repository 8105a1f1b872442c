// SPDX-License-Identifier: Apache-2.0
// Conversion of numbers, enumerators and strings to and from JSON, and the error messages. Internal to hana/json.hpp.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hana/json_form.hpp>

#include <nlohmann/json.hpp>

namespace crochet::detail {

/// Appends a member to a path: "rule.rate".
inline std::string member_path(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + '.' + std::string(name);
}

inline constexpr std::size_t longest_shown = 60;

/// Appends a value, up to about longest_shown bytes. Each part in a part adds a byte, so that a deeply nested value
/// does not exhaust the stack. (`dump` of all of it does.)
template <class Json>
void append_shown(std::string& text, const Json& json) {
  if (!json.is_structured()) {
    text += json.dump(-1, ' ', true, Json::error_handler_t::replace);
    return;
  }
  text += json.is_array() ? '[' : '{';
  bool first = true;
  for (auto part = json.begin(); part != json.end() && text.size() <= longest_shown; ++part) {
    if (!std::exchange(first, false)) text += ',';
    if (json.is_object()) (append_shown(text, Json(part.key())), text += ':');
    append_shown(text, *part);
  }
  text += json.is_array() ? ']' : '}';
}
/// A value for a message, truncated.
template <class Json>
std::string shown(const Json& json) {
  std::string text;
  append_shown(text, json);
  return text.size() <= longest_shown ? text : text.substr(0, longest_shown) + "...";
}
template <class Json>
DataError wrong_json(const std::string& path, const std::string& expected, const Json& found) {
  const std::string where = path.empty() ? "the JSON" : "\"" + path + "\" of the JSON";
  return DataError("crochet: " + where + " has to be " + expected + " and is " + shown(found));
}
template <class Names>
DataError unknown_key(const std::string& path, const std::string& key, const Names& names) {
  const std::string_view near = closest(key, names);
  const std::string hint = near.empty() ? "" : "; did you mean \"" + member_path(path, near) + "\"?";
  return DataError("crochet: no member for the JSON key \"" + member_path(path, key) + '"' + hint);
}

/// Infinities and NaNs become strings; types without a JSON form, already reported (hana/json_form.hpp), become null.
template <class T>
nlohmann::ordered_json json_scalar(const T& value) {
  if constexpr (std::is_enum_v<T>) {
    return +static_cast<std::underlying_type_t<T>>(value);  // a number, also of an enumeration over bool
  } else if constexpr (std::floating_point<T>) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
  } else if constexpr (JsonText<T>) {
    return std::string(std::string_view(value));
  } else if constexpr (JsonScalar<T>) {
    return value;
  } else {
    return nullptr;
  }
}

template <class Json, std::floating_point T>
void read_number(const Json& json, T& value, const std::string& path) {
  using Limits = std::numeric_limits<T>;
  if (json.is_number()) {
    // Up to the largest number of the type in its shortest decimal form, which may be above it.
    const auto number = json.template get<double>();
    const double most = static_cast<double>(Limits::max()) * (1 + static_cast<double>(Limits::epsilon()) / 4);
    if (std::isfinite(number) && std::abs(number) > most) {
      throw wrong_json(path, "a number in the range of its type", json);
    }
    const auto finite = std::clamp(number, static_cast<double>(Limits::lowest()), static_cast<double>(Limits::max()));
    value = static_cast<T>(std::isfinite(number) ? finite : number);
  } else if (json == "nan" || json == "inf" || json == "-inf") {
    value = json == "nan" ? Limits::quiet_NaN() : json == "inf" ? Limits::infinity() : -Limits::infinity();
  } else {
    throw wrong_json(path, "a number", json);
  }
}

template <class Json, std::integral T>
void read_number(const Json& json, T& value, const std::string& path) {
  using Limits = std::numeric_limits<T>;
  const std::string range =
      "a whole number from " + std::to_string(+Limits::min()) + " to " + std::to_string(+Limits::max());
  if (!json.is_number_integer()) throw wrong_json(path, range, json);
  // Of C++'s literals, and of an enumerator, the positive ones are stored as signed, too.
  const bool negative = !json.is_number_unsigned() && json.template get<std::int64_t>() < 0;
  const bool fits = negative ? std::signed_integral<T> &&
                                   json.template get<std::int64_t>() >= static_cast<std::int64_t>(Limits::min())
                             : json.template get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max());
  if (!fits) throw wrong_json(path, range, json);
  value = static_cast<T>(json.template get<std::conditional_t<std::same_as<T, bool>, int, T>>());
}

template <class Json, class T>
void read_scalar(const Json& json, T& value, const std::string& path) {
  if constexpr (std::is_enum_v<T>) {
    auto number = static_cast<std::underlying_type_t<T>>(value);
    read_number(json, number, path);
    value = static_cast<T>(number);
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!json.is_boolean()) throw wrong_json(path, "true or false", json);
    value = json.template get<bool>();
  } else if constexpr (JsonText<T>) {
    static_assert(!std::is_same_v<T, std::string_view>,
                  "crochet: a text is read into a std::string; a std::string_view would refer to memory that is gone");
    if (!json.is_string()) throw wrong_json(path, "a text", json);
    value = json.template get<std::string>();
  } else if constexpr (JsonScalar<T>) {
    read_number(json, value, path);
  }
}

}  // namespace crochet::detail
