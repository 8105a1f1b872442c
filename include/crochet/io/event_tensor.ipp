// SPDX-License-Identifier: Apache-2.0
// The compiled half of event_tensor.hpp.
#pragma once

#include <crochet/io/event_tensor.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/io/event_record.hpp>
#include <crochet/io/protobuf_wire.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io::detail {

inline constexpr std::size_t max_event_dimensions = 254;

/// The sizes of a TensorShapeProto's dimensions.
CROCHET_INLINE std::vector<std::int64_t> event_shape(std::string_view message) {
  std::vector<std::int64_t> shape;
  for_each_field(message, [&](const WireField& field) {
    if (field.number != 2) return;
    if (shape.size() == max_event_dimensions) throw DataLossError("a tensor has too many dimensions");
    std::int64_t& size = shape.emplace_back(0);
    for_each_field(field.bytes, [&](const WireField& dim) {
      if (dim.number == 1) size = as_signed(dim);
    });
  });
  return shape;
}

/// Appends the lowest `size` bytes of a number.
CROCHET_INLINE void append_number(std::string& bytes, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) bytes += static_cast<char>(i < 8 ? (value >> (8 * i)) & 0xff : 0);
}

/// Appends the numbers of a typed field (float_val, int_val, ...), packed or not, as elements of `size` bytes.
CROCHET_INLINE void append_numbers(std::string& bytes, const WireField& field, std::size_t size) {
  if (field.type != WireType::bytes) return append_number(bytes, field.value, size);
  const bool fixed = field.number == 5 || field.number == 6 || field.number == 9 || field.number == 12;
  if (fixed) {
    bytes += field.bytes;
    return;
  }
  for (std::string_view rest = field.bytes; !rest.empty();) append_number(bytes, take_wire_varint(rest), size);
}

CROCHET_INLINE EventTensor event_tensor(std::string_view message) {
  EventTensor tensor;
  std::size_t strings = 0;
  for_each_field(message, [&](const WireField& field) {
    if (field.number == 1 && field.value <= 0x7fffffff) tensor.type = static_cast<DataType>(field.value);
    if (field.number == 2) tensor.shape = event_shape(field.bytes);
    strings += field.number == 8 ? 1 : 0;
  });
  if (!is_known(tensor.type)) throw DataLossError("a tensor has an element type that is not known");
  tensor.strings.reserve(strings);
  const bool complex = tensor.type == DataType::complex64 || tensor.type == DataType::complex128;
  const std::size_t size = size_of(tensor.type) / (complex ? 2 : 1);
  for_each_field(message, [&](const WireField& field) {
    if (field.number == 4) tensor.bytes = field.bytes;
    if (field.number == 8) tensor.strings.emplace_back(field.bytes);
    const bool typed =
        (field.number >= 5 && field.number <= 13 && field.number != 8) || field.number == 16 || field.number == 17;
    if (typed) append_numbers(tensor.bytes, field, size);
  });
  return tensor;
}

CROCHET_INLINE std::optional<double> scalar_of(const EventTensor& tensor) {
  if (element_count(tensor.shape) != 1 || tensor.bytes.size() != size_of(tensor.type)) return std::nullopt;
  switch (tensor.type) {
    case DataType::float32:
      return number_at<float>(tensor.bytes, 0);
    case DataType::float64:
      return number_at<double>(tensor.bytes, 0);
    case DataType::int32:
      return number_at<std::int32_t>(tensor.bytes, 0);
    case DataType::int64:
      return number_at<std::int64_t>(tensor.bytes, 0);
    default:
      return std::nullopt;
  }
}

CROCHET_INLINE std::optional<EventHistogram> histogram_of(const EventTensor& tensor) {
  constexpr std::size_t row = 3 * sizeof(double);
  if (tensor.type != DataType::float64 || tensor.shape.size() != 2 || tensor.shape[1] != 3) return std::nullopt;
  const std::size_t rows = tensor.bytes.size() / row;
  if (tensor.shape[0] < 0 || static_cast<std::uint64_t>(tensor.shape[0]) != rows || tensor.bytes.size() % row != 0) {
    return std::nullopt;
  }
  EventHistogram histogram;
  for (std::size_t i = 0; i < rows; ++i) {
    if (i == 0) histogram.min = number_at<double>(tensor.bytes, 0);
    histogram.max = number_at<double>(tensor.bytes, 3 * i + 1);
    histogram.bucket_limits.push_back(histogram.max);
    histogram.bucket_counts.push_back(number_at<double>(tensor.bytes, 3 * i + 2));
    histogram.count += histogram.bucket_counts.back();
  }
  return histogram;
}

CROCHET_INLINE std::optional<EventImage> image_of(EventTensor& tensor) {
  const auto decimal = [](const std::string& text) {
    std::int64_t value = -1;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc{} && end == text.data() + text.size() ? value : -1;
  };
  if (tensor.strings.size() < 2) return std::nullopt;
  EventImage image{.height = decimal(tensor.strings[1]), .width = decimal(tensor.strings[0])};
  if (image.height < 0 || image.width < 0) return std::nullopt;
  tensor.strings.erase(tensor.strings.begin(), tensor.strings.begin() + 2);
  image.encoded = std::move(tensor.strings);
  return image;
}

CROCHET_INLINE EventContent content_of(EventTensor tensor, std::string_view plugin) {
  const bool anything = plugin.empty();
  if (plugin == "images" && tensor.type == DataType::string) {
    if (auto image = image_of(tensor)) return *std::move(image);
  }
  if ((anything || plugin == "text") && tensor.type == DataType::string) return EventText{std::move(tensor.strings)};
  if (plugin == "histograms") {
    if (auto histogram = histogram_of(tensor)) return *std::move(histogram);
  }
  if (anything || plugin == "scalars") {
    if (const auto scalar = scalar_of(tensor)) return EventScalar{*scalar};
  }
  return tensor;
}

}  // namespace crochet::io::detail
