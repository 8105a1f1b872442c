// SPDX-License-Identifier: Apache-2.0
// FramedTensor: the bytes of a tensor's event before and after the elements, so that the elements are written from
// memory to the file without a copy.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstddef>
#include <span>
#include <string>

#include <crochet/debug/ops/tensor.hpp>

namespace crochet::debug {

/// `head`, `content` and `tail` together are `tensor_event(firing).SerializeAsString()`. `content` views the firing's
/// memory.
struct FramedTensor {
  std::string head;
  std::span<const std::byte> content;
  std::string tail;
};

/// Frames a firing for one file; strings are copied into `head`. The fields are in the order of their numbers, as
/// protobuf writes them: the tensor's content is its last field here, and only the plug-in data follow it.
FramedTensor framed(const DebugEvent& debug_event);

}  // namespace crochet::debug

#ifdef CROCHET_HEADER_ONLY
#include <crochet/debug/event/framed_tensor.ipp>
#endif
