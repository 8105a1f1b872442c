// SPDX-License-Identifier: Apache-2.0
// CoreMetadata: the feeds, fetches, targets and counters of a debugged run.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <crochet/io/messages.hpp>

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
std::string metadata_json(const CoreMetadata& metadata, const std::optional<std::string>& grpc_path = {});

/// The event of a run's metadata.
proto::Event metadata_event(const CoreMetadata& metadata, std::int64_t microseconds,
                            const std::optional<std::string>& grpc_path = {});

}  // namespace crochet::debug

#ifdef CROCHET_HEADER_ONLY
#include <crochet/debug/event/core_metadata.ipp>
#endif
