// SPDX-License-Identifier: Apache-2.0
// The model of these cases, and its export.
#pragma once
#include <crochet/export/export_header.hpp>
#include <crochet/graph/layers/layers.hpp>
#include <crochet/graph/ops/random.hpp>
#include <crochet/model.hpp>

namespace cr = crochet;

struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    auto images = g.placeholder<float>("images", {g.dynamic("batch"), 8});
    g.name("logits", dense(dropout(images, 0.5), 3, "output"));
    const cr::SharedVariables same(g);
    g.name("scores", dense(images, 3, "output"));
  }
};
