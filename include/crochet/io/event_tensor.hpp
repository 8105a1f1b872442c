// SPDX-License-Identifier: Apache-2.0
// Tensors in event files (TensorProto) and their meaning to TensorBoard's plug-ins.
#pragma once

#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>

#include <crochet/base/error.hpp>
#include <crochet/io/event_record.hpp>
#include <crochet/io/protobuf_wire.hpp>

namespace crochet::io::detail {

/// Decodes a TensorProto. Memory: at most 24 bytes for each byte of the message, reached by numbers of 8 bytes.
EventTensor event_tensor(std::string_view message);

/// Element i of a tensor of numbers.
template <class T>
double number_at(std::string_view bytes, std::size_t i) {
  T value{};
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return static_cast<double>(value);
}

/// The histogram of a tensor of k rows (left limit, right limit, count), as TensorFlow 2 writes them.
std::optional<EventHistogram> histogram_of(const EventTensor& tensor);

/// The images of a string tensor (width, height, image...), as TensorFlow 2 writes them.
std::optional<EventImage> image_of(EventTensor& tensor);

/// The content of a tensor according to the plug-in of its tag ("" if unknown).
EventContent content_of(EventTensor tensor, std::string_view plugin);

}  // namespace crochet::io::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/event_tensor.ipp>
#endif
