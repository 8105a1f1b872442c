// SPDX-License-Identifier: Apache-2.0
// Reads safetensors files, this library's and anybody's.
#pragma once

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

/// Reads `<prefix>.safetensors`, this library's and anybody's; see CheckpointReader. It is stricter than the reference:
/// no name twice, nothing but spaces after the header, a header of at most 100,000,000 bytes. A file of this library
/// has checksums, and all of it is compared with them; in others only the header can be found wrong. Types that
/// TensorFlow does not have (F4, F6, F8_E8M0) are refused.
class SafetensorsReader {
 public:
  explicit SafetensorsReader(const std::filesystem::path& prefix, FileSystem& files = local_files())
      : SafetensorsReader(InputFile{prefix.string() + ".safetensors", files}) {}

  explicit SafetensorsReader(InputFile file) : file_(std::move(file)) {
    detail::reading(file_.path(), [this] {
      try {
        const std::string begin = read_begin();
        data_ = begin.size();
        open(detail::read_safetensors_header(begin, file_.size()));
      } catch (const DataLossError& error) {
        throw DataLossError("crochet: " + file_.path().string() + " is damaged: " + error.what());
      }
    });
  }

  /// The texts under `__metadata__`, without those of this library's own.
  const SafetensorsMetadata& metadata() const { return metadata_; }

  std::span<const TensorEntry> tensors() const { return entries_; }

  const TensorEntry* find(std::string_view name) const {
    const auto before = [](const TensorEntry& entry, std::string_view wanted) { return entry.name < wanted; };
    const auto at = std::lower_bound(entries_.begin(), entries_.end(), name, before);
    return at != entries_.end() && at->name == name ? &*at : nullptr;
  }

  void read(const TensorEntry& entry, std::span<std::byte> to) const {
    if (entry.type == DataType::string || to.size() != entry.byte_size) {
      throw LogicError("crochet: tensor \"" + entry.name + "\" of the checkpoint has " +
                       std::to_string(entry.byte_size) + " bytes of type " + std::string(name_of(entry.type)) +
                       ", and not " + std::to_string(to.size()));
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

  std::vector<std::string> read_strings(const TensorEntry& entry) const {
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

  void verify() const {
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

 private:
  /// The length and the header, of which no more is read than the file has.
  std::string read_begin() const {
    std::array<char, 8> size{};
    file_.read_at(0, std::as_writable_bytes(std::span{size}));
    const auto length = detail::little_endian<std::uint64_t>(std::string_view{size.data(), size.size()});
    if (length > detail::largest_header || length > file_.size() - 8) {
      detail::header_is_wrong("its header would have " + std::to_string(length) + " bytes");
    }
    std::string begin(8 + static_cast<std::size_t>(length), '\0');
    file_.read_at(0, std::as_writable_bytes(std::span{begin}));
    return begin;
  }
  void open(detail::SafetensorsHeader header) {
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
  const detail::SafetensorsPlace& place_of(const TensorEntry& entry) const {
    return places_[static_cast<std::size_t>(&entry - entries_.data())];
  }
  [[noreturn]] CROCHET_COLD void fail(const std::string& name) const {
    throw DataLossError("crochet: " + file_.path().string() + " is damaged: the bytes of tensor \"" + name +
                        "\" do not have the checksum that the header names");
  }

  InputFile file_;
  std::uint64_t data_ = 0;  // where the header ends
  std::vector<TensorEntry> entries_{};
  std::vector<detail::SafetensorsPlace> places_{};
  SafetensorsMetadata metadata_{};
};

}  // namespace crochet::io
