// SPDX-License-Identifier: Apache-2.0
// TensorEventLayout: the header of a tensor's event, and the position of its elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <crochet/storage/data_type.hpp>

namespace crochet::debug {

/// Whether the event contains the tensor's elements.
enum class TensorState : std::uint8_t {
  values,         ///< all elements; also for a tensor of 0 elements
  uninitialized,  ///< none: the tensor had no value when it was watched
  opaque          ///< resources and variants, which are valid only in the process that created them
};

/// An event of one tensor in the debugger's files: a `tensorflow.Event` without framing, with a summary of one value.
struct TensorEventLayout {
  double wall_time = 0;       // microseconds since 1970, UTC
  std::string tag{};          // the node
  std::string watch_key{};    // <node>:<slot>:<debug op>
  std::string plugin_name{};  // "debugger"
  std::string plugin_data{};  // JSON

  io::DataType dtype = io::DataType::invalid;
  std::vector<std::int64_t> shape{};
  std::size_t elements = 1;   // the product of the shape
  std::size_t byte_size = 0;  // size of the elements; of all strings together
  TensorState state = TensorState::values;

  std::uint64_t content_at = 0;  // offset of the elements' bytes in the event
  std::uint64_t tensor_at = 0;   // offset of the TensorProto, which contains the strings
  std::uint64_t tensor_size = 0;
};

}  // namespace crochet::debug
