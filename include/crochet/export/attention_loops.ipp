// SPDX-License-Identifier: Apache-2.0
// Loops of attention.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <crochet/export/loop_writer.ipp>
#include <crochet/graph/ops/attention.hpp>

namespace crochet::detail {

class AttentionLoops : public LoopWriter {
 public:
  using LoopWriter::LoopWriter;

  /// Whether the node is one of these, which is then written.
  bool write() {
    const Op* const op = node_.op;
    const bool attends = op == &op::self_attention || op == &op::attention_probabilities || op == &op::attention_mix;
    if (attends) attention();
    return attends;
  }

 private:
  /// One query of a head: the probabilities p_ of the keys, from row_, the head's part of the example.
  void probabilities(std::int64_t l, std::int64_t d, std::int64_t w) {
    const std::string f = node_.dtype == DType::float32 ? "f" : "", last = keys(l);
    line(t_ + " most_ = 0, sum_ = 0;");
    line("for (std::int32_t k_ = 0; k_ < " + last + "; ++k_) {");
    line("  " + t_ + " dot_ = 0;");
    line("  for (std::int32_t c_ = 0; c_ < " + number(w) + "; ++c_) dot_ += row_[q_ * " + number(3 * d) +
         " + c_] * row_[k_ * " + number(3 * d) + " + " + number(d) + " + c_];");
    line("  p_[k_] = dot_ / __builtin_sqrt" + f + "(" + literal(node_.dtype, static_cast<double>(w)) + ");");
    line("  if (k_ == 0 || p_[k_] > most_) most_ = p_[k_];");
    line("}");
    line("for (std::int32_t k_ = 0; k_ < " + last + "; ++k_) sum_ += p_[k_] = __builtin_exp" + f + "(p_[k_] - most_);");
    line("for (std::int32_t k_ = 0; k_ < " + last + "; ++k_) p_[k_] /= sum_;");
  }
  /// The mean of the values, weighted by p_.
  void mix(std::int64_t l, std::int64_t d, std::int64_t w) {
    line(t_ + "* const to_ = " + out() + " + (n_ * " + number(l) + " + q_) * " + number(d) + " + h_ * " + number(w) +
         ";");
    each("c_", w, "to_[c_] = 0;");
    line("for (std::int32_t k_ = 0; k_ < " + keys(l) + "; ++k_) {");
    line("  for (std::int32_t c_ = 0; c_ < " + number(w) + "; ++c_) to_[c_] += p_[k_] * row_[k_ * " + number(3 * d) +
         " + " + number(2 * d) + " + c_];");
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
    if (first && a(1) != 0) line("for (std::int32_t k_ = q_ + 1; k_ < " + number(l) + "; ++k_) p_[k_] = 0;");
    if (!first) mix(l, d, w);
    close(3);
  }
};

}  // namespace crochet::detail
