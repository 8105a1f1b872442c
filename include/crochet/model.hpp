// SPDX-License-Identifier: Apache-2.0
// Everything that a model's `define` and a hook's `extend_graph` are written with: GraphBuilder, operations, layers,
// gradients, optimizers. Standard library only; nothing here runs a graph.
#pragma once

#include <crochet/base/config.hpp>

// These come first: g++ prints how a header was reached, and so the errors of a model have a short trace.
#include <crochet/graph/core/broadcast.hpp>
#include <crochet/graph/core/builder.hpp>
#include <crochet/graph/train/gradients.hpp>

#include <crochet/graph/core/joined_name.hpp>
#include <crochet/graph/core/shared_variables.hpp>
#include <crochet/graph/layers/attention.hpp>
#include <crochet/graph/layers/layers.hpp>
#include <crochet/graph/layers/normalization.hpp>
#include <crochet/graph/ops/attention.hpp>
#include <crochet/graph/ops/control.hpp>
#include <crochet/graph/ops/conv.hpp>
#include <crochet/graph/ops/cumulative_sum.hpp>
#include <crochet/graph/ops/depthwise.hpp>
#include <crochet/graph/ops/dot_product_attention.hpp>
#include <crochet/graph/ops/elementwise.hpp>
#include <crochet/graph/ops/gather.hpp>
#include <crochet/graph/ops/iota.hpp>
#include <crochet/graph/ops/loss.hpp>
#include <crochet/graph/ops/matmul.hpp>
#include <crochet/graph/ops/normalization.hpp>
#include <crochet/graph/ops/pad.hpp>
#include <crochet/graph/ops/pool.hpp>
#include <crochet/graph/ops/random.hpp>
#include <crochet/graph/ops/reduce.hpp>
#include <crochet/graph/ops/reductions.hpp>
#include <crochet/graph/ops/reshape.hpp>
#include <crochet/graph/ops/softmax.hpp>
#include <crochet/graph/ops/top_k.hpp>
#include <crochet/graph/ops/transpose.hpp>
#include <crochet/graph/optimizers.hpp>
