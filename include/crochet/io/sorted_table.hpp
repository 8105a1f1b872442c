// SPDX-License-Identifier: Apache-2.0
// Sorted tables of keys and values in LevelDB's format, which the index of a TensorBundle is: blocks with a CRC-32C
// each. LevelDB's own code writes them; it trusts what it reads, so sorted_table_reader.hpp reads them.
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

/// A table with these entries, which have to be sorted by key, bytewise, each key once. Blocks of 256 KiB, nothing
/// compressed: the bytes that TensorFlow writes for its checkpoints. Throws LogicError if the keys are not in order.
std::string write_sorted_table(std::span<const KeyValue> entries);

/// The entries of such a table, in order: see for_each_table_entry(), which throws the errors. Memory: the keys take at
/// most 16 bytes for each byte of a block.
std::vector<KeyValue> read_sorted_table(std::string_view table);

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/sorted_table.ipp>
#endif
