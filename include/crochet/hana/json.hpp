// SPDX-License-Identifier: Apache-2.0
// Listed members as JSON, both ways: the options of a program in a file, the state of a hook on a page. The program
// links nlohmann_json.
#pragma once

#include <crochet/hana/needs_hana.hpp>

#if !__has_include(<nlohmann/json.hpp>)
#include "crochet: nlohmann_json is not found: link the CMake target nlohmann_json::nlohmann_json"
#endif

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <crochet/base/error.hpp>
#include <crochet/hana/json_form.hpp>
#include <crochet/hana/json_value.hpp>
#include <crochet/hana/members.hpp>

namespace crochet {

namespace detail {

template <class T>
nlohmann::ordered_json json_value(const T& value) {
  if constexpr (ListsMembers<T>) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for_each_member(value,
                    [&](std::string_view name, const auto& member) { json[std::string(name)] = json_value(member); });
    return json;
  } else if constexpr (JsonList<T>) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const auto& element : value) json.push_back(json_value(element));
    return json;
  } else {
    return json_scalar(value);
  }
}

template <class Json, class T>
void read_value(const Json& json, T& value, const std::string& path);

/// Refuses what is no object, and each key that no member has.
template <class Json, ListsMembers Object>
void check_keys(const Json& json, const Object& object, const std::string& path) {
  if (!json.is_object()) throw wrong_json(path, "an object", json);
  std::vector<std::string_view> names;
  for_each_member(object, [&](std::string_view name, const auto&) { names.push_back(name); });
  for (const auto& item : json.items()) {
    if (std::find(names.begin(), names.end(), item.key()) == names.end()) throw unknown_key(path, item.key(), names);
  }
}

template <class Json, class T>
void read_list(const Json& json, T& list, const std::string& path) {
  if (!json.is_array()) throw wrong_json(path, "an array", json);
  if constexpr (requires { list.resize(json.size()); }) list.resize(json.size());
  if (list.size() != json.size()) throw wrong_json(path, std::to_string(list.size()) + " elements", json);
  std::size_t next = 0;
  for (auto& element : list) {
    read_value(json[next], element, path + '[' + std::to_string(next) + ']');
    ++next;
  }
}

template <class Json, class T>
void read_value(const Json& json, T& value, const std::string& path) {
  if constexpr (ListsMembers<T>) {
    check_keys(json, value, path);
    for_each_member(value, [&](std::string_view name, auto& member) {
      const auto found = json.find(std::string(name));
      if (found != json.end()) read_value(*found, member, member_path(path, name));
    });
  } else if constexpr (JsonList<T>) {
    read_list(json, value, path);
  } else {
    read_scalar(json, value, path);
  }
}

}  // namespace detail

/// The listed members as a JSON object, in their order. Numbers that are not finite are the texts "nan", "inf" and
/// "-inf", enumerators their numbers. `json_of(options).dump(2)` is the text. Allocates.
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
