// SPDX-License-Identifier: Apache-2.0
// Timelines of step statistics: the original's worked example, event by event. tests/interop/timeline.py compares with
// TensorFlow.
#include <crochet/proto/step_stats.pb.h>
#include <crochet/trace/lanes.hpp>
#include <crochet/trace/op_label.hpp>
#include <crochet/trace/timeline.hpp>

#include <google/protobuf/text_format.h>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace timeline_test {

namespace cr = crochet;
using cr::trace::timeline_json;
using Json = nlohmann::json;
using Texts = std::vector<std::string_view>;

crochet::proto::StepStats stats_of(const std::string& text) {
  crochet::proto::StepStats stats;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &stats)) << text;
  return stats;
}

std::string node(const std::string& name, int start, int duration, const std::string& label, int bytes = 0) {
  const std::string output =
      "output { tensor_description { dtype: DT_FLOAT allocation_description { "
      "requested_bytes: " +
      std::to_string(bytes) + " allocator_name: 'cpu' } } } ";
  return "node_stats { node_name: '" + name + "' all_start_micros: " + std::to_string(start) +
         " all_end_rel_micros: " + std::to_string(duration) + " timeline_label: '" + label + "' " +
         (bytes > 0 ? output : "") + "} ";
}

/// Three nodes on the CPU, one on a device; labels with control inputs, allocations and truncated names.
crochet::proto::StepStats worked_example() {
  return stats_of("dev_stats { device: 'cpu' " + node("a", 1000, 10, "a = Const()", 8) +
                  node("b", 1005, 10, "b = Const()", 16) + node("c", 1020, 30, "[cpu 1.0MB] c = Add(a, b)", 8) +
                  "} dev_stats { device: 'gpu' " + node("d", 1060, 5, "d = Relu(a/_7, c:1, ^b)") + "}");
}

Json events(const crochet::proto::StepStats& stats, cr::trace::TimelineOptions options, std::string_view phases) {
  Json chosen = Json::array();
  const Json all = Json::parse(timeline_json(stats, options));
  EXPECT_EQ(all.size(), 1U);
  for (const Json& e : all["traceEvents"]) {
    if (phases.find(e["ph"].get<std::string>()) != std::string_view::npos) chosen.push_back(e);
  }
  return chosen;
}

TEST(Timeline, AnnouncesProcessesFirst) {
  const Json all = Json::parse(timeline_json(worked_example(), {.show_memory = true}))["traceEvents"];
  const Texts names{"Allocators", "cpu Compute", "cpu Tensors", "gpu Compute", "gpu Tensors"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(all[i], (Json{{"name", "process_name"}, {"ph", "M"}, {"pid", i}, {"args", {{"name", names[i]}}}}));
  }
  EXPECT_NE(all[names.size()]["ph"], "M");
}

TEST(Timeline, SlicesInLanesAndFlowsBetweenThem) {
  const Json want = Json::parse(R"([
    {"ph":"X","cat":"Op","name":"Const","pid":1,"tid":0,"ts":1000,"dur":10,"args":{"name":"a","op":"Const"}},
    {"ph":"X","cat":"Op","name":"Const","pid":1,"tid":1,"ts":1005,"dur":10,"args":{"name":"b","op":"Const"}},
    {"ph":"X","cat":"Op","name":"Add","pid":1,"tid":0,"ts":1020,"dur":30,
     "args":{"name":"c","op":"Add","input0":"a","input1":"b"}},
    {"ph":"s","cat":"DataFlow","name":"b","pid":1,"tid":1,"ts":1015,"id":0},
    {"ph":"t","cat":"DataFlow","name":"b","pid":1,"tid":0,"ts":1020,"id":0},
    {"ph":"X","cat":"Op","name":"Relu","pid":3,"tid":0,"ts":1060,"dur":5,
     "args":{"name":"d","op":"Relu","input0":"a/_7","input1":"c:1","input2":"^b"}},
    {"ph":"s","cat":"DataFlow","name":"a","pid":1,"tid":0,"ts":1010,"id":1},
    {"ph":"t","cat":"DataFlow","name":"a","pid":3,"tid":0,"ts":1060,"id":1}])");
  EXPECT_EQ(events(worked_example(), {}, "Xst"), want);
  EXPECT_EQ(events(worked_example(), {.show_dataflow = false}, "st"), Json::array());
}

TEST(Timeline, MemoryIsObjectsAndACounter) {
  const Json all = events(worked_example(), {.show_memory = true}, "NODC");
  std::string text;
  for (const Json& e : all) {
    text += e["ph"].get<std::string>() + " " + e["name"].get<std::string>() + "@" + e["ts"].dump();
    text += e.contains("id") ? " id" + e["id"].dump() : " " + e["args"]["cpu"].dump();
    text += "\n";
  }
  EXPECT_EQ(text,
            "N a@1000 id0\nO a@1009 id0\nN b@1005 id1\nO b@1014 id1\nN c@1020 id2\nO c@1049 id2\n"
            "D a@1064 id0\nD b@1049 id1\nD c@1050 id2\n"
            "C cpu@1000 8\nC cpu@1005 24\nC cpu@1020 32\nC cpu@1049 16\nC cpu@1050 8\nC cpu@1064 0\n");
  EXPECT_EQ(all[1]["args"]["snapshot"]["tensor_description"],
            "dtype: DT_FLOAT\nallocation_description {\n  requested_bytes: 8\n  allocator_name: cpu\n}\n");
  EXPECT_EQ(events(worked_example(), {}, "NODC"), Json::array());
}

TEST(Timeline, LabelsAreReadFromBehind) {
  using cr::trace::parse_op_label;
  const auto read = [](std::string_view label) {
    const cr::trace::OpLabel parsed = parse_op_label(label);
    std::string text(parsed.op);
    for (const std::string_view input : parsed.inputs) text += "|" + std::string(input);
    return text;
  };
  EXPECT_EQ(read("[cpu 1.0MB] c = Add(a, b)"), "Add|a|b");
  EXPECT_EQ(read("x = y = Op(a)"), "Op|a");
  EXPECT_EQ(read("x = Op(a)(b, c) tail)"), "Op(a)|b|c) tail");
  EXPECT_EQ(read("x = Op(a = (b)"), "|b") << "the last ' = ' that has a pair of parentheses behind it";
  EXPECT_EQ(read("x = Op()"), "Op");
  EXPECT_EQ(read("x = Op(a,b)"), "Op|a,b") << "a comma and a blank part inputs";
  for (const char* none : {"", "x", ")", "(", "()", " = ()", "x = ", "x = _Send(a @gpu", "x =Op(a)", "x\n = Op(a)"}) {
    EXPECT_EQ(read(none), std::string_view(none) == " = ()" ? "" : "unknown") << none;
  }
}

TEST(Timeline, ADevicesOwnTracerHasNameAndOp) {
  const crochet::proto::StepStats stats =
      stats_of("dev_stats { device: '/device:GPU:0/stream:all' " + node("conv:MatMul:x", 10, 5, "ignored = Op(a)") +
               node("copy", 20, 5, "kernel @@pool:Max#7") + "} dev_stats { device: 'cpu' " +
               node("RecvTensor", 10, 5, "x = Op(conv)") + "}");
  const Json all = events(stats, {}, "Xst");
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0]["args"], (Json{{"name", "conv"}, {"op", "MatMul"}}));
  EXPECT_EQ(all[1]["args"], (Json{{"name", "pool"}, {"op", "Max"}}));
  EXPECT_EQ(all[2]["args"], (Json{{"name", "RecvTensor"}, {"op", "RecvTensor"}}));
}

TEST(Timeline, OddTextStaysJson) {
  crochet::proto::StepStats stats = stats_of("dev_stats { device: 'd' " + node("n", 1, 1, "l") + "}");
  stats.mutable_dev_stats(0)->mutable_node_stats(0)->set_timeline_label("n = \x01\"\\\xff(in\n, \tx)");
  EXPECT_EQ(events(stats, {}, "X")[0]["name"], "unknown") << "the label ends with its line";
  stats.mutable_dev_stats(0)->mutable_node_stats(0)->set_timeline_label("n = \x01\"\\\xff(\ta)");
  EXPECT_EQ(events(stats, {}, "X")[0]["name"], "\x01\"\\\xef\xbf\xbd") << "U+FFFD in place of what is not UTF-8";
}

TEST(Timeline, NumbersOfAHostileFileDoNotOverflow) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max(),
                         least = std::numeric_limits<std::int64_t>::min();
  crochet::proto::StepStats stats;
  crochet::proto::DeviceStepStats& device = *stats.add_dev_stats();
  for (const std::int64_t start : {most, least, std::int64_t{0}}) {
    for (const std::int64_t duration : {most, least, std::int64_t{-1}}) {
      crochet::proto::NodeExecStats& n = *device.add_node_stats();
      n.set_node_name("n" + std::to_string(device.node_stats_size()));
      n.set_all_start_micros(start);
      n.set_all_end_rel_micros(duration);
      n.add_output()->mutable_tensor_description()->mutable_allocation_description()->set_requested_bytes(duration);
    }
  }
  EXPECT_EQ(events(stats, {.show_memory = true}, "X").size(), 9U);
}

TEST(Timeline, NothingIsAlsoATimeline) {
  EXPECT_EQ(Json::parse(timeline_json({}, {.show_memory = true}))["traceEvents"].size(), 1U);
}

TEST(Lanes, AreThoseOfASearchFromTheFirst) {
  std::mt19937 random(7);
  cr::trace::Lanes lanes;
  std::vector<std::int64_t> ends{0};
  std::int64_t now = 1;
  for (int i = 0; i < 3000; ++i) {
    now += random() % 3;
    const std::int64_t end = now + static_cast<std::int64_t>(random() % 200);
    std::size_t want = 0;
    while (want < ends.size() && now <= ends[want]) ++want;
    if (want == ends.size()) ends.push_back(0);
    ends[want] = end;
    ASSERT_EQ(lanes.assign(now, end), want) << i;
  }
  EXPECT_GT(ends.size(), 64U);
}

}  // namespace timeline_test
