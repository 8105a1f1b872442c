// SPDX-License-Identifier: Apache-2.0
// Listed members as JSON, both ways: the options of a program in a file, the state of a hook on a page. The program
// links nlohmann_json.
#pragma once

#include <crochet/hana/needs_hana.hpp>

#if !__has_include(<nlohmann/json.hpp>)
#include "crochet: nlohmann_json is not found: link the CMake target nlohmann_json::nlohmann_json"
#endif

#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <crochet/base/error.hpp>
#include <crochet/hana/json_form.hpp>
#include <crochet/hana/json_tree.hpp>
#include <crochet/hana/members.hpp>

namespace crochet {

/// The listed members as a JSON object, in their order. Numbers that are not finite are the texts "nan", "inf" and
/// "-inf", enumerators their numbers, an optional without a value is null. `json_of(options).dump(2)` is the text.
/// Allocates.
template <ListsMembers Object>
nlohmann::ordered_json json_of(const Object& object) {
  [[maybe_unused]] members_have_forms_in_json<Object> checked;
  return detail::json_value(object);
}

/// Sets the members that a JSON object has; the others keep their values. Throws DataError, and changes nothing, for a
/// key that no member has (it names the nearest member), a value of another type, and a number that the member cannot
/// hold. `json`: an nlohmann::json or ordered_json.
template <class Json, ListsMembers Object>
void read_json(const Json& json, Object& object) {
  [[maybe_unused]] members_have_forms_in_json<Object> checked;
  Object read = object;
  detail::read_value(json, read, "");
  object = std::move(read);
}

/// The same of a text. One that is no JSON is a DataError that says where.
template <ListsMembers Object>
void read_json_text(std::string_view text, Object& object) {
  try {
    read_json(nlohmann::ordered_json::parse(text), object);
  } catch (const nlohmann::json::parse_error& error) {
    throw DataError(std::string("crochet: this is no JSON: ") + error.what());
  }
}

}  // namespace crochet
