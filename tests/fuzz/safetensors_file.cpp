// SPDX-License-Identifier: Apache-2.0
// A safetensors file. The first two bytes are the length of the header in the input. Length and checksums are repaired.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/base/hex.hpp>
#include <crochet/io/bundle_strings.hpp>
#include <crochet/io/crc32c.hpp>
#include <crochet/io/safetensors_json.ipp>
#include <crochet/io/safetensors_reader.hpp>
#include <crochet/io/safetensors_types.hpp>

#include "file_reader.hpp"

using namespace crochet;
namespace format = io::detail;

namespace {

/// The checksums of the tensors, in the order of their offsets. Empty if the header is invalid.
std::string tensor_checksums(std::string_view header, std::string_view data) {
  std::vector<std::array<std::uint64_t, 2>> places;
  const auto take = [&](format::StatedTensor&& tensor) { places.push_back(tensor.offsets); };
  io::SafetensorsMetadata metadata;
  format::HeaderEvents events{take, metadata};
  try {
    format::read_json_object(header, events);
  } catch (const DataLossError&) {
    return {};
  }
  std::sort(places.begin(), places.end());
  std::string checksums;
  for (const auto& [begin, end] : places) {
    const bool within = begin <= end && end <= data.size();
    checksums += crochet::detail::hex(within ? io::crc32c(data.substr(begin, end - begin)) : 0U);
  }
  return checksums;
}

std::string repaired(std::string header, std::string_view data) {
  constexpr std::string_view key = "\"crochet.tensor_crc32c\":\"";
  const std::string checksums = tensor_checksums(header, data);
  if (const std::size_t at = header.find(key); at != header.npos) {
    const std::size_t begin = at + key.size(), end = header.find('"', begin);
    if (end != header.npos) header.replace(begin, end - begin, checksums);
  }
  std::string begin = format::little_endian_bytes(header.size(), 8) + header;
  const std::size_t crc_at = 8 + format::own_beginning.size();
  if (header.starts_with(format::own_beginning) && begin.size() >= crc_at + 8) {
    begin.replace(crc_at, 8, format::no_crc);
    begin.replace(crc_at, 8, crochet::detail::hex(io::crc32c(begin)));
  }
  return begin;
}

}  // namespace

void fuzz(std::string_view input) {
  Input in{input};
  const std::string header{in.take(in.word())};
  const std::string_view data = in.all();
  const std::string file = repaired(header, data) + std::string(data);
  test::MemoryFiles files;
  files["a.safetensors"] = file;
  require_within(test::safetensors_budget, file.size(), [&] {
    const io::SafetensorsReader reader{"a", files};
    reader.verify();
    for (const io::TensorEntry& tensor : reader.tensors()) {
      require(reader.find(tensor.name) == &tensor && io::element_count(tensor.shape) == tensor.elements);
      if (tensor.type == io::DataType::string) {
        require(reader.read_strings(tensor).size() == tensor.elements);
      } else {
        require(tensor.byte_size <= data.size());
      }
    }
  });
}
