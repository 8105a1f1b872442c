// SPDX-License-Identifier: Apache-2.0
// A published tensor as an Event: whole for a file, in chunks for a server.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/debug/event/graph_event.hpp>
#include <crochet/debug/ops/tensor.hpp>
#include <crochet/io/messages.hpp>

namespace crochet::debug {

/// `<node>:<slot>:<op>`, in TensorFlow also called the debug node's name.
inline std::string watch_key(const DebugEvent& debug_event) {
  return std::string(debug_event.node) + ":" + std::to_string(debug_event.slot) + ":" + std::string(debug_event.op);
}

/// The plug-in data of a tensor's event. The keys are in camel case and in this order, and zeros are included:
/// TensorFlow's servicer closes the stream for any other form.
std::string debugger_json(std::string_view device, std::int32_t slot, std::size_t chunks, std::size_t chunk);

/// The number of messages of a tensor of so many bytes on a stream; 1 for 0 bytes.
constexpr std::size_t tensor_chunks(std::size_t bytes) { return bytes == 0 ? 1 : chunks_of(bytes); }

/// Chunk `chunk` of `chunks` of a firing. Each has the type, the whole shape, the names and the time. Numbers are sent
/// as `tensor_content`: with any other field, readers treat the tensor as uninitialized. Strings are sent as
/// `string_val` and are not split here: the event contains all of them.
proto::Event tensor_event(const DebugEvent& debug_event, std::size_t chunk = 0, std::size_t chunks = 1);

/// All messages of a firing, in order. Throws LogicError for a string that exceeds a message.
std::vector<proto::Event> tensor_events(const DebugEvent& debug_event);

}  // namespace crochet::debug

#ifdef CROCHET_HEADER_ONLY
#include <crochet/debug/event/tensor_event.ipp>
#endif
