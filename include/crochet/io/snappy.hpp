// SPDX-License-Identifier: Apache-2.0
// Decompresses Snappy's raw format (google/snappy, format_description.txt), which blocks of a sorted table can have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>

namespace crochet::io::detail {

/// The decompressed bytes. Throws DataLossError, without the file's name, for invalid data and for more than `most`
/// bytes. Memory: the decompressed size.
std::string unpack_snappy(std::string_view from, std::uint64_t most);

}  // namespace crochet::io::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/snappy.ipp>
#endif
