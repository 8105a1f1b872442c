// SPDX-License-Identifier: Apache-2.0
// Loops that find or use indices: top_k, gather, take_along_rows, segment_sum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <crochet/export/loop_writer.ipp>
#include <crochet/graph/ops/gather.hpp>
#include <crochet/graph/ops/top_k.hpp>

namespace crochet::detail {

class IndexLoops : public LoopWriter {
 public:
  using LoopWriter::LoopWriter;

  /// Whether the node is one of these, which is then written.
  bool write() {
    const Op* const op = node_.op;
    if (op == &op::top_k) return top_k(), true;
    if (op == &op::take_along_rows) return take(), true;
    if (op == &op::gather) return gather(), true;
    if (op == &op::segment_sum) return segment_sum(), true;
    return false;
  }

 private:
  /// Inserts each element of a row into the best ones so far; NaN before all numbers, equal elements in their order.
  void top_k() {
    const std::int64_t n = sizes(0).back(), k = plan_[i_].dims.back();
    const DType type = model_.node(node_.inputs[0]).dtype;
    const std::string other = "x_[best_[at_ - 1]]";
    const std::string nan = or_nan("(v_ != v_ && " + other + " == " + other + ")");
    open("r_", plan_[i_].size / k);
    line("const " + element_text(type) + "* const x_ = " + in(0) + " + r_ * " + number(n) + ";");
    line("std::int32_t* const best_ = " + out() + " + r_ * " + number(k) + ";");
    line("std::int32_t kept_ = 0;");
    open("i_", n);
    line("const " + element_text(type) + " v_ = x_[i_];");
    line("std::int32_t at_ = kept_;");
    line("for (; at_ > 0 && (v_ > " + other + nan + "); --at_) {");
    line("  if (at_ < " + number(k) + ") best_[at_] = best_[at_ - 1];");
    line("}");
    line("if (at_ < " + number(k) + ") best_[at_] = i_;");
    line("if (kept_ < " + number(k) + ") ++kept_;");
    close(2);
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
  /// Sums in the order of the indices, as on the CPU.
  void segment_sum() {
    const auto axis = static_cast<std::size_t>(a(0));
    const Around y = around(plan_[i_].dims, axis, axis + 1);
    const std::int64_t count = plan_[node_.inputs[1]].size;
    each("i0_", plan_[i_].size, out() + "[i0_] = 0;");
    open("o_", y.outer);
    open("k_", count);
    line("const std::int64_t at_ = " + in(1) + "[k_];");
    line("if (at_ < 0 || at_ >= " + number(y.n) + ") continue;");
    line(t_ + "* const to_ = " + out() + " + (o_ * " + number(y.n) + " + at_) * " + number(y.inner) + ";");
    line("const " + t_ + "* const from_ = " + in(0) + " + (o_ * " + number(count) + " + k_) * " + number(y.inner) +
         ";");
    each("l_", y.inner, "to_[l_] = static_cast<" + t_ + ">(to_[l_] + from_[l_]);");
    close(2);
  }
};

}  // namespace crochet::detail
