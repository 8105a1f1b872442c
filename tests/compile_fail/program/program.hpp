// SPDX-License-Identifier: Apache-2.0
// The rest of README's program around the model or call of a case, as in a user's program.
#pragma once

#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks/logging_tensor.hpp>
#include <crochet/hooks/nan_tensor.hpp>
#include <crochet/hooks/progress_bar.hpp>
#include <crochet/hooks/stop_at_step.hpp>

namespace cr = crochet;
using namespace cr::literals;

/// README's model.
struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    auto images = g.placeholder<float>("images", {g.dynamic("batch"), 784});
    auto labels = g.placeholder<std::int32_t>("labels", {g.dynamic("batch")});
    auto hidden = relu(dense(images, 128, "hidden"));
    auto logits = g.name("logits", dense(hidden, 10, "output"));
    auto loss = g.name("loss", sparse_softmax_cross_entropy(logits, labels));
    g.name("train", minimize(loss, cr::Adam{.learning_rate = 1e-3}));
  }
};

struct Batch {
  std::vector<float> images = std::vector<float>(784);
  std::vector<std::int32_t> labels = std::vector<std::int32_t>(1);
};

inline auto feeds_of(const Batch& b) { return cr::feeds(cr::feed<"images">(b.images), cr::feed<"labels">(b.labels)); }

/// README's hooks.
inline auto hooks() {
  return cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::LoggingTensor<"loss">{.every_steps = 100},
                       cr::NanTensor<"loss">{}, cr::ProgressBar{.total = 500}};
}
