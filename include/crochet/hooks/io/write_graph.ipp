// SPDX-License-Identifier: Apache-2.0
// The compiled half of write_graph.hpp.
#pragma once

#include <crochet/hooks/io/write_graph.hpp>

#include <filesystem>
#include <string_view>
#include <utility>

#include <crochet/proto/graph.pb.h>
#include <crochet/io/event_writer.hpp>
#include <crochet/io/graph_def.hpp>

namespace crochet::detail {

CROCHET_INLINE void write_graph(const GraphTable& graph, std::string_view device, const io::EventWriter& events,
                                const std::filesystem::path& text_file) {
  proto::GraphDef def = io::graph_def(graph, device);
  if (!text_file.empty()) io::write_graph_text(text_file, def);
  events.add_graph(def);
  events.add_meta_graph(io::meta_graph_def(std::move(def)));
}

}  // namespace crochet::detail
