// SPDX-License-Identifier: Apache-2.0
// Loops that move elements: transpose, concat, slice, pad; and iota.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <crochet/export/loop_writer.ipp>
#include <crochet/graph/ops/concat.hpp>
#include <crochet/graph/ops/iota.hpp>
#include <crochet/graph/ops/slice.hpp>
#include <crochet/graph/ops/transpose.hpp>

namespace crochet::detail {

class CopyLoops : public LoopWriter {
 public:
  using LoopWriter::LoopWriter;

  /// Whether the node is one of these, which is then written.
  bool write() {
    const Op* const op = node_.op;
    if (op == &op::iota) return iota(), true;
    if (op == &op::transpose) return transpose(), true;
    if (op == &op::concat) return concat(), true;
    if (op == &op::slice || op == &op::pad) return slice(op == &op::pad), true;
    return false;
  }

 private:
  void transpose() {
    const Sizes& to = plan_[i_].dims;
    const std::vector<std::string> indices = open_all(to);
    std::vector<std::string> from(to.size());
    for (std::size_t d = 0; d < to.size(); ++d) from[static_cast<std::size_t>(a(d))] = indices[d];
    line(out() + "[" + place(to, indices) + "] = " + in(0) + "[" + place(sizes(0), from) + "];");
    close(static_cast<int>(to.size()));
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
    line("const std::int32_t at_ = " + number(begin) + " + k_ * " + number(a(1)) + ";");
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
  void iota() {
    const bool whole = !is_floating(node_.dtype);  // start and step are rounded towards 0, as by the CPU
    const auto wide = [whole](double x) {
      return literal(whole ? DType::int64 : DType::float64, whole ? std::trunc(x) : x);
    };
    const std::string start = wide(node_.attributes.reals[0]), step = wide(node_.attributes.reals[1]);
    each("i0_", plan_[i_].size, out() + "[i0_] = static_cast<" + t_ + ">(" + start + " + " + step + " * i0_);");
  }
};

}  // namespace crochet::detail
