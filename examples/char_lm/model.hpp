// SPDX-License-Identifier: Apache-2.0
// A small GPT: token and position embeddings, pre-norm blocks of causal attention and a perceptron, and a loss for the
// next character at each place. Radford et al., "Language Models are Unsupervised Multitask Learners", 2019, section
// 2.3, at a smaller size.
#pragma once
#include <crochet/model.hpp>

#include "text.hpp"

namespace char_lm {

inline constexpr std::int64_t width = 64;
inline constexpr std::int32_t heads = 4;

/// Training parameters; twin.py has the same numbers.
inline constexpr double peak_rate = 3e-3;
inline constexpr double warmup_steps = 30;
inline constexpr double all_steps = 2000;

struct Model {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto tokens = g.placeholder<std::int32_t>("tokens", {batch, context});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch, context});

    const auto positions = g.variable<float>("positions", {context, width}, small);
    auto x = embedding(tokens, symbols, width, "characters", small) + positions;
    for (const Names& names : blocks) x = block(x, names);
    const auto logits = g.name("logits", dense(layer_norm(x, "norm"), symbols, "output", small));
    const auto loss = g.name("loss", sparse_softmax_cross_entropy(logits, labels));
    g.name("train", minimize(loss, optimizer(), {.clip = cr::ClipByGlobalNorm{1.0}}));
  }

  static constexpr cr::AdamW optimizer() {
    return {.learning_rate = cr::LinearWarmup{.steps = warmup_steps,
                                              .then = cr::CosineDecay{.initial = peak_rate,
                                                                      .decay_steps = all_steps - warmup_steps,
                                                                      .alpha = 0.1}},
            .beta2 = 0.99,
            .weight_decay = 0.1,
            .decays = cr::only_matrices};
  }

 private:
  /// The names of a block's parts.
  struct Names {
    std::string_view norm1, attention, norm2, up, down;
  };
  static constexpr Names blocks[] = {{"block1/norm1", "block1/attention", "block1/norm2", "block1/up", "block1/down"},
                                     {"block2/norm1", "block2/attention", "block2/norm2", "block2/up", "block2/down"}};
  static constexpr cr::Initializer small = cr::truncated_normal(0, 0.02);

  /// x [batch, context, width] -> the same shape.
  static constexpr cr::Tensor block(cr::Tensor x, const Names& names) {
    x = x + multi_head_self_attention(layer_norm(x, names.norm1), heads, names.attention, {.causal = true});
    const auto hidden = gelu(dense(layer_norm(x, names.norm2), 4 * width, names.up, small));
    return x + dense(hidden, width, names.down, small);
  }
};

}  // namespace char_lm
