// SPDX-License-Identifier: Apache-2.0
// Curves as text: a canvas of braille points or of characters, and a plot with axes.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace crochet_dump {

/// A part of a curve: the least and the greatest value from `step` to the next part.
struct CurvePart {
  std::int64_t step = 0;
  double least = 0, greatest = 0;
};

/// The values of one tag of one run, in the order of the file. Memory: at most `most_parts` parts; beyond that
/// neighbours are joined, and no extreme value is lost.
class Curve {
 public:
  static constexpr std::size_t most_parts = std::size_t{1} << 15;

  void add(std::int64_t step, double value) {
    ++count_;
    last_ = value;
    if (!std::isfinite(value)) return void(++not_finite_);
    parts_.push_back({step, value, value});
    if (parts_.size() >= 2 * most_parts) halve();
  }
  [[nodiscard]] const std::vector<CurvePart>& parts() const { return parts_; }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] std::size_t not_finite() const { return not_finite_; }
  [[nodiscard]] double last() const { return last_; }

 private:
  void halve() {
    for (std::size_t i = 0; i < most_parts; ++i) {
      const CurvePart &a = parts_[2 * i], &b = parts_[2 * i + 1];
      parts_[i] = {a.step, std::min(a.least, b.least), std::max(a.greatest, b.greatest)};
    }
    parts_.resize(most_parts);
  }

  std::vector<CurvePart> parts_{};
  std::size_t count_ = 0, not_finite_ = 0;
  double last_ = 0;
};

/// Points in cells of text. Braille has 2 x 4 points in a cell; otherwise a cell is one point, shown by a mark.
class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows, bool braille)
      : columns_(columns), rows_(rows), braille_(braille), cells_(columns * rows, 0) {}

  [[nodiscard]] std::size_t width() const { return braille_ ? 2 * columns_ : columns_; }
  [[nodiscard]] std::size_t height() const { return braille_ ? 4 * rows_ : rows_; }

  /// Sets a point; `y` counts from the bottom. Both are in range.
  void set(std::size_t x, std::size_t y, char mark) {
    const std::size_t from_top = height() - 1 - y;
    if (!braille_) return void(cells_[from_top * columns_ + x] = static_cast<unsigned char>(mark));
    constexpr unsigned char dots[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    cells_[from_top / 4 * columns_ + x / 2] |= dots[from_top % 4][x % 2];
  }
  /// One row as text, without spaces at its end.
  [[nodiscard]] std::string row(std::size_t number) const {
    std::string text;
    std::size_t end = 0;
    for (std::size_t i = 0; i < columns_; ++i) {
      const unsigned char cell = cells_[number * columns_ + i];
      text += cell == 0 ? std::string(" ") : braille_ ? braille(cell) : std::string(1, static_cast<char>(cell));
      if (cell != 0) end = text.size();
    }
    return text.substr(0, end);
  }

 private:
  /// U+2800 and the dots, in UTF-8.
  static std::string braille(unsigned char dots) {
    return {'\xe2', static_cast<char>(0xa0 | dots >> 6), static_cast<char>(0x80 | (dots & 0x3f))};
  }

  std::size_t columns_, rows_;
  bool braille_;
  std::vector<unsigned char> cells_;
};

/// The ranges of a plot, and the points of its curves.
class CurvePainter {
 public:
  /// `curves` have at least one part together.
  CurvePainter(const std::vector<const Curve*>& curves, Canvas& canvas) : canvas_(canvas) {
    for (const Curve* curve : curves) {
      for (const CurvePart& part : curve->parts()) {
        first_ = std::min(first_, part.step), last_ = std::max(last_, part.step);
        least_ = std::min(least_, part.least), greatest_ = std::max(greatest_, part.greatest);
      }
    }
  }
  [[nodiscard]] std::int64_t first() const { return first_; }
  [[nodiscard]] std::int64_t last() const { return last_; }
  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double greatest() const { return greatest_; }

  /// Draws a curve: each part as a vertical line, and lines from part to part. A step that goes back, as after a
  /// restart, begins a new line.
  void draw(const Curve& curve, char mark) const {
    const CurvePart* before = nullptr;
    for (const CurvePart& part : curve.parts()) {
      const double x = column(part.step);
      line(x, height(part.least), x, height(part.greatest), mark);
      if (before != nullptr && before->step <= part.step) {
        line(column(before->step), middle(*before), x, middle(part), mark);
      }
      before = &part;
    }
  }

 private:
  // In halves: the difference of two large numbers may exceed the range.
  static double place(double value, double from, double to, std::size_t points) {
    const double extent = to / 2 - from / 2;
    return extent > 0 ? (value / 2 - from / 2) / extent * static_cast<double>(points - 1) : 0;
  }
  [[nodiscard]] double column(std::int64_t step) const {
    return place(static_cast<double>(step), static_cast<double>(first_), static_cast<double>(last_), canvas_.width());
  }
  [[nodiscard]] double height(double value) const { return place(value, least_, greatest_, canvas_.height()); }
  [[nodiscard]] double middle(const CurvePart& part) const { return (height(part.least) + height(part.greatest)) / 2; }
  void line(double x, double y, double to_x, double to_y, char mark) const {
    const double steps = std::max(1.0, std::ceil(std::max(std::abs(to_x - x), std::abs(to_y - y))));
    for (double i = 0; i <= steps; ++i) {
      canvas_.set(static_cast<std::size_t>(std::lround(x + (to_x - x) * i / steps)),
                  static_cast<std::size_t>(std::lround(y + (to_y - y) * i / steps)), mark);
    }
  }

  Canvas& canvas_;
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max(), last_ = std::numeric_limits<std::int64_t>::min();
  double least_ = std::numeric_limits<double>::infinity(), greatest_ = -least_;
};

/// The mark of curve `i` in a plot of several, or of characters: a, b, ..., z, a, ...
constexpr char curve_mark(std::size_t i) { return static_cast<char>('a' + i % 26); }

}  // namespace crochet_dump
