// SPDX-License-Identifier: Apache-2.0
// The model and the data of these cases.
#pragma once

#include <cstdint>
#include <vector>

#include <crochet/checkpoint/fit.hpp>
#include <crochet/executor/cpu.hpp>

namespace cr = crochet;

struct Line {
  static constexpr void define(cr::GraphBuilder& g) {
    auto x = g.placeholder<float>("x", {g.dynamic("batch"), 2});
    auto y = g.placeholder<float>("y", {g.dynamic("batch"), 1});
    auto loss = g.name("loss", mean_squared_error(dense(x, 1, "output"), y));
    g.name("train", minimize(loss, cr::SGD{}));
  }
};

/// One batch an epoch, whose second field has the name Target.
template <cr::FixedString Target>
struct Points {
  struct Position {
    std::int64_t epoch = 0, batch = 0;
  };
  using View = cr::TensorView<const float, 2>;
  using Batch = decltype(cr::feeds(cr::feed<"x">(View{}), cr::feed<Target>(View{})));

  Position at;
  std::vector<Batch> batches{1};

  Batch next() { return ++at.epoch, batches[0]; }
  Batch operator()() { return next(); }
  [[nodiscard]] auto begin() const { return batches.begin(); }
  [[nodiscard]] auto end() const { return batches.end(); }
  [[nodiscard]] Position position() const { return at; }
  void seek(Position to) { at = to; }
};
