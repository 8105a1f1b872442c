// SPDX-License-Identifier: Apache-2.0
// Unpacks Snappy's raw format (google/snappy, format_description.txt), in which blocks of a sorted table may be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <crochet/base/error.hpp>

namespace crochet::io::detail {

/// The unpacked bytes, at most `most`. Throws DataLossError, without the name of a file, for data that are not Snappy's
/// and for more than that. Memory: what the data unpack to.
std::string unpack_snappy(std::string_view from, std::uint64_t most);

}  // namespace crochet::io::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/snappy.ipp>
#endif
