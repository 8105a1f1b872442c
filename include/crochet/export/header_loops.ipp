// SPDX-License-Identifier: Apache-2.0
// The compiled half of header_loops.hpp: one member function for each family of operations.
#pragma once

#include <crochet/export/header_loops.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/export/header_functions.hpp>
#include <crochet/graph/ops/attention.hpp>
#include <crochet/graph/ops/broadcast_to.hpp>
#include <crochet/graph/ops/comparisons.hpp>
#include <crochet/graph/ops/concat.hpp>
#include <crochet/graph/ops/conv.hpp>
#include <crochet/graph/ops/cumulative_sum.hpp>
#include <crochet/graph/ops/depthwise.hpp>
#include <crochet/graph/ops/gather.hpp>
#include <crochet/graph/ops/iota.hpp>
#include <crochet/graph/ops/matmul.hpp>
#include <crochet/graph/ops/normalization.hpp>
#include <crochet/graph/ops/pool.hpp>
#include <crochet/graph/ops/reductions.hpp>
#include <crochet/graph/ops/slice.hpp>
#include <crochet/graph/ops/softmax.hpp>
#include <crochet/graph/ops/top_k.hpp>
#include <crochet/graph/ops/transpose.hpp>

namespace crochet::detail {

/// Writes the loops of one node. Loop variables are i0_, i1_, ...; all sizes are numbers.
class HeaderLoops {
 public:
  HeaderLoops(const ExportedModel& model, const HeaderPlan& plan, int i)
      : model_(model), plan_(plan), i_(i), node_(model.node(i)), t_(element_text(node_.dtype)) {}

  std::string text() {
    write();
    return text_;
  }

 private:
  using Sizes = std::vector<std::int64_t>;
  static constexpr std::int64_t few = 64;        ///< sums that are an array on the stack
  static constexpr std::int64_t long_sum = 256;  ///< longer sums are kept in double: the CPU's blocks of rows
  /// x [outer, n, inner] around an axis.
  struct Around {
    std::int64_t outer = 1, n = 1, inner = 1;
  };

  static std::string number(std::int64_t n) { return std::to_string(n); }
  [[nodiscard]] const Sizes& sizes(std::size_t input) const { return plan_[node_.inputs[input]].dims; }
  [[nodiscard]] const std::string& in(std::size_t input) const { return plan_[node_.inputs[input]].text; }
  [[nodiscard]] const std::string& out() const { return plan_[i_].text; }
  [[nodiscard]] std::int64_t a(std::size_t k) const { return node_.attributes.ints[k]; }

  void open(const std::string& index, std::int64_t from, std::int64_t n) {
    line("for (int " + index + " = " + number(from) + "; " + index + " < " + number(n) + "; ++" + index + ") {");
    depth_ += 2;
  }
  void open(const std::string& index, std::int64_t n) { open(index, 0, n); }
  void close(int loops = 1) {
    for (; loops > 0; --loops) {
      depth_ -= 2;
      line("}");
    }
  }
  void line(const std::string& statement) { text_ += std::string(depth_, ' ') + statement + "\n"; }
  /// A loop of one statement.
  void each(const std::string& index, std::int64_t n, const std::string& statement) {
    open(index, n);
    line(statement);
    close();
  }

  /// The sum of index * stride over the dimensions; dimensions of 1 do not count. Dimensions are aligned at the right.
  static std::string place(const Sizes& of, const std::vector<std::string>& indices) {
    std::string sum;
    std::int64_t stride = 1;
    for (std::size_t d = of.size(); d-- > 0; stride *= of[d]) {
      const std::size_t k = indices.size() - of.size() + d;
      if (of[d] == 1) continue;
      sum = indices[k] + (stride == 1 ? "" : " * " + number(stride)) + (sum.empty() ? "" : " + " + sum);
    }
    return sum.empty() ? "0" : sum;
  }

  // ---- Elementwise -------------------------------------------------------------------------------------------------
  [[nodiscard]] std::string value(int i, const std::vector<std::string>& indices, const std::string& flat) const {
    if (plan_[i].inlined || i == i_) return call(i, indices, flat);
    if (plan_.is_number(i)) return plan_[i].text;
    const bool whole = !flat.empty() && plan_[i].size != 1;
    return plan_[i].text + "[" + (whole ? flat : place(plan_[i].dims, indices)) + "]";
  }
  [[nodiscard]] std::string call(int i, const std::vector<std::string>& indices, const std::string& flat) const {
    const ExportedNode& node = model_.node(i);
    if (node.op == &op::cast) {
      const std::string x = value(node.inputs[0], indices, flat), type = element_text(node.dtype);
      return node.dtype == DType::boolean ? "(" + x + " != 0)" : "static_cast<" + type + ">(" + x + ")";
    }
    if (header_function(*node.op).empty()) refuse(i);
    std::string arguments;
    for (const int in : node.inputs) arguments += (arguments.empty() ? "" : ", ") + value(in, indices, flat);
    return std::string(node.op->name) + "_(" + arguments + ")";
  }
  /// Whether every operand in this loop is a number or has the loop's shape.
  [[nodiscard]] bool is_flat(int i) const {
    for (const int in : model_.node(i).inputs) {
      if (plan_[in].inlined ? !is_flat(in) : plan_[in].size != 1 && plan_[in].dims != plan_[i_].dims) return false;
    }
    return true;
  }
  void elementwise() {
    if (is_flat(i_)) {
      each("i0_", plan_[i_].size, out() + "[i0_] = " + value(i_, {}, "i0_") + ";");
      return;
    }
    const std::vector<std::string> indices = open_all(plan_[i_].dims);
    line(out() + "[" + place(plan_[i_].dims, indices) + "] = " + value(i_, indices, "") + ";");
    close(static_cast<int>(indices.size()));
  }
  std::vector<std::string> open_all(const Sizes& dims) {
    std::vector<std::string> indices;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      indices.push_back("i" + std::to_string(d) + "_");
      open(indices.back(), dims[d]);
    }
    return indices;
  }

  // ---- Products ----------------------------------------------------------------------------------------------------
  void product() {
    Sizes left = sizes(0), right = sizes(1), result = plan_[i_].dims;
    const bool ta = a(0) != 0, tb = a(1) != 0;
    if (right.size() == 2) {  // all rows of a as one matrix
      if (!ta) {
        const std::int64_t k = left.back();
        left = {plan_[node_.inputs[0]].size / (k > 0 ? k : 1), k};
        result = {left[0], result.back()};
      }
    }
    const std::int64_t m = result[result.size() - 2], n = result.back();
    const std::int64_t k = ta ? left[left.size() - 2] : left.back();
    const Sizes batch(result.begin(), result.end() - 2);
    const std::vector<std::string> b = open_all(batch);
    const auto matrix = [&](const Sizes& s) {
      return place(Sizes(s.begin(), s.end() - 2), b) + ") * " + number(s[s.size() - 2] * s.back());
    };
    line("const " + t_ + "* const a_ = " + in(0) + " + (" + matrix(left) + ";");
    line("const " + t_ + "* const b_ = " + in(1) + " + (" + matrix(right) + ";");
    line(t_ + "* const c_ = " + out() + " + (" + matrix(result) + ";");
    rows_of_product(m, n, k, ta, tb);
    close(static_cast<int>(b.size()));
  }
  void rows_of_product(std::int64_t m, std::int64_t n, std::int64_t k, bool ta, bool tb) {
    const std::string left = ta ? "a_[k_ * " + number(m) + " + r_]" : "a_[r_ * " + number(k) + " + k_]";
    open("r_", m);
    line(t_ + "* __restrict const row_ = c_ + r_ * " + number(n) + ";");
    if (tb) {
      open("j_", n);
      line(t_ + " sum_ = 0;");
      each("k_", k, "sum_ += " + left + " * b_[j_ * " + number(k) + " + k_];");
      line("row_[j_] = sum_;");
      close();
    } else {
      const std::string sum = open_sums(n, "row_");
      open("k_", k);
      line("const " + t_ + " x_ = " + left + ";");
      each("j_", n, sum + "[j_] += x_ * b_[k_ * " + number(n) + " + j_];");
      close();
      close_sums(n, "row_");
    }
    close();
  }

  // ---- Windows -----------------------------------------------------------------------------------------------------
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
      line(std::string("const int ") + index + " = " + at + " * " + number(a(2 + d)) + " + " + tap + " * " +
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
  /// Sums of one row of a result, which are in registers if there are few. Returns the name of their array.
  std::string open_sums(std::int64_t n, const std::string& to) {
    if (n > few) {
      each("k_", n, to + "[k_] = 0;");
      return to;
    }
    line(t_ + " sums_[" + number(n) + "] = {};");
    return "sums_";
  }
  void close_sums(std::int64_t n, const std::string& to) {
    if (n <= few) each("k_", n, to + "[k_] = sums_[k_];");
  }
  void pool(bool max) {
    const std::int64_t c = plan_[i_].dims[3];
    open_places();
    line("int count_ = 0;");
    if (!max) each("c_", c, "to_[c_] = 0;");
    open_window();
    const std::string larger = "count_ == 0 || from_[c_] > to_[c_] || from_[c_] != from_[c_]";
    each("c_", c, max ? "if (" + larger + ") to_[c_] = from_[c_];" : "to_[c_] += from_[c_];");
    line("++count_;");
    close(2);
    if (!max) each("c_", c, "to_[c_] /= static_cast<" + t_ + ">(count_);");
    close(3);
  }

  // ---- Reductions and rows -----------------------------------------------------------------------------------------
  [[nodiscard]] Around around(const Sizes& s, std::size_t begin, std::size_t end) const {
    Around r;
    for (std::size_t d = 0; d < s.size(); ++d) (d < begin ? r.outer : d < end ? r.n : r.inner) *= s[d];
    return r;
  }
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
  /// The type of a sum of n elements: double for long ones, as on the CPU.
  [[nodiscard]] DType sum_type(std::int64_t n) const {
    return is_floating(node_.dtype) && n > long_sum ? DType::float64 : node_.dtype;
  }
  /// n in that type.
  [[nodiscard]] std::string count_text(std::int64_t n) const { return literal(sum_type(n), static_cast<double>(n)); }
  /// `sum` joins elements of a reduction in the type of a long sum: + or *. Other reductions have an update.
  void accumulation(const std::string& first, const std::string& sum, bool mean = false) {
    const std::string type = element_text(sum_type(reduced().n));
    reduction(type, first, "sum_ = static_cast<" + type + ">(sum_ " + sum + " v_);", mean);
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
  void position(const char* better) {
    const Around r = reduced();
    open_lines(r);
    line("int best_ = 0;");
    const std::string x = element(r), best = "x_[best_ * " + number(r.inner) + "]";
    each("k_", r.n,
         "if (" + x + " " + better + " " + best + " || (" + x + " != " + x + " && " + best + " == " + best +
             ")) best_ = k_;");
    line(out() + "[o_ * " + number(r.inner) + " + l_] = best_;");
    close(2);
  }
  void softmax() {
    const bool log = node_.op == &op::log_softmax, sum_only = node_.op == &op::logsumexp;
    const auto axis = static_cast<std::size_t>(a(0));
    const Around r = around(sizes(0), axis, axis + 1);
    const std::string f = node_.dtype == DType::float32 ? "f" : "", x = element(r);
    open_lines(r);
    line(t_ + " most_ = x_[0], sum_ = 0;");
    each("k_", r.n, "if (" + x + " > most_ || " + x + " != " + x + ") most_ = " + x + ";");
    if (sum_only)
      line("if (most_ - most_ != 0) { " + out() + "[o_ * " + number(r.inner) + " + l_] = most_; continue; }");
    if (!sum_only) {
      line(t_ + "* const y_ = " + out() + " + o_ * " + number(r.n * r.inner) + " + l_;");
    }
    const std::string y = "y_[k_ * " + number(r.inner) + "]", e = "__builtin_exp" + f + "(" + x + " - most_)";
    if (log || sum_only) {
      each("k_", r.n, "sum_ += " + e + ";");
      line(std::string("const ") + t_ + " log_ = __builtin_log" + f + "(sum_);");
      if (log) each("k_", r.n, y + " = " + x + " - most_ - log_;");
      if (sum_only) line(out() + "[o_ * " + number(r.inner) + " + l_] = most_ + log_;");
    } else {
      each("k_", r.n, "sum_ += " + y + " = " + e + ";");
      each("k_", r.n, y + " /= sum_;");
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

  // ---- Attention ---------------------------------------------------------------------------------------------------
  /// One query of a head: the probabilities p_ of the keys, from row_, the head's part of the example.
  void probabilities(std::int64_t l, std::int64_t d, std::int64_t w) {
    const std::string f = node_.dtype == DType::float32 ? "f" : "", last = keys(l);
    line(t_ + " most_ = 0, sum_ = 0;");
    line("for (int k_ = 0; k_ < " + last + "; ++k_) {");
    line("  " + t_ + " dot_ = 0;");
    line("  for (int c_ = 0; c_ < " + number(w) + "; ++c_) dot_ += row_[q_ * " + number(3 * d) + " + c_] * row_[k_ * " +
         number(3 * d) + " + " + number(d) + " + c_];");
    line("  p_[k_] = dot_ / __builtin_sqrt" + f + "(" + literal(node_.dtype, static_cast<double>(w)) + ");");
    line("  if (k_ == 0 || p_[k_] > most_) most_ = p_[k_];");
    line("}");
    line("for (int k_ = 0; k_ < " + last + "; ++k_) sum_ += p_[k_] = __builtin_exp" + f + "(p_[k_] - most_);");
    line("for (int k_ = 0; k_ < " + last + "; ++k_) p_[k_] /= sum_;");
  }
  /// The mean of the values, weighted by p_.
  void mix(std::int64_t l, std::int64_t d, std::int64_t w) {
    line(t_ + "* const to_ = " + out() + " + (n_ * " + number(l) + " + q_) * " + number(d) + " + h_ * " + number(w) +
         ";");
    each("c_", w, "to_[c_] = 0;");
    line("for (int k_ = 0; k_ < " + keys(l) + "; ++k_) {");
    line("  for (int c_ = 0; c_ < " + number(w) + "; ++c_) to_[c_] += p_[k_] * row_[k_ * " + number(3 * d) + " + " +
         number(2 * d) + " + c_];");
    line("}");
  }
  [[nodiscard]] std::string keys(std::int64_t l) const { return a(1) != 0 ? "q_ + 1" : number(l); }
  void attention() {
    const bool whole = node_.op == &op::self_attention, first = node_.op == &op::attention_probabilities;
    const std::size_t of_qkv = whole || first ? 0 : 1;
    const std::int64_t l = sizes(of_qkv)[1], d = sizes(of_qkv)[2] / 3, w = d / a(0);
    open("n_", sizes(of_qkv)[0]);
    open("h_", a(0));
    line("const " + t_ + "* const row_ = " + in(of_qkv) + " + n_ * " + number(3 * l * d) + " + h_ * " + number(w) +
         ";");
    open("q_", l);
    const std::string at = " + ((n_ * " + number(a(0)) + " + h_) * " + number(l) + " + q_) * " + number(l) + ";";
    if (whole) line(t_ + "* const p_ = reinterpret_cast<" + t_ + "*>(workspace_ + " + number(plan_[i_].scratch) + ");");
    if (first) line(t_ + "* const p_ = " + out() + at);
    if (!whole && !first) line("const " + t_ + "* const p_ = " + in(0) + at);
    if (whole || first) probabilities(l, d, w);
    if (first && a(1) != 0) line("for (int k_ = q_ + 1; k_ < " + number(l) + "; ++k_) p_[k_] = 0;");
    if (!first) mix(l, d, w);
    close(3);
  }

  // ---- Copies ------------------------------------------------------------------------------------------------------
  void transpose() {
    const Sizes& to = plan_[i_].dims;
    const std::vector<std::string> indices = open_all(to);
    std::vector<std::string> from(to.size());
    for (std::size_t d = 0; d < to.size(); ++d) from[static_cast<std::size_t>(a(d))] = indices[d];
    line(out() + "[" + place(to, indices) + "] = " + in(0) + "[" + place(sizes(0), from) + "];");
    close(static_cast<int>(to.size()));
  }
  void broadcast() {
    const std::vector<std::string> indices = open_all(plan_[i_].dims);
    line(out() + "[" + place(plan_[i_].dims, indices) + "] = " + value(node_.inputs[0], indices, "") + ";");
    close(static_cast<int>(indices.size()));
  }
  void concat() {
    const auto axis = static_cast<std::size_t>(a(0));
    const std::int64_t all = around(plan_[i_].dims, axis, axis + 1).n;
    std::int64_t begin = 0;
    for (std::size_t k = 0; k < node_.inputs.size(); ++k) {
      const Around r = around(sizes(k), axis, axis + 1);
      const std::int64_t part = r.n * r.inner;
      open("o_", r.outer);
      each("k_", part,
           out() + "[o_ * " + number(all * r.inner) + " + " + number(begin * r.inner) + " + k_] = " + in(k) + "[o_ * " +
               number(part) + " + k_];");
      close();
      begin += r.n;
    }
  }
  [[nodiscard]] std::string invalid() const {
    if (is_floating(node_.dtype)) return literal(node_.dtype, std::numeric_limits<double>::quiet_NaN());
    if (node_.dtype == DType::boolean) return "true";
    if (node_.dtype == DType::uint8) return literal(node_.dtype, 255);
    return literal(node_.dtype, node_.dtype == DType::int32 ? -0x1p31 : -0x1p63);
  }
  void slice(bool pads) {
    const auto axis = static_cast<std::size_t>(a(0));
    Extent dynamic(a(3));
    dynamic.powers = static_cast<std::uint32_t>(node_.attributes.ints[4]);
    const std::int64_t begin = a(2) + plan_.at(dynamic);
    const Around x = around(sizes(0), axis, axis + 1), y = around(plan_[i_].dims, axis, axis + 1);
    const std::string from = "o_ * " + number(x.n * x.inner), to = "o_ * " + number(y.n * y.inner);
    const std::string missing =
        pads ? literal(node_.dtype, node_.attributes.reals[0]) : (a(5) != 0 ? literal(node_.dtype, 0) : invalid());
    open("o_", x.outer);
    if (pads) each("k_", y.n * y.inner, out() + "[" + to + " + k_] = " + missing + ";");
    open("k_", pads ? x.n : y.n);
    line("const int at_ = " + number(begin) + " + k_ * " + number(a(1)) + ";");
    const std::string inside = "at_ >= 0 && at_ < " + number(pads ? y.n : x.n);
    const std::string k = "k_ * " + number(x.inner) + " + l_]", at = "at_ * " + number(x.inner) + " + l_]";
    if (pads) {
      each("l_", x.inner,
           "if (" + inside + ") " + out() + "[" + to + " + " + at + " = " + in(0) + "[" + from + " + " + k + ";");
    } else {
      each("l_", x.inner,
           out() + "[" + to + " + " + k + " = " + inside + " ? " + in(0) + "[" + from + " + " + at + " : " + missing +
               ";");
    }
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
    line("const int k_ = " + (a(2) != 0 ? number(r.n - 1) + " - j_" : std::string("j_")) + ";");
    if (a(1) == 0) line(add);
    line(out() + "[(o_ * " + number(r.n) + " + k_) * " + number(r.inner) + " + l_] = static_cast<" + t_ + ">(sum_);");
    if (a(1) != 0) line(add);
    close(3);
  }
  void iota() {
    const bool whole = !is_floating(node_.dtype);  // start and step are rounded towards 0, as by the CPU
    const auto wide = [whole](double x) {
      return literal(whole ? DType::int64 : DType::float64, whole ? std::trunc(x) : x);
    };
    const std::string start = wide(node_.attributes.reals[0]), step = wide(node_.attributes.reals[1]);
    each("i0_", plan_[i_].size, out() + "[i0_] = static_cast<" + t_ + ">(" + start + " + " + step + " * i0_);");
  }
  void take() {
    const std::int64_t n = sizes(0).back(), k = sizes(1).back();
    open("o_", plan_[i_].size / k);
    open("k_", k);
    line("const std::int64_t at_ = " + in(1) + "[o_ * " + number(k) + " + k_];");
    line(out() + "[o_ * " + number(k) + " + k_] = at_ >= 0 && at_ < " + number(n) + " ? " + in(0) + "[o_ * " +
         number(n) + " + at_] : " + literal(node_.dtype, 0) + ";");
    close(2);
  }
  void gather() {
    const auto axis = static_cast<std::size_t>(a(0));
    const Around x = around(sizes(0), axis, axis + 1);
    const std::int64_t count = plan_[node_.inputs[1]].size;
    const std::string missing = a(2) != 0 ? literal(node_.dtype, 0) : invalid();
    open("o_", x.outer);
    open("k_", count);
    line("const std::int64_t at_ = " + in(1) + "[k_];");
    each("l_", x.inner,
         out() + "[(o_ * " + number(count) + " + k_) * " + number(x.inner) + " + l_] = at_ >= 0 && at_ < " +
             number(x.n) + " ? " + in(0) + "[(o_ * " + number(x.n) + " + at_) * " + number(x.inner) +
             " + l_] : " + missing + ";");
    close(2);
  }

  [[noreturn]] void refuse(int i) const {
    throw LogicError(
        "crochet: " + spelt_node(model_, i) +
        " cannot be exported as a header, which has no code for this operation; export an output that does "
        "not need it, or compute it from other operations");
  }
  /// Operands of kernels are arrays; a number has no address.
  void require_arrays() const {
    for (const int in : node_.inputs) {
      if (plan_.is_number(in)) refuse(i_);
    }
  }

  void write() {
    const Op* const op = node_.op;
    if (op->kind == OpKind::elementwise) return elementwise();
    if (op == &op::broadcast_to) return broadcast();
    require_arrays();
    if (op == &op::matmul || op->name == "batched_matmul") return product();
    if (op == &op::conv2d || op == &op::depthwise_conv2d) return convolution(op == &op::depthwise_conv2d);
    if (op == &op::max_pool || op == &op::mean_pool) return pool(op == &op::max_pool);
    if (op == &op::softmax || op == &op::log_softmax || op == &op::logsumexp) return softmax();
    if (op == &op::row_moments) return moments();
    if (op == &op::layer_norm || op == &op::rms_norm) return row_norm();
    if (op == &op::group_norm) return group_norm();
    if (op == &op::self_attention || op == &op::attention_probabilities || op == &op::attention_mix) return attention();
    if (op == &op::cumulative_sum) return cumulative_sum();
    if (op == &op::take_along_rows) return take();
    if (op == &op::iota) return iota();
    if (op == &op::transpose) return transpose();
    if (op == &op::concat) return concat();
    if (op == &op::slice || op == &op::pad) return slice(op == &op::pad);
    if (op == &op::gather) return gather();
    reductions(op);
  }
  void reductions(const Op* op) {
    if (op == &op::reduce_sum) return accumulation("0", "+");
    if (op == &op::reduce_mean) return accumulation("0", "+", true);
    if (op == &op::reduce_prod) return accumulation("1", "*");
    if (op == &op::reduce_max) return reduction(t_, "x_[0]", "if (v_ > sum_ || v_ != v_) sum_ = v_;");
    if (op == &op::reduce_min) return reduction(t_, "x_[0]", "if (v_ < sum_ || v_ != v_) sum_ = v_;");
    if (op == &op::reduce_any) return reduction(t_, "false", "sum_ = sum_ || v_;");
    if (op == &op::reduce_all) return reduction(t_, "true", "sum_ = sum_ && v_;");
    if (op == &op::argmax) return position(">");
    if (op == &op::argmin) return position("<");
    refuse(i_);
  }

  const ExportedModel& model_;
  const HeaderPlan& plan_;
  int i_;
  const ExportedNode& node_;
  std::string t_, text_;
  std::size_t depth_ = 6;
};

CROCHET_INLINE std::string header_loops(const ExportedModel& model, const HeaderPlan& plan, int i) {
  return HeaderLoops(model, plan, i).text();
}

}  // namespace crochet::detail
