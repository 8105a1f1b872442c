// SPDX-License-Identifier: Apache-2.0
// DumpReader: correct dumps are read. A wrong part of a dump does no harm and does not hide the correct parts.
#include <gtest/gtest.h>

#include <google/protobuf/stubs/common.h>
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <climits>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <crochet/proto/event.pb.h>
#include <crochet/proto/graph.pb.h>
#include <crochet/proto/tensor.pb.h>
#include <crochet/debug/dump/dump_reader.hpp>

#include "../../io/temporary_folder.hpp"
#include "../dump_fixture.hpp"

namespace {
bool reads_fail = false;
}
extern "C" ssize_t read(int file, void* to, std::size_t size) {
  static const auto next = reinterpret_cast<ssize_t (*)(int, void*, std::size_t)>(::dlsym(RTLD_NEXT, "read"));
  return reads_fail ? (errno = EIO, ssize_t{-1}) : next(file, to, size);
}

namespace {

using namespace crochet::debug;
using crochet::proto::Event;
using crochet::proto::TensorProto;
using crochet::test::add_node;
using crochet::test::bytes_of;
using crochet::test::DumpFixture;
using crochet::test::tensor_event;

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

std::string problem_of(const DumpFixture& dump) {
  const DumpRun run{dump.run()};
  return run.problems().empty() ? "" : run.problems().front();
}

DumpRun only_run(const DumpFixture& dump) { return DumpReader{dump.root()}.open(0); }

/// The message of the error when the first tensor of the run is opened; "" if there is none.
std::string error_of(const DumpFixture& dump) {
  const DumpRun run{dump.run()};
  try {
    (void)run.open(run.tensors()[0]).statistics();
    return "";
  } catch (const crochet::DataLossError& error) {
    return error.what();
  }
}

// ---- Names

TEST(DumpNames, NodesMayHaveUnderscoresAndSlashes) {
  const DumpName name = parse_dump_name("ns/c_d_3_DebugIdentity_1700000000000002-12");
  EXPECT_EQ(name.node, "ns/c_d");
  EXPECT_EQ(name.slot, 3);
  EXPECT_EQ(name.op, "DebugIdentity");
  EXPECT_EQ(name.time, 1700000000000002u);
  EXPECT_EQ(name.debug_event, 12u);
  EXPECT_EQ(parse_dump_name("_arg_x_0_0_0_Op_1").node, "_arg_x_0_0");
  EXPECT_EQ(parse_dump_name("a_0_Op_18446744073709551615").time, ~std::uint64_t{0});
}

TEST(DumpNames, EverythingElseIsRefusedWithItsCause) {
  for (const auto& [name, why] : std::vector<std::pair<std::string, std::string>>{
           {"", "is not <node>"},
           {".DS_Store", "is not <node>"},
           {"a_0_1700", "is not <node>"},
           {"a_0_b/c_1", "is not <node>"},
           {"a_x_Op_1", "output slot"},
           {"a_-1_Op_1", "output slot"},
           {"a_+1_Op_1", "output slot"},
           {"a__Op_1", "output slot"},
           {"a_2147483648_Op_1", "output slot"},
           {"a_0__1", "no debug op"},
           {"a_0_Op_", "time stamp"},
           {"a_0_Op_-1", "time stamp"},
           {"a_0_Op_1-", "time stamp"},
           {"a_0_Op_1-2-3", "time stamp"},
           {"a_0_Op_1x", "time stamp"},
           {"a_0_Op_18446744073709551616", "time stamp"},
           {"a_0_Op_1-4294967296", "time stamp"},
           {"_0_Op_1", "no node"},
           {"ns/_0_Op_1", "no node"},
       }) {
    try {
      (void)parse_dump_name(name);
      ADD_FAILURE() << name;
    } catch (const crochet::DataLossError& error) {
      EXPECT_NE(std::string{error.what()}.find(why), std::string::npos) << name << ": " << error.what();
    }
  }
}

TEST(DumpNames, DevicesComeBackAsTheOriginalMakesThem) {
  EXPECT_EQ(device_of_directory("_tfdbg_device_,job_localhost,replica_0,task_0,device_CPU_0"),
            "/job:localhost/replica:0/task:0/device:CPU:0");
  EXPECT_EQ(device_of_directory("_tfdbg_device_,job_my_job,replica_0,task_1,device_GPU_3"),
            "/job:my_job/replica:0/task:1/device:GPU:3");
  EXPECT_EQ(device_of_directory("_tfdbg_device_,job_localhost,replica_0,task_0,device_XLA_GPU_0"),
            "/job:localhost/replica:0/task:0/device:XLA:GPU_0");
  EXPECT_EQ(device_of_directory("_tfdbg_device_,job_localhost,replica_0,task_0,cpu_0"),
            "/job:localhost/replica:0/task:0/cpu:0");
  EXPECT_EQ(device_of_directory("_tfdbg_device_"), "");
}

// ---- Correct dumps

TEST(DumpReader, RunsComeInTheOrderOfTime) {
  DumpFixture dump;
  dump.begin_run("run_900000000000000_7");
  dump.begin_run("run_1700000000000000_10");
  dump.begin_run("run_1700000000000000_9");
  DumpFixture::write(dump.root() / "notes.txt", "none of the debugger's");
  const DumpReader reader{dump.root()};
  std::vector<std::string> names;
  for (std::size_t i = 0; i < reader.size(); ++i) names.push_back(reader.open(i).name());
  EXPECT_EQ(names, (std::vector<std::string>{"run_900000000000000_7", "run_1700000000000000_0",
                                             "run_1700000000000000_9", "run_1700000000000000_10"}));
  EXPECT_TRUE(reader.problems().empty());
}

TEST(DumpReader, OneRunIsADumpToo) {
  DumpFixture dump;
  dump.metadata(12, 3);
  dump.floats("a", 1, {1, 2});
  const DumpReader reader{dump.run() / ""};
  ASSERT_EQ(reader.size(), 1u);
  const DumpRun run = reader.open(0);
  EXPECT_EQ(run.name(), "run_1700000000000000_0");
  EXPECT_EQ(run.tensors().size(), 1u);
  ASSERT_EQ(run.metadata().size(), 1u);
  EXPECT_EQ(run.metadata()[0].global_step, 12);
  EXPECT_EQ(run.metadata()[0].session_run_index, 3);
  EXPECT_EQ(run.metadata()[0].input_names, std::vector<std::string>{"x:0"});
}

TEST(DumpReader, WhatIsNoDumpIsSaidSo) {
  const crochet::test::TemporaryFolder folder;
  EXPECT_THROW(DumpReader{folder / "absent"}, crochet::IoError);
  EXPECT_THROW(DumpReader{folder / ""}, crochet::IoError);
  DumpFixture::write(folder / "file", "x");
  EXPECT_THROW(DumpReader{folder / "file"}, crochet::IoError);
  EXPECT_THROW(DumpRun{folder / "file"}, crochet::IoError);
  EXPECT_THROW(DumpRun{folder / std::string(300, 'a')}, crochet::IoError) << "the system rejects the name";
}

TEST(DumpReader, TensorsComeInStepOrder) {
  const DumpFixture dump;
  crochet::proto::GraphDef graph;  // names and lines are not in the order of the graph
  add_node(graph, "a_last", "Add", {"m_first", "__copy_z_middle_0", "^__dbg_z_middle:0_0_DebugIdentity"});
  add_node(graph, "__copy_z_middle_0", "Copy", {"z_middle"});
  add_node(graph, "__dbg_z_middle:0_0_DebugIdentity", "DebugIdentity", {"__copy_z_middle_0"});
  add_node(graph, "z_middle", "Square", {"m_first", "^later"});
  add_node(graph, "m_first", "Const");
  add_node(graph, "later", "Const");
  dump.graph(graph);
  for (const char* node : {"a_last", "m_first", "z_middle"}) dump.floats(node, 5, {1});
  dump.floats("later", 6, {1});
  dump.floats("zero", 4, {1});
  dump.file("zero_0_DebugIdentity_4-10", "");
  dump.file("zero_0_DebugIdentity_4-2", "");
  const DumpRun run = only_run(dump);
  std::vector<std::string> order;
  for (const DumpEntry& entry : run.tensors()) {
    order.push_back(entry.tensor() + "-" + std::to_string(entry.name.debug_event));
  }
  EXPECT_EQ(order, (std::vector<std::string>{"zero:0-0", "zero:0-2", "zero:0-10", "m_first:0-0", "z_middle:0-0",
                                             "a_last:0-0", "later:0-0"}));
  ASSERT_EQ(run.devices().size(), 1u);
  EXPECT_EQ(run.devices()[0].name, "/job:localhost/replica:0/task:0/device:CPU:0");
  const DumpGraph& read = run.devices()[0].graph;
  EXPECT_EQ(read.nodes().size(), 4u);
  ASSERT_NE(read.find("a_last"), nullptr);
  EXPECT_EQ(read.find("a_last")->inputs, (std::vector<TensorName>{{"m_first", 0}, {"z_middle", 0}}));
  EXPECT_EQ(read.find("__copy_z_middle_0"), nullptr);
}

TEST(DumpReader, ALoopInTheGraphHasAnOrderToo) {
  crochet::proto::GraphDef graph;
  add_node(graph, "next", "NextIteration", {"body"});
  add_node(graph, "merge", "Merge", {"enter", "next"});
  add_node(graph, "enter", "Enter", {"x"});
  add_node(graph, "body", "Add", {"merge"});
  add_node(graph, "x", "Placeholder");
  add_node(graph, "self", "Odd", {"self", "elsewhere:3"});
  const DumpGraph read{graph.SerializeAsString()};
  EXPECT_LT(read.find("x")->position, read.find("merge")->position);
  EXPECT_LT(read.find("merge")->position, read.find("body")->position);
  EXPECT_LT(read.find("body")->position, read.find("next")->position);
  EXPECT_EQ(read.find("self")->inputs[1], (TensorName{"elsewhere", 3}));
}

TEST(DumpReader, TextsOfARun) {
  const DumpFixture dump;
  dump.text("_tfdbg_fetches_info_", "['b:0']");
  dump.text("_tfdbg_feed_keys_info_", "None");
  const DumpRun run = only_run(dump);
  ASSERT_EQ(run.fetches().size(), 1u);
  ASSERT_EQ(run.feeds().size(), 1u);
  EXPECT_EQ(run.fetches()[0], "['b:0']");
  EXPECT_EQ(run.feeds()[0], "None");
}

template <class T>
void round_trip(crochet::proto::DataType dtype, const std::vector<T>& elements, crochet::io::DataType expected) {
  const DumpFixture dump;
  dump.tensor("a", 1, 7, dtype, {static_cast<std::int64_t>(elements.size()), 1}, elements);
  const DumpRun run = only_run(dump);
  const DumpedTensor tensor = run.open(run.tensors()[0]);
  EXPECT_EQ(tensor.dtype(), expected);
  EXPECT_EQ(tensor.state(), TensorState::values);
  EXPECT_EQ(tensor.elements(), elements.size());
  EXPECT_EQ(tensor.shape()[0], static_cast<std::int64_t>(elements.size()));
  EXPECT_EQ(tensor.wall_time(), 7);
  const std::vector<std::byte> bytes = tensor.read_all();
  ASSERT_EQ(bytes.size(), elements.size() * sizeof(T));
  EXPECT_EQ(std::memcmp(bytes.data(), elements.data(), bytes.size()), 0);
}

TEST(DumpReader, EveryElementType) {
  using crochet::io::DataType;
  round_trip<float>(crochet::proto::DT_FLOAT, {1, -0.f, inf}, DataType::float32);
  round_trip<double>(crochet::proto::DT_DOUBLE, {1, 2}, DataType::float64);
  round_trip<std::int8_t>(crochet::proto::DT_INT8, {-1, 2}, DataType::int8);
  round_trip<std::int16_t>(crochet::proto::DT_INT16, {-1, 2}, DataType::int16);
  round_trip<std::int32_t>(crochet::proto::DT_INT32, {-1, 2}, DataType::int32);
  round_trip<std::int64_t>(crochet::proto::DT_INT64, {-1, most}, DataType::int64);
  round_trip<std::uint8_t>(crochet::proto::DT_UINT8, {255}, DataType::uint8);
  round_trip<std::uint16_t>(crochet::proto::DT_UINT16, {65535}, DataType::uint16);
  round_trip<std::uint32_t>(crochet::proto::DT_UINT32, {4000000000}, DataType::uint32);
  round_trip<std::uint64_t>(crochet::proto::DT_UINT64, {~std::uint64_t{0}}, DataType::uint64);
  round_trip<char>(crochet::proto::DT_BOOL, {0, 1, 2}, DataType::boolean);
  round_trip<std::complex<float>>(crochet::proto::DT_COMPLEX64, {{1, 2}}, DataType::complex64);
  round_trip<std::complex<double>>(crochet::proto::DT_COMPLEX128, {{1, 2}}, DataType::complex128);
  round_trip<std::uint16_t>(crochet::proto::DT_HALF, {0x3c00}, DataType::float16);
  round_trip<std::uint16_t>(crochet::proto::DT_BFLOAT16, {0x3f80}, DataType::bfloat16);
  round_trip<std::uint8_t>(crochet::proto::DT_FLOAT8_E4M3FN, {0x38}, DataType::float8_e4m3fn);
  round_trip<std::int32_t>(crochet::proto::DT_QINT32, {-7}, DataType::qint32);
}

TEST(DumpReader, StringsEmptyTensorsScalarsAndThoseWithoutAValue) {
  const DumpFixture dump;
  dump.strings("s", 1, {"ab", "", std::string("\0\xff", 2)});
  dump.tensor<float>("empty", 0, 2, crochet::proto::DT_FLOAT, {0, 3}, {});
  dump.tensor<float>("scalar", 0, 3, crochet::proto::DT_FLOAT, {}, {4});
  dump.tensor<float>("unset", 0, 4, crochet::proto::DT_FLOAT, {most / 8}, {});
  dump.strings("no_strings", 5, {});
  dump.tensor<float>("handle", 0, 6, crochet::proto::DT_RESOURCE, {}, {1});
  const DumpRun run = only_run(dump);
  const auto open = [&](std::size_t i) { return run.open(run.tensors()[i]); };
  std::vector<std::string> strings;
  const DumpedTensor s = open(0);
  for (int twice = 0; twice < 2; ++twice) {
    strings.clear();
    s.for_each_string([&](const std::string& text) { strings.push_back(text); });
    EXPECT_EQ(strings, (std::vector<std::string>{"ab", "", std::string("\0\xff", 2)}));
  }
  EXPECT_EQ(s.byte_size(), 4u);
  EXPECT_EQ(open(1).state(), TensorState::values);
  EXPECT_EQ(open(1).elements(), 0u);
  EXPECT_TRUE(open(1).read_all().empty());
  EXPECT_EQ(open(2).elements(), 1u);
  EXPECT_TRUE(open(2).shape().empty());
  EXPECT_EQ(open(3).state(), TensorState::uninitialized);
  EXPECT_EQ(open(3).statistics().elements(), 0u);
  EXPECT_TRUE(open(3).read_all().empty());
  EXPECT_EQ(open(4).state(), TensorState::values);
  EXPECT_EQ(open(5).state(), TensorState::opaque);
  std::byte one{};
  EXPECT_THROW(open(2).read(4, {&one, 1}), crochet::LogicError);
}

TEST(DumpReader, ATensorOfSeveralPiecesIsReadWhole) {
  const DumpFixture dump;
  std::vector<double> elements(100'000);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<double>(i);
  dump.tensor("a", 0, 1, crochet::proto::DT_DOUBLE, {400, 250}, elements);
  const DumpRun run = only_run(dump);
  const DumpedTensor tensor = run.open(run.tensors()[0]);
  EXPECT_EQ(tensor.statistics().max(), 99'999);
  EXPECT_EQ(tensor.statistics().mean(), 49'999.5);
  EXPECT_EQ(tensor.statistics().elements(), 100'000u);
  double last = 0;
  tensor.read(799'992, std::as_writable_bytes(std::span{&last, 1}));
  EXPECT_EQ(last, 99'999);
}

// ---- Numbers

template <class T>
TensorStatistics statistics_of(crochet::io::DataType type, const std::vector<T>& elements) {
  TensorStatistics statistics;
  statistics.add(type, std::as_bytes(std::span{elements}));
  return statistics;
}

TEST(TensorStatistics, NotFiniteNumbersAreCountedAndLeftOut) {
  const TensorStatistics s =
      statistics_of<float>(crochet::io::DataType::float32, {-3, -2, 0, -0.f, 1, 2, nan, inf, -inf, -inf});
  EXPECT_EQ(s.elements(), 10u);
  EXPECT_EQ(s.nan(), 1u);
  EXPECT_EQ(s.positive_infinite(), 1u);
  EXPECT_EQ(s.negative_infinite(), 2u);
  EXPECT_EQ(s.zeros(), 2u);
  EXPECT_EQ(s.min(), -3);
  EXPECT_EQ(s.max(), 2);
  EXPECT_DOUBLE_EQ(s.mean(), -1. / 3);
  EXPECT_NEAR(s.deviation() * s.deviation(), 26. / 9, 1e-14);
  EXPECT_TRUE(std::isnan(TensorStatistics{}.mean()));
  EXPECT_TRUE(std::isnan(statistics_of<float>(crochet::io::DataType::float32, {nan}).deviation()));
}

TEST(TensorStatistics, LargeNumbersDoNotOverflow) {
  const double largest = std::numeric_limits<double>::max();
  const TensorStatistics s = statistics_of<double>(crochet::io::DataType::float64, {largest, largest, largest});
  EXPECT_EQ(s.mean(), largest);
  EXPECT_EQ(s.infinite(), 0u);
}

TEST(TensorStatistics, DifferencesThatOverflowLeaveTheMeanFinite) {
  const double largest = std::numeric_limits<double>::max();
  const TensorStatistics s = statistics_of<double>(crochet::io::DataType::float64, {largest, -largest, 3});
  EXPECT_EQ(s.mean(), 1);
  EXPECT_EQ(s.deviation(), std::numeric_limits<double>::infinity());
}

TEST(TensorStatistics, OtherTypes) {
  using crochet::io::DataType;
  const TensorStatistics complex =
      statistics_of<std::complex<float>>(DataType::complex64, {{3, 4}, {nan, inf}, {-inf, 0}, {0, nan}, {0, 0}});
  EXPECT_EQ(complex.max(), 5);
  EXPECT_EQ(complex.nan(), 2u);
  EXPECT_EQ(complex.infinite(), 1u);
  EXPECT_EQ(complex.zeros(), 1u);
  EXPECT_EQ(statistics_of<std::uint8_t>(DataType::boolean, {0, 1, 200}).mean(), 2. / 3);
  EXPECT_EQ(statistics_of<std::uint8_t>(DataType::int4, {0x0f, 0xf7}).min(), -1);
  EXPECT_EQ(statistics_of<std::uint8_t>(DataType::uint4, {0x0f, 0xf7}).max(), 15);
  EXPECT_EQ(statistics_of<std::uint64_t>(DataType::uint64, {~std::uint64_t{0}}).max(), 18446744073709551616.);
  EXPECT_EQ(statistics_of<std::uint8_t>(DataType::string, {1, 2}).elements(), 0u);
}

// Tables of the formats: IEEE 754-2008 for float16, the upper half of a float for bfloat16, and for the 8-bit formats
// their largest, smallest and special numbers.
TEST(SmallFloats, AreDecodedExactly) {
  using crochet::io::DataType;
  const auto value = [](DataType type, std::uint32_t bits) { return decode(small_float(type), bits); };
  EXPECT_EQ(value(DataType::float16, 0x3c00), 1);
  EXPECT_EQ(value(DataType::float16, 0x7bff), 65504);
  EXPECT_EQ(value(DataType::float16, 0x0001), std::ldexp(1.f, -24));
  EXPECT_EQ(value(DataType::float16, 0x8400), -std::ldexp(1.f, -14));
  EXPECT_EQ(value(DataType::float16, 0xfc00), -inf);
  EXPECT_TRUE(std::isnan(value(DataType::float16, 0x7c01)));
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float expected = std::bit_cast<float>(bits << 16);
    const float read = value(DataType::bfloat16, bits);
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(read) : read == expected) << bits;
  }
  EXPECT_EQ(value(DataType::float8_e5m2, 0x7b), 57344);
  EXPECT_EQ(value(DataType::float8_e5m2, 0x7c), inf);
  EXPECT_EQ(value(DataType::float8_e4m3fn, 0x7e), 448);
  EXPECT_TRUE(std::isnan(value(DataType::float8_e4m3fn, 0xff)));
  EXPECT_EQ(value(DataType::float8_e4m3fn, 0x01), std::ldexp(1.f, -9));
  EXPECT_EQ(value(DataType::float8_e4m3fnuz, 0x7f), 240);
  EXPECT_TRUE(std::isnan(value(DataType::float8_e4m3fnuz, 0x80)));
  EXPECT_EQ(value(DataType::float8_e4m3b11fnuz, 0x7f), 30);
  EXPECT_EQ(value(DataType::float8_e5m2fnuz, 0x7f), 57344);
}

// ---- Wrong dumps

struct Wrong {
  std::string why;
  std::function<void(Event&)> change;
};

TensorProto& tensor_of(Event& event) { return *event.mutable_summary()->mutable_value(0)->mutable_tensor(); }

TEST(HostileDump, TensorsThatCannotBe) {
  const auto dim = [](std::int64_t size) {
    return [size](Event& e) { tensor_of(e).mutable_tensor_shape()->mutable_dim(0)->set_size(size); };
  };
  const std::vector<Wrong> all{
      {"asks for 4 bytes", dim(1)},
      {"asks for 12 bytes", dim(3)},
      {"negative dimension", dim(-1)},
      {"negative dimension", dim(std::numeric_limits<std::int64_t>::min())},
      {"too many elements", dim(most)},
      {"too many elements", dim(most / 4 + 1)},
      {"asks for", dim(most / 4)},
      {"too many elements",  // 2^64 elements, which overflow to 0
       [](Event& e) {
         tensor_of(e).clear_tensor_content();
         for (int i = 0; i < 4; ++i) tensor_of(e).mutable_tensor_shape()->add_dim()->set_size(1 << 16);
         tensor_of(e).mutable_tensor_shape()->mutable_dim(0)->set_size(1);
         tensor_of(e).mutable_tensor_shape()->add_dim()->set_size(std::int64_t{1} << 32);
       }},
      {"too many dimensions",
       [](Event& e) {
         for (int i = 0; i < 300; ++i) tensor_of(e).mutable_tensor_shape()->add_dim()->set_size(1);
       }},
      {"no known rank", [](Event& e) { tensor_of(e).mutable_tensor_shape()->set_unknown_rank(true); }},
      {"element type", [](Event& e) { tensor_of(e).set_dtype(crochet::proto::DT_INVALID); }},
      {"number 101", [](Event& e) { tensor_of(e).set_dtype(static_cast<crochet::proto::DataType>(101)); }},
      {"number -1", [](Event& e) { tensor_of(e).set_dtype(static_cast<crochet::proto::DataType>(-1)); }},
      {"packed", [](Event& e) { tensor_of(e).set_dtype(crochet::proto::DT_STRING); }},
      {"has 1",
       [](Event& e) {
         tensor_of(e).set_dtype(crochet::proto::DT_STRING);
         tensor_of(e).clear_tensor_content();
         tensor_of(e).add_string_val("one of two");
       }},
      {"has strings", [](Event& e) { tensor_of(e).add_string_val("x"); }},
      {"typed fields",
       [](Event& e) {
         tensor_of(e).clear_tensor_content();
         tensor_of(e).add_float_val(1);
       }},
      {"no tensor", [](Event& e) { e.mutable_summary()->mutable_value(0)->set_simple_value(1); }},
      {"no tensor", [](Event& e) { e.clear_summary(); }},
      {"no tensor", [](Event& e) { e.mutable_log_message()->set_message("text"); }},
      {"several values", [](Event& e) { *e.mutable_summary()->add_value() = e.summary().value(0); }},
      {"holds b:0:DebugIdentity",
       [](Event& e) { e.mutable_summary()->mutable_value(0)->set_node_name("b:0:DebugIdentity"); }},
      {"one chunk",
       [](Event& e) {
         e.mutable_summary()->mutable_value(0)->mutable_metadata()->mutable_plugin_data()->set_content(
             R"({"device":"","outputSlot":0,"numChunks":2,"chunkIndex":1})");
       }},
      {"no JSON object",
       [](Event& e) {
         e.mutable_summary()->mutable_value(0)->mutable_metadata()->mutable_plugin_data()->set_content("{");
       }},
      {"nested",
       [](Event& e) {
         e.mutable_summary()->mutable_value(0)->mutable_metadata()->mutable_plugin_data()->set_content(
             std::string(500'000, '['));
       }},
      {"a text of", [](Event& e) { e.mutable_summary()->mutable_value(0)->set_tag(std::string(2'000'000, 'x')); }},
  };
  for (const Wrong& wrong : all) {
    const DumpFixture dump;
    Event event = tensor_event("a", 0, "DebugIdentity", 1, crochet::proto::DT_FLOAT, {2}, bytes_of<float>({1, 2}));
    wrong.change(event);
    dump.event("a_0_DebugIdentity_1", event);
    dump.floats("b", 2, {3});
    const std::string error = error_of(dump);
    EXPECT_NE(error.find(wrong.why), std::string::npos) << wrong.why << ": " << error;
    EXPECT_NE(error.find("a_0_DebugIdentity_1 is damaged"), std::string::npos) << error;
    const DumpRun run{dump.run()};
    EXPECT_EQ(run.open(run.tensors()[1]).statistics().max(), 3);  // the other tensor is still read
  }
}

// A truncated file gives an error at every length.
TEST(DumpReader, AnErrorOfTheDiskIsNoDamage) {
  const DumpFixture dump;
  Event strings = tensor_event("a", 0, "DebugIdentity", 1, crochet::proto::DT_STRING, {1}, "");
  strings.mutable_summary()->mutable_value(0)->mutable_tensor()->add_string_val(std::string(100'000, 'x'));
  dump.file("a_0_DebugIdentity_1", strings.SerializeAsString());
  const DumpRun run = only_run(dump);
  const DumpedTensor tensor = run.open(run.tensors()[0]);
  const auto error_while = [&](const std::function<void()>& act) {
    reads_fail = true;
    try {
      act();
    } catch (const crochet::DataLossError&) {
      reads_fail = false;
      return std::string("damaged");
    } catch (const crochet::IoError& error) {
      reads_fail = false;
      return std::string(error.what());
    }
    reads_fail = false;
    return std::string();
  };
  const std::string expected =
      "crochet: cannot read " + (dump.device() / "a_0_DebugIdentity_1").string() + ": Input/output error";
  EXPECT_EQ(error_while([&] { (void)run.open(run.tensors()[0]); }), expected);
  EXPECT_EQ(error_while([&] { tensor.for_each_string([](const std::string&) {}); }), expected);
}

TEST(HostileDump, EveryTruncation) {
  const DumpFixture dump;
  const std::string good =
      tensor_event("ns/a", 0, "DebugIdentity", 1, crochet::proto::DT_FLOAT, {2, 2}, bytes_of<float>({1, 2, 3, 4}))
          .SerializeAsString();
  for (std::size_t size = 0; size < good.size(); ++size) {
    dump.file("ns/a_0_DebugIdentity_1", good.substr(0, size));
    EXPECT_NE(error_of(dump), "") << size;
  }
  dump.file("ns/a_0_DebugIdentity_1", good);
  EXPECT_EQ(error_of(dump), "");
}

TEST(HostileDump, RandomChanges) {
  const DumpFixture dump;
  Event event =
      tensor_event("a", 0, "DebugIdentity", 1, crochet::proto::DT_FLOAT, {2, 2}, bytes_of<float>({1, 2, 3, 4}));
  crochet::proto::GraphDef graph;
  add_node(graph, "a", "Add", {"b", "__copy_c_0"});
  add_node(graph, "__copy_c_0", "Copy", {"c:1"});
  Event graph_event;
  graph_event.set_graph_def(graph.SerializeAsString());
  const std::string good = event.SerializeAsString(), good_graph = graph_event.SerializeAsString();
  std::mt19937 random{1};
  const auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>{0, n - 1}(random); };
#if GOOGLE_PROTOBUF_VERSION < 4022000         // later versions do not print to standard error
  const google::protobuf::LogSilencer quiet;  // suppresses a line for each name that is not UTF-8
#endif
  int read = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bad = good, bad_graph = good_graph;
    for (std::size_t changes = 1 + below(3); changes > 0; --changes) {
      constexpr std::array<char, 4> likely{'\0', '\x7f', '\x80', '\xff'};
      bad[below(bad.size())] = below(2) == 0 ? likely[below(4)] : static_cast<char>(below(256));
      bad_graph[below(bad_graph.size())] = static_cast<char>(below(256));
    }
    dump.file("a_0_DebugIdentity_1", bad);
    dump.file("_tfdbg_graph_hash1_1", bad_graph);
    ++(error_of(dump).empty() ? read : refused);
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(read, 10);
}

TEST(HostileDump, GroupsInEachOtherDoNotUseUpTheStack) {
  const DumpFixture dump;
  dump.file("a_0_DebugIdentity_1", std::string(1 << 20, '\x0b'));  // a million times the start of group 1
  EXPECT_NE(error_of(dump), "");
  dump.file("_tfdbg_graph_hash1_1", std::string("\x22") + std::string(1, '\x7f') + std::string(127, '\x0b'));
  EXPECT_NE(problem_of(dump).find("is damaged"), std::string::npos) << problem_of(dump);
}

TEST(HostileDump, FilesThatAreNotTheDebuggers) {
  const DumpFixture dump;
  dump.floats("good", 1, {1});
  dump.file(".DS_Store", "x");
  dump.file("ns/a_0_DebugIdentity_1.tmp", "x");
  std::filesystem::create_symlink("/etc/passwd", dump.device() / "link_0_DebugIdentity_2");
  std::filesystem::create_directory_symlink("/", dump.device() / "root");
  ASSERT_EQ(::mkfifo((dump.device() / "pipe_0_DebugIdentity_3").c_str(), 0600), 0);
  const DumpRun run = only_run(dump);
  ASSERT_EQ(run.tensors().size(), 1u);
  EXPECT_EQ(run.problems().size(), 5u);
  // The same if the file is replaced after the directory was listed.
  const std::filesystem::path good = dump.device() / run.tensors()[0].file.substr(run.tensors()[0].file.find('/') + 1);
  std::filesystem::remove(good);
  EXPECT_THROW((void)run.open(run.tensors()[0]), crochet::IoError);
  std::filesystem::create_symlink("/etc/passwd", good);
  EXPECT_THROW((void)run.open(run.tensors()[0]), crochet::IoError);
  std::filesystem::remove(good);
  ASSERT_EQ(::mkfifo(good.c_str(), 0600), 0);
  EXPECT_THROW((void)run.open(run.tensors()[0]), crochet::IoError);
}

/// A folder in `folder` whose path is short enough for the system, with an entry whose path is too long.
std::filesystem::path folder_with_too_long_a_path(std::filesystem::path folder, const char* entry) {
  while (folder.native().size() < PATH_MAX - 230) folder /= std::string(200, 'd');
  folder /= std::string(PATH_MAX - 10 - folder.native().size(), 'd');
  std::filesystem::create_directories(folder);
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  EXPECT_EQ(::mkdirat(opened, entry, 0700), 0);
  ::close(opened);
  return folder;
}
TEST(HostileDump, EntriesThatTheSystemRejects) {
  const crochet::test::TemporaryFolder folder;
  const DumpRun run{folder_with_too_long_a_path(folder.path(), "_tfdbg_device_,job_x")};
  EXPECT_EQ(run.devices().size(), 0u);
  ASSERT_EQ(run.problems().size(), 1u);
  EXPECT_NE(run.problems()[0].find("is no folder"), std::string::npos) << run.problems()[0];
}

TEST(HostileDump, DeepAndLargeTreesHaveAnEnd) {
  const DumpFixture dump;
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "d/";
  dump.floats("good", 1, {1});
  dump.file(deep + "a_0_DebugIdentity_1", "x");
  EXPECT_NE(problem_of(dump).find("too deep"), std::string::npos) << problem_of(dump);
  for (int i = 0; i < 30; ++i) dump.floats("n" + std::to_string(i), 2, {1});
  DumpLimits limits;
  limits.files = 20;
  const DumpRun run{dump.run(), limits};
  EXPECT_LE(run.tensors().size(), 20u);
  ASSERT_FALSE(run.problems().empty());
  EXPECT_NE(run.problems()[0].find("has more than the"), std::string::npos) << run.problems()[0];
}

// A file of many gigabytes without content is rejected by its size. A file of a possible size is read in pieces.
TEST(HostileDump, HugeFiles) {
  const DumpFixture dump;
  dump.floats("a", 1, {1});
  const std::filesystem::path file = dump.device() / "a_0_DebugIdentity_1";
  std::error_code error;
  std::filesystem::resize_file(file, std::uintmax_t{5} << 30, error);
  if (error) GTEST_SKIP() << "no file here can be that large: " << error.message();
  EXPECT_NE(error_of(dump).find("larger than a message"), std::string::npos) << error_of(dump);
  for (const char* name : {"_tfdbg_core_metadata_1", "_tfdbg_fetches_info_", "_tfdbg_feed_keys_info_"}) {
    dump.text(name, "x");
    std::filesystem::resize_file(dump.run() / name, std::uintmax_t{5} << 30);
  }
  dump.file("_tfdbg_graph_hash1_1", "x");
  std::filesystem::resize_file(dump.device() / "_tfdbg_graph_hash1_1", std::uintmax_t{5} << 30);
  EXPECT_EQ(DumpRun{dump.run()}.problems().size(), 4u);
}

TEST(HostileDump, MetadataThatCannotBe) {
  const std::string right = R"({"global_step":1,"session_run_index":2,"executor_step_index":0,"input_names":[],)"
                            R"("output_names":["a:0"],"target_nodes":[],"grpc_path":"/x","else":{"a":[1]}})";
  EXPECT_EQ(parse_core_metadata(right).session_run_index, 2);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = right;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& wrong :
       {std::string{}, std::string{"[]"}, std::string{"null"}, right.substr(1), right + "}",
        changed(R"("global_step":1)", R"("global_step":1.5)"), changed(R"("global_step":1)", R"("global_step":"1")"),
        changed(R"("global_step":1)", R"("global_step":18446744073709551615)"),
        changed(R"("global_step":1)", R"("global_step":1e400)"), changed("global_step", "step"),
        changed(R"(["a:0"])", R"("a:0")"), changed(R"(["a:0"])", "[1]"), changed(R"("a:0")", R"("a"b")"),
        changed(R"("a:0")", "\"\xff\""), changed(R"({"a":[1]})", std::string(100'000, '[')),
        changed(R"({"a":[1]})", std::string(40, '[') + std::string(40, ']'))}) {
    EXPECT_THROW((void)parse_core_metadata(wrong), crochet::DataLossError) << wrong.substr(0, 200);
  }
  const DumpFixture dump;
  dump.text("_tfdbg_core_metadata_1", "{");
  dump.text("_tfdbg_core_metadata_2", right);
  dump.event("_tfdbg_fetches_info_", Event{});
  DumpFixture::write(dump.run() / "_tfdbg_fetches_info_", "");
  DumpFixture::write(dump.run() / "_tfdbg_device_file", "");
  const DumpRun run{dump.run()};
  EXPECT_EQ(run.metadata().size(), 1u);
  EXPECT_EQ(run.problems().size(), 4u);
}

TEST(HostileDump, GraphsThatCannotBe) {
  const DumpFixture dump;
  crochet::proto::GraphDef twice;
  add_node(twice, "a", "Add");
  add_node(twice, "a", "Add");
  dump.graph(twice);
  dump.floats("a", 1, {1});
  EXPECT_NE(problem_of(dump).find("two nodes a"), std::string::npos) << problem_of(dump);
  EXPECT_EQ(only_run(dump).tensors().size(), 1u);
}

}  // namespace
