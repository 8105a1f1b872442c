// SPDX-License-Identifier: Apache-2.0
// Decodes PNG, by libpng's simplified interface: it returns errors, and jumps over no frame of its caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include <png.h>
#include <crochet/base/config.hpp>
#include <crochet/data/images/image.hpp>

namespace crochet::detail {

/// libpng's state of one image, freed at the end.
struct PngImage : png_image {
  PngImage() : png_image{} { version = PNG_IMAGE_VERSION; }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
  ~PngImage() { png_image_free(this); }

  [[noreturn]] CROCHET_COLD void fail(const ImageSource& source) const {
    const std::string_view cause = message;
    if (cause.find("memory") != std::string_view::npos) throw std::bad_alloc();
    source.fail("the PNG data is damaged (" + std::string(cause) + ")");
  }
};

/// Samples of 16 bits become 8 bits, a palette its colours. Transparent pixels are put in front of white.
CROCHET_COLD inline Image decode_png(const ImageSource& source) {
  PngImage png;
  if (png_image_begin_read_from_memory(&png, source.bytes.data(), source.bytes.size()) == 0) png.fail(source);
  png.flags |= PNG_IMAGE_FLAG_16BIT_sRGB;  // otherwise samples of 16 bits are linear light
  Image image = source.blank(png.height, png.width);
  png.format = image.channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  const png_color white{255, 255, 255};
  if (png_image_finish_read(&png, &white, image.pixels.data(), 0, nullptr) == 0) png.fail(source);
  return image;
}

}  // namespace crochet::detail
