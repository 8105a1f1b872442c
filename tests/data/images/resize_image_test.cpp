// SPDX-License-Identifier: Apache-2.0
// Resized images, against the results of Pillow 12's BILINEAR.
#include <crochet/base/error.hpp>
#include <crochet/data/images/resize_image.hpp>

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace resize_image_test {

namespace cr = crochet;
using Bytes = std::vector<std::uint8_t>;

cr::Image pattern() {
  cr::Image image{5, 7, 3, Bytes(105)};
  for (std::size_t i = 0; i < 105; ++i) image.pixels[i] = static_cast<std::uint8_t>(i * 37 + i / 7 * 11);
  return image;
}
void expect_near(const cr::Image& image, const Bytes& expected) {
  ASSERT_EQ(image.pixels.size(), expected.size());
  EXPECT_EQ(std::ssize(image.pixels), image.height * image.width * image.channels);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_LE(std::abs(image.pixels[i] - expected[i]), 1) << i;
}

TEST(ResizeImage, Smaller) {
  expect_near(cr::resize_image(pattern(), 3, 4),
              {71,  101, 138, 123, 90,  127, 159, 139, 106, 148, 179, 153, 130, 143, 119, 113, 145, 137,
               122, 129, 145, 100, 134, 118, 133, 124, 161, 109, 130, 136, 117, 125, 115, 133, 108, 98});
}
TEST(ResizeImage, LargerInBothDirections) {
  expect_near(cr::resize_image(pattern(), 6, 8),
              {0,   37,  74,  90,  127, 164, 187, 56,  93,  147, 76,  113, 137, 174, 103, 157, 194, 63,  86,  123, 160,
               176, 213, 250, 32,  69,  106, 122, 159, 196, 87,  88,  125, 95,  108, 145, 169, 122, 135, 189, 94,  95,
               118, 155, 156, 208, 245, 90,  66,  103, 140, 156, 193, 109, 77,  122, 113, 101, 142, 179, 138, 128, 169,
               121, 84,  129, 125, 162, 178, 93,  130, 60,  102, 139, 176, 192, 142, 58,  113, 124, 115, 137, 178, 154,
               127, 164, 144, 83,  120, 131, 140, 177, 127, 22,  59,  96,  137, 174, 211, 175, 56,  93,  128, 113, 150,
               136, 177, 106, 126, 163, 96,  118, 135, 120, 175, 160, 41,  57,  94,  131, 168, 205, 242, 50,  87,  124,
               99,  144, 181, 59,  100, 137, 49,  86,  127, 149, 106, 151, 206, 35,  72,  88,  125, 162});
}
TEST(ResizeImage, ToOnePixel) { expect_near(cr::resize_image(pattern(), 1, 1), {120, 131, 131}); }
TEST(ResizeImage, Narrower) {
  expect_near(
      cr::resize_image(pattern(), 5, 3),
      {95,  80, 117, 146, 125, 104, 133, 170, 155, 82, 122, 159, 127, 107, 146, 175, 158, 105, 124, 164, 91, 109, 149,
       173, 71, 108, 147, 166, 96,  133, 151, 176, 95, 113, 150, 80,  99,  138, 175, 73,  97,  137, 155, 82, 122});
}

TEST(ResizeImage, ToItsOwnSizeIsACopy) { EXPECT_EQ(cr::resize_image(pattern(), 5, 7).pixels, pattern().pixels); }

TEST(ResizeImage, ConstantsStayConstant) {
  const cr::Image grey{3, 4, 1, Bytes(12, 255)};
  EXPECT_EQ(cr::resize_image(grey, 7, 2).pixels, Bytes(14, 255));
  EXPECT_EQ(cr::resize_image(grey, 1, 9).pixels, Bytes(9, 255));
}

TEST(ResizeImage, RefusesNoPixels) {
  EXPECT_THROW((void)cr::resize_image(pattern(), 0, 3), cr::LogicError);
  EXPECT_THROW((void)cr::resize_image(pattern(), 3, -1), cr::LogicError);
}

}  // namespace resize_image_test
