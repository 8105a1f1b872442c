// SPDX-License-Identifier: Apache-2.0
// StreamSink: receives the complete items of a debug stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <crochet/proto/debug.pb.h>

#include <crochet/debug/server/received_graph.hpp>
#include <crochet/debug/server/received_json.hpp>
#include <crochet/debug/server/received_tensor.hpp>

namespace crochet::debug {

/// The end of a stream.
struct StreamEnd {
  std::string error{};         ///< the reason; empty: the sender ended it normally
  std::uint64_t bytes = 0;     ///< received
  std::size_t incomplete = 0;  ///< tensors and graphs with missing chunks
};

/// One stream. All calls come from one thread, in the order in which the items became complete. An exception ends the
/// stream.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  virtual void graph(ReceivedGraph /*graph*/) {}
  virtual void metadata(const ReceivedMetadata& /*metadata*/) {}
  virtual void tensor(const ReceivedTensor& /*tensor*/) {}
  /// The stream is held at this tensor until it is released.
  virtual void held(const WatchKey& /*key*/) {}
  /// The last call; must not throw.
  virtual void end(const StreamEnd& /*end*/) noexcept {}
};

/// Receives the streams and calls of a server, from several threads.
struct ServerSink {
  /// Called when a stream begins. `peer` is the client's address.
  std::function<std::unique_ptr<StreamSink>(const std::string& peer)> open;
  /// Call stacks of runs, and source files. If null, calls are accepted and ignored, as in TensorFlow.
  std::function<void(const proto::CallTraceback&)> traceback{};
  std::function<void(const proto::DebuggedSourceFiles&)> sources{};
  /// Called for each call or stream refused before it began, with the reason and the client's address.
  std::function<void(const std::string& why, const std::string& peer)> refused{};
};

}  // namespace crochet::debug
