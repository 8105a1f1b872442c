// SPDX-License-Identifier: Apache-2.0
// WriteGraph: names, edges, shapes and types in the graph of a model.
#include <crochet/proto/event.pb.h>
#include <crochet/proto/graph.pb.h>
#include <crochet/proto/tensor.pb.h>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/io/write_graph.hpp>

#include <google/protobuf/text_format.h>

#include <gtest/gtest.h>

#include "../../io/event_memory.hpp"

#include <map>
#include <set>
#include <string>

namespace write_graph_test {

namespace cr = crochet;
namespace io = crochet::io;

struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("images", {batch, 6});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto hidden = relu(dense(x, 4, "hidden"));
    const auto logits = g.name("logits", dense(hidden * 0.5, 3, "output"));
    const auto loss = g.name("mean loss", sparse_softmax_cross_entropy(logits, labels));
    g.name("train", minimize(loss, cr::Adam{}));
  }
};
using Executor = decltype(cr::Cpu{}.compile<Classifier>());

struct Drawing {
  crochet::proto::GraphDef graph = io::graph_def(crochet::graph_table<Executor>());
  std::map<std::string, const crochet::proto::NodeDef*> nodes = [this] {
    std::map<std::string, const crochet::proto::NodeDef*> all;
    for (const crochet::proto::NodeDef& n : graph.node()) all[n.name()] = &n;
    return all;
  }();
  std::string inputs_of(const std::string& name) const {
    std::string text;
    for (const std::string& input : nodes.at(name)->input()) text += (text.empty() ? "" : " ") + input;
    return text;
  }
};

TEST(GraphDef, EveryNodeHasANameOfItsOwn) {
  const Drawing drawing;
  EXPECT_EQ(static_cast<int>(drawing.nodes.size()), drawing.graph.node_size());
  EXPECT_EQ(drawing.graph.node_size(), static_cast<int>(Executor::graph.nodes.size()));
  for (const auto& [name, node] : drawing.nodes) {
    EXPECT_EQ(io::summary_tag(name), name);
    for (std::string input : node->input()) {
      if (input[0] == '^') input.erase(0, 1);
      EXPECT_TRUE(drawing.nodes.contains(input)) << name << " <- " << input;
    }
    EXPECT_EQ(node->device(), "/job:localhost/replica:0/task:0/device:CPU:0");
  }
}

TEST(GraphDef, NodesLieWithTheirLayers) {
  const Drawing d;
  EXPECT_EQ(d.inputs_of("hidden/matmul"), "images hidden/kernel");
  EXPECT_EQ(d.inputs_of("hidden/add"), "hidden/matmul hidden/bias");
  EXPECT_EQ(d.inputs_of("hidden/relu"), "hidden/add");
  EXPECT_EQ(d.inputs_of("hidden/mul"), "hidden/relu hidden/constant") << "a constant lies with what uses it";
  EXPECT_EQ(d.inputs_of("output/matmul"), "hidden/mul output/kernel");
  EXPECT_EQ(d.inputs_of("logits"), "output/matmul output/bias");
  EXPECT_TRUE(d.nodes.contains("mean_loss"));
  EXPECT_TRUE(d.inputs_of("train/hidden/kernel/assign").starts_with("hidden/kernel "));
  EXPECT_TRUE(d.inputs_of("train/hidden/kernel/Adam/assign").starts_with("hidden/kernel/Adam "));
  EXPECT_TRUE(d.inputs_of("train/beta1_power/assign").starts_with("beta1_power "));
  EXPECT_NE(d.inputs_of("train").find("^"), std::string::npos);
  std::set<std::string> top;
  for (const auto& [name, node] : d.nodes) top.insert(name.substr(0, name.find('/')));
  for (const char* scope : {"hidden", "output", "gradients", "train"}) EXPECT_TRUE(top.contains(scope));
  std::string all;
  for (const std::string& name : top) all += name + " ";
  EXPECT_EQ(top.size(), 13U) << "what is seen before anything is unfolded: " << all;
}

TEST(GraphDef, ShapesAndTypes) {
  const Drawing d;
  const auto& images = d.nodes.at("images")->attr();
  EXPECT_EQ(d.nodes.at("images")->op(), "Placeholder");
  EXPECT_EQ(images.at("dtype").type(), crochet::proto::DT_FLOAT);
  EXPECT_EQ(images.at("shape").shape().dim(0).size(), -1) << "dynamic";
  EXPECT_EQ(images.at("shape").shape().dim(1).size(), 6);
  EXPECT_EQ(d.nodes.at("labels")->attr().at("dtype").type(), crochet::proto::DT_INT32);
  const auto& kernel = *d.nodes.at("hidden/kernel");
  EXPECT_EQ(kernel.op(), "VariableV2");
  EXPECT_EQ(kernel.attr().at("shape").shape().dim(1).size(), 4);
  const auto& matmul = *d.nodes.at("output/matmul");
  EXPECT_EQ(matmul.op(), "MatMul");
  EXPECT_EQ(matmul.attr().at("T").type(), crochet::proto::DT_FLOAT);
  EXPECT_EQ(matmul.attr().at("_output_shapes").list().shape(0).dim(1).size(), 3);
  const auto& half = d.nodes.at("hidden/constant")->attr().at("value").tensor();
  EXPECT_EQ(half.tensor_content(), std::string("\0\0\0\x3f", 4));
  EXPECT_EQ(half.tensor_shape().dim_size(), 0);
  EXPECT_EQ(d.nodes.at("train")->op(), "NoOp");
}

TEST(WriteGraph, OncePerSession) {
  cr::testing::EventDisk disk;
  io::EventWriterOptions options;
  options.log.file.create = disk;
  const io::EventWriter events(cr::testing::empty_folder(), options);
  for (int i = 0; i < 2; ++i) {
    cr::MonitoredSession session{Executor{}, cr::HookChain{cr::WriteGraph{.events = events}}};
    session.hooks().get<cr::WriteGraph>().after_create_session(session.raw_session(), session.coordinator());
    session.close();
  }
  events.close();
  const auto written = cr::testing::events_in(disk.newest().bytes);
  EXPECT_EQ(cr::testing::short_text(written), "version graph meta_graph graph meta_graph") << "not when it recovers";
  crochet::proto::GraphDef graph;
  crochet::proto::MetaGraphDef meta;
  ASSERT_TRUE(graph.ParseFromString(written[1].graph_def()));
  ASSERT_TRUE(meta.ParseFromString(written[2].meta_graph_def()));
  EXPECT_EQ(graph.SerializeAsString().size(), Drawing{}.graph.SerializeAsString().size());
  EXPECT_EQ(meta.graph_def().node_size(), graph.node_size());
  EXPECT_EQ(written[1].graph_def(), written[3].graph_def()) << "equal graphs are equal bytes";
}

TEST(WriteGraph, AsTextToo) {
  const auto folder = cr::testing::empty_folder();
  std::filesystem::create_directories(folder);
  cr::MonitoredSession session{Executor{}, cr::HookChain{cr::WriteGraph{.text_file = folder / "graph.pbtxt"}}};
  session.close();
  const std::string text = cr::testing::bytes_of(folder / "graph.pbtxt");
  crochet::proto::GraphDef graph;
  ASSERT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &graph));
  EXPECT_EQ(graph.node_size(), Drawing{}.graph.node_size());
  EXPECT_NE(text.find("op: \"Placeholder\""), std::string::npos);
  cr::MonitoredSession bad{Executor{}, cr::HookChain{}};
  cr::WriteGraph hook{.text_file = folder / "no" / "such" / "folder"};
  EXPECT_THROW(hook.after_create_session(bad.raw_session(), bad.coordinator()), cr::IoError);
  bad.close();
}

TEST(WriteGraph, NothingWithoutAWriter) {
  cr::MonitoredSession session{Executor{}, cr::HookChain{cr::WriteGraph{}}};
  session.close();
}

}  // namespace write_graph_test
