// SPDX-License-Identifier: Apache-2.0
// The events that a debug server receives. Each is preceded by its length, two bytes, the lower one first.
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/stubs/common.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <crochet/proto/event.pb.h>
#include <crochet/base/error.hpp>
#include <crochet/debug/event/parsed_size.hpp>
#include <crochet/debug/server/event_assembler.hpp>

#include "fuzz_target.hpp"
#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif

namespace {

using namespace crochet::debug;

constexpr StreamLimits limits{.stream_bytes = 1 << 18,
                              .tensor_bytes = 1 << 14,
                              .graph_bytes = 1 << 14,
                              .pending_bytes = 1 << 15,
                              .chunks = 64,
                              .pending_tensors = 8,
                              .tensors = 100,
                              .graphs = 4,
                              .graph_nodes = 200,
                              .name_bytes = 200,
                              .plugin_bytes = 1'000,
                              .metadata_bytes = 4'000};

/// The name contains no path out of a folder.
void require_safe(std::string_view name) {
  require(!name.empty() && name.size() <= limits.name_bytes && name.front() != '/' && name.back() != '/');
  require(name.find('\0') == std::string_view::npos && name.find("//") == std::string_view::npos);
  const std::string parts = "/" + std::string(name) + "/";
  require(parts.find("/../") == std::string::npos && parts.find("/./") == std::string::npos);
}

struct Check {
  void operator()(std::monostate) const {}
  void operator()(const ReceivedGraph& graph) const {
    require(!graph.graph_def.empty() && graph.graph_def.size() <= limits.graph_bytes);
    require(graph.nodes.size() + graph.gated.size() <= limits.graph_nodes);
    for (const std::string& node : graph.nodes) require_safe(node);
    for (const WatchKey& key : graph.gated) require(parse_watch_key(to_string(key)) == key);
  }
  void operator()(const ReceivedMetadata& metadata) const { require(metadata.json.size() <= limits.metadata_bytes); }
  void operator()(const ReceivedTensor& tensor) const {
    require_safe(tensor.key.node);
    require(tensor.key.slot >= 0 && tensor.key.debug_op.find('_') == std::string::npos && tensor.wall_time >= 0);
    require(tensor.tensor().tensor_content().size() <= limits.tensor_bytes);
    require(tensor.event.summary().value(0).node_name() == to_string(tensor.key));
  }
};

}  // namespace

void fuzz(std::string_view input) {
#if GOOGLE_PROTOBUF_VERSION < 4022000
  const google::protobuf::LogSilencer quiet;
#endif
  ByteBudget budget(1 << 15);
  {
    EventAssembler assembler(limits, budget, [] { return 0.0; });
    try {
      while (input.size() >= 2) {
        const std::size_t size =
            static_cast<std::uint8_t>(input[0]) + std::size_t{256} * static_cast<std::uint8_t>(input[1]);
        const std::string_view bytes = input.substr(2, size);
        input.remove_prefix(2 + bytes.size());
        crochet::proto::Event event;
        google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
        const std::uint64_t memory = parsed_size(*event.GetDescriptor(), stream, bytes.size(), 1 << 20);
        if (!event.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) break;
        require(event.SpaceUsedLong() <= memory);
        std::visit(Check{}, assembler.add(std::move(event)));
        require(assembler.tensors() <= limits.tensors && assembler.incomplete() <= limits.pending_tensors);
      }
    } catch (const crochet::DataLossError&) {
    } catch (const crochet::ResourceExhaustedError&) {
    }
  }
  require(budget.used() == 0);
}
