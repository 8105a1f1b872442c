// SPDX-License-Identifier: Apache-2.0
// The compiled half of safetensors_layout.hpp.
#pragma once

#include <crochet/io/safetensors_layout.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/base/hex.hpp>
#include <crochet/io/bundle_strings.hpp>
#include <crochet/io/crc32c.hpp>
#include <crochet/io/safetensors_header.hpp>
#include <crochet/io/safetensors_json.ipp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io::detail {

/// The text as a JSON string.
CROCHET_INLINE std::string json_text(std::string_view text) {
  try {
    return Json(text).dump();
  } catch (const Json::exception& error) {
    throw LogicError(std::string("crochet: a name or a text for a safetensors file is not UTF-8: ") + error.what());
  }
}

CROCHET_INLINE std::string list_of(std::span<const std::int64_t> sizes) {
  std::string text(1, '[');
  for (const std::int64_t size : sizes) {
    if (text.size() > 1) text += ',';
    text += std::to_string(size);
  }
  return text += ']';
}

/// `,"key":"text"` for each entry of the program's metadata. Throws LogicError for keys that this library reserves.
CROCHET_INLINE std::string metadata_text(const SafetensorsMetadata& metadata) {
  std::string text;
  for (const auto& [key, value] : metadata) {
    if (key.starts_with(own_key)) {
      throw LogicError("crochet: metadata \"" + key + "\": keys that begin with \"crochet.\" are the library's own");
    }
    text.append(",").append(json_text(key)).append(":").append(json_text(value));
  }
  return text;
}

/// The JSON text for `items`, which are in the order of the file.
CROCHET_INLINE std::string header_text(std::span<const SafetensorsItem> items, const SafetensorsMetadata& metadata) {
  std::string checksums, strings, tensors;
  std::uint64_t offset = 0;
  for (const SafetensorsItem& item : items) {
    checksums += crochet::detail::hex(crc32c(item.bytes));
    const std::string name = json_text(item.record->name);
    std::string shape = list_of(item.record->shape);
    if (item.record->type == DataType::string) {
      strings.append(strings.empty() ? "" : ",").append(name).append(":").append(shape);
      shape = list_of(std::array{static_cast<std::int64_t>(item.bytes.size())});
    }
    const auto begin = static_cast<std::int64_t>(offset);
    offset += item.bytes.size();
    const std::array offsets{begin, static_cast<std::int64_t>(offset)};
    tensors.append(",").append(name).append(R"(:{"dtype":")").append(safetensors_types[item.rank].name);
    tensors.append(R"(","shape":)").append(shape).append(R"(,"data_offsets":)").append(list_of(offsets)).append("}");
  }
  std::string text{own_beginning};
  text.append(no_crc).append(R"(","crochet.tensor_crc32c":")").append(checksums).append("\"");
  if (!strings.empty()) text.append(R"(,"crochet.strings":)").append(json_text("{" + strings + "}"));
  return text.append(metadata_text(metadata)).append("}").append(tensors).append("}");
}

CROCHET_INLINE std::string write_safetensors_header(std::span<const SafetensorsItem> items,
                                                    const SafetensorsMetadata& metadata) {
  std::string text = header_text(items, metadata);
  text.append((8 - text.size() % 8) % 8, ' ');
  if (text.size() > largest_header)
    throw LogicError(
        "crochet: tensors and metadata are too many for a safetensors header, which has 100,000,000 bytes at most");
  std::string begin = little_endian_bytes(text.size(), 8) + text;
  begin.replace(8 + own_beginning.size(), no_crc.size(), crochet::detail::hex(crc32c(begin)));
  return begin;
}

CROCHET_INLINE std::vector<SafetensorsItem> in_file_order(std::span<const TensorRecord> tensors,
                                                          std::vector<std::string>& packed) {
  packed.reserve(tensors.size());
  std::vector<SafetensorsItem> items;
  for (const TensorRecord& tensor : tensors) {
    const bool strings = tensor.type == DataType::string;
    const std::optional<std::size_t> rank = safetensors_rank(strings ? DataType::uint8 : tensor.type);
    if (!rank || tensor.name == "__metadata__") {
      throw LogicError("crochet: safetensors cannot hold tensor \"" + std::string(tensor.name) + "\" of type " +
                       std::string(name_of(tensor.type)) + "; TensorBundle can");
    }
    if (strings) packed.push_back(pack_strings(tensor.strings).first);
    items.push_back({&tensor, *rank, strings ? std::as_bytes(std::span{packed.back()}) : tensor.bytes});
  }
  std::sort(items.begin(), items.end(), [](const SafetensorsItem& a, const SafetensorsItem& b) {
    return std::tuple(b.rank, a.record->name) < std::tuple(a.rank, b.record->name);
  });
  return items;
}

}  // namespace crochet::io::detail
