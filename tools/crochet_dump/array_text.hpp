// SPDX-License-Identifier: Apache-2.0
// A tensor as numpy prints it: brackets, lines of 75 characters, `...` between the edges of a large one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <crochet/debug/dump/dumped_tensor.hpp>
#include <crochet/storage/data_type.hpp>

#include "printable.hpp"
#include "words.hpp"

namespace crochet_dump {

/// numpy's print options, with its defaults.
struct PrintOptions {
  int precision = 8;             ///< maximum number of digits after the decimal point
  std::size_t threshold = 1000;  ///< number of elements; a larger tensor is shown by its edges
  std::size_t edge_items = 3;    ///< number at each end of a dimension
  std::size_t line_width = 75;
};

namespace detail {

/// The shown part of each dimension: all of it, or `edge` at each end.
class Visible {
 public:
  Visible(std::span<const std::int64_t> shape, std::size_t elements, const PrintOptions& options) {
    for (const std::int64_t extent : shape) sizes_.push_back(static_cast<std::size_t>(extent));
    const bool summarised = elements > options.threshold;
    for (const std::size_t size : sizes_) {
      edges_.push_back(summarised && 2 * options.edge_items < size ? options.edge_items : 0);
    }
  }
  [[nodiscard]] std::size_t rank() const { return sizes_.size(); }
  [[nodiscard]] bool is_cut(std::size_t axis) const { return edges_[axis] != 0; }
  [[nodiscard]] std::size_t shown(std::size_t axis) const { return is_cut(axis) ? 2 * edges_[axis] : sizes_[axis]; }
  [[nodiscard]] std::size_t leading(std::size_t axis) const { return is_cut(axis) ? edges_[axis] : sizes_[axis]; }

  /// Calls `each(first, count)` for the contiguous ranges of shown elements, in their order.
  template <class F>
  void each_run(F each) const {
    if (rank() == 0) return each(std::size_t{0}, std::size_t{1});
    const std::size_t last = rank() - 1;
    std::vector<std::size_t> at(rank(), 0);  // index among the shown ones
    while (true) {
      std::size_t row = 0;
      for (std::size_t axis = 0; axis < last; ++axis) row = row * sizes_[axis] + index(axis, at[axis]);
      row *= sizes_[last];
      each(row, leading(last));
      if (is_cut(last)) each(row + sizes_[last] - edges_[last], edges_[last]);
      std::size_t axis = last;
      while (axis > 0 && ++at[axis - 1] == shown(axis - 1)) at[--axis] = 0;
      if (axis == 0) return;
    }
  }

 private:
  [[nodiscard]] std::size_t index(std::size_t axis, std::size_t nth) const {
    return nth < leading(axis) ? nth : sizes_[axis] - (shown(axis) - nth);
  }

  std::vector<std::size_t> sizes_{}, edges_{};
};

/// Lays out the texts of the elements between brackets, as numpy does.
class Layout {
 public:
  Layout(const Visible& visible, const std::vector<std::string>& words, const PrintOptions& options)
      : visible_(visible), words_(words), width_(options.line_width) {}

  std::string text() {
    if (visible_.rank() == 0) return words_.front();
    return level(0, " ", width_);
  }

 private:
  // Recursion depth: the tensor's rank, 254 at most.
  std::string level(std::size_t axis, const std::string& indent, std::size_t width) {
    std::string text = axis + 1 == visible_.rank() ? row(axis, indent, width) : block(axis, indent, width);
    return "[" + text.substr(std::min(indent.size(), text.size())) + "]";
  }
  std::string block(std::size_t axis, const std::string& indent, std::size_t width) {
    const std::string separator(visible_.rank() - axis - 1, '\n');
    std::string text;
    for (std::size_t i = 0; i < visible_.shown(axis); ++i) {
      if (i > 0) text += separator;
      if (visible_.is_cut(axis) && i == visible_.leading(axis)) text += indent + "..." + separator;
      text += indent + level(axis + 1, indent + " ", width == 0 ? 0 : width - 1);
    }
    return text;
  }
  std::string row(std::size_t axis, const std::string& indent, std::size_t width) {
    std::string done, line = indent;
    const std::size_t room = width == 0 ? 0 : width - 1;
    for (std::size_t i = 0; i < visible_.shown(axis); ++i) {
      if (i > 0) line += ' ';
      if (visible_.is_cut(axis) && i == visible_.leading(axis)) {
        extend(done, line, "...", room, indent);
        line += ' ';
      }
      extend(done, line, words_[next_++], room, indent);
    }
    return done + line;
  }
  static void extend(std::string& done, std::string& line, const std::string& word, std::size_t room,
                     const std::string& indent) {
    if (line.size() + word.size() > room && line.size() > indent.size()) {
      line.erase(line.find_last_not_of(' ') + 1);
      done += line + "\n";
      line = indent;
    }
    line += word;
  }

  const Visible& visible_;
  const std::vector<std::string>& words_;
  std::size_t width_;
  std::size_t next_ = 0;
};

inline std::vector<std::string> shown_words(const crochet::debug::DumpedTensor& tensor, const Visible& visible,
                                            const PrintOptions& options) {
  const std::size_t size = crochet::io::size_of(tensor.dtype());
  std::vector<std::byte> bytes;
  visible.each_run([&](std::size_t first, std::size_t count) {
    const std::size_t before = bytes.size();
    bytes.resize(before + count * size);
    tensor.read(first * size, std::span{bytes}.subspan(before));
  });
  return words(tensor.dtype(), bytes, options.precision, visible.rank() == 0);
}

inline std::vector<std::string> shown_strings(const crochet::debug::DumpedTensor& tensor, const Visible& visible) {
  std::vector<std::pair<std::size_t, std::size_t>> runs;
  visible.each_run([&](std::size_t first, std::size_t count) { runs.emplace_back(first, count); });
  std::vector<std::string> words;
  std::size_t at = 0, run = 0;
  tensor.for_each_string([&](const std::string& text) {
    while (run < runs.size() && at >= runs[run].first + runs[run].second) ++run;
    if (run < runs.size() && at >= runs[run].first) words.push_back(python_bytes(text));
    ++at;
  });
  return words;
}

}  // namespace detail

/// The tensor's text, without a newline at the end. Reads only the shown elements. Throws what DumpedTensor throws.
inline std::string array_text(const crochet::debug::DumpedTensor& tensor, const PrintOptions& options = {}) {
  using crochet::debug::TensorState;
  if (tensor.state() == TensorState::uninitialized) return "(not initialized)";
  if (tensor.state() == TensorState::opaque) return "(only its own process can read it)";
  if (tensor.elements() == 0) return "[]";
  const detail::Visible visible{tensor.shape(), tensor.elements(), options};
  const std::vector<std::string> words = tensor.dtype() == crochet::io::DataType::string
                                             ? detail::shown_strings(tensor, visible)
                                             : detail::shown_words(tensor, visible, options);
  return detail::Layout{visible, words, options}.text();
}

/// As Python prints a tuple: (), (3,), (8, 4).
inline std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace crochet_dump
