// SPDX-License-Identifier: Apache-2.0
// The items of a SummarySaver: summary::Scalar, Histogram, Image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <crochet/base/bfloat16.hpp>
#include <crochet/base/name.hpp>
#include <crochet/hook/run_args.hpp>
#include <crochet/storage/summary.hpp>

namespace crochet::summary {

namespace detail {

template <class T>
auto elements_of(const T& value) {
  if constexpr (NumberElement<T>) {
    return std::span<const T>(&value, 1);
  } else {
    return std::span<const std::remove_cvref_t<decltype(*std::data(value))>>(std::data(value), std::size(value));
  }
}

}  // namespace detail

// An item has `fetches`, and `add(summary, values)`, which adds its entry for the values to the summary.

/// A number: `summary::Scalar<"loss">`; with another tag: `summary::Scalar<"loss", "train/loss">`.
template <FixedString Text, FixedString Tag = Text>
struct Scalar {
  static constexpr Fetches<Name<Text>> fetches{};

  static void add(io::Summary& summary, const auto& values) {
    const auto value = values[Name<Text>{}];
    constexpr bool is_number = NumberElement<std::remove_const_t<decltype(value)>>;
    static_assert(is_number, "crochet: summary::Scalar needs a scalar; summary::Histogram takes a tensor");
    if constexpr (is_number) summary.scalar(Tag.view(), static_cast<double>(value));
  }
};

/// A histogram of a tensor's elements: `summary::Histogram<"hidden/kernel">`. The step copies the elements (0.1 to 0.3
/// ns per float); the writer counts them.
template <FixedString Text, FixedString Tag = Text>
struct Histogram {
  static constexpr Fetches<Name<Text>> fetches{};

  static void add(io::Summary& summary, const auto& values) {
    const auto& value = values[Name<Text>{}];
    summary.histogram(Tag.view(), detail::elements_of(value));
  }
};

/// The first `Height * Width * Channels` elements as an image: `summary::Image<"images", 28, 28>` is the first image of
/// a batch. io::pixels_of defines the conversion of numbers to pixels. Adds nothing if there are fewer elements.
template <FixedString Text, int Height, int Width, int Channels = 1, FixedString Tag = Text>
struct Image {
  static_assert(Height > 0 && Width > 0 && Channels > 0 && Channels <= 4);
  static constexpr Fetches<Name<Text>> fetches{};

  static void add(io::Summary& summary, const auto& values) {
    constexpr auto count = static_cast<std::size_t>(Height) * Width * Channels;
    const auto& value = values[Name<Text>{}];
    const auto elements = detail::elements_of(value);
    if (elements.size() < count) return;
    summary.image(Tag.view(), io::pixels_of(elements.first(count), Height, Width, Channels));
  }
};

}  // namespace crochet::summary
