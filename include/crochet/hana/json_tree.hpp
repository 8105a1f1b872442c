// SPDX-License-Identifier: Apache-2.0
// Conversion of objects, lists and optional values to and from JSON. Internal to hana/json.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <crochet/hana/json_form.hpp>
#include <crochet/hana/json_value.hpp>
#include <crochet/hana/members.hpp>

#include <nlohmann/json.hpp>

namespace crochet::detail {

template <class T>
nlohmann::ordered_json json_value(const T& value) {
  if constexpr (ListsMembers<T>) {
    nlohmann::ordered_json json = nlohmann::ordered_json::object();
    for_each_member(value,
                    [&](std::string_view name, const auto& member) { json[std::string(name)] = json_value(member); });
    return json;
  } else if constexpr (JsonOptional<T>) {
    return value.has_value() ? json_value(*value) : nlohmann::ordered_json(nullptr);
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

/// Throws DataError for JSON that is not an object, and for a key without a member.
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
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string at = path + '[' + std::to_string(i) + ']';
    if constexpr (std::is_same_v<T, std::vector<bool>>) {
      bool element = false;
      read_value(json[i], element, at);
      list[i] = element;
    } else {
      read_value(json[i], list.data()[i], at);
    }
  }
}

template <class Json, class T>
void read_optional(const Json& json, T& value, const std::string& path) {
  if (json.is_null()) {
    value.reset();
  } else {
    if (!value.has_value()) value.emplace();
    read_value(json, *value, path);
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
  } else if constexpr (JsonOptional<T>) {
    read_optional(json, value, path);
  } else if constexpr (JsonList<T>) {
    read_list(json, value, path);
  } else {
    read_scalar(json, value, path);
  }
}

}  // namespace crochet::detail
