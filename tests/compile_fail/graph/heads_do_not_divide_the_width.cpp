// SPDX-License-Identifier: Apache-2.0
// expect-error: heads_do_not_divide_the_width
// expect-error: heads_do_not_divide_the_width.cpp:16
// 128 channels are not divisible into 3 equal heads.
#include <crochet/graph/frozen.hpp>
#include <crochet/graph/ops/attention.hpp>

struct Model {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto qkv = g.placeholder<float>("qkv", {g.dynamic("batch"), 16, 384});
    const std::int32_t four = 4, three = 3;
    // clang-format off
#ifdef CROCHET_FIXED
    g.name("y", self_attention(qkv, four)); (void)three;
#else
    g.name("y", self_attention(qkv, three)); (void)four;
#endif
    // clang-format on
  }
};

constexpr auto graph = crochet::freeze_graph<Model>();
