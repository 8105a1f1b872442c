// SPDX-License-Identifier: Apache-2.0
// CoreMetadata: the feeds, fetches, targets and counters of a debugged run.
#pragma once

#include <crochet/proto/event.pb.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace crochet::debug {

/// The metadata of a run, as the readers of dumps and streams receive them.
struct CoreMetadata {
  std::int64_t global_step = -1;            ///< -1: unknown
  std::int64_t session_run_index = 0;       ///< number of this debugged run in this process, from 1
  std::int64_t executor_step_index = 0;     ///< number of this run of the graph with these watches, from 0
  std::vector<std::string> input_names{};   ///< fed tensors, `x:0`
  std::vector<std::string> output_names{};  ///< fetched tensors
  std::vector<std::string> target_nodes{};  ///< `train`
  std::optional<std::int64_t> dropped{};    ///< an extension: events lost so far
};

/// The next session_run_index of this process. Thread-safe.
inline std::int64_t next_session_run_index() {
  static std::atomic<std::int64_t> runs{0};
  return ++runs;
}

/// The six keys in TensorFlow's order, each list of names sorted by bytes. On a stream `grpc_path` (with its first
/// slash, or empty) is the seventh. Names are escaped, unlike TensorFlow's.
inline std::string metadata_json(const CoreMetadata& metadata, const std::optional<std::string>& grpc_path = {}) {
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

/// The event of a run's metadata.
inline proto::Event metadata_event(const CoreMetadata& metadata, std::int64_t microseconds,
                                   const std::optional<std::string>& grpc_path = {}) {
  proto::Event event;
  event.set_wall_time(static_cast<double>(microseconds));
  event.set_allocated_log_message(new proto::LogMessage);  // not by mutable_log_message: see summary_proto.ipp
  event.mutable_log_message()->set_message(metadata_json(metadata, grpc_path));
  return event;
}

}  // namespace crochet::debug
