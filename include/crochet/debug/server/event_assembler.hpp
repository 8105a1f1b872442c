// SPDX-License-Identifier: Apache-2.0
// EventAssembler: assembles the events of one debug stream into graphs, tensors and the metadata of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>

#include <crochet/proto/event.pb.h>

#include <crochet/base/clock.hpp>
#include <crochet/debug/event/tensor_event.hpp>
#include <crochet/debug/server/byte_budget.hpp>
#include <crochet/debug/server/chunk_set.hpp>
#include <crochet/debug/server/chunk_table.hpp>
#include <crochet/debug/server/graph_chunk.hpp>
#include <crochet/debug/server/received_graph.hpp>
#include <crochet/debug/server/received_json.hpp>
#include <crochet/debug/server/received_tensor.hpp>
#include <crochet/debug/server/stream_limits.hpp>

namespace crochet::debug {

/// The result of an event; `std::monostate`: incomplete. The sender waits for a reply after a graph and after the
/// metadata.
using Received = std::variant<std::monostate, ReceivedGraph, ReceivedMetadata, ReceivedTensor>;

/// One stream of `SendEvents` (spec: `tensorflow.EventListener`), which is one run: graphs in chunks, before or after
/// the single metadata event, then tensors, large ones in chunks, in any order. Accepts the events of TensorFlow's
/// client and of GrpcDebugHook. All input is checked against StreamLimits before memory is allocated for it.
///
/// Errors end the stream; later events are rejected:
/// - DataLossError: a violation of the protocol;
/// - ResourceExhaustedError: a limit is exceeded;
/// - DeadlineExceededError: the stream lasts too long.
/// Not thread-safe.
class EventAssembler {
 public:
  /// `shared`: the memory budget for incomplete tensors and graphs of all streams; must outlive the assembler.
  EventAssembler(StreamLimits limits, ByteBudget& shared, Clock clock = {})
      : limits_(limits),
        clock_(std::move(clock)),
        began_(clock_()),
        graph_chunks_(limits_, shared, pending_),
        tensor_chunks_(limits_, shared, pending_) {}
  EventAssembler(const EventAssembler&) = delete;
  EventAssembler& operator=(const EventAssembler&) = delete;

  /// Adds the next event of the stream and takes its memory. Cost: the checks; a tensor in one chunk is moved, one in
  /// several chunks is copied once.
  Received add(proto::Event event) {
    require_alive();
    failed_ = true;  // reset on success
    bytes_ += event.ByteSizeLong();
    require_at_most(bytes_, limits_.stream_bytes, "bytes");
    Received received = dispatch(std::move(event));
    failed_ = false;
    return received;
  }

  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }    ///< received
  [[nodiscard]] std::size_t tensors() const { return tensors_; }  ///< completed
  /// The number of tensors and graphs with missing chunks. TensorFlow drops them silently.
  [[nodiscard]] std::size_t incomplete() const { return pending_.count; }

 private:
  void require_alive() const {
    if (failed_) throw LogicError("crochet: an EventAssembler takes no event after one that was wrong");
    if (clock_() - began_ > limits_.seconds) {
      throw DeadlineExceededError("crochet: the debug stream lasts longer than " +
                                  std::to_string(static_cast<std::int64_t>(limits_.seconds)) + " seconds");
    }
  }

  /// The order of the checks is TensorFlow's. Other events are ignored.
  Received dispatch(proto::Event event) {
    if (event.summary().value_size() > 0) return tensor(std::move(event));
    if (!event.graph_def().empty()) return graph(event.graph_def());
    if (!event.log_message().message().empty()) return metadata(event);
    return {};
  }

  Received metadata(proto::Event& event) {
    if (std::exchange(described_, true)) stream_is_wrong("the core metadata comes twice");
    ReceivedMetadata run = parse_received_metadata(std::move(*event.mutable_log_message()->mutable_message()), limits_);
    run.wall_time = require_time(event.wall_time());
    return run;
  }

  Received graph(const std::string& text) {
    const detail::GraphChunk chunk = detail::parse_graph_chunk(text, limits_);
    auto chunks = graph_chunks_.add(std::string(chunk.key), chunk.index, chunk.count, std::string(chunk.bytes),
                                    chunk.bytes.size(), limits_.graph_bytes, "bytes in one graph");
    if (!chunks) return {};
    require_at_most(++graphs_, limits_.graphs, "graphs");
    ReceivedGraph graph{std::string(chunk.device), chunk.hash, chunk.wall_time, {}, {}, {}};
    graph.graph_def.reserve(chunks->bytes());
    chunks->hand_over([&](const std::string& bytes) { graph.graph_def += bytes; });
    read_received_graph(graph, limits_);
    return graph;
  }

  // ---- tensors
  Received tensor(proto::Event event) {
    if (event.summary().value_size() != 1) stream_is_wrong("an event has several values");
    const auto& value = event.summary().value(0);
    if (!value.has_tensor()) stream_is_wrong("a value is no tensor");
    const ChunkPlace place = parse_chunk_place(value.metadata().plugin_data().content(), limits_);
    ReceivedTensor tensor{require_watch_key(value.node_name(), limits_),
                          place.device,
                          require_time(event.wall_time()),
                          static_cast<std::size_t>(place.count),
                          {}};
    if (!value.tag().empty() && value.tag() != tensor.key.node) {
      stream_is_wrong(printable(value.tag()) + " is not the node of " + to_string(tensor.key));
    }
    if (place.count > 1 && !join_chunk(tensor, place, *event.mutable_summary()->mutable_value(0)->mutable_tensor())) {
      return {};
    }
    return whole(std::move(tensor), std::move(event));
  }

  /// Adds a chunk; all chunks of one firing have its time. Returns true after the last one: `sent` is then the whole
  /// tensor.
  bool join_chunk(const ReceivedTensor& tensor, const ChunkPlace& place, proto::TensorProto& sent) {
    const std::string key = tensor.device + ' ' + to_string(tensor.key) + ' ' + std::to_string(tensor.wall_time);
    const proto::TensorProto* const other = tensor_chunks_.any_of(key);
    if (other != nullptr && !detail::same_header(*other, sent)) {
      stream_is_wrong("the chunks of " + to_string(tensor.key) + " differ in type or shape");
    }
    if (const auto bytes = detail::content_bytes(sent, limits_)) {  // the size of the whole tensor
      require_at_most(*bytes, limits_.tensor_bytes, "bytes in one tensor");
    }
    if (sent.tensor_content().empty() && sent.string_val_size() == 0) stream_is_wrong("a chunk is empty");
    const std::uint64_t memory = sent.SpaceUsedLong();
    auto chunks = tensor_chunks_.add(key, static_cast<std::size_t>(place.index), tensor.chunks, std::move(sent), memory,
                                     limits_.tensor_bytes, "bytes in one tensor");
    if (chunks) sent = join(*chunks);
    return chunks.has_value();
  }

  static proto::TensorProto join(detail::ChunkSet<proto::TensorProto>& chunks) {
    proto::TensorProto whole;
    bool first = true;
    chunks.hand_over([&](proto::TensorProto part) {
      if (std::exchange(first, false)) {
        whole = std::move(part);
        return;
      }
      whole.mutable_tensor_content()->append(part.tensor_content());
      for (std::string& text : *part.mutable_string_val()) whole.add_string_val(std::move(text));
    });
    return whole;
  }

  Received whole(ReceivedTensor tensor, proto::Event event) {
    require_at_most(++tensors_, limits_.tensors, "tensors");
    auto& value = *event.mutable_summary()->mutable_value(0);
    detail::require_fields_of_type(value.tensor());
    detail::require_content_fits(value.tensor(), limits_);
    value.set_tag(tensor.key.node);
    value.mutable_metadata()->mutable_plugin_data()->set_content(debugger_json(tensor.device, tensor.key.slot, 1, 0));
    tensor.event = std::move(event);
    return tensor;
  }

  const StreamLimits limits_;
  const Clock clock_;
  const double began_;
  detail::Pending pending_;
  detail::ChunkTable<std::string> graph_chunks_;
  detail::ChunkTable<proto::TensorProto> tensor_chunks_;
  std::uint64_t bytes_ = 0;
  std::size_t tensors_ = 0, graphs_ = 0;
  bool described_ = false, failed_ = false;
};

}  // namespace crochet::debug
