// SPDX-License-Identifier: Apache-2.0
// FramedTensor: the bytes of a tensor's event before and after the elements, so that the elements are written from
// memory to the file without a copy.
#pragma once

#include <crochet/proto/event.pb.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <crochet/debug/event/tensor_event.hpp>

namespace crochet::debug {

/// `head`, `content` and `tail` together are `tensor_event(firing).SerializeAsString()`. `content` views the firing's
/// memory.
struct FramedTensor {
  std::string head;
  std::span<const std::byte> content;
  std::string tail;
};

namespace detail {

/// Appends the tag and the length of a length-delimited field.
inline void add_length(std::string& to, std::uint32_t field, std::size_t length) {
  to += static_cast<char>(field << 3 | 2U);  // all fields here have numbers <= 15: the tag is one byte
  for (; length > 127; length >>= 7) to += static_cast<char>((length & 127U) | 128U);
  to += static_cast<char>(length);
}
/// `inner` after the field's tag and length; the length includes `more` bytes that follow.
inline std::string in_field(std::uint32_t field, const std::string& inner, std::size_t more) {
  std::string outer;
  add_length(outer, field, inner.size() + more);
  return outer + inner;
}

}  // namespace detail

/// Frames a firing for one file; strings are copied into `head`. The fields are in the order of their numbers, as
/// protobuf writes them: the tensor's content is its last field here, and only the plug-in data follow it.
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
