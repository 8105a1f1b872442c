// SPDX-License-Identifier: Apache-2.0
// Sorted tables of keys and values in LevelDB's format, used for the index of a TensorBundle: blocks with a CRC-32C
// each. LevelDB's own code writes them. It does not validate what it reads, so sorted_table_reader.hpp reads them.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/base/error.hpp>

namespace crochet::io {

using KeyValue = std::pair<std::string, std::string>;

/// A table with these entries. Blocks of 256 KiB without compression, as TensorFlow writes them for its checkpoints.
/// Throws LogicError unless the keys are sorted bytewise and unique.
std::string write_sorted_table(std::span<const KeyValue> entries);

/// The entries of such a table, in order. Throws like for_each_table_entry(). Memory: the keys take at most 16 bytes
/// for each byte of a block.
std::vector<KeyValue> read_sorted_table(std::string_view table);

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/sorted_table.ipp>
#endif
