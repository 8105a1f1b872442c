// SPDX-License-Identifier: Apache-2.0
// The compiled half of parse_core_metadata.hpp.
#pragma once

#include <crochet/debug/event/parse_core_metadata.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/debug/event/core_metadata.hpp>
#include <nlohmann/json.hpp>

namespace crochet::debug {

namespace detail {
CROCHET_INLINE std::int64_t metadata_number(const nlohmann::json& json, const char* key) {
  const auto at = json.find(key);
  if (at == json.end() || !at->is_number_integer() ||
      (at->is_number_unsigned() && at->get<std::uint64_t>() >> 63 != 0)) {
    throw DataLossError("its metadata have no whole number " + std::string(key));
  }
  return at->get<std::int64_t>();
}

CROCHET_INLINE std::vector<std::string> metadata_names(const nlohmann::json& json, const char* key) {
  const auto at = json.find(key);
  const auto wrong = [&] { throw DataLossError("its metadata have no list of names " + std::string(key)); };
  if (at == json.end() || !at->is_array()) wrong();
  std::vector<std::string> names;
  for (const nlohmann::json& name : *at) {
    if (!name.is_string()) wrong();
    names.push_back(name.get<std::string>());
  }
  return names;
}
}  // namespace detail

CROCHET_INLINE CoreMetadata parse_core_metadata(std::string_view text) {
  std::size_t parts = 0;  // a part takes up to 200 bytes of memory, and 2 bytes of the text
  const auto flat = [&](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
    if (depth > 16) throw DataLossError("its metadata are nested");
    if (++parts > 262'144) throw DataLossError("its metadata have too many parts");
    return true;
  };
  const nlohmann::json json = nlohmann::json::parse(text, flat, false);
  if (!json.is_object()) throw DataLossError("its metadata are no JSON object");
  CoreMetadata metadata;
  metadata.global_step = detail::metadata_number(json, "global_step");
  metadata.session_run_index = detail::metadata_number(json, "session_run_index");
  metadata.executor_step_index = detail::metadata_number(json, "executor_step_index");
  metadata.input_names = detail::metadata_names(json, "input_names");
  metadata.output_names = detail::metadata_names(json, "output_names");
  metadata.target_nodes = detail::metadata_names(json, "target_nodes");
  if (json.contains("dropped")) metadata.dropped = detail::metadata_number(json, "dropped");
  return metadata;
}

}  // namespace crochet::debug
