// SPDX-License-Identifier: Apache-2.0
// Reads the header of a tensor's event and the position of its elements, without reading the elements.
#pragma once

#include <google/protobuf/io/zero_copy_stream.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <crochet/base/error.hpp>
#include <crochet/debug/event/event_limits.hpp>
#include <crochet/debug/event/message_walk.hpp>
#include <crochet/debug/event/tensor_event_layout.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::debug {

namespace detail {

/// Reads the fields of a TensorProto by number (tensor.proto).
class TensorWalk {
 public:
  explicit TensorWalk(TensorEventLayout& to) : to_(to) {}

  void read(MessageWalk& in) {
    to_.tensor_size = in.length();
    to_.tensor_at = in.position();
    in.within(to_.tensor_size, [&](std::uint32_t tag) {
      switch (tag) {
        case varint_field(1):
          to_.dtype = static_cast<io::DataType>(static_cast<std::int32_t>(in.number()));
          return true;
        case bytes_field(2):
          in.nested([&](std::uint32_t part) { return shape(in, part); });
          return true;
        case bytes_field(4):
          content(in);
          return true;
        case bytes_field(8):
          string(in);
          return true;
        default:
          other_values(tag >> 3);
          return false;
      }
    });
    finish();
  }

 private:
  bool shape(MessageWalk& in, std::uint32_t tag) {
    if (tag == varint_field(3) && in.number() != 0) throw DataLossError("its shape has no known rank");
    if (tag == varint_field(3)) return true;
    if (tag != bytes_field(2)) return false;
    if (to_.shape.size() == max_dimensions) throw DataLossError("its shape has too many dimensions");
    std::int64_t& size = to_.shape.emplace_back(0);
    in.nested([&](std::uint32_t part) {
      if (part != varint_field(1)) return false;
      size = static_cast<std::int64_t>(in.number());
      return true;
    });
    return true;
  }
  void content(MessageWalk& in) {
    if (content_) throw DataLossError("it has its elements twice");
    const std::uint64_t size = in.length();
    to_.content_at = in.position();
    content_ = size;
    in.skip(size);
  }
  void string(MessageWalk& in) {
    const std::uint64_t size = in.length();
    ++strings_;
    string_bytes_ += size;
    in.skip(size);
  }
  void other_values(std::uint32_t field) {
    if (field == 14 || field == 15) return;  // resources and variants
    typed_ = typed_ || (field >= 5 && field <= 18);
  }

  void finish() {
    if (!io::is_known(to_.dtype)) {
      throw DataLossError("its tensor has an element type that is not known, number " +
                          std::to_string(static_cast<std::int32_t>(to_.dtype)));
    }
    const std::optional<std::size_t> elements = io::element_count(to_.shape);
    const std::optional<std::size_t> bytes = elements ? io::byte_count(to_.dtype, *elements) : std::nullopt;
    if (!bytes) throw DataLossError("its shape has a negative dimension, or too many elements to count");
    to_.elements = *elements;
    if (typed_) throw DataLossError("its elements are in typed fields, and a dump has them in tensor_content");
    if (to_.dtype == io::DataType::string) {
      finish_strings();
    } else if (io::size_of(to_.dtype) == 0) {
      to_.state = TensorState::opaque;
    } else {
      finish_numbers(*bytes);
    }
  }
  void finish_numbers(std::size_t bytes) {
    if (strings_ != 0) throw DataLossError("it has strings, but is of type " + std::string(io::name_of(to_.dtype)));
    const std::uint64_t has = content_.value_or(0);
    if (has != bytes && has != 0) {
      throw DataLossError("its shape asks for " + std::to_string(bytes) + " bytes, but it has " + std::to_string(has));
    }
    to_.state = has == bytes ? TensorState::values : TensorState::uninitialized;
    to_.byte_size = static_cast<std::size_t>(has);
  }
  void finish_strings() {
    if (content_.value_or(0) != 0) throw DataLossError("its strings are packed, and a dump has them one by one");
    if (strings_ != to_.elements && strings_ != 0) {
      throw DataLossError("its shape asks for " + std::to_string(to_.elements) + " strings, but it has " +
                          std::to_string(strings_));
    }
    to_.state = strings_ == to_.elements ? TensorState::values : TensorState::uninitialized;
    to_.byte_size = static_cast<std::size_t>(string_bytes_);
  }

  TensorEventLayout& to_;
  std::optional<std::uint64_t> content_{};
  std::uint64_t strings_ = 0, string_bytes_ = 0;
  bool typed_ = false;
};

inline void read_plugin(MessageWalk& in, TensorEventLayout& to) {
  in.nested([&](std::uint32_t tag) {  // SummaryMetadata
    if (tag != bytes_field(1)) return false;
    in.nested([&](std::uint32_t part) {
      if (part != bytes_field(1) && part != bytes_field(2)) return false;
      in.text(part == bytes_field(1) ? to.plugin_name : to.plugin_data);
      return true;
    });
    return true;
  });
}

inline bool read_summary_value(MessageWalk& in, TensorEventLayout& to, bool& tensor) {
  in.nested([&](std::uint32_t tag) {
    switch (tag) {
      case bytes_field(1):
        in.text(to.tag);
        return true;
      case bytes_field(7):
        in.text(to.watch_key);
        return true;
      case bytes_field(8):
        if (tensor) throw DataLossError("it has two tensors");
        tensor = true;
        TensorWalk{to}.read(in);
        return true;
      case bytes_field(9):
        read_plugin(in, to);
        return true;
      default:
        return false;
    }
  });
  return true;
}

}  // namespace detail

/// Reads an event of `size` bytes and skips the elements.
/// - Throws DataLossError with the cause, without the file's name, unless the event has exactly one tensor whose
///   element type, shape and size in bytes agree.
/// - Memory: the names, the plug-in's data and the shape, all limited.
/// - Cost: independent of the tensor's size if `from` can skip.
inline TensorEventLayout read_tensor_event(google::protobuf::io::ZeroCopyInputStream& from, std::uint64_t size) {
  TensorEventLayout layout;
  detail::MessageWalk in{from, size};
  int values = 0;
  bool tensor = false;
  in.fields([&](std::uint32_t tag) {
    if (tag == (detail::varint_field(1) | 1)) {
      layout.wall_time = in.real();
      return true;
    }
    if (tag != detail::bytes_field(5)) return false;
    in.nested([&](std::uint32_t part) {  // Summary
      if (part != detail::bytes_field(1)) return false;
      if (++values > 1) throw DataLossError("it has several values");
      return detail::read_summary_value(in, layout, tensor);
    });
    return true;
  });
  if (!tensor) throw DataLossError("it holds no tensor");
  return layout;
}

/// Calls `each(const std::string&)` for each string of a tensor whose TensorProto, of `size` bytes, begins at the
/// current position. Memory: one string at a time.
template <class F>
void read_strings(google::protobuf::io::ZeroCopyInputStream& from, std::uint64_t size, F each) {
  detail::MessageWalk in{from, size};
  std::string text;
  in.fields([&](std::uint32_t tag) {
    if (tag != detail::bytes_field(8)) return false;
    in.bytes(text, in.length());
    each(text);
    return true;
  });
}

}  // namespace crochet::debug
