// SPDX-License-Identifier: Apache-2.0
// ONNX files: their structure. tests/interop/onnx_files.py compares what they compute.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/proto/onnx.pb.h>
#include <crochet/base/error.hpp>
#include <crochet/export/export_onnx.hpp>
#include <crochet/graph/layers/layers.hpp>
#include <crochet/graph/ops/concat.hpp>
#include <crochet/graph/ops/conv.hpp>
#include <crochet/graph/ops/iota.hpp>
#include <crochet/graph/ops/random.hpp>
#include <crochet/graph/ops/slice.hpp>

#include "../checkpoint/directory.hpp"

namespace crochet {
namespace export_onnx_test {

struct Net {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 4, 4, 1});
    const Tensor y = conv2d(x, g.variable<float>("filter", {3, 3, 1, 2}, ones()), {2, 1});
    g.name("image", y);
    g.name("logits", dense(flatten(relu(y)), 3, "out"));
    g.name("copy", x);
    g.name("half", cast<std::int32_t>(x) / 2);
    g.name("last", slice(x, 0, -2));
  }
};

/// An operation of a program.
constexpr TypedShape infer_own(const OpInputs& in) { return in[0]; }
inline constexpr Op own{.name = "my_op", .kind = OpKind::elementwise, .infer = infer_own};
struct Own {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {g.dynamic("batch"), 2});
    g.name("y", g.apply(own, x));
  }
};

struct Edges {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {2, 2}), none = g.placeholder<float>("none", {2, 0});
    g.name("joined", concat({x, none}, 1));
    g.name("steps", iota<std::int32_t>(g, 4, 2.75, -1.75));
  }
};

proto::onnx::ModelProto parsed(const std::string& bytes) {
  proto::onnx::ModelProto file;
  EXPECT_TRUE(file.ParseFromString(bytes));
  return file;
}
const proto::onnx::NodeProto& node_of(const proto::onnx::GraphProto& graph, const std::string& op) {
  for (const auto& node : graph.node()) {
    if (node.op_type() == op) return node;
  }
  throw LogicError("there is no " + op);
}
std::vector<std::int64_t> ints_of(const proto::onnx::NodeProto& node, const std::string& name) {
  for (const auto& a : node.attribute()) {
    if (a.name() == name) return {a.ints().begin(), a.ints().end()};
  }
  return {};
}

TEST(ExportOnnxTest, EveryValueIsMadeOnceAndBeforeItsUse) {
  const auto file = parsed(onnx_bytes(described<Net, "image", "logits", "copy">()));
  EXPECT_EQ(file.ir_version(), 8);
  EXPECT_EQ(file.opset_import(0).version(), 17);
  std::set<std::string> known;
  for (const auto& input : file.graph().input()) EXPECT_TRUE(known.insert(input.name()).second) << input.name();
  for (const auto& tensor : file.graph().initializer()) EXPECT_TRUE(known.insert(tensor.name()).second);
  for (const auto& node : file.graph().node()) {
    for (const auto& input : node.input()) EXPECT_TRUE(known.count(input) == 1) << node.name() << " " << input;
    for (const auto& output : node.output()) EXPECT_TRUE(known.insert(output).second) << output;
  }
  ASSERT_EQ(file.graph().output_size(), 3);
  EXPECT_EQ(file.graph().output(1).name(), "logits");
  for (const auto& output : file.graph().output()) EXPECT_EQ(known.count(output.name()), 1U) << output.name();
}

TEST(ExportOnnxTest, DynamicDimensionsHaveTheirNames) {
  const auto file = parsed(onnx_bytes(described<Net, "logits">()));
  const auto& tensor = file.graph().input(0).type().tensor_type();
  EXPECT_EQ(tensor.elem_type(), proto::onnx::TensorProto::FLOAT);
  EXPECT_EQ(tensor.shape().dim(0).dim_param(), "batch");
  EXPECT_EQ(tensor.shape().dim(1).dim_value(), 4);
}

TEST(ExportOnnxTest, PaddingIsStated) {
  const auto file = parsed(onnx_bytes(described<Net, "image">()));
  const auto& conv = node_of(file.graph(), "Conv");
  EXPECT_EQ(ints_of(conv, "strides"), (std::vector<std::int64_t>{2, 1}));
  // Rows 0 to 2 and 2 to 4 of four, with one more below; a column on each side.
  EXPECT_EQ(ints_of(conv, "pads"), (std::vector<std::int64_t>{0, 1, 1, 1}));
}

struct Whole {
  static constexpr void define(GraphBuilder& g) {
    const Tensor x = g.placeholder<float>("x", {3});
    g.name("wide", relu(cast<std::int64_t>(x)));
    g.name("float", relu(x));
  }
};
// onnxruntime has no Relu of int64, and loads no file with one.
TEST(ExportOnnxTest, ReluOfIntegersIsAMaximum) {
  const auto wide = parsed(onnx_bytes(described<Whole, "wide">()));
  const auto& max = node_of(wide.graph(), "Max");
  ASSERT_EQ(max.input_size(), 2);
  EXPECT_THROW(static_cast<void>(node_of(wide.graph(), "Relu")), LogicError);
  EXPECT_EQ(node_of(parsed(onnx_bytes(described<Whole, "float">())).graph(), "Relu").input_size(), 1);
}

std::string refusal(const ExportedModel& model) {
  try {
    static_cast<void>(onnx_bytes(model));
  } catch (const LogicError& error) {
    return error.what();
  }
  ADD_FAILURE() << "it was exported";
  return "";
}
struct Nameless {
  static constexpr void define(GraphBuilder& g) { g.name("y", g.placeholder<float>("", {2}) + 1); }
};
TEST(ExportOnnxTest, APlaceholderNeedsAName) {
  EXPECT_EQ(refusal(described<Nameless, "y">()),
            "crochet: a placeholder without a name cannot be exported as ONNX: give it one");
}

TEST(ExportOnnxTest, AnErrorNamesTheNodeAndItsOperation) {
  const std::string why = refusal(described<Own, "y">());
  EXPECT_TRUE(why.starts_with("crochet: the operation my_op of \"y\" (float32) cannot be exported as ONNX")) << why;
  ExportedModel model = described<Net, "copy">();
  model.nodes[0].op = &op::random_uniform;
  model.placeholders.clear();
  EXPECT_NE(refusal(model).find("the operation random_uniform of \"x\""), std::string::npos);
}

TEST(ExportOnnxTest, ADivisorThatIsAConstantIsNotTested) {
  const auto file = parsed(onnx_bytes(described<Net, "half">()));
  node_of(file.graph(), "Div");
  EXPECT_THROW(node_of(file.graph(), "Where"), LogicError);
}
TEST(ExportOnnxTest, ASliceOfADynamicDimensionSelectsByPosition) {
  const auto file = parsed(onnx_bytes(described<Net, "last">()));
  node_of(file.graph(), "Gather");
  node_of(file.graph(), "Where");  // positions outside
}

TEST(ExportOnnxTest, RefusesAValueWithoutElements) {
  const std::string why = refusal(described<Edges, "joined">());
  EXPECT_NE(why.find("placeholder of \"none\" has no elements"), std::string::npos) << why;
}

TEST(ExportOnnxTest, StartAndStepOfIntegersAreRounded) {
  const auto file = parsed(onnx_bytes(described<Edges, "steps">()));
  std::set<double> numbers;
  for (const auto& tensor : file.graph().initializer()) {
    double number = 0;
    if (tensor.data_type() != proto::onnx::TensorProto::DOUBLE) continue;
    ASSERT_EQ(tensor.raw_data().size(), sizeof number);
    std::memcpy(&number, tensor.raw_data().data(), sizeof number);
    numbers.insert(number);
  }
  EXPECT_EQ(numbers, (std::set<double>{2, -1}));
}

TEST(ExportOnnxTest, AnOutputThatIsAPlaceholderHasAnotherName) {
  const auto file = parsed(onnx_bytes(described<Net, "x">()));
  EXPECT_EQ(file.graph().input(0).name(), "x");
  EXPECT_EQ(file.graph().output(0).name(), "x_1");
}

TEST(ExportOnnxTest, TheFileHasTheBytes) {
  Directory dir;
  std::filesystem::create_directories(dir.path());
  const ExportedModel model = described<Net, "logits">();
  write_onnx(model, dir / "net.onnx", {.name = "net"});
  std::ifstream in(dir / "net.onnx", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(bytes, onnx_bytes(model, {.name = "net"}));
  EXPECT_EQ(parsed(bytes).graph().name(), "net");
  EXPECT_FALSE(std::filesystem::exists(dir / "net.onnx.tmp"));
  EXPECT_THROW(write_onnx(model, dir / "missing" / "net.onnx"), IoError);
}

}  // namespace export_onnx_test
}  // namespace crochet
