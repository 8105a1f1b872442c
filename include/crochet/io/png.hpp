// SPDX-License-Identifier: Apache-2.0
// Images as PNG, by libpng.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstdint>
#include <span>
#include <string>

#include <crochet/base/error.hpp>

namespace crochet::io {

/// The bytes of a PNG file: 8 bits a channel, rows from the top, pixels with their channels next to each other. Throws
/// LogicError for sizes that do not fit the pixels or another number of channels, IoError for what libpng reports.
std::string encode_png(std::span<const std::uint8_t> pixels, int height, int width, int channels);

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/png.ipp>
#endif
