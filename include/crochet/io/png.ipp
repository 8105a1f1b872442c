// SPDX-License-Identifier: Apache-2.0
// The compiled half of png.hpp.
#pragma once

#include <crochet/io/png.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <png.h>
#include <crochet/base/error.hpp>

namespace crochet::io::detail {

CROCHET_INLINE png_uint_32 png_format(int channels) {
  switch (channels) {
    case 1:
      return PNG_FORMAT_GRAY;
    case 2:
      return PNG_FORMAT_GA;
    case 3:
      return PNG_FORMAT_RGB;
    case 4:
      return PNG_FORMAT_RGBA;
    default:
      throw LogicError("crochet: an image of " + std::to_string(channels) +
                       " channels; there are 1 (grey), 2 (grey, alpha), 3 (red, green, blue) and 4 (with alpha)");
  }
}

}  // namespace crochet::io::detail

namespace crochet::io {

CROCHET_INLINE std::string encode_png(std::span<const std::uint8_t> pixels, int height, int width, int channels) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.format = detail::png_format(channels);
  if (height < 1 || width < 1 ||
      pixels.size() !=
          static_cast<std::size_t>(height) * static_cast<std::size_t>(width) * static_cast<std::size_t>(channels)) {
    throw LogicError("crochet: " + std::to_string(pixels.size()) + " bytes are not an image of " +
                     std::to_string(height) + " x " + std::to_string(width) + " x " + std::to_string(channels));
  }
  image.height = static_cast<png_uint_32>(height);
  image.width = static_cast<png_uint_32>(width);
  std::string file(PNG_IMAGE_PNG_SIZE_MAX(image), '\0');
  png_alloc_size_t bytes = file.size();
  if (png_image_write_to_memory(&image, file.data(), &bytes, 0, pixels.data(), 0, nullptr) == 0) {
    throw IoError(std::string("crochet: libpng cannot encode an image: ") + image.message);
  }
  file.resize(bytes);
  return file;
}

}  // namespace crochet::io
