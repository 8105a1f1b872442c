// SPDX-License-Identifier: Apache-2.0
// StreamLimits: the limits of one stream of debug events at its receiver.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crochet::debug {

/// A stream is one run of one training (see EventAssembler). Exceeding a limit ends the stream with a reason. Memory is
/// allocated for received data only, not for announced sizes. Sizes are bytes of payload, times are seconds.
struct StreamLimits {
  std::uint64_t stream_bytes = std::uint64_t{16} << 30;  ///< all messages of the stream
  std::uint64_t tensor_bytes = std::uint64_t{1} << 30;   ///< one tensor, all its chunks
  std::uint64_t graph_bytes = std::uint64_t{64} << 20;   ///< one serialized graph, all its chunks
  std::uint64_t pending_bytes = std::uint64_t{2} << 30;  ///< memory for chunks of incomplete tensors and graphs
  std::size_t chunks = 1'024;                            ///< chunks of one tensor or graph, of up to 4,096,000 bytes
  std::size_t pending_tensors = 64;                      ///< incomplete tensors and graphs at one time
  std::size_t tensors = 1'000'000;                       ///< complete tensors
  std::size_t graphs = 64;                               ///< complete graphs: one per device
  std::size_t graph_nodes = 1'000'000;                   ///< nodes of one graph
  std::size_t rank = 254;                                ///< dimensions of a tensor; TensorFlow's limit
  std::size_t name_bytes = 1'024;                        ///< name of a node or device
  std::size_t plugin_bytes = 4'096;                      ///< JSON of each tensor
  std::size_t metadata_bytes = std::size_t{1} << 20;     ///< JSON of the run's metadata
  double seconds = 3'600;                                ///< duration from the first event to the last
};

}  // namespace crochet::debug
