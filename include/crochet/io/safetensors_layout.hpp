// SPDX-License-Identifier: Apache-2.0
// The layout of tensors in a safetensors file and its header, in the order of the reference writer.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/io/safetensors_metadata.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io::detail {

/// A tensor to be written.
struct SafetensorsItem {
  const TensorRecord* record;
  std::size_t rank;                  // index of its type in safetensors_types
  std::span<const std::byte> bytes;  // strings are packed
};

/// The length and the header.
std::string write_safetensors_header(std::span<const SafetensorsItem> items, const SafetensorsMetadata& metadata);

/// The tensors in the order of the reference writer: the largest types first, then by name.
std::vector<SafetensorsItem> in_file_order(std::span<const TensorRecord> tensors, std::vector<std::string>& packed);

}  // namespace crochet::io::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/safetensors_layout.ipp>
#endif
