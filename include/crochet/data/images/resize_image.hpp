// SPDX-License-Identifier: Apache-2.0
// resize_image: an image in another size.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/data/images/image.hpp>

namespace crochet {

namespace detail {

/// The pixels along one axis that make a new one, with weights of sum 1.
struct ResizeTaps {
  std::size_t first;
  std::vector<float> weights;
};

/// A triangle as wide as two new pixels, at least as two old ones.
CROCHET_COLD inline std::vector<ResizeTaps> resize_taps(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to), reach = std::max(scale, 1.0);
  std::vector<ResizeTaps> taps;
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    const auto first = std::max(static_cast<std::int64_t>(std::floor(centre - reach + 0.5)), std::int64_t{0});
    const auto last = std::min(static_cast<std::int64_t>(std::floor(centre + reach + 0.5)), from);
    std::vector<double> weights;
    double sum = 0;
    for (std::int64_t k = first; k < last; ++k) {
      weights.push_back(std::max(0.0, 1 - std::abs((static_cast<double>(k) + 0.5 - centre) / reach)));
      sum += weights.back();
    }
    ResizeTaps& added = taps.emplace_back(ResizeTaps{static_cast<std::size_t>(first), {}});
    for (const double weight : weights) added.weights.push_back(static_cast<float>(weight / sum));
  }
  return taps;
}

/// Applies the taps along the middle dimension of [outer, old, inner].
template <class T>
std::vector<float> resize_axis(const std::vector<T>& pixels, std::size_t outer, std::size_t old, std::size_t inner,
                               const std::vector<ResizeTaps>& taps) {
  std::vector<float> result(outer * taps.size() * inner);
  for (std::size_t o = 0; o < outer; ++o)
    for (std::size_t i = 0; i < taps.size(); ++i) {
      float* to = result.data() + (o * taps.size() + i) * inner;
      const T* from = pixels.data() + (o * old + taps[i].first) * inner;
      for (const float weight : taps[i].weights)
        for (std::size_t j = 0; j < inner; ++j) to[j] += weight * static_cast<float>(*from++);
    }
  return result;
}

}  // namespace detail

/// The image as height x width pixels, whatever its proportions: bilinear, averaged over all pixels that become one
/// (as Pillow's BILINEAR, within 1). Throws LogicError unless both are positive. Memory: 4 bytes for each sample of an
/// image of the old height and the new width.
CROCHET_COLD inline Image resize_image(const Image& image, std::int64_t height, std::int64_t width) {
  if (height < 1 || width < 1)
    throw LogicError("crochet: an image resized to " + std::to_string(height) + " x " + std::to_string(width) +
                     " pixels; set at least 1");
  if (height == image.height && width == image.width) return image;
  const auto rows = static_cast<std::size_t>(image.height), columns = static_cast<std::size_t>(image.width);
  const auto channels = static_cast<std::size_t>(image.channels);
  const auto wide = detail::resize_axis(image.pixels, rows, columns, channels, detail::resize_taps(image.width, width));
  const auto both = detail::resize_axis(wide, 1, rows, static_cast<std::size_t>(width) * channels,
                                        detail::resize_taps(image.height, height));
  Image resized{height, width, image.channels, std::vector<std::uint8_t>(both.size())};
  std::transform(both.begin(), both.end(), resized.pixels.begin(),
                 [](float value) { return static_cast<std::uint8_t>(std::clamp(value + 0.5F, 0.0F, 255.0F)); });
  return resized;
}

}  // namespace crochet
