// SPDX-License-Identifier: Apache-2.0
// ReceivedTensor: a whole tensor received on a debug stream, and the checks of its size.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <crochet/proto/event.pb.h>

#include <crochet/debug/event/stream_error.hpp>
#include <crochet/debug/server/stream_limits.hpp>
#include <crochet/debug/watch/watch_key.hpp>
#include <crochet/storage/data_type.hpp>

namespace crochet::debug {

/// The result of a debug operation. `event` has the format of a dump file: one value with the whole tensor as one
/// chunk.
struct ReceivedTensor {
  WatchKey key;
  std::string device;
  std::int64_t wall_time = 0;  ///< microseconds since 1970
  std::size_t chunks = 1;      ///< number of received chunks
  proto::Event event;

  [[nodiscard]] const proto::TensorProto& tensor() const { return event.summary().value(0).tensor(); }
};

namespace detail {

/// The number of elements; nothing if it overflows. Throws for an invalid shape.
inline std::optional<std::uint64_t> shape_elements(const proto::TensorShapeProto& shape, const StreamLimits& limits) {
  require_at_most(static_cast<std::uint64_t>(shape.dim_size()), limits.rank, "dimensions of a tensor");
  if (shape.unknown_rank()) stream_is_wrong("a tensor has no shape");
  std::uint64_t elements = 1;
  bool overflow = false, empty = false;
  for (const auto& dim : shape.dim()) {
    if (dim.size() < 0) stream_is_wrong("a tensor has a negative dimension");
    empty = empty || dim.size() == 0;
    overflow = __builtin_mul_overflow(elements, static_cast<std::uint64_t>(dim.size()), &elements) || overflow;
  }
  if (empty) return 0;
  return overflow ? std::nullopt : std::optional(elements);
}

/// The size in bytes that the type and shape of a numeric tensor require; nothing for other types.
inline std::optional<std::uint64_t> content_bytes(const proto::TensorProto& tensor, const StreamLimits& limits) {
  const auto elements = shape_elements(tensor.tensor_shape(), limits);
  const std::uint64_t size = io::size_of(static_cast<io::DataType>(tensor.dtype()));
  if (size == 0) return std::nullopt;
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  return elements && *elements <= most / size ? *elements * size : most;
}

/// Throws if content and shape disagree. A tensor without content is uninitialized or has no elements, with any shape.
inline void require_content_fits(const proto::TensorProto& tensor, const StreamLimits& limits) {
  const auto bytes = content_bytes(tensor, limits);
  const std::uint64_t given = tensor.tensor_content().size();
  require_at_most(given, limits.tensor_bytes, "bytes in one tensor");
  if (bytes && given != 0 && given != *bytes) {
    stream_is_wrong("a tensor of " + std::to_string(*bytes) + " bytes comes with " + std::to_string(given));
  }
  const auto elements = shape_elements(tensor.tensor_shape(), limits);
  const auto strings = static_cast<std::uint64_t>(tensor.string_val_size());
  if (strings != 0 && elements != strings) {
    stream_is_wrong("a tensor of strings comes with " + std::to_string(strings) + ", which its shape does not have");
  }
}

/// Throws for fields that readers of dumps refuse: numbers are in tensor_content, and strings in string_val.
inline void require_fields_of_type(const proto::TensorProto& tensor) {
  const bool strings = static_cast<io::DataType>(tensor.dtype()) == io::DataType::string;
  if (strings ? !tensor.tensor_content().empty() : tensor.string_val_size() != 0) {
    stream_is_wrong("a tensor has strings and another element type");
  }
  if (tensor.half_val_size() + tensor.float_val_size() + tensor.double_val_size() + tensor.int_val_size() +
          tensor.int64_val_size() + tensor.bool_val_size() + tensor.scomplex_val_size() + tensor.dcomplex_val_size() +
          tensor.uint32_val_size() + tensor.uint64_val_size() !=
      0) {
    stream_is_wrong("a tensor has its elements in another field than tensor_content");
  }
}

/// Whether both have the same type and shape.
inline bool same_header(const proto::TensorProto& a, const proto::TensorProto& b) {
  if (a.dtype() != b.dtype() || a.tensor_shape().dim_size() != b.tensor_shape().dim_size()) return false;
  for (int i = 0; i < a.tensor_shape().dim_size(); ++i) {
    if (a.tensor_shape().dim(i).size() != b.tensor_shape().dim(i).size()) return false;
  }
  return true;
}

}  // namespace detail
}  // namespace crochet::debug
