// SPDX-License-Identifier: Apache-2.0
// PNG and JPEG files, as grey and as colour. The memory counted is that of C++; the libraries' own is limited by the
// number of pixels.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <crochet/data/images/read_image.hpp>

#include "file_reader.hpp"

using namespace crochet;

namespace {

constexpr std::int64_t most_pixels = 1 << 14;

void read(std::string_view file, std::int64_t channels) {
  test::MemoryFiles files;
  files["f"] = file;
  require_within({2, 256 * test::kib + 3 * std::size_t{most_pixels}}, file.size(), [&] {
    try {
      const Image image = read_image("f", {.channels = channels, .max_pixels = most_pixels}, files);
      require(image.height > 0 && image.width > 0 && image.height * image.width <= most_pixels);
      require(image.pixels.size() == static_cast<std::size_t>(image.height * image.width * channels));
    } catch (const DataError&) {  // CMYK
    }
  });
}

}  // namespace

void fuzz(std::string_view input) {
  if (input.starts_with("\x1f\x8b")) return;  // tested by gzip_file.cpp
  for (const std::int64_t channels : {1, 3}) read(input, channels);
}
