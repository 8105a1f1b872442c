// SPDX-License-Identifier: Apache-2.0
// Summary: copies of values of one step, with tags, for writing later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <crochet/storage/summary_tag.hpp>

namespace crochet::io {

/// An image: rows from the top, channels interleaved: 1 grey, 2 grey and alpha, 3 red, green, blue, 4 with alpha.
struct ImagePixels {
  std::vector<std::uint8_t> pixels{};
  int height = 0, width = 0, channels = 1;
};

/// Converts numbers to pixels as TensorFlow documents it: if none is negative, [0, greatest] becomes [0, 255];
/// otherwise 0 becomes 127, and the number with the largest magnitude 0 or 255. Infinities and NaNs become 0.
template <class T>
ImagePixels pixels_of(std::span<const T> numbers, int height, int width, int channels) {
  constexpr auto finite = [](double x) { return x - x == 0; };
  double least = 0, greatest = 0;
  for (const T number : numbers) {
    const auto x = static_cast<double>(number);
    if (finite(x)) least = x < least ? x : least, greatest = x > greatest ? x : greatest;
  }
  const double unit = greatest - least < 1e-300 ? 0x1p200 : 1;  // the scale of subnormal numbers would be infinite
  least *= unit, greatest *= unit;
  const double zero = least < 0 ? 127 : 0;
  const double below = least < 0 ? -127 / least : 1, above = greatest > 0 ? (255 - zero) / greatest : 1;
  const double scale = least < 0 && below < above ? below : (greatest > 0 ? above : below);
  ImagePixels image{std::vector<std::uint8_t>(numbers.size()), height, width, channels};
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto x = static_cast<double>(numbers[i]);
    if (finite(x)) image.pixels[i] = static_cast<std::uint8_t>(zero + scale * (x * unit));
  }
  return image;
}

/// The values of one step, each with a tag; summary_tag.hpp converts names to tags. Copies the values. Counting
/// histograms and compressing images happens later, when the summary is written.
class Summary {
 public:
  using Content = std::variant<float, std::vector<float>, std::vector<double>, ImagePixels, std::string>;
  struct Value {
    std::string tag;
    Content content;
  };

  /// A number, stored as a float, as in event files.
  Summary& scalar(std::string_view tag, double value) { return add(tag, static_cast<float>(value)); }
  /// The distribution of the values.
  template <class T>
  Summary& histogram(std::string_view tag, std::span<const T> values) {
    using Kept = std::conditional_t<std::is_same_v<T, float>, float, double>;
    return add(tag, std::vector<Kept>(values.begin(), values.end()));
  }
  Summary& image(std::string_view tag, ImagePixels image) { return add(tag, std::move(image)); }
  /// A text in Markdown.
  Summary& text(std::string_view tag, std::string text) { return add(tag, std::move(text)); }

  [[nodiscard]] bool empty() const { return values_.empty(); }
  [[nodiscard]] const std::vector<Value>& values() const { return values_; }

 private:
  Summary& add(std::string_view tag, Content content) {
    values_.push_back({summary_tag(tag), std::move(content)});
    return *this;
  }

  std::vector<Value> values_;
};

}  // namespace crochet::io
