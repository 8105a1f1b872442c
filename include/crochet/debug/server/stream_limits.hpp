// SPDX-License-Identifier: Apache-2.0
// StreamLimits: what one stream of debug events may cost who receives it. Nothing is taken from a peer beyond these.
#pragma once

#include <cstddef>
#include <cstdint>

namespace crochet::debug {

/// A stream is one run of one training (see EventAssembler). What is over a limit ends the stream, with a reason; no
/// memory is taken for what a peer only announces. Sizes are bytes of payload, the times are seconds.
struct StreamLimits {
  std::uint64_t stream_bytes = std::uint64_t{16} << 30;  ///< of all messages of the stream together
  std::uint64_t tensor_bytes = std::uint64_t{1} << 30;   ///< of one tensor, all its chunks together
  std::uint64_t graph_bytes = std::uint64_t{64} << 20;   ///< of one serialized graph, all its chunks together
  std::uint64_t pending_bytes = std::uint64_t{2} << 30;  ///< memory for chunks whose tensor or graph is not complete
  std::size_t chunks = 1'024;                            ///< of one tensor or graph; a chunk has up to 4,096,000 bytes
  std::size_t pending_tensors = 64;                      ///< tensors and graphs that are not complete, at one time
  std::size_t tensors = 1'000'000;                       ///< complete tensors
  std::size_t graphs = 64;                               ///< complete graphs: one for each device
  std::size_t graph_nodes = 1'000'000;                   ///< of one graph
  std::size_t rank = 254;                                ///< dimensions of a tensor; TensorFlow has no more either
  std::size_t name_bytes = 1'024;                        ///< name of a node, name of a device
  std::size_t plugin_bytes = 4'096;                      ///< JSON that comes with each tensor
  std::size_t metadata_bytes = std::size_t{1} << 20;     ///< JSON that describes the run
  double seconds = 3'600;                                ///< from the first event to the last
};

}  // namespace crochet::debug
