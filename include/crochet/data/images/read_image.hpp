// SPDX-License-Identifier: Apache-2.0
// read_image: an image from a PNG or JPEG file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/data/images/image.hpp>
#include <crochet/data/images/jpeg_image.hpp>
#include <crochet/data/images/png_image.hpp>
#include <crochet/data/read_text.hpp>
#include <crochet/storage/file_system.hpp>

namespace crochet {

/// Decodes a PNG or JPEG file, which its first bytes tell apart.
/// - Grey to colour and back as the libraries compute it. Transparent pixels are put in front of white.
/// - Throws: IoError if the file is missing or unreadable; DataLossError if it is damaged, no such file, or larger than
///   the limits; DataError for a CMYK image; ResourceExhaustedError if memory is exhausted; LogicError unless
///   `channels` is 1 or 3.
/// - Memory: the file, the pixels, and for a progressive JPEG about 6 bytes a pixel. Sizes are compared with the limits
///   before memory is allocated.
CROCHET_COLD inline Image read_image(const std::filesystem::path& path, const ImageOptions& options = {},
                                     io::FileSystem& files = io::local_files()) {
  if (options.channels != 1 && options.channels != 3)
    throw LogicError("crochet: images of " + std::to_string(options.channels) +
                     " channels; set 1 (grey) or 3 (colour)");
  const std::string name = path.string();
  try {
    const std::string bytes = detail::whole_text(path, options.max_bytes, files);
    const detail::ImageSource source{
        {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, name, options};
    if (bytes.starts_with("\x89PNG")) return detail::decode_png(source);
    if (bytes.starts_with("\xff\xd8\xff")) return detail::decode_jpeg(source);
    source.fail("neither a PNG nor a JPEG file", "convert it to one of them, or move it elsewhere");
  } catch (const std::bad_alloc&) {
    throw ResourceExhaustedError(name + ": there is not enough memory for it; make the image smaller");
  }
}

}  // namespace crochet
