// SPDX-License-Identifier: Apache-2.0
// A graph of ours as TensorFlow's GraphDef and MetaGraphDef: what TensorBoard draws.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <filesystem>
#include <string_view>

#include <crochet/graph/core/table.hpp>
#include <crochet/io/messages.hpp>

namespace crochet::io {

/// The full name of the first processor of this process, as TensorFlow spells it.
inline constexpr std::string_view local_cpu = "/job:localhost/replica:0/task:0/device:CPU:0";

/// Every node with its name (node_names.hpp), inputs, device, element type and shape; -1 is a dynamic dimension, and a
/// shape above `max_rank` is `unknown_rank`. What a group waits for is a control input. An operation's own attributes
/// are `ints` and `reals`, as its header explains them. Where our operations are those of TensorFlow their names differ
/// in letters only, but this is a drawing: no other program can run it.
proto::GraphDef graph_def(const GraphTable& graph, std::string_view device = local_cpu);

/// The graph in the frame in which tools for training graphs want it.
proto::MetaGraphDef meta_graph_def(proto::GraphDef graph);

/// Writes a graph as text, as TensorFlow's `graph.pbtxt`: complete or not there. Throws IoError.
void write_graph_text(const std::filesystem::path& path, const proto::GraphDef& graph);

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/graph_def.ipp>
#endif
