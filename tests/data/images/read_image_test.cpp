// SPDX-License-Identifier: Apache-2.0
// Image files: colours, formats, limits, and damage.
#include <crochet/base/error.hpp>
#include <crochet/data/images/read_image.hpp>

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "../../io/memory_files.hpp"
#include "image_files.hpp"

namespace read_image_test {

namespace cr = crochet;
using crochet::test::Bytes, crochet::test::jpeg_file, crochet::test::png_file;

cr::Image read(const Bytes& file, const cr::ImageOptions& options = {}) {
  crochet::test::MemoryFiles files;
  files["cat.png"] = {reinterpret_cast<const char*>(file.data()), file.size()};
  return cr::read_image("cat.png", options, files);
}
/// The message of the error, which has this type; empty without an error.
template <class Error>
std::string error_of(const Bytes& file, const cr::ImageOptions& options = {}) {
  try {
    read(file, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

Bytes ramp(std::size_t size) {
  Bytes bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 7 % 251);
  return bytes;
}
int largest_difference(const Bytes& a, const Bytes& b) {
  EXPECT_EQ(a.size(), b.size());
  int largest = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST(ReadImage, PngKeepsEachPixel) {
  const Bytes colours = ramp(4 * 5 * 3);
  const cr::Image image = read(png_file(colours, 4, 5, PNG_FORMAT_RGB));
  EXPECT_EQ(image.height, 4);
  EXPECT_EQ(image.width, 5);
  EXPECT_EQ(image.channels, 3);
  EXPECT_EQ(image.pixels, colours);
  const Bytes grey = ramp(4 * 5);
  EXPECT_EQ(read(png_file(grey, 4, 5, PNG_FORMAT_GRAY), {.channels = 1}).pixels, grey);
}

TEST(ReadImage, GreyAndColourBecomeEachOther) {
  EXPECT_EQ(read(png_file(Bytes{7, 200}, 1, 2, PNG_FORMAT_GRAY)).pixels, (Bytes{7, 7, 7, 200, 200, 200}));
  EXPECT_EQ(read(png_file(Bytes{9, 9, 9, 90, 90, 90}, 1, 2, PNG_FORMAT_RGB), {.channels = 1}).pixels, (Bytes{9, 90}));
}

TEST(ReadImage, TransparentPixelsAreInFrontOfWhite) {
  EXPECT_EQ(read(png_file(Bytes{1, 2, 3, 0, 1, 2, 3, 255}, 1, 2, PNG_FORMAT_RGBA)).pixels,
            (Bytes{255, 255, 255, 1, 2, 3}));
}

TEST(ReadImage, SamplesOf16BitsBecome8Bits) {
  const std::vector<std::uint16_t> linear{0, 65535};
  EXPECT_EQ(read(png_file(linear, 1, 2, PNG_FORMAT_LINEAR_Y), {.channels = 1}).pixels, (Bytes{0, 255}));
  const Bytes ramp_of_16_bits{0, 1, 10, 32, 64, 128, 192, 255};
  EXPECT_EQ(read(cr::test::grey_png_of_16_bits(ramp_of_16_bits), {.channels = 1}).pixels, ramp_of_16_bits);
}

TEST(ReadImage, JpegIsNearTheOriginal) {
  Bytes colours;
  for (int i = 0; i < 16 * 24; ++i) colours.insert(colours.end(), {200, static_cast<std::uint8_t>(i / 4), 30});
  for (const bool progressive : {false, true}) {
    const cr::Image image = read(jpeg_file(colours, 16, 24, 3, {.progressive = progressive}));
    EXPECT_EQ(image.height, 16);
    EXPECT_EQ(image.width, 24);
    EXPECT_LE(largest_difference(image.pixels, colours), 12);
  }
  const Bytes grey(64, 123);
  EXPECT_LE(largest_difference(read(jpeg_file(grey, 8, 8, 1), {.channels = 1}).pixels, grey), 1);
  EXPECT_LE(largest_difference(read(jpeg_file(grey, 8, 8, 1)).pixels, Bytes(192, 123)), 1);
  EXPECT_LE(largest_difference(read(jpeg_file(Bytes(192, 123), 8, 8, 3), {.channels = 1}).pixels, grey), 1);
}

TEST(ReadImage, ErrorsNameTheFileAndTheCause) {
  EXPECT_EQ(error_of<cr::DataLossError>({'n', 'o'}),
            "cat.png: neither a PNG nor a JPEG file; convert it to one of them, or move it elsewhere");
  EXPECT_EQ(error_of<cr::DataLossError>({}).rfind("cat.png: ", 0), 0U);
  EXPECT_EQ(error_of<cr::DataError>(jpeg_file(ramp(8 * 8 * 4), 8, 8, 4)),
            "cat.png: a JPEG file of 4 colour components (CMYK); convert it to RGB or grey");
  EXPECT_THROW(read({}, {.channels = 2}), cr::LogicError);
  EXPECT_THROW(cr::read_image("/no/such.png"), cr::IoError);
  const Bytes png = png_file(ramp(12), 3, 4, PNG_FORMAT_GRAY);
  EXPECT_NE(error_of<cr::DataLossError>(png, {.max_bytes = 20}), "");
}

TEST(ReadImage, LimitsAreComparedBeforeMemoryIsAllocated) {
  const char* expected =
      "cat.png: an image of 3 x 4 pixels, more than the limit of 11; if it is meant to be that large, raise max_pixels";
  const Bytes png = png_file(ramp(12), 3, 4, PNG_FORMAT_GRAY), jpeg = jpeg_file(ramp(12), 3, 4, 1);
  EXPECT_EQ(error_of<cr::DataLossError>(png, {.max_pixels = 11}), expected);
  EXPECT_EQ(error_of<cr::DataLossError>(jpeg, {.max_pixels = 11}), expected);
  EXPECT_EQ(error_of<cr::DataLossError>(png, {.max_pixels = 12}), "");

  Bytes huge = png;  // IHDR: width and height from byte 16, its checksum from byte 29
  for (std::size_t i : {17U, 18U, 21U, 22U}) huge[i] = 0xff;
  huge[17] = huge[21] = 0x0c;  // below libpng's own limit of 1,000,000
  const auto checksum = crc32(0, huge.data() + 12, 17);
  for (std::size_t i = 0; i < 4; ++i) huge[29 + i] = static_cast<std::uint8_t>(checksum >> (24 - 8 * i));
  EXPECT_NE(error_of<cr::DataLossError>(huge).find("more than the limit of 67108864"), std::string::npos);

  Bytes wide = jpeg;
  const Bytes marker{0xff, 0xc0};  // start of frame: height and width from its byte 5
  const auto frame = std::search(wide.begin(), wide.end(), marker.begin(), marker.end());
  ASSERT_NE(frame, wide.end());
  for (std::ptrdiff_t i = 5; i < 9; ++i) frame[i] = 0xf0;
  EXPECT_NE(error_of<cr::DataLossError>(wide).find("more than the limit of 67108864"), std::string::npos);
}

/// Each prefix of a file, and each byte changed: an image, or a DataLossError that names the file.
void check_damage(const Bytes& file, std::size_t whole) {
  for (std::size_t size = 0; size < whole; ++size)
    EXPECT_EQ(error_of<cr::DataLossError>(crochet::test::first(size, file)).rfind("cat.png: ", 0), 0U) << size;
  for (std::size_t at = 0; at < file.size(); ++at)
    for (const int change : {1, 0x80, 0xff}) {
      Bytes damaged = file;
      damaged[at] = static_cast<std::uint8_t>(damaged[at] ^ change);
      try {
        const cr::Image image = read(damaged, {.max_pixels = 1 << 16});
        EXPECT_EQ(std::ssize(image.pixels), image.height * image.width * image.channels);
      } catch (const cr::DataLossError& error) {
        EXPECT_EQ(std::string(error.what()).rfind("cat.png: ", 0), 0U);
      } catch (const cr::DataError& error) {
        EXPECT_NE(std::string(error.what()).find("colour components"), std::string::npos);
      }
    }
}

TEST(ReadImage, DamagedPng) {
  const Bytes png = png_file(ramp(8 * 9 * 3), 8, 9, PNG_FORMAT_RGB);
  check_damage(png, png.size() - 16);  // the end of the data; IEND may be missing
}
TEST(ReadImage, DamagedJpeg) {
  const Bytes jpeg = jpeg_file(ramp(16 * 16 * 3), 16, 16, 3);
  check_damage(jpeg, jpeg.size() - 2);
  const Bytes progressive = jpeg_file(ramp(16 * 16 * 3), 16, 16, 3, {.progressive = true});
  check_damage(progressive, progressive.size() - 2);
}

TEST(ReadImage, JpegFilesWithHarmlessFaultsAreDecodedWhole) {
  const Bytes jpeg = jpeg_file(ramp(16 * 16 * 3), 16, 16, 3);
  const Bytes pixels = read(jpeg).pixels;
  const auto place_of = [](const Bytes& file, const Bytes& part) {
    return std::search(file.begin(), file.end(), part.begin(), part.end()) - file.begin();
  };
  const auto frame = place_of(jpeg, {0xff, 0xc0}), jfif = place_of(jpeg, {'J', 'F', 'I', 'F', 0});
  ASSERT_LT(frame, std::ssize(jpeg));
  ASSERT_EQ(jfif, 6);

  Bytes between = jpeg;
  between.insert(between.begin() + frame, {0, 0, 0});
  EXPECT_EQ(read(between).pixels, pixels) << "bytes between two segments";
  Bytes version = jpeg;
  version[11] = 7;
  EXPECT_EQ(read(version).pixels, pixels) << "a later version of the JFIF segment";
  Bytes adobe(jpeg.begin(), jpeg.begin() + 2);
  adobe.insert(adobe.end(), {0xff, 0xee, 0, 14, 'A', 'd', 'o', 'b', 'e', 0, 100, 0, 0, 0, 0, 9});
  adobe.insert(adobe.end(), jpeg.begin() + 20, jpeg.end());
  EXPECT_EQ(read(adobe).pixels, pixels) << "an unknown colour transform in Adobe's segment, in place of JFIF's";
}

TEST(ReadImage, RefusesAJpegOfManyScans) {
  const Bytes jpeg = jpeg_file(ramp(16 * 16 * 3), 16, 16, 3, {.one_scan_for_each_component = true});
  const Bytes marker{0xff, 0xda};  // start of scan
  const auto last = std::find_end(jpeg.begin(), jpeg.end(), marker.begin(), marker.end());
  const Bytes scan(last, jpeg.end() - 2), end(jpeg.end() - 2, jpeg.end());
  const auto repeated = [&](int times) {
    Bytes file(jpeg.begin(), last);
    for (int i = 0; i < times; ++i) file.insert(file.end(), scan.begin(), scan.end());
    file.insert(file.end(), end.begin(), end.end());
    return file;
  };
  EXPECT_EQ(error_of<cr::DataLossError>(repeated(1)), "");
  EXPECT_NE(error_of<cr::DataLossError>(repeated(1000)), "");
}

}  // namespace read_image_test
