// SPDX-License-Identifier: Apache-2.0
// DividedModel: a model whose batch is divided among ranks, and why a model cannot be.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include <crochet/base/error.hpp>
#include <crochet/base/name.hpp>
#include <crochet/graph/model_check.hpp>
#include <crochet/graph/train/share_over_ranks.hpp>

namespace crochet {

namespace detail {

/// How a model is divided.
struct ModelDivision {
  bool in_shards = false, overlaps = false;
  int optimizer_parts = 0;
};
/// `Model` on one of several ranks, or in fixed shards.
template <class Model, ModelDivision How>
struct DividedModel {
  static constexpr bool in_shards = How.in_shards;
  static constexpr void define(GraphBuilder& g) {
    g.divide_batch(in_shards, How.overlaps);
    g.divide_optimizer(How.optimizer_parts);
    Model::define(g);
  }
};
/// The reason why the model cannot be divided, as a std::type_identity of a crochet::error. Divided: a DividedModel.
template <class Divided>
constexpr auto dividing_reason() {
  if constexpr (Builds<Divided>) {
    constexpr auto build = [](auto use) {
      GraphBuilder g;
      Divided::define(g);
      return use(variable_that_differs(g));
    };
    constexpr std::size_t length = build([](std::string_view name) { return name.size(); });
    if constexpr (length > 0) {
      constexpr auto name = build([](std::string_view n) { return FixedString<length + 1>(n); });
      return std::type_identity<error::this_variable_would_differ_between_ranks<spelt<Name<name>>>>{};
    } else {
      return std::type_identity<error::none>{};
    }
  } else {
    return std::type_identity<error::none>{};  // the mistake has a line of its own
  }
}

/// The last extension of its graph.
struct ShareOverRanks {
  static constexpr void extend_graph(GraphBuilder& g) {
    share_named_scalars(g);
    check_assignments(g);
  }
};

/// Device: Cpu or Cuda. It compiles a model of one of several ranks, with `executor_of_rank<Model, Extensions...>`, and
/// states with `has_shards` whether it takes ParallelOptions::shards and ShardedOptimizer, and with
/// `exchanges_on_device` whether values can be exchanged in its memory.
template <class Device, class Divided, class... Hooks>
using ExecutorOfRank = typename Device::template executor_of_rank<Divided, Hooks..., ShareOverRanks>;

}  // namespace detail

}  // namespace crochet
