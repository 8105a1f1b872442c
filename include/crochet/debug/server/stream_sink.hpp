// SPDX-License-Identifier: Apache-2.0
// StreamSink: who gets what comes on a debug stream.
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

/// How a stream ended.
struct StreamEnd {
  std::string error{};         ///< why it was ended; empty: its sender had said all
  std::uint64_t bytes = 0;     ///< that came
  std::size_t incomplete = 0;  ///< tensors and graphs of which chunks are missing
};

/// One stream. All calls come from one thread, in the order in which things became complete. What they throw ends the
/// stream.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  virtual void graph(ReceivedGraph /*graph*/) {}
  virtual void metadata(const ReceivedMetadata& /*metadata*/) {}
  virtual void tensor(const ReceivedTensor& /*tensor*/) {}
  /// The stream is held at this tensor, until somebody says go on.
  virtual void held(const WatchKey& /*key*/) {}
  /// The last call; must not throw.
  virtual void end(const StreamEnd& /*end*/) noexcept {}
};

/// Who gets what comes on a server: called from several threads.
struct ServerSink {
  /// A stream begins. `peer` is the client's address.
  std::function<std::unique_ptr<StreamSink>(const std::string& peer)> open;
  /// Where a run was asked for, and the texts of the program. Null: they are accepted and forgotten, as the original
  /// does.
  std::function<void(const proto::CallTraceback&)> traceback{};
  std::function<void(const proto::DebuggedSourceFiles&)> sources{};
  /// Something was refused before it was a stream: why, and who.
  std::function<void(const std::string& why, const std::string& peer)> refused{};
};

}  // namespace crochet::debug
