// SPDX-License-Identifier: Apache-2.0
// The compiled half of header_loops.hpp: the family of operations that has the node writes it.
#pragma once

#include <crochet/export/header_loops.hpp>

#include <string>

#include <crochet/base/config.hpp>
#include <crochet/export/attention_loops.ipp>
#include <crochet/export/copy_loops.ipp>
#include <crochet/export/elementwise_loops.ipp>
#include <crochet/export/loop_writer.ipp>
#include <crochet/export/product_loops.ipp>
#include <crochet/export/row_loops.ipp>
#include <crochet/export/window_loops.ipp>

namespace crochet::detail {

/// Operands of kernels are arrays; a number has no address.
inline bool has_numbers(const ExportedModel& model, const HeaderPlan& plan, int i) {
  for (const int in : model.node(i).inputs) {
    if (plan.is_number(in)) return true;
  }
  return false;
}
/// Whether the family has the node; its loops are then in `text`.
template <class Family>
bool written_by(std::string& text, const ExportedModel& model, const HeaderPlan& plan, int i) {
  Family family(model, plan, i);
  const bool written = family.write();
  if (written) text = family.text();
  return written;
}

CROCHET_INLINE std::string header_loops(const ExportedModel& model, const HeaderPlan& plan, int i) {
  std::string text;
  const auto by = [&]<class... Family>() { return (written_by<Family>(text, model, plan, i) || ...); };
  const bool written = by.template operator()<ElementwiseLoops>() ||
                       (!has_numbers(model, plan, i) &&
                        by.template operator()<ProductLoops, WindowLoops, RowLoops, AttentionLoops, CopyLoops>());
  if (!written) LoopWriter(model, plan, i).refuse(i);
  return text;
}

}  // namespace crochet::detail
