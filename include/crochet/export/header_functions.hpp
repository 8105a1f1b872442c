// SPDX-License-Identifier: Apache-2.0
// The function, in the text of an exported header, for each elementwise operation.
#pragma once

#include <string>

#include <crochet/graph/core/op.hpp>

namespace crochet::detail {

/// The definition of `NAME_`, a static member function for one element; empty: the operation has none.
std::string header_function(const Op& op);

}  // namespace crochet::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/export/header_functions.ipp>
#endif
