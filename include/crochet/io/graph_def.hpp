// SPDX-License-Identifier: Apache-2.0
// Conversion of a crochet graph to TensorFlow's GraphDef and MetaGraphDef, which TensorBoard displays.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <filesystem>
#include <string>
#include <string_view>

#include <crochet/graph/core/table.hpp>
#include <crochet/io/messages.hpp>

namespace crochet::io {

/// The full name of this process's first CPU, in TensorFlow's notation.
inline constexpr std::string_view local_cpu = "/job:localhost/replica:0/task:0/device:CPU:0";
/// The full name of a device: of its kind ("CPU", "GPU") and number, in this process, or of rank `task` of several.
inline std::string device_name(std::string_view kind, int number = 0, int task = -1) {
  const std::string job =
      task < 0 ? "/job:localhost/replica:0/task:0" : "/job:worker/replica:0/task:" + std::to_string(task);
  return job + "/device:" + std::string(kind) + ":" + std::to_string(number);
}

/// Converts every node with its name (node_names.hpp), inputs, device, element type and shape.
/// - A dynamic dimension is -1; a shape above `max_rank` is `unknown_rank`.
/// - The inputs of a group are control inputs.
/// - The attributes of an operation are `ints` and `reals`, as its header documents them.
/// - Operations have names in GraphDef style (graph/names/graph_op_name.hpp); only some are operations of TensorFlow.
///   The graph is only for display: no other program can run it.
proto::GraphDef graph_def(const GraphTable& graph, std::string_view device = local_cpu);

/// The graph in a MetaGraphDef with the tag "train", for tools that expect one.
proto::MetaGraphDef meta_graph_def(proto::GraphDef graph);

/// Writes a graph as text, like TensorFlow's `graph.pbtxt`: the complete file or none. Throws IoError.
void write_graph_text(const std::filesystem::path& path, const proto::GraphDef& graph);

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/graph_def.ipp>
#endif
