// SPDX-License-Identifier: Apache-2.0
// ParsedMessage: a message of a client, checked before it is parsed.
#pragma once

#include <crochet/debug/stream/needs_grpc.hpp>

#include <grpcpp/grpcpp.h>
#include <grpcpp/support/proto_buffer_reader.h>

#include <cstdint>

#include <crochet/base/error.hpp>
#include <crochet/debug/event/parsed_size.hpp>
#include <crochet/debug/event/stream_error.hpp>
#include <crochet/debug/server/byte_budget.hpp>
#include <crochet/debug/server/listener_limits.hpp>

namespace crochet::debug {

/// A parsed message, and the memory reserved for it.
template <class Message>
class ParsedMessage {
 public:
  /// `budget`: the memory of all messages that are being parsed. Throws DataLossError if the bytes are no such message,
  /// and ResourceExhaustedError if they, their memory or that of all messages exceeds its limit.
  ParsedMessage(grpc::ByteBuffer& buffer, const ListenerLimits& limits, ByteBudget& budget) : memory_(budget) {
    require_at_most(buffer.Length(), limits.message_bytes, "bytes in one message");
    reserve(buffer, limits);
    grpc::ProtoBufferReader reader(&buffer);
    if (!reader.status().ok() || !message.ParseFromZeroCopyStream(&reader)) {
      stream_is_wrong("a message is no " + Message::descriptor()->name());
    }
  }

 private:
  void reserve(grpc::ByteBuffer& buffer, const ListenerLimits& limits) {
    grpc::ProtoBufferReader reader(&buffer);
    std::uint64_t bytes = 0;
    try {
      if (!reader.status().ok()) stream_is_wrong("a message cannot be read");
      bytes = parsed_size(*Message::descriptor(), reader, buffer.Length(), limits.message_memory);
    } catch (const DataLossError&) {
      stream_is_wrong("a message is no " + Message::descriptor()->name());
    } catch (const ResourceExhaustedError&) {
      stream_is_over_limit("bytes of memory for one message", limits.message_memory);
    }
    if (!memory_.take(bytes)) {
      stream_is_over_limit("bytes of memory, with the messages of other streams", limits.messages_memory);
    }
  }

  BytesTaken memory_;  // declared before the message: released after it

 public:
  Message message;
};

}  // namespace crochet::debug
