// SPDX-License-Identifier: Apache-2.0
// Image files in memory, encoded by libpng and libjpeg.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>  // jpeglib.h needs it
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <jpeglib.h>
#include <png.h>

#include "../../io/idx_files.hpp"

namespace crochet::test {

/// PNG_FORMAT_GRAY, PNG_FORMAT_RGB, PNG_FORMAT_RGBA with 8 bits; PNG_FORMAT_LINEAR_Y with 16.
template <class T>
Bytes png_file(const std::vector<T>& samples, std::uint32_t height, std::uint32_t width, png_uint_32 format) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.height = height;
  image.width = width;
  image.format = format;
  Bytes file(PNG_IMAGE_PNG_SIZE_MAX(image));
  png_alloc_size_t size = file.size();
  if (png_image_write_to_memory(&image, file.data(), &size, 0, samples.data(), 0, nullptr) == 0)
    throw std::runtime_error(image.message);
  return first(size, file);
}

/// A row of grey samples of 16 bits, without information about gamma. Each is 257 times the given one of 8 bits.
inline Bytes grey_png_of_16_bits(const Bytes& samples) {
  Bytes row, file;
  for (const std::uint8_t sample : samples) row.insert(row.end(), {sample, sample});
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp to, png_bytep bytes, std::size_t n) {
        auto* const all = static_cast<Bytes*>(png_get_io_ptr(to));
        all->insert(all->end(), bytes, bytes + n);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(samples.size()), 1, 16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  png_write_row(png, row.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  return file;
}

/// How jpeg_file() encodes.
struct JpegOptions {
  bool progressive = false;
  bool one_scan_for_each_component = false;
};

/// Channels: 1 grey, 3 RGB, 4 CMYK.
inline Bytes jpeg_file(const Bytes& samples, std::uint32_t height, std::uint32_t width, int channels,
                       const JpegOptions& options = {}) {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_height = height;
  info.image_width = width;
  info.input_components = channels;
  info.in_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, 95, TRUE);
  if (options.progressive) jpeg_simple_progression(&info);
  jpeg_scan_info scans[3]{};
  if (options.one_scan_for_each_component) {
    for (int i = 0; i < 3; ++i) scans[i] = {1, {i}, 0, 63, 0, 0};
    info.scan_info = scans;
    info.num_scans = 3;
  }
  jpeg_start_compress(&info, TRUE);
  for (std::uint32_t row = 0; row < height; ++row) {
    auto* from = const_cast<JSAMPLE*>(samples.data() + std::size_t{row} * width * static_cast<std::size_t>(channels));
    jpeg_write_scanlines(&info, &from, 1);
  }
  jpeg_finish_compress(&info);
  Bytes file(memory, memory + size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return file;
}

}  // namespace crochet::test
