// SPDX-License-Identifier: Apache-2.0
// LoopWriter: the text of the loops of one node. A class for each family of operations derives from it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/export/exported_model.hpp>
#include <crochet/export/header_plan.hpp>

namespace crochet::detail {

/// Writes loops over known sizes. Their variables have 32 bits, since `int` may have 16 on a small target.
class LoopWriter {
 public:
  LoopWriter(const ExportedModel& model, const HeaderPlan& plan, int i)
      : model_(model), plan_(plan), i_(i), node_(model.node(i)), t_(element_text(node_.dtype)) {}

  /// The loops, after the arrays of the numbers among the operands.
  [[nodiscard]] std::string text() const { return numbers_ + text_; }

  /// Throws LogicError for node i.
  [[noreturn]] void refuse(int i) const {
    throw LogicError(
        "crochet: " + spelt_node(model_, i) +
        " cannot be exported as a header, which has no code for this operation; export an output that does "
        "not need it, or compute it from other operations");
  }

 protected:
  using Sizes = std::vector<std::int64_t>;
  static constexpr std::int64_t few = 64;        ///< sums that are an array on the stack
  static constexpr std::int64_t long_sum = 256;  ///< longer sums are kept in double: the CPU's blocks of rows
  /// x [outer, n, inner] around an axis.
  struct Around {
    std::int64_t outer = 1, n = 1, inner = 1;
  };

  static std::string number(std::int64_t n) { return std::to_string(n); }
  [[nodiscard]] const Sizes& sizes(std::size_t input) const { return plan_[node_.inputs[input]].dims; }
  /// The address of an operand of a kernel. A number has none in the model, so it becomes an array of one element.
  std::string in(std::size_t input) {
    const int node = node_.inputs[input];
    if (!plan_.is_number(node)) return plan_[node].text;
    const std::string name = "n" + number(static_cast<std::int64_t>(input)) + "_";
    const std::string array = "const " + element_text(model_.node(node).dtype) + " " + name + "[1] = {";
    if (numbers_.find(array) == std::string::npos) numbers_ += "      " + array + plan_[node].text + "};\n";
    return name;
  }
  /// The result of an index outside a dimension.
  [[nodiscard]] std::string invalid() const {
    if (is_floating(node_.dtype)) return literal(node_.dtype, std::numeric_limits<double>::quiet_NaN());
    if (node_.dtype == DType::boolean) return "true";
    if (node_.dtype == DType::uint8) return literal(node_.dtype, 255);
    return literal(node_.dtype, node_.dtype == DType::int32 ? -0x1p31 : -0x1p63);
  }
  /// The type of a sum of n elements: double for long ones, as on the CPU.
  [[nodiscard]] DType sum_type(std::int64_t n) const {
    return is_floating(node_.dtype) && n > long_sum ? DType::float64 : node_.dtype;
  }
  [[nodiscard]] const std::string& out() const { return plan_[i_].text; }
  [[nodiscard]] std::int64_t a(std::size_t k) const { return node_.attributes.ints[k]; }

  /// ` || condition` where operand 0 can have NaN: an integer compared with itself is a warning of compilers.
  [[nodiscard]] std::string or_nan(const std::string& condition) const {
    return is_floating(model_.node(node_.inputs[0]).dtype) ? " || " + condition : "";
  }

  void open(const std::string& index, std::int64_t from, std::int64_t n) {
    line("for (std::int32_t " + index + " = " + number(from) + "; " + index + " < " + number(n) + "; ++" + index +
         ") {");
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
  std::vector<std::string> open_all(const Sizes& dims) {
    std::vector<std::string> indices;
    for (std::size_t d = 0; d < dims.size(); ++d) {
      indices.push_back("i" + std::to_string(d) + "_");
      open(indices.back(), dims[d]);
    }
    return indices;
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
  [[nodiscard]] Around around(const Sizes& s, std::size_t begin, std::size_t end) const {
    Around r;
    for (std::size_t d = 0; d < s.size(); ++d) (d < begin ? r.outer : d < end ? r.n : r.inner) *= s[d];
    return r;
  }

  const ExportedModel& model_;
  const HeaderPlan& plan_;
  int i_;
  const ExportedNode& node_;
  std::string t_;  ///< the element type of the node

 private:
  std::string text_, numbers_;
  std::size_t depth_ = 6;
};

}  // namespace crochet::detail
