// SPDX-License-Identifier: Apache-2.0
// The graph in the event file: spec 4.3, 5.10.
#include <crochet/proto/graph.pb.h>
#include <crochet/executor/cpu.hpp>
#include <crochet/graph/layers/layers.hpp>
#include <crochet/hooks/io/write_graph.hpp>
#include <crochet/session/run_session.hpp>

#include <gtest/gtest.h>

#include "../io/event_memory.hpp"
#include "behaviour.hpp"

namespace crochet::conformance {
namespace graph_events_scenarios {

struct Tiny {
  static constexpr void define(GraphBuilder& g) { g.name("y", relu(g.placeholder<float>("x", {2, 3}))); }
};

DIFFERENT(V14, "checkpoints", "the creation of a session",
          "CheckpointSaver adds the meta graph to the event file: the graph with shapes, and the saver",
          "WriteGraph does, whether checkpoints are saved or not; a saver is no part of a graph") {
  testing::EventDisk disk;
  io::EventWriterOptions options;
  options.log.file.create = disk;
  const io::EventWriter events("folder", options);
  MonitoredSession session{Cpu{.threads = 1}.compile<Tiny>(), HookChain{WriteGraph{.events = events}}};
  session.close();
  events.close();
  const auto written = testing::events_in(disk.newest().bytes);
  ASSERT_EQ(testing::short_text(written), "version graph meta_graph");
  proto::MetaGraphDef meta;
  ASSERT_TRUE(meta.ParseFromString(written[2].meta_graph_def()));
  ASSERT_EQ(meta.graph_def().node_size(), 2);
  const auto& x = meta.graph_def().node(0);
  EXPECT_EQ(x.name(), "x");
  EXPECT_EQ(x.attr().at("shape").shape().dim(1).size(), 3);
}

}  // namespace graph_events_scenarios
}  // namespace crochet::conformance
