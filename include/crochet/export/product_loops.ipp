// SPDX-License-Identifier: Apache-2.0
// Loops of products of matrices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <crochet/export/loop_writer.ipp>
#include <crochet/graph/ops/matmul.hpp>

namespace crochet::detail {

class ProductLoops : public LoopWriter {
 public:
  using LoopWriter::LoopWriter;

  /// Whether the node is one of these, which is then written.
  bool write() {
    const bool is_product = node_.op == &op::matmul || node_.op->name == "batched_matmul";
    if (is_product) product();
    return is_product;
  }

 private:
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
};

}  // namespace crochet::detail
