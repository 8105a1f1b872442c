// SPDX-License-Identifier: Apache-2.0
// Loops over windows of images: convolutions and pooling.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <crochet/export/loop_writer.ipp>
#include <crochet/graph/ops/conv.hpp>
#include <crochet/graph/ops/depthwise.hpp>
#include <crochet/graph/ops/pool.hpp>

namespace crochet::detail {

class WindowLoops : public LoopWriter {
 public:
  using LoopWriter::LoopWriter;

  /// Whether the node is one of these, which is then written.
  bool write() {
    const Op* const op = node_.op;
    if (op == &op::conv2d || op == &op::depthwise_conv2d) return convolution(op == &op::depthwise_conv2d), true;
    if (op == &op::max_pool || op == &op::mean_pool) return pool(op == &op::max_pool), true;
    return false;
  }

 private:
  /// Opens loops over images, places and the window's elements inside the image; p_ and q_ are the image's row and
  /// column. Closed by close(5) and two continues.
  void open_places() {
    const Sizes& r = plan_[i_].dims;
    open("n_", r[0]);
    open("y_", r[1]);
    open("x_", r[2]);
    line(t_ + "* __restrict const to_ = " + out() + " + ((n_ * " + number(r[1]) + " + y_) * " + number(r[2]) +
         " + x_) * " + number(r[3]) + ";");
  }
  void open_window() {
    const Sizes& s = sizes(0);
    const Sizes& r = plan_[i_].dims;
    const auto before = [&](std::size_t d) {
      const std::int64_t extent = (a(d) - 1) * a(5 + d) + 1, all = (r[1 + d] - 1) * a(2 + d) + extent - s[1 + d];
      return a(4) == static_cast<std::int32_t>(Padding::same) && all > 0 ? all / 2 : 0;
    };
    const auto step = [&](const char* index, const char* at, const char* tap, std::size_t d) {
      open(tap, a(d));
      line(std::string("const std::int32_t ") + index + " = " + at + " * " + number(a(2 + d)) + " + " + tap + " * " +
           number(a(5 + d)) + " - " + number(before(d)) + ";");
      line(std::string("if (") + index + " < 0 || " + index + " >= " + number(s[1 + d]) + ") continue;");
    };
    step("p_", "y_", "i_", 0);
    step("q_", "x_", "j_", 1);
    line("const " + t_ + "* const from_ = " + in(0) + " + ((n_ * " + number(s[1]) + " + p_) * " + number(s[2]) +
         " + q_) * " + number(s[3]) + ";");
  }
  void convolution(bool depthwise) {
    const std::int64_t c = sizes(0)[3], k = sizes(1)[3];
    open_places();
    const std::int64_t n = plan_[i_].dims[3];
    const std::string sum = open_sums(n, "to_");
    open_window();
    line("const " + t_ + "* const tap_ = " + in(1) + " + (i_ * " + number(a(1)) + " + j_) * " + number(c * k) + ";");
    open("c_", c);
    const std::string at = "c_ * " + number(k) + " + k_";
    each("k_", k, sum + "[" + (depthwise ? at : "k_") + "] += from_[c_] * tap_[" + at + "];");
    close(3);
    close_sums(n, "to_");
    close(3);
  }
  void pool(bool max) {
    const std::int64_t c = plan_[i_].dims[3];
    open_places();
    line("std::int32_t count_ = 0;");
    if (!max) each("c_", c, "to_[c_] = 0;");
    open_window();
    const std::string larger = "count_ == 0 || from_[c_] > to_[c_]" + or_nan("from_[c_] != from_[c_]");
    each("c_", c, max ? "if (" + larger + ") to_[c_] = from_[c_];" : "to_[c_] += from_[c_];");
    line("++count_;");
    close(2);
    if (!max) each("c_", c, "to_[c_] /= static_cast<" + t_ + ">(count_);");
    close(3);
  }
};

}  // namespace crochet::detail
