// SPDX-License-Identifier: Apache-2.0
// The compiled half of framed_tensor.hpp.
#pragma once

#include <crochet/debug/event/framed_tensor.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <crochet/proto/event.pb.h>
#include <crochet/base/config.hpp>
#include <crochet/debug/event/tensor_event.hpp>
#include <crochet/debug/ops/tensor.hpp>

namespace crochet::debug {

namespace detail {

/// Appends the tag and the length of a length-delimited field.
CROCHET_INLINE void add_length(std::string& to, std::uint32_t field, std::size_t length) {
  to += static_cast<char>(field << 3 | 2U);  // all fields here have numbers <= 15: the tag is one byte
  for (; length > 127; length >>= 7) to += static_cast<char>((length & 127U) | 128U);
  to += static_cast<char>(length);
}
/// `inner` after the field's tag and length; the length includes `more` bytes that follow.
CROCHET_INLINE std::string in_field(std::uint32_t field, const std::string& inner, std::size_t more) {
  std::string outer;
  add_length(outer, field, inner.size() + more);
  return outer + inner;
}

}  // namespace detail

CROCHET_INLINE FramedTensor framed(const DebugEvent& debug_event) {
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
