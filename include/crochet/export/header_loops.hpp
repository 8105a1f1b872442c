// SPDX-License-Identifier: Apache-2.0
// The statements, in the text of an exported header, that compute one node.
#pragma once

#include <string>

#include <crochet/export/exported_model.hpp>
#include <crochet/export/header_plan.hpp>

namespace crochet::detail {

/// The loops of node i, which is computed and not inlined. Throws LogicError, with node and operation, if an exported
/// header cannot compute it.
std::string header_loops(const ExportedModel& model, const HeaderPlan& plan, int i);

}  // namespace crochet::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/export/header_loops.ipp>
#endif
