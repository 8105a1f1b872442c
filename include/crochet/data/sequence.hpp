// SPDX-License-Identifier: Apache-2.0
// Sequence: tokens of a text or values over time, and data sets of its windows.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/data/data_set.hpp>
#include <crochet/data/field.hpp>
#include <crochet/data/shared_array.hpp>
#include <crochet/data/window_array.hpp>

namespace crochet {

/// Windows of a sequence: window i begins at element i * stride.
struct WindowOptions {
  std::int64_t length;      ///< elements of a window
  std::int64_t stride = 1;  ///< `length`: windows that do not overlap
};

/// A sequence of elements, immutable: `Sequence{vocabulary.encode(text)}`. Copies and parts share the elements. Thread:
/// any, at the same time.
template <DataElement T>
class Sequence {
 public:
  explicit Sequence(std::vector<T> values)
      : values_(std::make_shared<const std::vector<T>>(std::move(values))), part_(*values_) {}

  /// Number of elements.
  [[nodiscard]] std::int64_t size() const { return std::ssize(part_); }
  /// The elements. Valid while a copy of this sequence exists; so not for a temporary one.
  [[nodiscard]] std::span<const T> elements() const& { return part_; }
  void elements() const&& = delete;

  /// The first round(fraction * size()) elements, and the others. Windows of one have no element of the other, unlike
  /// those of DataSet::split. Throws LogicError unless 0 < fraction < 1 and both have an element.
  [[nodiscard]] std::pair<Sequence, Sequence> split(double fraction) const {
    const bool inside = fraction > 0 && fraction < 1;
    const auto first = inside ? std::llround(fraction * static_cast<double>(size())) : 0;
    if (first < 1 || first >= size())
      throw LogicError("crochet: a sequence of " + std::to_string(size()) + " elements, split at " +
                       std::to_string(fraction) +
                       "; set a fraction between 0 and 1 that leaves elements to both parts, such as 0.9");
    const auto middle = static_cast<std::size_t>(first);
    return {Sequence{values_, part_.first(middle)}, Sequence{values_, part_.subspan(middle)}};
  }

  /// A data set of windows [n, length]. Copies no element. Throws LogicError unless length and stride are positive and
  /// there is a window, and for more than 2^32 - 1 windows.
  template <FixedString Text>
  [[nodiscard]] auto windows(WindowOptions options) const {
    return data_set(window_field<Text>(options, count(options, 0), 0));
  }
  /// The same with a second field: the window one element later, which has the next token for each token.
  template <FixedString Text, FixedString Next>
  [[nodiscard]] auto windows(WindowOptions options) const {
    const std::int64_t rows = count(options, 1);
    return data_set(window_field<Text>(options, rows, 0), window_field<Next>(options, rows, 1));
  }

 private:
  Sequence(std::shared_ptr<const std::vector<T>> values, std::span<const T> part)
      : values_(std::move(values)), part_(part) {}

  /// The number of windows of which each needs `more` elements behind it.
  [[nodiscard]] std::int64_t count(WindowOptions options, std::int64_t more) const {
    if (options.length < 1 || options.stride < 1)
      throw LogicError("crochet: windows of length " + std::to_string(options.length) + " at a stride of " +
                       std::to_string(options.stride) + "; set both to at least 1");
    if (options.length > size() - more)
      throw LogicError("crochet: a sequence of " + std::to_string(size()) + " elements has no window: one takes " +
                       std::to_string(options.length) + (more == 0 ? "" : " and one more") +
                       "; use shorter windows or more data");
    return (size() - more - options.length) / options.stride + 1;
  }
  template <FixedString Text>
  [[nodiscard]] Field<Name<Text>, T, 2, WindowArray<T>> window_field(WindowOptions options, std::int64_t rows,
                                                                     std::size_t offset) const {
    return {{std::shared_ptr<const T>(values_, part_.data() + offset), rows, options.length, options.stride}};
  }

  std::shared_ptr<const std::vector<T>> values_;
  std::span<const T> part_;
};

}  // namespace crochet
