// SPDX-License-Identifier: Apache-2.0
// The compiled half of safetensors_header.hpp.
#pragma once

#include <crochet/io/safetensors_header.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/base/hex.hpp>
#include <crochet/io/crc32c.hpp>
#include <crochet/io/safetensors_json.ipp>
#include <crochet/io/safetensors_metadata.hpp>
#include <crochet/io/safetensors_types.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io::detail {

/// Converts one tensor. Throws DataLossError unless its offsets give exactly the bytes that type and shape require.
CROCHET_INLINE SafetensorsTensor check_tensor(StatedTensor&& stated) {
  const auto wrong = [&](const std::string& why) { header_is_wrong("tensor \"" + stated.name + "\"" + why); };
  TensorEntry entry{.type = safetensors_type(stated.dtype)};
  if (entry.type == DataType::invalid) wrong(" has type " + stated.dtype);
  const std::optional<std::size_t> elements = element_count(stated.shape);
  const std::optional<std::size_t> bytes = elements ? byte_count(entry.type, *elements) : std::nullopt;
  if (!bytes) wrong(" has more elements than can be counted");
  const auto [begin, end] = stated.offsets;
  if (end < begin || end - begin != *bytes) {
    wrong(" needs " + std::to_string(*bytes) + " bytes, which its offsets do not give it");
  }
  stated.shape.shrink_to_fit();
  entry.name = std::move(stated.name);
  entry.shape = std::move(stated.shape);
  entry.elements = *elements;
  entry.byte_size = *bytes;
  return {entry, {begin, end - begin, std::nullopt}};
}

[[noreturn]] CROCHET_COLD inline void own_header_is_wrong(const std::string& how) {
  header_is_wrong("its header's checksum is " + how +
                  "; or another program has saved it with the metadata of crochet; let that program leave out the keys "
                  "that begin with \"crochet.\"");
}

/// Whether this library wrote the file. If so, checks the header's checksum.
CROCHET_INLINE bool check_own_header(std::string_view length_and_header, const SafetensorsMetadata& metadata) {
  const auto first = metadata.lower_bound(std::string(own_key));
  if (first == metadata.end() || !first->first.starts_with(own_key)) return false;
  const std::size_t at = 8 + own_beginning.size();
  if (!length_and_header.substr(8).starts_with(own_beginning) || length_and_header.size() < at + no_crc.size()) {
    own_header_is_wrong("not where it was written");
  }
  const std::uint32_t crc =
      crc32c(length_and_header.substr(at + no_crc.size()), crc32c(no_crc, crc32c(length_and_header.substr(0, at))));
  if (length_and_header.substr(at, no_crc.size()) != crochet::detail::hex(crc)) own_header_is_wrong("wrong");
  return true;
}

/// Sets type and shape of the tensors that the metadata list as strings.
CROCHET_INLINE void use_string_shapes(std::vector<SafetensorsTensor>& tensors, std::string_view text) {
  StringShapes strings;
  read_json_object(text, strings);
  const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
  std::sort(strings.shapes.begin(), strings.shapes.end(), before);
  for (auto& [entry, place] : tensors) {
    const auto named = std::pair(entry.name, std::vector<std::int64_t>{});
    const auto at = std::lower_bound(strings.shapes.begin(), strings.shapes.end(), named, before);
    if (at == strings.shapes.end() || at->first != entry.name) continue;
    entry.shape = at->second;
    const std::optional<std::size_t> elements = element_count(entry.shape);
    if (!elements || *elements > place.size) header_is_wrong("\"" + entry.name + "\" has too few bytes");
    entry.type = DataType::string;
    entry.elements = *elements;
    entry.byte_size = 0;
  }
}

/// Sets checksums and string types from the metadata. `tensors` is sorted by offset.
CROCHET_INLINE void use_own_metadata(std::vector<SafetensorsTensor>& tensors, SafetensorsMetadata& metadata) {
  const std::string& digits = metadata["crochet.tensor_crc32c"];
  if (digits.size() != 8 * tensors.size()) header_is_wrong("there are not as many checksums as tensors");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::uint32_t& crc = tensors[i].second.crc.emplace();
    const char* const end = digits.data() + 8 * i + 8;
    if (std::from_chars(end - 8, end, crc, 16).ptr != end) header_is_wrong("a checksum is not a number");
  }
  if (const auto strings = metadata.find("crochet.strings"); strings != metadata.end()) {
    use_string_shapes(tensors, strings->second);
  }
}

/// Sorts the tensors by offset. Throws DataLossError unless they fill the file after the header without gaps.
CROCHET_INLINE void check_places(std::vector<SafetensorsTensor>& tensors, std::uint64_t bytes) {
  std::sort(tensors.begin(), tensors.end(), [](const SafetensorsTensor& a, const SafetensorsTensor& b) {
    return std::tuple(a.second.begin, a.second.size, std::string_view{a.first.name}) <
           std::tuple(b.second.begin, b.second.size, std::string_view{b.first.name});
  });
  std::uint64_t end = 0;
  for (const auto& [entry, place] : tensors) {
    if (place.begin != end) {
      header_is_wrong("tensor \"" + entry.name + "\" does not begin where the one before it ends");
    }
    end += place.size;
  }
  if (end != bytes) {
    header_is_wrong("its tensors have " + std::to_string(end) + " bytes, and the file has room for " +
                    std::to_string(bytes));
  }
}

CROCHET_INLINE SafetensorsHeader read_safetensors_header(std::string_view begin, std::uint64_t file_size) {
  SafetensorsHeader header;
  const auto take = [&](StatedTensor&& tensor) { header.tensors.push_back(check_tensor(std::move(tensor))); };
  HeaderEvents events{take, header.metadata};
  read_json_object(begin.substr(8), events);
  check_places(header.tensors, file_size - begin.size());
  if (check_own_header(begin, header.metadata)) use_own_metadata(header.tensors, header.metadata);
  std::erase_if(header.metadata, [](const auto& item) { return item.first.starts_with(own_key); });
  return header;
}

}  // namespace crochet::io::detail
