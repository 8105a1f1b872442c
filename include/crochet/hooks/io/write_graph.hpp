// SPDX-License-Identifier: Apache-2.0
// WriteGraph: the model, for TensorBoard to draw. Not part of hooks.hpp: it needs crochet::io.
#pragma once

#include <filesystem>
#include <string>
#include <type_traits>
#include <utility>

#include <crochet/hook/phase.hpp>
#include <crochet/io/event_writer.hpp>
#include <crochet/io/graph_def.hpp>

namespace crochet {

/// Writes the graph that the session runs, hooks' extensions included, then the same as a meta graph:
/// `WriteGraph{.events = events}`. For executors of graphs. Nothing without a writer. With `text_file`, the graph is
/// written there too, as text: the original's CheckpointSaverHook leaves such a `graph.pbtxt` beside its checkpoints.
/// What is written and how nodes are named: io/graph_def.hpp. In the original every writer of a summary hook does this
/// by itself. Fires: when the session is created, not again after a recovery. Fetches: nothing; no run is touched.
/// Cost: once; the program carries a table of the graph. Throws IoError for a text file that cannot be written.
struct WriteGraph {
  using handles = Phases<phase::begin, phase::after_create_session>;

  io::EventWriter events{};
  std::filesystem::path text_file{};
  std::string device{io::local_cpu};

  /// What happened so far; begin clears it.
  struct State {
    bool written = false;
  };
  State state{};

  void begin() { state = {}; }

  void after_create_session(auto& session, auto& /*coordinator*/) {
    if ((!events && text_file.empty()) || std::exchange(state.written, true)) return;
    using E = std::remove_cvref_t<decltype(session.executor())>;
    proto::GraphDef graph = io::graph_def_of<E>(device);
    if (!text_file.empty()) io::write_graph_text(text_file, graph);
    events.add_graph(graph);
    events.add_meta_graph(io::meta_graph_def(std::move(graph)));
  }
};

}  // namespace crochet
