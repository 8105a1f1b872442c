// SPDX-License-Identifier: Apache-2.0
// Loops of the cross entropies of rows.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include <crochet/export/loop_writer.ipp>
#include <crochet/graph/ops/loss.hpp>

namespace crochet::detail {

class LossLoops : public LoopWriter {
 public:
  using LoopWriter::LoopWriter;

  /// Whether the node is one of these, which is then written.
  bool write() {
    const bool sparse = node_.op == &op::sparse_cross_entropy, is_loss = sparse || node_.op == &op::cross_entropy;
    if (is_loss) cross_entropy(sparse);
    return is_loss;
  }

 private:
  /// Of row x_: most_, which is its greatest element, or 0 if that is infinite, and log_, the logarithm of the sum of
  /// exp(x - most_).
  void log_of_sum(std::int64_t n) {
    const DType type = sum_type(n);
    const std::string f = node_.dtype == DType::float32 ? "f" : "", of_sum = type == DType::float32 ? "f" : "";
    line(t_ + " most_ = x_[0];");
    each("k_", n, "if (x_[k_] > most_) most_ = x_[k_];");
    line("if (!(most_ - most_ == 0)) most_ = 0;");
    line(element_text(type) + " sum_ = 0;");
    each("k_", n, "sum_ += __builtin_exp" + f + "(x_[k_] - most_);");
    line("const " + t_ + " log_ = static_cast<" + t_ + ">(__builtin_log" + of_sum + "(sum_));");
  }
  void cross_entropy(bool sparse) {
    const std::int64_t n = sizes(0).back();
    open("r_", plan_[i_].size);
    line("const " + t_ + "* const x_ = " + in(0) + " + r_ * " + number(n) + ";");
    if (sparse) {
      const std::string nan = literal(node_.dtype, std::numeric_limits<double>::quiet_NaN());
      line("const std::int32_t at_ = " + in(1) + "[r_];");
      log_of_sum(n);
      line(out() + "[r_] = at_ >= 0 && at_ < " + number(n) + " ? most_ - x_[at_] + log_ : " + nan + ";");
    } else {
      line("const " + t_ + "* const p_ = " + in(1) + " + r_ * " + number(n) + ";");
      log_of_sum(n);
      line(element_text(sum_type(n)) + " loss_ = 0;");
      each("k_", n, "loss_ += p_[k_] * (most_ - x_[k_] + log_);");
      line(out() + "[r_] = static_cast<" + t_ + ">(loss_);");
    }
    close();
  }
};

}  // namespace crochet::detail
