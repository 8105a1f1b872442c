// SPDX-License-Identifier: Apache-2.0
// Conversion of listed members to and from JSON: for example, options in a file, or a hook's state on a page. The
// program links nlohmann_json.
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

/// The listed members, in order, as a JSON object. Infinities and NaNs become the strings "nan", "inf" and "-inf",
/// enumerators their numbers, an empty optional null. `json_of(options).dump(2)` is the text. Allocates.
template <ListsMembers Object>
nlohmann::ordered_json json_of(const Object& object) {
  [[maybe_unused]] members_have_forms_in_json<Object> checked;
  return detail::json_value(object);
}

/// Sets the members for which a JSON object has a key; the others keep their values. `json`: an nlohmann::json or
/// ordered_json.
/// - Throws: DataError for a key without a member (the message has the nearest member's name), a value of another type,
///   or a finite number out of the member's range. The object is then unchanged.
template <class Json, ListsMembers Object>
void read_json(const Json& json, Object& object) {
  [[maybe_unused]] members_have_forms_in_json<Object> checked;
  Object read = object;
  detail::read_value(json, read, "");
  object = std::move(read);
}

/// The same, from text. Throws DataError, with the position, for invalid JSON.
template <ListsMembers Object>
void read_json_text(std::string_view text, Object& object) {
  nlohmann::ordered_json json;
  try {
    json = nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::json::exception& error) {  // also a number out of range
    throw DataError(std::string("crochet: this is no JSON: ") + error.what());
  }
  read_json(json, object);
}

}  // namespace crochet
