// SPDX-License-Identifier: Apache-2.0
// Models of many layers, to detect compile time above linear in their number.
#pragma once
#include <crochet/model.hpp>

#include "training.hpp"

/// `layers` dense layers, the i-th of 64 + step * i units, and one of 10.
template <int layers, int step>
struct Deep {
  static constexpr void define(crochet::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    auto x = g.placeholder<float>("images", {batch, 64});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    char name[] = "layer00";
    for (int i = 0; i < layers - 1; ++i) {
      name[5] = static_cast<char>('0' + i / 10);
      name[6] = static_cast<char>('0' + i % 10);
      x = relu(dense(x, 64 + step * i, name));
    }
    const auto loss = g.name("loss", sparse_softmax_cross_entropy(dense(x, 10, "output"), labels));
    g.name("train", minimize(loss, crochet::Adam{}));
  }
};
