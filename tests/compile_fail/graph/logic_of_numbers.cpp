// SPDX-License-Identifier: Apache-2.0
// expect-error: element_type_not_supported
// expect-error: logic_of_numbers.cpp:15
// Logical operations require bools, such as the result of a comparison. The error points at this file's line.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 10});
    // clang-format off
#ifdef CROCHET_FIXED
    g.name("inside", logical_and(greater(x, 0), less(x, 1)));
#else
    g.name("inside", logical_and(x, less(x, 1)));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();
