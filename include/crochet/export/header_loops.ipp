// SPDX-License-Identifier: Apache-2.0
// The compiled half of header_loops.hpp: the family of operations that has the node writes it.
#pragma once

#include <crochet/export/header_loops.hpp>

#include <string>

#include <crochet/base/config.hpp>
#include <crochet/export/attention_loops.ipp>
#include <crochet/export/copy_loops.ipp>
#include <crochet/export/elementwise_loops.ipp>
#include <crochet/export/index_loops.ipp>
#include <crochet/export/loop_writer.ipp>
#include <crochet/export/loss_loops.ipp>
#include <crochet/export/product_loops.ipp>
#include <crochet/export/row_loops.ipp>
#include <crochet/export/window_loops.ipp>

namespace crochet::detail {

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
  const bool written = by.template operator()<ElementwiseLoops, ProductLoops, WindowLoops, RowLoops, LossLoops,
                                              AttentionLoops, IndexLoops, CopyLoops>();
  if (!written) LoopWriter(model, plan, i).refuse(i);
  return text;
}

}  // namespace crochet::detail
