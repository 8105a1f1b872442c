// SPDX-License-Identifier: Apache-2.0
// PNG encoder, based on libpng.
#pragma once

#include <crochet/io/needs_io.hpp>

#include <cstdint>
#include <span>
#include <string>

#include <crochet/base/error.hpp>

namespace crochet::io {

/// Returns the bytes of a PNG file: 8 bits a channel, rows from the top, channels interleaved. Throws LogicError if
/// sizes and pixels do not match or if there are not 1 to 4 channels, IoError for errors of libpng.
std::string encode_png(std::span<const std::uint8_t> pixels, int height, int width, int channels);

}  // namespace crochet::io

#ifdef CROCHET_HEADER_ONLY
#include <crochet/io/png.ipp>
#endif
