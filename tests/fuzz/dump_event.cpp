// SPDX-License-Identifier: Apache-2.0
// A file of a dump: an event with a tensor, a graph or metadata.
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/common.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <crochet/proto/event.pb.h>
#include <crochet/debug/dump/dump_graph.hpp>
#include <crochet/debug/dump/dumped_tensor.hpp>
#include <crochet/debug/event/parse_core_metadata.hpp>
#include <crochet/debug/event/read_tensor_event.hpp>
#include <crochet/debug/ops/tensor_statistics.hpp>

#include "fuzz_target.hpp"
#include "words.hpp"
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif

namespace {

using namespace crochet::debug;

void strings(const TensorEventLayout& tensor, std::string_view input) {
  const std::string_view bytes = input.substr(tensor.tensor_at, tensor.tensor_size);
  google::protobuf::io::ArrayInputStream stream{bytes.data(), static_cast<int>(bytes.size())};
  std::size_t count = 0, size = 0;
  read_strings(stream, bytes.size(), [&](const std::string& text) { ++count, size += text.size(); });
  require(count == tensor.elements && size == tensor.byte_size);
}

void numbers(const TensorEventLayout& tensor, std::string_view input) {
  require(tensor.content_at + tensor.byte_size <= input.size());
  const auto bytes = std::as_bytes(std::span{input.substr(tensor.content_at, tensor.byte_size)});
  TensorStatistics statistics;
  statistics.add(tensor.dtype, bytes);
  require(statistics.elements() == tensor.elements);
  const std::size_t some = std::min<std::size_t>(tensor.elements, 50) * crochet::io::size_of(tensor.dtype);
  if (some == 0) return;
  for (const int precision : {0, 8}) (void)crochet_dump::words(tensor.dtype, bytes.first(some), precision, false);
  (void)crochet_dump::words(tensor.dtype, bytes.first(crochet::io::size_of(tensor.dtype)), 8, true);
}

void tensor(std::string_view input) {
  google::protobuf::io::ArrayInputStream stream{input.data(), static_cast<int>(input.size()), 13};
  const TensorEventLayout tensor = read_tensor_event(stream, input.size());
  if (tensor.plugin_name == "debugger") (void)detail::plugin_fault(tensor.plugin_data);
  if (tensor.state != TensorState::values) return;
  if (tensor.dtype == crochet::io::DataType::string) return strings(tensor, input);
  numbers(tensor, input);
}

/// Parses as DumpRun parses graphs: the whole input, and the content of an event.
void graph(std::string_view graph_def) {
  const DumpGraph read{graph_def};
  for (const DumpGraph::Node& node : read.nodes()) require(read.find(node.name) == &node);
}
void other_events(std::string_view input) {
  crochet::io::for_each_field(input, [](const crochet::io::WireField& field) {
    if (field.number == 4) graph(field.bytes);
    if (field.number == 6) (void)parse_core_metadata(std::string(field.bytes));
  });
}

}  // namespace

void fuzz(std::string_view input) {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  const google::protobuf::LogSilencer quiet;
#endif
  try {
    tensor(input);
  } catch (const crochet::DataLossError&) {
  }
  try {
    other_events(input);
  } catch (const crochet::DataLossError&) {
  }
  try {
    graph(input);
  } catch (const crochet::DataLossError&) {
  }
}
