// SPDX-License-Identifier: Apache-2.0
// A model on three ranks, and sessions of one of them.
#pragma once

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/every_n.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/on_chief.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include <utility>

namespace cr = crochet;
using namespace cr::literals;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto x = g.placeholder<float>("x", {g.dynamic("batch"), 3});
    const auto w = g.variable<float>("w", {3, 1}, cr::ones());
    const auto loss = g.name("loss", cr::reduce_mean(cr::square(cr::matmul(x, w))));
    g.name("largest_weight", cr::reduce_max(w));
    g.name("train", cr::minimize(loss, cr::SGD{}));
  }
};
inline float row[3];
inline auto some_row() { return cr::feed<"x">(cr::TensorView<float, 2>{row, {1, 3}}); }

inline auto executor(cr::testing::ThreadRank rank) { return cr::Parallel{cr::Cpu{}, rank}.compile<Model>(); }
