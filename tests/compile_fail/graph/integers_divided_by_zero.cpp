// SPDX-License-Identifier: Apache-2.0
// expect-error: division_of_integers_by_zero
// expect-error: integers_divided_by_zero.cpp:16
// For floats the result is infinity or NaN. The error points at this file's line.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto ids = g.placeholder<std::int32_t>("ids", {g.dynamic("batch")});
    // clang-format off
#ifdef CROCHET_FIXED
    g.name("places", mod(ids, 3));
#else

    g.name("places", mod(ids, 0));
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();
