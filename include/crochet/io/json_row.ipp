// SPDX-License-Identifier: Apache-2.0
// The compiled half of json_row.hpp.
#pragma once

#include <crochet/io/json_row.hpp>

#include <charconv>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace crochet::io {

/// The row, and the arrays that are still open.
struct JsonRow::Parts {
  using Json = nlohmann::ordered_json;

  void put(Json value) {
    if (open.empty()) {
      row[member] = std::move(value);
    } else {
      open.back().push_back(std::move(value));
    }
  }

  Json row = Json::object();
  std::string member{};
  std::vector<Json> open{};  // arrays, the innermost last
};

CROCHET_INLINE JsonRow::JsonRow(std::int64_t step) : parts_(std::make_unique<Parts>()) { parts_->row["step"] = step; }
CROCHET_INLINE JsonRow::~JsonRow() = default;

CROCHET_INLINE std::string JsonRow::text() const {
  return parts_->row.dump(-1, ' ', false, Parts::Json::error_handler_t::replace);
}

CROCHET_INLINE std::optional<std::int64_t> JsonRow::step_of(std::string_view line) {
  const Parts::Json row = Parts::Json::parse(line, nullptr, false);
  if (!row.is_object() || !row.contains("step") || !row["step"].is_number_integer()) return {};
  return row["step"].get<std::int64_t>();
}

CROCHET_INLINE void JsonRow::begin_member(std::string_view name) {
  parts_->open.clear();
  parts_->member = name;
}
CROCHET_INLINE void JsonRow::begin_array() { parts_->open.push_back(Parts::Json::array()); }
CROCHET_INLINE void JsonRow::end_array() {
  Parts::Json all = std::move(parts_->open.back());
  parts_->open.pop_back();
  parts_->put(std::move(all));
}
CROCHET_INLINE void JsonRow::put(bool value) { parts_->put(value); }
CROCHET_INLINE void JsonRow::put(std::int64_t value) { parts_->put(value); }
CROCHET_INLINE void JsonRow::put(std::uint64_t value) { parts_->put(value); }
CROCHET_INLINE void JsonRow::put(double value) { parts_->put(value); }
/// Converts the float to the double with the same shortest text.
CROCHET_INLINE void JsonRow::put(float value) {
  char text[32];
  const char* end = std::to_chars(text, text + sizeof text, value).ptr;
  double number = value;
  std::from_chars(text, end, number);
  parts_->put(number);
}

}  // namespace crochet::io
