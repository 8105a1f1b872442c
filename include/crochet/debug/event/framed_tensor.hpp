// SPDX-License-Identifier: Apache-2.0
// FramedTensor: the bytes of a tensor's event around the tensor's own, so that these go from memory to the file without
// a copy.
#pragma once

#include <crochet/proto/event.pb.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <crochet/debug/event/tensor_event.hpp>

namespace crochet::debug {

/// `head`, `content` and `tail` are `tensor_event(firing).SerializeAsString()`. `content` is the firing's own memory.
struct FramedTensor {
  std::string head;
  std::span<const std::byte> content;
  std::string tail;
};

namespace detail {

/// Adds the key of a field of bytes, and their number: what stands before them on the wire.
inline void add_length(std::string& to, std::uint32_t field, std::size_t length) {
  to += static_cast<char>(field << 3 | 2U);  // of the fields here none has a number above 15
  for (; length > 127; length >>= 7) to += static_cast<char>((length & 127U) | 128U);
  to += static_cast<char>(length);
}
/// `inner` behind the length of what it begins.
inline std::string in_field(std::uint32_t field, const std::string& inner, std::size_t more) {
  std::string outer;
  add_length(outer, field, inner.size() + more);
  return outer + inner;
}

}  // namespace detail

/// Frames a firing for one file; strings are copied into `head`. Fields are in the order of their numbers, as protobuf
/// writes them: the tensor's content is the last of its fields here, and only the plug-in data come behind it.
inline FramedTensor framed(const DebugEvent& debug_event) {
  if (debug_event.tensor.dtype == io::DataType::string) return {tensor_event(debug_event).SerializeAsString(), {}, {}};
  DebugEvent without = debug_event;
  without.tensor.bytes = {};
  proto::Event event = tensor_event(without);
  proto::Summary::Value& value = *event.mutable_summary()->mutable_value(0);
  proto::Summary::Value metadata;
  *metadata.mutable_metadata() = std::move(*value.mutable_metadata());
  value.clear_metadata();
  FramedTensor frame{{}, debug_event.tensor.bytes, metadata.SerializeAsString()};
  std::string tensor = value.tensor().SerializeAsString();
  value.clear_tensor();
  const std::string names = value.SerializeAsString();
  event.clear_summary();

  const std::size_t content = frame.content.size(), tail = frame.tail.size();
  if (content > 0) detail::add_length(tensor, 4, content);
  const std::string in_value = names + detail::in_field(8, tensor, content);
  const std::string in_summary = detail::in_field(1, in_value, content + tail);
  frame.head = event.SerializeAsString() + detail::in_field(5, in_summary, content + tail);
  return frame;
}

}  // namespace crochet::debug
