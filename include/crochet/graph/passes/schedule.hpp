// SPDX-License-Identifier: Apache-2.0
// Schedule: the nodes of a subgraph, partitioned into the steps of a plan.
#pragma once

#include <crochet/graph/core/constexpr_vector.hpp>
#include <crochet/graph/core/shape.hpp>
#include <crochet/graph/passes/broadcasts.hpp>

namespace crochet {

/// The nodes of one step.
struct Group {
  int root = -1;               ///< the node with the kernel; -1: an elementwise loop
  Shape shape;                 ///< the loop's
  SplitPoints cuts = 0;        ///< possible cuts of the loop into rows and columns
  ConstexprVector<int> nodes;  ///< elementwise nodes, assignments, reductions, in order
  bool panels = false;         ///< reads or writes variables in panels
  bool reduces = false;
};

struct Schedule {
  ConstexprVector<Group> groups;
  ConstexprVector<int> home;     ///< by node: the group that computes it; -1: source or floating
  ConstexprVector<char> stored;  ///< by node: whether another group or the caller reads it from memory
  ConstexprVector<int> base;     ///< by node: the node that owns its storage; differs from the node itself for views
};

}  // namespace crochet
