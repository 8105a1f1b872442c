// SPDX-License-Identifier: Apache-2.0
// Gradients that are accumulated over several runs, on two ranks and on one machine.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include "../checkpoint/directory.hpp"

namespace ranks_accumulation_test {

namespace cr = crochet;
using namespace cr::literals;

struct Line {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto x = g.placeholder<float>("x", {batch, 1}), y = g.placeholder<float>("y", {batch, 1});
    const auto loss = g.name("loss", reduce_mean(square(matmul(x, g.variable<float>("w", {1, 1}, cr::zeros())) - y)));
    g.name("train", minimize(loss, cr::SGD{0.1}, {.accumulate = {.steps = 3}}));
  }
};

/// The number of rows of each run.
using Runs = std::vector<std::int64_t>;

class Accumulation : public ::testing::Test {
 protected:
  cr::Directory folder;

  /// `w` after the runs, of which the program makes those before `stop`, saves, and makes the others when started
  /// again.
  template <class Device>
  float w_after(const Device& device, int rank, int ranks, const Runs& runs, std::size_t from, std::size_t stop) {
    auto executor = device.template compile<Line>();
    cr::Saver saver{folder / std::to_string(ranks), {.say = [](std::string_view) {}}};
    cr::MonitoredSession session{executor, cr::HookChain{cr::CheckpointSaver{saver, {.save_steps = 1000}}},
                                 cr::restore_latest(saver)};
    cr::run_session(session, [&](auto& s) {
      for (std::size_t k = from; k < stop && !s.should_stop(); ++k) {
        std::vector<float> x, y;
        for (std::int64_t i = rank * runs[k] / ranks; i < (rank + 1) * runs[k] / ranks; ++i) {
          x.push_back(static_cast<float>(1 + i));
          y.push_back(static_cast<float>(3 + i % 2));
        }
        const std::array shape{static_cast<std::int64_t>(x.size()), std::int64_t{1}};
        s.run(cr::targets<"train">, cr::feed<"x">(cr::TensorView<const float, 2>{x.data(), shape}),
              cr::feed<"y">(cr::TensorView<const float, 2>{y.data(), shape}));
      }
    });
    return executor.variable("w"_n)[0];
  }
  float on_one(const Runs& runs) { return w_after(cr::Cpu{.threads = 1}, 0, 1, runs, 0, runs.size()); }
  float on_two(const Runs& runs, std::size_t from, std::size_t stop) {
    float w = 0;
    cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
      const float mine = w_after(cr::Parallel{cr::Cpu{.threads = 1}, me}, me.rank(), 2, runs, from, stop);
      if (me.rank() == 0) w = mine;
    });
    return w;
  }
};

TEST_F(Accumulation, GoesOnInTheMiddleOfAStep) {
  const Runs runs(6, 4);
  on_two(runs, 0, 4);  // one step, and one run of the next one
  EXPECT_FLOAT_EQ(on_two(runs, 4, 6), on_one(runs));
}

TEST_F(Accumulation, WeighsTheRowsOfEachRun) {
  const Runs runs{8, 4, 3};
  EXPECT_FLOAT_EQ(on_two(runs, 0, 3), on_one(runs));
}

}  // namespace ranks_accumulation_test
