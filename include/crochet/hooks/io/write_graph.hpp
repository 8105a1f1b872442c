// SPDX-License-Identifier: Apache-2.0
// WriteGraph: writes the model's graph for TensorBoard. Not part of hooks.hpp: it needs crochet::io.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <crochet/hook/phase.hpp>
#include <crochet/hook/runs_on.hpp>
#include <crochet/io/event_writer.hpp>
#include <crochet/io/graph_def.hpp>

namespace crochet {

namespace detail {
void write_graph(const GraphTable& graph, std::string_view device, const io::EventWriter& events,
                 const std::filesystem::path& text_file);
}  // namespace detail

/// Writes the session's graph, including hooks' extensions, then its meta graph: `WriteGraph{.events = events}`.
/// - Without a writer it does nothing. It requires a graph executor.
/// - text_file: also writes the graph as text to this file. TensorFlow's CheckpointSaverHook writes such a
///   `graph.pbtxt` beside its checkpoints.
/// - Format and node names: io/graph_def.hpp. In TensorFlow every writer of a summary hook writes the graph.
/// - Fires: when the session is created, not again after a recovery.
/// - Fetches: nothing.
/// - Cost: once; the program contains a table of the graph.
/// - Throws: IoError for a text file that cannot be written.
struct WriteGraph {
  static constexpr auto runs_on = RunsOn::chief;
  using handles = Phases<phase::begin, phase::after_create_session>;

  io::EventWriter events{};
  std::filesystem::path text_file{};
  std::string device{io::local_cpu};

  /// State so far; begin resets it.
  struct State {
    bool written = false;
  };
  State state{};

  void begin() { state = {}; }

  void after_create_session(auto& session, auto& /*coordinator*/) {
    if ((!events && text_file.empty()) || std::exchange(state.written, true)) return;
    using E = std::remove_cvref_t<decltype(session.executor())>;
    detail::write_graph(graph_table<E>(), device, events, text_file);
  }
};

}  // namespace crochet

#ifdef CROCHET_HEADER_ONLY
#include <crochet/hooks/io/write_graph.ipp>
#endif
