// SPDX-License-Identifier: Apache-2.0
// Loops over lines of elements: reductions, cumulative sums, softmax, normalization.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <crochet/export/loop_writer.ipp>
#include <crochet/graph/ops/cumulative_sum.hpp>
#include <crochet/graph/ops/normalization.hpp>
#include <crochet/graph/ops/reductions.hpp>
#include <crochet/graph/ops/softmax.hpp>

namespace crochet::detail {

class RowLoops : public LoopWriter {
 public:
  using LoopWriter::LoopWriter;

  /// Whether the node is one of these, which is then written.
  bool write() {
    const Op* const op = node_.op;
    if (op == &op::softmax || op == &op::log_softmax || op == &op::logsumexp) return softmax(), true;
    if (op == &op::row_moments) return moments(), true;
    if (op == &op::layer_norm || op == &op::rms_norm) return row_norm(), true;
    if (op == &op::group_norm) return group_norm(), true;
    if (op == &op::cumulative_sum) return cumulative_sum(), true;
    return reductions();
  }

 private:
  [[nodiscard]] Around reduced() const {
    const auto mask = static_cast<unsigned>(a(0));
    std::size_t begin = 0, end = sizes(0).size();
    while (begin < end && ((mask >> begin) & 1U) == 0) ++begin;
    while (end > begin && ((mask >> (end - 1)) & 1U) == 0) --end;
    return around(sizes(0), begin, end);
  }
  /// Opens loops over lines; `x_` is the first element of one, whose elements are `inner` apart.
  void open_lines(const Around& r) {
    open("o_", r.outer);
    open("l_", r.inner);
    line("const " + element_text(model_.node(node_.inputs[0]).dtype) + "* const x_ = " + in(0) + " + o_ * " +
         number(r.n * r.inner) + " + l_;");
  }
  static std::string element(const Around& r) { return "x_[k_ * " + number(r.inner) + "]"; }
  /// n in that type.
  [[nodiscard]] std::string count_text(std::int64_t n) const { return literal(sum_type(n), static_cast<double>(n)); }
  void sum(bool mean = false) {
    const std::string type = element_text(sum_type(reduced().n));
    reduction(type, "0", "sum_ = static_cast<" + type + ">(sum_ + v_);", mean);
  }
  /// Of floats in double: a product of few elements can already leave the range of a float on its way.
  void product() {
    const std::string type = is_floating(node_.dtype) ? "double" : t_;
    reduction(type, "1", "sum_ = static_cast<" + type + ">(sum_ * v_);");
  }
  void reduction(const std::string& type, const std::string& first, const std::string& update, bool mean = false) {
    const Around r = reduced();
    open_lines(r);
    line(type + " sum_ = " + first + ";");
    open("k_", r.n);
    line("const " + t_ + " v_ = " + element(r) + ";");
    line(update);
    close();
    const std::string result = std::string("sum_") + (mean ? " / " + count_text(r.n) : "");
    line(out() + "[o_ * " + number(r.inner) + " + l_] = static_cast<" + t_ + ">(" + result + ");");
    close(2);
  }
  void extreme(const std::string& better) {
    reduction(t_, "x_[0]", "if (" + better + or_nan("v_ != v_") + ") sum_ = v_;");
  }
  void position(const char* better) {
    const Around r = reduced();
    open_lines(r);
    line("std::int32_t best_ = 0;");
    const std::string x = element(r), best = "x_[best_ * " + number(r.inner) + "]";
    each("k_", r.n,
         "if (" + x + " " + better + " " + best + or_nan("(" + x + " != " + x + " && " + best + " == " + best + ")") +
             ") best_ = k_;");
    line(out() + "[o_ * " + number(r.inner) + " + l_] = best_;");
    close(2);
  }
  void softmax() {
    const bool log = node_.op == &op::log_softmax, sum_only = node_.op == &op::logsumexp;
    const auto axis = static_cast<std::size_t>(a(0));
    const Around r = around(sizes(0), axis, axis + 1);
    const std::string f = node_.dtype == DType::float32 ? "f" : "", x = element(r);
    open_lines(r);
    line(t_ + " most_ = x_[0];");
    line(element_text(sum_type(r.n)) + " sum_ = 0;");
    each("k_", r.n, "if (" + x + " > most_ || " + x + " != " + x + ") most_ = " + x + ";");
    if (sum_only)
      line("if (most_ - most_ != 0) { " + out() + "[o_ * " + number(r.inner) + " + l_] = most_; continue; }");
    if (!sum_only) {
      line(t_ + "* const y_ = " + out() + " + o_ * " + number(r.n * r.inner) + " + l_;");
    }
    const std::string y = "y_[k_ * " + number(r.inner) + "]", e = "__builtin_exp" + f + "(" + x + " - most_)";
    if (log || sum_only) {
      each("k_", r.n, "sum_ += " + e + ";");
      const std::string of_sum = sum_type(r.n) == DType::float32 ? "f" : "";
      line(std::string("const ") + t_ + " log_ = static_cast<" + t_ + ">(__builtin_log" + of_sum + "(sum_));");
      if (log) each("k_", r.n, y + " = " + x + " - most_ - log_;");
      if (sum_only) line(out() + "[o_ * " + number(r.inner) + " + l_] = most_ + log_;");
    } else {
      each("k_", r.n, "sum_ += " + y + " = " + e + ";");
      line("const " + t_ + " total_ = static_cast<" + t_ + ">(sum_);");
      each("k_", r.n, y + " /= total_;");
    }
    close(2);
  }
  /// The mean of n elements from their sum; 1 / the deviation from the sum of squares.
  [[nodiscard]] std::string mean_text(std::int64_t n) const {
    return "const " + t_ + " mean_ = static_cast<" + t_ + ">(total_ / " + count_text(n) + ");";
  }
  [[nodiscard]] std::string scale_text(std::int64_t n) const {
    const DType type = sum_type(n);
    return "static_cast<" + t_ + ">(1 / __builtin_sqrt" + (type == DType::float32 ? "f" : "") + "(sum_ / " +
           count_text(n) + " + " + literal(type, node_.attributes.reals[0]) + "))";
  }
  void moments() {
    const std::int64_t d = sizes(0).back();
    open("r_", plan_[node_.inputs[0]].size / d);
    line("const " + t_ + "* const x_ = " + in(0) + " + r_ * " + number(d) + ";");
    line(element_text(sum_type(d)) + " total_ = 0, sum_ = 0;");
    if (a(1) == 0) each("k_", d, "total_ += x_[k_];");
    line(mean_text(d));
    each("k_", d, "sum_ += (x_[k_] - mean_) * (x_[k_] - mean_);");
    line(out() + "[r_ * 2] = mean_;");
    line(out() + "[r_ * 2 + 1] = " + scale_text(d) + ";");
    close();
  }
  void row_norm() {
    const std::int64_t d = sizes(0).back();
    open("r_", plan_[i_].size / d);
    line("const " + t_ + "* const m_ = " + in(1) + " + r_ * 2;");
    each("k_", d,
         out() + "[r_ * " + number(d) + " + k_] = (" + in(0) + "[r_ * " + number(d) + " + k_] - m_[0]) * m_[1] * " +
             in(2) + "[k_]" + (node_.op == &op::layer_norm ? " + " + in(3) + "[k_]" : "") + ";");
    close();
  }
  void group_norm() {
    const Sizes& s = sizes(0);
    const std::int64_t c = s.back(), w = c / a(0), places = plan_[i_].size / (s[0] * c);
    const std::string at = "[(n_ * " + number(places) + " + p_) * " + number(c) + " + g_ * " + number(w) + " + k_]";
    open("n_", s[0]);
    open("g_", a(0));
    line(element_text(sum_type(places * w)) + " total_ = 0, sum_ = 0;");
    const auto over = [&](const std::string& statement) {
      open("p_", places);
      each("k_", w, statement);
      close();
    };
    const std::string x = in(0) + at;
    over("total_ += " + x + ";");
    line(mean_text(places * w));
    over("sum_ += (" + x + " - mean_) * (" + x + " - mean_);");
    line("const " + t_ + " scale_ = " + scale_text(places * w) + ";");
    const std::string channel = "[g_ * " + number(w) + " + k_]";
    over(out() + at + " = (" + x + " - mean_) * scale_ * " + in(1) + channel + " + " + in(2) + channel + ";");
    close(2);
  }
  void cumulative_sum() {
    const auto axis = static_cast<std::size_t>(a(0));
    const Around r = around(sizes(0), axis, axis + 1);
    open_lines(r);
    const std::string total = is_floating(node_.dtype) ? "double" : t_;
    const std::string add = "sum_ = static_cast<" + total + ">(sum_ + " + element(r) + ");";
    line(total + " sum_ = 0;");
    open("j_", r.n);
    line("const std::int32_t k_ = " + (a(2) != 0 ? number(r.n - 1) + " - j_" : std::string("j_")) + ";");
    if (a(1) == 0) line(add);
    line(out() + "[(o_ * " + number(r.n) + " + k_) * " + number(r.inner) + " + l_] = static_cast<" + t_ + ">(sum_);");
    if (a(1) != 0) line(add);
    close(3);
  }
  bool reductions() {
    const Op* const op = node_.op;
    if (op == &op::reduce_sum) return sum(), true;
    if (op == &op::reduce_mean) return sum(true), true;
    if (op == &op::reduce_prod) return product(), true;
    if (op == &op::reduce_max) return extreme("v_ > sum_"), true;
    if (op == &op::reduce_min) return extreme("v_ < sum_"), true;
    if (op == &op::reduce_any) return reduction(t_, "false", "sum_ = sum_ || v_;"), true;
    if (op == &op::reduce_all) return reduction(t_, "true", "sum_ = sum_ && v_;"), true;
    if (op == &op::argmax) return position(">"), true;
    if (op == &op::argmin) return position("<"), true;
    return false;
  }
};

}  // namespace crochet::detail
