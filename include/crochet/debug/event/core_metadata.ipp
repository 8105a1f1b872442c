// SPDX-License-Identifier: Apache-2.0
// The compiled half of core_metadata.hpp.
#pragma once

#include <crochet/debug/event/core_metadata.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <crochet/proto/event.pb.h>
#include <crochet/base/config.hpp>
#include <crochet/debug/event/log_event.hpp>
#include <nlohmann/json.hpp>

namespace crochet::debug {

CROCHET_INLINE std::string metadata_json(const CoreMetadata& metadata, const std::optional<std::string>& grpc_path) {
  const auto sorted = [](std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return names;
  };
  nlohmann::ordered_json json;
  json["global_step"] = metadata.global_step;
  json["session_run_index"] = metadata.session_run_index;
  json["executor_step_index"] = metadata.executor_step_index;
  json["input_names"] = sorted(metadata.input_names);
  json["output_names"] = sorted(metadata.output_names);
  json["target_nodes"] = sorted(metadata.target_nodes);
  if (grpc_path) json["grpc_path"] = *grpc_path;
  if (metadata.dropped) json["dropped"] = *metadata.dropped;
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

CROCHET_INLINE proto::Event metadata_event(const CoreMetadata& metadata, std::int64_t microseconds,
                                           const std::optional<std::string>& grpc_path) {
  proto::Event event = log_event(metadata_json(metadata, grpc_path));
  event.set_wall_time(static_cast<double>(microseconds));
  return event;
}

}  // namespace crochet::debug
