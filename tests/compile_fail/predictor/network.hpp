// SPDX-License-Identifier: Apache-2.0
// The program around the predictor of a case.
#pragma once

#include <cstdint>
#include <vector>

#include <crochet/checkpoint/predictor.hpp>
#include <crochet/executor/cpu.hpp>

namespace cr = crochet;

struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    auto images = g.placeholder<float>("images", {g.dynamic("batch"), 8});
    auto labels = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    auto logits = g.name("logits", dense(dropout(images, 0.5), 3, "output"));
    const cr::SharedVariables same(g);
    auto scores = g.name("scores", dense(images, 3, "output"));
    g.name("loss", sparse_softmax_cross_entropy(logits, labels));
    g.name("error", sparse_softmax_cross_entropy(scores, labels));
  }
};

inline const std::vector<float> x(16);
inline const std::vector<std::int32_t> y(2);
