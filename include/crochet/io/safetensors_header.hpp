// SPDX-License-Identifier: Apache-2.0
// The header of a safetensors file: a length, a JSON object that says what lies where, and spaces.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <crochet/config.hpp>
#include <crochet/error.hpp>
#include <crochet/io/bundle_strings.hpp>
#include <crochet/io/crc32c.hpp>
#include <crochet/io/data_type.hpp>
#include <crochet/io/tensor_record.hpp>

namespace crochet::io::detail {

using Json = nlohmann::json;

struct SafetensorsType {
  std::string_view name;
  DataType type;
};
/// Its names of types, in its order; those of less than a byte, and F8_E8M0, are none of ours.
inline constexpr std::array<SafetensorsType, 18> safetensors_types{{
    {"BOOL", DataType::boolean},
    {"U8", DataType::uint8},
    {"I8", DataType::int8},
    {"F8_E5M2", DataType::float8_e5m2},
    {"F8_E4M3", DataType::float8_e4m3fn},
    {"F8_E4M3FNUZ", DataType::float8_e4m3fnuz},
    {"F8_E5M2FNUZ", DataType::float8_e5m2fnuz},
    {"I16", DataType::int16},
    {"U16", DataType::uint16},
    {"F16", DataType::float16},
    {"BF16", DataType::bfloat16},
    {"I32", DataType::int32},
    {"U32", DataType::uint32},
    {"F32", DataType::float32},
    {"C64", DataType::complex64},
    {"F64", DataType::float64},
    {"I64", DataType::int64},
    {"U64", DataType::uint64},
}};

/// The place of a type in that order; nothing if safetensors has no such type.
inline std::optional<std::size_t> safetensors_rank(DataType type) {
  for (std::size_t i = 0; i < safetensors_types.size(); ++i) {
    if (safetensors_types[i].type == type) return i;
  }
  return std::nullopt;
}
inline DataType type_of_name(std::string_view name) {
  for (const auto& known : safetensors_types) {
    if (known.name == name) return known.type;
  }
  return DataType::invalid;
}

inline constexpr std::uint64_t largest_header = 100'000'000;
/// How a header of ours begins. The eight digits after it are the CRC-32C of length and header, taken with zeros there.
inline constexpr std::string_view own_beginning = R"({"__metadata__":{"crochet.header_crc32c":")";
inline constexpr std::string_view no_crc = "00000000";

inline std::string hex(std::uint32_t value) {
  std::string digits;
  for (int shift = 28; shift >= 0; shift -= 4) digits += "0123456789abcdef"[(value >> shift) & 15];
  return digits;
}

/// Where a tensor's bytes are, counted from the header's end, and their CRC if the file is one of ours.
struct SafetensorsPlace {
  std::uint64_t begin = 0, size = 0;
  std::optional<std::uint32_t> crc{};
};
using SafetensorsTensor = std::pair<TensorEntry, SafetensorsPlace>;

[[noreturn]] CROCHET_COLD inline void header_is_wrong(const std::string& why) { throw DataLossError(why); }

inline std::uint64_t as_size(const Json& value) {
  if (!value.is_number_unsigned()) header_is_wrong("a size or an offset is not a number that could be one");
  return value.get<std::uint64_t>();
}

inline const Json& member(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (!object.is_object() || found == object.end()) header_is_wrong(std::string("a tensor has no \"") + name + "\"");
  return *found;
}

inline std::vector<std::int64_t> as_shape(const Json& value) {
  if (!value.is_array()) header_is_wrong("a shape is not a list");
  std::vector<std::int64_t> shape;
  for (const Json& size : value) shape.push_back(static_cast<std::int64_t>(as_size(size)));  // beyond: negative
  return shape;
}

/// One tensor, if its type and shape ask for as many bytes as its offsets give it.
inline SafetensorsTensor check_tensor(const std::string& name, const Json& object) {
  TensorEntry entry{.name = name, .shape = as_shape(member(object, "shape"))};
  const Json& type = member(object, "dtype");
  if (!type.is_string()) header_is_wrong("tensor \"" + name + "\" has a type that is no text");
  entry.type = type_of_name(type.get<std::string>());
  if (entry.type == DataType::invalid) header_is_wrong("tensor \"" + name + "\" has type " + type.get<std::string>());
  const std::optional<std::size_t> elements = element_count(entry.shape);
  const std::optional<std::size_t> bytes = elements ? byte_count(entry.type, *elements) : std::nullopt;
  if (!bytes) header_is_wrong("tensor \"" + name + "\" has more elements than can be counted");
  entry.elements = *elements;
  entry.byte_size = *bytes;
  const Json& offsets = member(object, "data_offsets");
  if (!offsets.is_array() || offsets.size() != 2) header_is_wrong("tensor \"" + name + "\" has no two offsets");
  const std::uint64_t begin = as_size(offsets[0]), end = as_size(offsets[1]);
  if (end < begin || end - begin != *bytes) {
    header_is_wrong("tensor \"" + name + "\" needs " + std::to_string(*bytes) +
                    " bytes, which its offsets do not give it");
  }
  return {std::move(entry), {begin, end - begin, std::nullopt}};
}

/// The JSON object, in which no object names a member twice.
inline Json parse_header(std::string_view text) {
  if (!text.starts_with('{')) header_is_wrong("the header does not begin with {");
  text.remove_suffix(text.size() - 1 - text.find_last_not_of(' '));
  if (!text.ends_with('}')) header_is_wrong("the header does not end with } and spaces");
  std::vector<std::set<std::string>> names;  // of the objects that are open
  const auto watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) names.emplace_back();
    if (event == Json::parse_event_t::object_end) names.pop_back();
    if (event == Json::parse_event_t::key && !names.back().insert(value.get<std::string>()).second) {
      header_is_wrong("\"" + value.get<std::string>() + "\" is there twice");
    }
    return true;
  };
  try {
    return Json::parse(text, watch);
  } catch (const Json::exception& error) {
    header_is_wrong(std::string("the header is not JSON: ") + error.what());
  }
}

/// The metadata: texts under names.
inline std::map<std::string, std::string> take_metadata(const Json& header) {
  std::map<std::string, std::string> metadata;
  const auto found = header.find("__metadata__");
  if (found == header.end()) return metadata;
  if (!found->is_object()) header_is_wrong("\"__metadata__\" is not an object");
  for (const auto& [key, value] : found->items()) {
    if (!value.is_string()) header_is_wrong("metadata \"" + key + "\" is not a text");
    metadata[key] = value.get<std::string>();
  }
  return metadata;
}

/// Is this a file of ours? Then its header is as it was written.
inline bool check_own_header(std::string_view length_and_header, const std::map<std::string, std::string>& metadata) {
  const auto ours = [](const auto& item) { return item.first.starts_with("crochet."); };
  if (std::none_of(metadata.begin(), metadata.end(), ours)) return false;
  const std::string_view header = length_and_header.substr(8);
  if (!header.starts_with(own_beginning)) header_is_wrong("its checksum is not where it was written");
  std::string zeroed(length_and_header);
  const std::size_t at = 8 + own_beginning.size();
  zeroed.replace(at, no_crc.size(), no_crc);
  if (length_and_header.substr(at, no_crc.size()) != hex(crc32c(zeroed)))
    header_is_wrong("its header's checksum is wrong");
  return true;
}

/// Gives the tensors, in the order of their offsets, the checksums and the strings that the metadata name.
inline void use_own_metadata(std::vector<SafetensorsTensor>& tensors, std::map<std::string, std::string>& metadata) {
  const std::string& digits = metadata["crochet.tensor_crc32c"];
  if (digits.size() != 8 * tensors.size()) header_is_wrong("there are not as many checksums as tensors");
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::uint32_t& crc = tensors[i].second.crc.emplace();
    const char* const end = digits.data() + 8 * i + 8;
    if (std::from_chars(end - 8, end, crc, 16).ptr != end) header_is_wrong("a checksum is not a number");
  }
  const std::string& texts = metadata["crochet.strings"];
  const Json strings = texts.empty() ? Json::object() : parse_header(texts);
  for (auto& [entry, place] : tensors) {
    const auto shape = strings.find(entry.name);
    if (shape == strings.end()) continue;
    entry.shape = as_shape(*shape);
    const std::optional<std::size_t> elements = element_count(entry.shape);
    if (!elements || *elements > place.size) header_is_wrong("\"" + entry.name + "\" has too few bytes");
    entry = {entry.name, DataType::string, entry.shape, *elements, 0};
  }
}

/// The tensors of a file, in the order of their offsets, which have to fill what follows the header without a gap.
/// `begin`: the length and the header. Throws DataLossError, without the name of the file.
inline std::vector<SafetensorsTensor> read_safetensors_header(std::string_view begin, std::uint64_t file_size) {
  const Json header = parse_header(begin.substr(8));
  std::map<std::string, std::string> metadata = take_metadata(header);
  std::vector<SafetensorsTensor> tensors;
  for (const auto& [name, object] : header.items()) {
    if (name != "__metadata__") tensors.push_back(check_tensor(name, object));
  }
  const auto before = [](const SafetensorsTensor& a, const SafetensorsTensor& b) {
    return std::pair(a.second.begin, a.second.size) < std::pair(b.second.begin, b.second.size);
  };
  std::stable_sort(tensors.begin(), tensors.end(), before);
  std::uint64_t end = 0;
  for (const auto& [entry, place] : tensors) {
    if (place.begin != end)
      header_is_wrong("tensor \"" + entry.name + "\" does not begin where the one before it ends");
    end += place.size;
  }
  if (end != file_size - begin.size()) {
    header_is_wrong("its tensors have " + std::to_string(end) + " bytes, and the file has room for " +
                    std::to_string(file_size - begin.size()));
  }
  if (check_own_header(begin, metadata)) use_own_metadata(tensors, metadata);
  return tensors;
}

}  // namespace crochet::io::detail
