// SPDX-License-Identifier: Apache-2.0
// Names for all nodes of a graph, for files: the rules are graph/node_names.hpp's.
#pragma once

#include <crochet/graph/node_names.hpp>

namespace crochet::io {

using crochet::node_names;

}  // namespace crochet::io
