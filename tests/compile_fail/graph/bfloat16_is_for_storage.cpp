// SPDX-License-Identifier: Apache-2.0
// expect-error: bfloat16_is_for_storage
// expect-error: bfloat16_is_for_storage.cpp:15
// A sum of two tensors of bfloat16. The error points at this file's line.
#include <crochet/graph/frozen.hpp>
#include <crochet/model.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    // clang-format off
    const auto x = g.placeholder<crochet::bfloat16>("x", {3});
#ifdef CROCHET_FIXED
    g.name("y", cast<crochet::bfloat16>(cast<float>(x) + cast<float>(x)));
#else
    g.name("y", x + x);
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();
