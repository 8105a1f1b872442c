// SPDX-License-Identifier: Apache-2.0
// Image: the pixels of a decoded image, and how image files are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>

namespace crochet {

/// Pixels [height, width, channels], row-major, 0 to 255. Channels: 1, grey, or 3, red, green and blue.
struct Image {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  std::vector<std::uint8_t> pixels{};
};

/// How an image file is decoded, and its limits.
struct ImageOptions {
  std::int64_t channels = 3;                           ///< 1: grey; 3: red, green, blue
  std::int64_t max_pixels = std::int64_t{1} << 26;     ///< of one image: height times width
  std::uint64_t max_bytes = std::uint64_t{256} << 20;  ///< of one file
};

namespace detail {

/// Image files of one read: what decoders need to know and to report.
struct ImageSource {
  std::span<const std::uint8_t> bytes;
  const std::string& name;
  const ImageOptions& options;

  /// Throws DataLossError: "<file>: <cause>; <cure>".
  [[noreturn]] CROCHET_COLD void fail(const std::string& cause,
                                      const char* cure = "copy or download the file again") const {
    throw DataLossError(name + ": " + cause + "; " + cure);
  }
  /// An image of this size, black. The size is compared with the limit before memory is allocated.
  [[nodiscard]] CROCHET_COLD Image blank(std::uint32_t height, std::uint32_t width) const {
    const std::uint64_t pixels = std::uint64_t{height} * width;
    if (pixels == 0) fail("an image without pixels");
    if (options.max_pixels < 0 || pixels > static_cast<std::uint64_t>(options.max_pixels))
      fail("an image of " + std::to_string(height) + " x " + std::to_string(width) +
               " pixels, more than the limit of " + std::to_string(options.max_pixels),
           "if it is meant to be that large, raise max_pixels");
    Image image{height, width, options.channels, {}};
    image.pixels.resize(static_cast<std::size_t>(pixels) * static_cast<std::size_t>(options.channels));
    return image;
  }
};

}  // namespace detail

}  // namespace crochet
