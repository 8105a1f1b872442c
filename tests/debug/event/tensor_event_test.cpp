// SPDX-License-Identifier: Apache-2.0
// Debug operations and the events with their values. The expected numbers and bytes are those of TensorFlow 2.15.1.
#include <crochet/proto/event.pb.h>
#include <crochet/proto/tensor.pb.h>
#include <crochet/debug/event/core_metadata.hpp>
#include <crochet/debug/event/graph_event.hpp>
#include <crochet/debug/event/graph_hash.hpp>
#include <crochet/debug/event/tensor_event.hpp>
#include <crochet/debug/ops/debug_op.hpp>
#include <crochet/debug/ops/numeric_summary.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tensor_event_test {

namespace debug = crochet::debug;
using crochet::io::DataType;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr std::string_view cpu = "/job:localhost/replica:0/task:0/device:CPU:0";

struct Floats {
  std::vector<float> values;
  std::vector<std::int64_t> shape;
  debug::Tensor tensor() const { return {DataType::float32, shape, std::as_bytes(std::span(values))}; }
};

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    for (const int digit : {static_cast<unsigned char>(c) >> 4, c & 15}) text += "0123456789abcdef"[digit];
  }
  return text;
}

/// Equal bit for bit; a NaN equals any NaN.
void expect_numbers(const std::vector<double>& have, const std::vector<double>& want) {
  ASSERT_EQ(have.size(), want.size());
  for (std::size_t i = 0; i < have.size(); ++i) {
    if (std::isnan(want[i])) {
      EXPECT_TRUE(std::isnan(have[i])) << i;
    } else {
      EXPECT_EQ(have[i], want[i]) << i;
    }
  }
}

std::string refusal(std::string_view op) {
  try {
    (void)debug::DebugOp::parse(op);
  } catch (const crochet::LogicError& error) {
    return error.what();
  }
  return "";
}

TEST(NumericSummary, IsTheOriginalsBitForBit) {
  const Floats a{{-3, -2, 0, 0, 1, 2, nan, inf}, {2, 4}};
  expect_numbers(debug::numeric_summary(a.tensor()),
                 {1, 8, 1, 0, 2, 2, 2, 1, -3, 2, -1.0 / 3, 2.8888888888888893, 1, 2, 2, 4});
  expect_numbers(debug::numeric_summary(a.tensor(), -2, 2),
                 {1, 8, 1, 2, 0, 2, 1, 2, -3, 2, -1.0 / 3, 2.8888888888888893, 1, 2, 2, 4});
  const Floats b{{nan, nan, 0, nan, nan, 0, 0, -1, -3, 3, 7, -inf, -inf, inf, inf, inf, inf, inf}, {18}};
  expect_numbers(debug::numeric_summary(b.tensor()),
                 {1, 18, 4, 2, 2, 3, 2, 5, -3, 7, 6.0 / 7, 8.979591836734695, 1, 1, 18});
}
/// The original's kernel flushes subnormal numbers to zero, in its inputs and its results.
TEST(NumericSummary, SubnormalNumbersAreZerosAsInTheOriginal) {
  const Floats floats{{1e-40F, -1e-40F, 2, 1.17549435e-38F}, {4}};
  const float least_normal = 1.17549435e-38F;
  const double mean = (2 + static_cast<double>(least_normal)) / 4;
  const auto squared = [&](double x) { return (x - mean) * (x - mean); };
  expect_numbers(debug::numeric_summary(floats.tensor()),
                 {1, 4, 0, 0, 0, 2, 2, 0, 0, 2, mean,
                  (squared(0) + squared(0) + squared(2) + squared(static_cast<double>(least_normal))) / 4, 1, 1, 4});
  const auto of = [](const std::vector<double>& list) {
    const auto size = static_cast<std::int64_t>(list.size());
    return debug::numeric_summary({DataType::float64, {&size, 1}, std::as_bytes(std::span(list))});
  };
  const double type = static_cast<double>(DataType::float64);
  const double third = 1 / 3.0, rest = 1 - third;
  expect_numbers(of({5e-324, -1e-310, 1}),
                 {1, 3, 0, 0, 0, 2, 1, 0, 0, 1, third, (third * third + third * third + rest * rest) / 3, type, 1, 3});
  expect_numbers(of({2.5e-308, -2.3e-308}), {1, 2, 0, 0, 1, 0, 1, 0, -2.3e-308, 2.5e-308, 0, 0, type, 1, 2});
}
TEST(NumericSummary, OfNothing) {
  const Floats empty{{}, {0, 3}};
  expect_numbers(debug::numeric_summary(empty.tensor()), {1, 0, 0, 0, 0, 0, 0, 0, inf, -inf, nan, nan, 1, 2, 0, 3});
  debug::Tensor without = Floats{{}, {2}}.tensor();
  const std::vector<std::int64_t> shape{2};
  without.shape = shape;
  without.initialized = false;
  expect_numbers(debug::numeric_summary(without), {0, 0, 0, 0, 0, 0, 0, 0, inf, -inf, nan, nan, 1, 1, 2});
}
TEST(NumericSummary, OfEveryElementType) {
  const auto of = [](auto... values) {
    const std::array list{values...};
    const std::int64_t size = sizeof...(values);
    using T = typename decltype(list)::value_type;
    return debug::numeric_summary({crochet::io::data_type_of<T>(), {&size, 1}, std::as_bytes(std::span(list))}, -1, 1);
  };
  const auto want = [](DataType type) {
    return std::vector<double>{1, 2, 0, 0, 0, 1, 0, 1, 0, 1, 0.5, 0.25, static_cast<double>(type), 1, 2};
  };
  expect_numbers(of(false, true), want(DataType::boolean));
  expect_numbers(of(std::uint8_t{0}, std::uint8_t{1}), want(DataType::uint8));
  expect_numbers(of(std::int32_t{0}, std::int32_t{1}), want(DataType::int32));
  expect_numbers(of(std::int64_t{0}, std::int64_t{1}), want(DataType::int64));
  expect_numbers(of(0.0, 1.0), want(DataType::float64));
  expect_numbers(of(std::int8_t{0}, std::int8_t{1}), want(DataType::int8));
  expect_numbers(of(std::int16_t{0}, std::int16_t{1}), want(DataType::int16));
  expect_numbers(of(std::uint16_t{0}, std::uint16_t{1}), want(DataType::uint16));
  expect_numbers(of(std::uint32_t{0}, std::uint32_t{1}), want(DataType::uint32));
  expect_numbers(of(std::uint64_t{0}, std::uint64_t{1}), want(DataType::uint64));
}

TEST(DebugOp, ReadsTheTextForm) {
  using enum debug::DebugOp::Kind;
  EXPECT_EQ(debug::DebugOp::parse("DebugIdentity"), debug::DebugOp{});
  EXPECT_EQ(debug::DebugOp::parse("DebugIdentity()"), debug::DebugOp{});
  EXPECT_EQ(debug::DebugOp::parse("DebugNanCount(gated_grpc=T;)"), (debug::DebugOp{nan_count, true}));
  EXPECT_EQ(debug::DebugOp::parse("DebugNumericSummary(; lower_bound=-2.5 ;upper_bound=1e3;mute_if_healthy=TRUE)"),
            (debug::DebugOp{numeric_summary, false, -2.5F, 1000, true}));
  EXPECT_EQ(debug::DebugOp::parse("DebugNumericSummary(upper_bound=+inf;gated_grpc=0)"),
            (debug::DebugOp{numeric_summary}));
  EXPECT_EQ(debug::DebugOp::parse("DebugNumericSummary").name(), "DebugNumericSummary");
}
TEST(DebugOp, SaysWhatIsWrongWithATextForm) {
  const auto expect = [](std::string_view text, std::string_view why) {
    const std::string refused = refusal(text);
    EXPECT_NE(refused.find("\"" + std::string(text) + "\""), std::string::npos) << text << ": " << refused;
    EXPECT_NE(refused.find(why), std::string::npos) << text << ": " << refused;
  };
  for (const char* text :
       {"DebugIdentity(", "DebugIdentity)", "DebugIdentity(gated_grpc=1) ", "DebugIdentity(a=(1))"}) {
    expect(text, "one pair of parentheses");
  }
  expect("", "no name");
  expect("(gated_grpc=true)", "no name");
  expect("DebugIdentiti", "there are DebugIdentity, DebugNanCount, DebugNumericSummary");
  expect("DebugIdentity(gated_grpc)", "name=value");
  expect("DebugIdentity(=true)", "name=value");
  expect("DebugIdentity(gated_grpc=)", "name=value");
  expect("DebugIdentity(gated_grpc=true;gated_grpc=true)", "twice");
  expect("DebugIdentity(gated_grpc=yes)", "true or false");
  expect("DebugIdentity(gated_grpc =true)", "no attribute");
  expect("DebugIdentity(lower_bound=1)", "no attribute of DebugIdentity; it has gated_grpc");
  expect("DebugNumericSummary(lower_bound=low)", "a number");
  expect("DebugNumericSummary(lower_bound=+-1)", "a number");
  expect("DebugNumericSummary(lower_bound=1,upper_bound=2)", "a number");
  expect("DebugNumericSummary(lower_bound=nan)", "a number");
}
TEST(DebugOp, TakesTheTypesForWhichTheOriginalHasAKernel) {
  const auto identity = debug::DebugOp::parse("DebugIdentity"), count = debug::DebugOp::parse("DebugNanCount"),
             summary = debug::DebugOp::parse("DebugNumericSummary");
  EXPECT_TRUE(identity.takes(DataType::string));
  EXPECT_TRUE(identity.takes(DataType::boolean));
  EXPECT_FALSE(count.takes(DataType::boolean));
  EXPECT_TRUE(count.takes(DataType::int32));
  EXPECT_TRUE(count.takes(DataType::float16));
  EXPECT_TRUE(count.takes(DataType::bfloat16));
  EXPECT_FALSE(count.takes(DataType::complex64));
  EXPECT_TRUE(summary.takes(DataType::boolean));
  EXPECT_FALSE(summary.takes(DataType::string));
  EXPECT_FALSE(summary.takes(DataType::float16));
  EXPECT_FALSE(summary.takes(DataType::bfloat16));
}
TEST(DebugOp, CountsTheNaNOfHalfPrecision) {
  const std::vector<std::int64_t> shape{4};
  const auto counted = [&](DataType type, const std::vector<std::uint16_t>& bits, bool initialized = true) {
    return debug::nan_count({type, shape, std::as_bytes(std::span(bits)), initialized});
  };
  EXPECT_EQ(counted(DataType::bfloat16, {0x7fc0, 0x7f80, 0xff81, 0x0001}), 2) << "the second is infinity";
  EXPECT_EQ(counted(DataType::float16, {0x7e00, 0x7c00, 0xfc01, 0x7f80}), 3);
  EXPECT_EQ(counted(DataType::uint16, {0x7fc0, 0x7f80, 0xff81, 0x0001}), 0);
  EXPECT_EQ(counted(DataType::float16, {}, false), 0);
}
TEST(DebugOp, PublishesWhatItsNameSays) {
  const Floats input{{1, nan, nan, inf}, {2, 2}};
  debug::DebugOp::parse("DebugIdentity").evaluate(input.tensor(), [&](const debug::Tensor& out) {
    EXPECT_EQ(out.bytes.data(), input.tensor().bytes.data());
    EXPECT_EQ(out.elements(), 4);
  });
  debug::DebugOp::parse("DebugNanCount").evaluate(input.tensor(), [](const debug::Tensor& out) {
    EXPECT_EQ(out.dtype, DataType::int64);
    EXPECT_EQ(std::vector(out.shape.begin(), out.shape.end()), std::vector<std::int64_t>{1});
    EXPECT_EQ(out.bytes[0], std::byte{2});
  });
  int published = 0;
  debug::DebugOp::parse("DebugNumericSummary").evaluate(input.tensor(), [&](const debug::Tensor& out) {
    EXPECT_EQ(out.dtype, DataType::float64);
    EXPECT_EQ(out.bytes.size(), 16 * sizeof(double));
    EXPECT_EQ(out.elements(), 16);
    ++published;
  });
  EXPECT_EQ(published, 1);
}
TEST(DebugOp, IsMutedWhileAllIsWell) {
  const auto publishes = [](const char* op, std::vector<float> values) {
    const Floats input{values, {static_cast<std::int64_t>(values.size())}};
    int published = 0;
    debug::DebugOp::parse(op).evaluate(input.tensor(), [&](const debug::Tensor&) { ++published; });
    return published == 1;
  };
  EXPECT_FALSE(publishes("DebugNumericSummary(mute_if_healthy=true)", {1, 2}));
  EXPECT_TRUE(publishes("DebugNumericSummary(mute_if_healthy=true)", {1, nan}));
  EXPECT_TRUE(publishes("DebugNumericSummary(mute_if_healthy=true)", {1, -inf}));
  EXPECT_TRUE(publishes("DebugNumericSummary(mute_if_healthy=true;upper_bound=2)", {1, 2}));
  EXPECT_TRUE(publishes("DebugNumericSummary(mute_if_healthy=true;lower_bound=1)", {1, 2}));
  EXPECT_TRUE(publishes("DebugNumericSummary", {1, 2}));
}

TEST(GraphHash, IsTensorFlows) {
  EXPECT_EQ(debug::graph_hash(""), 9328806548029283899U);
  EXPECT_EQ(debug::graph_hash("a"), 2996632905371535868U);
  EXPECT_EQ(debug::graph_hash("abc"), 5658311696057142710U);
  EXPECT_EQ(debug::graph_hash("12345678"), 421129128932463287U);
  EXPECT_EQ(debug::graph_hash("123456789"), 14307620079980992971U);
  EXPECT_EQ(debug::graph_hash("hello world, this is tfdbg"), 15907801216694668475U);
}

TEST(GraphEvent, ChunksSayWhatTheyArePartOf) {
  std::string graph(2 * debug::chunk_bytes, 'g');
  graph += "end";
  const auto chunks = debug::graph_chunks(graph, cpu, 1700000000000000);
  ASSERT_EQ(chunks.size(), 3U);
  std::string joined;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::string head = std::to_string(debug::graph_hash(graph)) + "," + std::string(cpu) + ",1700000000000000|" +
                             std::to_string(i) + "|3|";
    ASSERT_TRUE(chunks[i].graph_def().starts_with(head));
    EXPECT_EQ(chunks[i].wall_time(), 1.7e15);
    joined += chunks[i].graph_def().substr(head.size());
  }
  EXPECT_EQ(joined, graph);
  EXPECT_EQ(debug::graph_chunks(graph.substr(0, debug::chunk_bytes), cpu, 1).size(), 1U);
  EXPECT_TRUE(debug::graph_chunks("", cpu, 1).empty());
}

TEST(TensorEvent, HasTheBytesOfTheOriginal) {
  const Floats value{{1, 2}, {2}};
  const debug::DebugEvent debug_event{cpu, "ns/a", 0, "DebugIdentity", 1700000000000000, value.tensor()};
  const std::string json =
      R"({"device":"/job:localhost/replica:0/task:0/device:CPU:0","outputSlot":0,"numChunks":1,"chunkIndex":0})";
  EXPECT_EQ(debug::debugger_json(cpu, 0, 1, 0), json);
  EXPECT_EQ(hex(debug::tensor_event(debug_event).SerializeAsString()),
            "090000796090281843"
            "2aa801"
            "0aa501"
            "0a04" +
                hex("ns/a") + "3a14" + hex("ns/a:0:DebugIdentity") +
                "4212"
                "0801"
                "120412020802"
                "22080000803f00000040"
                "4a73"
                "0a71"
                "0a08" +
                hex("debugger") + "1265" + hex(json));
}
TEST(TensorEvent, IsCutAtTheOriginalsLimit) {
  const auto sizes = [](std::size_t bytes) {
    const std::vector<std::byte> content(bytes);
    const auto extent = static_cast<std::int64_t>(bytes);
    const debug::DebugEvent debug_event{cpu, "a", 0, "DebugIdentity", 1, {DataType::uint8, {&extent, 1}, content}};
    std::vector<std::size_t> all;
    for (const crochet::proto::Event& event : debug::tensor_events(debug_event)) {
      EXPECT_EQ(event.summary().value(0).tensor().tensor_shape().dim(0).size(), extent);
      all.push_back(event.summary().value(0).tensor().tensor_content().size());
      EXPECT_LT(event.ByteSizeLong(), 4194304U);
    }
    return all;
  };
  using Sizes = std::vector<std::size_t>;
  EXPECT_EQ(sizes(0), Sizes{0});
  EXPECT_EQ(sizes(4096000), Sizes{4096000});
  EXPECT_EQ(sizes(4096001), (Sizes{4096000, 1}));
  EXPECT_EQ(sizes(8192001), (Sizes{4096000, 4096000, 1}));
}
std::vector<std::vector<std::string>> sent(const std::vector<std::string>& strings) {
  const auto extent = static_cast<std::int64_t>(strings.size());
  const debug::DebugEvent debug_event{
      cpu, "a", 0, "DebugIdentity", 1, {DataType::string, {&extent, 1}, {}, true, strings}};
  std::vector<std::vector<std::string>> all;
  for (const crochet::proto::Event& event : debug::tensor_events(debug_event)) {
    const crochet::proto::TensorProto& tensor = event.summary().value(0).tensor();
    EXPECT_EQ(tensor.dtype(), crochet::proto::DT_STRING);
    EXPECT_EQ(tensor.tensor_shape().dim(0).size(), extent);
    EXPECT_TRUE(tensor.tensor_content().empty());
    EXPECT_LT(event.ByteSizeLong(), 4194304U);
    all.emplace_back(tensor.string_val().begin(), tensor.string_val().end());
  }
  return all;
}
TEST(TensorEvent, StringsTravelAsTheOriginalSendsThem) {
  using Texts = std::vector<std::vector<std::string>>;
  const std::string any("\0\xff", 2);
  EXPECT_EQ(sent({}), Texts{{}});
  EXPECT_EQ(sent({"ab", "", any}), (Texts{{"ab", "", any}}));
  const std::string half(2'048'000, 'x'), whole(4'096'000, 'y');
  EXPECT_EQ(sent({half, half, half}), (Texts{{half}, {half}, {half}}));
  EXPECT_EQ(sent({whole, "z"}), (Texts{{whole}, {"z"}}));
  EXPECT_EQ(sent(std::vector<std::string>(1'500'000, "ab")).size(), 3U) << "the frames of short strings count";
}
TEST(TensorEvent, AStringLongerThanAMessageIsNamed) {
  try {
    sent({"a", std::string(4'096'001, 'x')});
    FAIL() << "it was sent";
  } catch (const crochet::LogicError& error) {
    EXPECT_STREQ(error.what(),
                 "crochet: element 1 of a:0:DebugIdentity is a string of 4096001 bytes, and a message takes 4096000");
  }
}
TEST(TensorEvent, NamesAreEscapedInJson) {
  EXPECT_EQ(debug::debugger_json("/device:\"x\\\n", 1, 2, 1),
            R"({"device":"/device:\"x\\\n","outputSlot":1,"numChunks":2,"chunkIndex":1})");
}

TEST(CoreMetadata, IsTheObjectThatReadersKnow) {
  debug::CoreMetadata metadata{7, 3, 0, {"z:0", "B:0", "a:0"}, {"loss:0"}, {"train"}};
  EXPECT_EQ(debug::metadata_json(metadata),
            R"({"global_step":7,"session_run_index":3,"executor_step_index":0,"input_names":["B:0","a:0","z:0"],)"
            R"("output_names":["loss:0"],"target_nodes":["train"]})");
  metadata.input_names.clear();
  metadata.target_nodes = {"\"odd\"\\\n"};
  EXPECT_EQ(debug::metadata_json(metadata, "/a/b"),
            R"({"global_step":7,"session_run_index":3,"executor_step_index":0,"input_names":[],)"
            R"("output_names":["loss:0"],"target_nodes":["\"odd\"\\\n"],"grpc_path":"/a/b"})");
  const crochet::proto::Event event = debug::metadata_event(metadata, 1700000000000000, "");
  EXPECT_EQ(event.wall_time(), 1.7e15);
  EXPECT_TRUE(event.log_message().message().ends_with(R"(,"grpc_path":""})"));
}
TEST(CoreMetadata, RunsOfAProcessAreCounted) {
  const std::int64_t first = debug::next_session_run_index();
  EXPECT_EQ(debug::next_session_run_index(), first + 1);
  EXPECT_GE(first, 1);
}

}  // namespace tensor_event_test
