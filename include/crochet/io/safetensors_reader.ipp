// SPDX-License-Identifier: Apache-2.0
// The compiled half of safetensors_reader.hpp.
#pragma once

#include <crochet/io/safetensors_reader.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/little_endian.hpp>
#include <crochet/io/bundle_strings.hpp>
#include <crochet/io/crc32c.hpp>
#include <crochet/io/safetensors_header.hpp>
#include <crochet/storage/data_type.hpp>
#include <crochet/storage/file_system.hpp>
#include <crochet/storage/input_file.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io {

CROCHET_INLINE SafetensorsReader::SafetensorsReader(InputFile file) : file_(std::move(file)) {
  detail::reading(file_.path(), [this] {
    try {
      const std::string begin = read_begin();
      data_ = begin.size();
      open(detail::read_safetensors_header(begin, file_.size()));
    } catch (const DataLossError& error) {
      if (std::string_view(error.what()).starts_with("crochet: ")) throw;  // of a file that is too short
      throw DataLossError("crochet: " + file_.path().string() + " is damaged: " + error.what());
    }
  });
}

CROCHET_INLINE const TensorEntry* SafetensorsReader::find(std::string_view name) const {
  const auto before = [](const TensorEntry& entry, std::string_view wanted) { return entry.name < wanted; };
  const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, before);
  return at != entries_.end() && at->name == name ? &*at : nullptr;
}

CROCHET_INLINE void SafetensorsReader::read(const TensorEntry& entry, std::span<std::byte> to) const {
  if (entry.type == DataType::string || to.size() != entry.byte_size) {
    throw LogicError("crochet: tensor \"" + entry.name + "\" of the checkpoint has " + std::to_string(entry.byte_size) +
                     " bytes of type " + std::string(name_of(entry.type)) + ", and not " + std::to_string(to.size()));
  }
  constexpr std::size_t piece = std::size_t{1} << 18;  // stays in the cache between reading and CRC
  const detail::SafetensorsPlace& place = place_of(entry);
  std::uint32_t crc = 0;
  for (std::size_t at = 0; at < to.size(); at += piece) {
    const auto part = to.subspan(at, std::min(piece, to.size() - at));
    file_.read_at(data_ + place.begin + at, part);
    if (place.crc) crc = crc32c(part, crc);
  }
  if (place.crc && *place.crc != crc) fail(entry.name);
}

CROCHET_INLINE std::vector<std::string> SafetensorsReader::read_strings(const TensorEntry& entry) const {
  if (entry.type != DataType::string) {
    throw LogicError("crochet: tensor \"" + entry.name + "\" of the checkpoint holds no strings");
  }
  return detail::reading(file_.path(), [&] {
    const detail::SafetensorsPlace& place = place_of(entry);
    std::string bytes(static_cast<std::size_t>(place.size), '\0');
    file_.read_at(data_ + place.begin, std::as_writable_bytes(std::span{bytes}));
    if (place.crc && *place.crc != crc32c(bytes)) fail(entry.name);
    std::optional<std::vector<std::string>> strings = detail::unpack_strings(bytes, entry.elements);
    if (!strings) fail(entry.name);
    return *std::move(strings);
  });
}

CROCHET_INLINE void SafetensorsReader::verify() const {
  std::vector<std::byte> buffer =
      detail::reading(file_.path(), [] { return std::vector<std::byte>(std::size_t{1} << 18); });
  for (const TensorEntry& entry : entries_) {
    if (entry.type == DataType::string) (void)read_strings(entry);
    const detail::SafetensorsPlace& place = place_of(entry);
    std::uint32_t crc = 0;
    for (std::uint64_t at = 0; at < place.size; at += buffer.size()) {
      const std::uint64_t rest = std::min<std::uint64_t>(buffer.size(), place.size - at);
      const auto part = std::span{buffer}.first(static_cast<std::size_t>(rest));
      file_.read_at(data_ + place.begin + at, part);
      crc = crc32c(part, crc);
    }
    if (place.crc && *place.crc != crc) fail(entry.name);
  }
}

CROCHET_INLINE std::string SafetensorsReader::read_begin() const {
  std::array<char, 8> size{};
  file_.read_at(0, std::as_writable_bytes(std::span{size}));
  const auto length = little_endian<std::uint64_t>(std::string_view{size.data(), size.size()});
  if (length > detail::largest_header || length > file_.size() - 8) {
    detail::header_is_wrong("its header would have " + std::to_string(length) + " bytes");
  }
  std::string begin(8 + static_cast<std::size_t>(length), '\0');
  file_.read_at(0, std::as_writable_bytes(std::span{begin}));
  return begin;
}

CROCHET_INLINE void SafetensorsReader::open(detail::SafetensorsHeader header) {
  std::vector<detail::SafetensorsTensor>& tensors = header.tensors;
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.first.name < b.first.name; });
  entries_.reserve(tensors.size());
  places_.reserve(tensors.size());
  for (auto& [entry, place] : tensors) {
    if (!entries_.empty() && entries_.back().name == entry.name) {
      detail::header_is_wrong("tensor \"" + entry.name + "\" is there twice");
    }
    entries_.push_back(std::move(entry));
    places_.push_back(place);
  }
  metadata_ = std::move(header.metadata);
}

CROCHET_INLINE const detail::SafetensorsPlace& SafetensorsReader::place_of(const TensorEntry& entry) const {
  return places_[static_cast<std::size_t>(&entry - entries_.data())];
}

CROCHET_COLD CROCHET_INLINE void SafetensorsReader::fail(const std::string& name) const {
  throw DataLossError("crochet: " + file_.path().string() + " is damaged: the bytes of tensor \"" + name +
                      "\" do not have the checksum that the header names");
}

}  // namespace crochet::io
