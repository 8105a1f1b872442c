// SPDX-License-Identifier: Apache-2.0
// How tensors are laid out in a safetensors file, and the header that says so: the reference writer's way.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/io/safetensors_metadata.hpp>
#include <crochet/storage/tensor_record.hpp>

namespace crochet::io::detail {

/// A tensor on its way into a file.
struct SafetensorsItem {
  const TensorRecord* record;
  std::size_t rank;                  // of its type
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
