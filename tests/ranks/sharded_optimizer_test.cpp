// SPDX-License-Identifier: Apache-2.0
// Ranks that divide the variables of the optimizer: the bits of ranks that do not, a part of their memory, and
// checkpoints that have the variables whole.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <crochet/checkpoint/restore_latest.hpp>
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/io/tensor_bundle.hpp>
#include <crochet/ranks/parallel.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include "../io/temporary_folder.hpp"

namespace ranks_sharded_optimizer_test {

namespace cr = crochet;
using namespace cr::literals;
using crochet::test::TemporaryFolder;

constexpr std::int64_t features = 70, classes = 5, batch = 22;

/// Two large matrices: one whose elements do not divide by 2, 3 and 4, and one that is no operand of a product.
template <class Training>
struct Network {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto rows = g.dynamic("batch");
    const auto x = g.placeholder<float>("x", {rows, features});
    const auto y = g.placeholder<std::int32_t>("y", {rows});
    auto h = cr::dropout(cr::relu(cr::dense(x, 101, "hidden")), 0.2);
    const auto scale = g.variable<float>("scale", {101, 61}, cr::uniform(-0.1, 0.1));
    h = cr::batch_norm(cr::relu(cr::matmul(h, cr::tanh(scale))), "norm", true);
    const auto loss = g.name("loss", cr::sparse_softmax_cross_entropy(cr::dense(h, classes, "out"), y));
    g.name("train", cr::minimize(loss, Training::optimizer(), Training::options()));
  }
};
struct Plain {
  static constexpr cr::MinimizeOptions options() { return {}; }
};
struct ByAdam : Plain {
  static constexpr auto optimizer() { return cr::Adam{0.01}; }
};
/// The decay depends on the shape of the whole variable.
struct ByAdamW : Plain {
  static constexpr auto optimizer() { return cr::AdamW{.weight_decay = 0.5, .decays = cr::only_matrices}; }
};
struct ByAdagrad : Plain {
  static constexpr auto optimizer() { return cr::Adagrad{}; }
};
struct BySgd : Plain {
  static constexpr auto optimizer() { return cr::SGD{0.1}; }
};
struct ByMomentum : Plain {
  static constexpr auto optimizer() { return cr::Momentum{0.05, 0.9}; }
};
/// An optimizer of a user, with a slot.
struct SignMomentum {
  constexpr cr::Tensor update(cr::Tensor w, cr::Tensor gradient) const {
    const auto m = cr::slot_variable(w, "/momentum");
    const auto now = w.graph->assign(m, m * 0.9 + gradient);
    return w.graph->assign(w, w - cr::sign(now) * 0.001);
  }
};
struct BySignMomentum : Plain {
  static constexpr auto optimizer() { return SignMomentum{}; }
};
struct ClippedByGlobalNorm : ByMomentum {
  static constexpr cr::MinimizeOptions options() { return {.clip = cr::ClipByGlobalNorm{0.1}}; }
};
struct ClippedByNorm : ByMomentum {
  static constexpr cr::MinimizeOptions options() { return {.clip = cr::ClipByNorm{0.05}}; }
};
struct Accumulated : ByAdam {
  static constexpr cr::MinimizeOptions options() { return {.accumulate = {.steps = 3}}; }
};

/// The rows of a rank in a step.
struct Rows {
  std::vector<float> x;
  std::vector<std::int32_t> y;

  Rows(std::int64_t step, int rank, int ranks) {
    for (std::int64_t r = batch * rank / ranks; r < batch * (rank + 1) / ranks; ++r) {
      const std::int64_t row = step * batch + r;
      y.push_back(static_cast<std::int32_t>(row * 7 % classes));
      for (std::int64_t c = 0; c < features; ++c) x.push_back(std::sin(static_cast<float>(row * 13 + c * 5)));
    }
  }
  [[nodiscard]] auto feeds() const {
    const std::vector<std::int64_t>::size_type rows = y.size();
    return cr::feeds(
        cr::feed<"x">(cr::TensorView<const float, 2>{x.data(), {static_cast<std::int64_t>(rows), features}}),
        cr::feed<"y">(y));
  }
};

using Values = std::map<std::string, std::vector<double>>;

/// All variables of all ranks, as the chief's hooks see them at the end.
struct Collects {
  static constexpr auto runs_on = cr::RunsOn::chief;
  using handles = cr::Phases<cr::phase::end>;
  void end(auto& session) {
    std::as_const(session.executor()).for_each_variable([&](std::string_view name, auto elements, auto) {
      (*values)[std::string(name)] = std::vector<double>(elements.begin(), elements.end());
      return false;
    });
  }
  Values* values;
};

/// The variables after a training until `last_step`. creator(): that of the session.
template <class Model, class Options, class Creator, class... H>
Values trained(int ranks, Options options, int last_step, Creator creator, H... hooks) {
  Values values;
  cr::testing::run_ranks(ranks, [&](cr::testing::ThreadRank me) {
    cr::MonitoredSession session{cr::Parallel{cr::Cpu{.threads = 2, .seed = 5}, me, options}.template compile<Model>(),
                                 cr::HookChain{hooks..., Collects{&values}, cr::StopAtStep{.last_step = last_step}},
                                 creator()};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) {
        const Rows rows(s.step(), me.rank(), ranks);
        s.run("train"_n, rows.feeds());
      }
    });
  });
  return values;
}
template <class Model, class Options>
Values trained(int ranks, Options options) {
  return trained<Model>(ranks, options, 8, [] { return cr::InitializeCreator{}; });
}

void expect_close(const Values& found, const Values& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, values] : expected) {
    ASSERT_EQ(found.at(name).size(), values.size()) << name;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_NEAR(found.at(name)[i], values[i], tolerance * std::max(1.0, std::abs(values[i]))) << name << " " << i;
    }
  }
}

template <class Training, int Ranks>
void expect_the_bits_of_a_whole_one() {
  using Model = Network<Training>;
  EXPECT_EQ(trained<Model>(Ranks, cr::ShardedOptimizer<Ranks>{}), trained<Model>(Ranks, cr::BlockingExchange{}));
}
TEST(ShardedOptimizers, HaveTheBitsOfWholeOnes) {
  expect_the_bits_of_a_whole_one<ByAdam, 1>();
  expect_the_bits_of_a_whole_one<ByAdam, 2>();
  expect_the_bits_of_a_whole_one<ByAdam, 4>();
  expect_the_bits_of_a_whole_one<ByMomentum, 3>();
  expect_the_bits_of_a_whole_one<ByAdamW, 3>();
  expect_the_bits_of_a_whole_one<ByAdagrad, 3>();
  expect_the_bits_of_a_whole_one<BySgd, 3>();
  expect_the_bits_of_a_whole_one<BySignMomentum, 3>();
}

using Adam = Network<ByAdam>;

TEST(ShardedOptimizers, HaveAPartOfTheMemory) {
  cr::testing::run_ranks(3, [](cr::testing::ThreadRank me) {
    auto executor = cr::Parallel{cr::Cpu{.threads = 1}, me, cr::ShardedOptimizer<3>{}}.compile<Adam>();
    EXPECT_EQ(executor.variable("hidden/kernel"_n).size(), 7070U);
    EXPECT_EQ(executor.variable("hidden/kernel/Adam"_n).size(), 2357U) << "a third, rounded up";
    EXPECT_EQ(executor.variable("scale/Adam_1"_n).size(), 2054U);
    EXPECT_EQ(executor.variable("hidden/bias/Adam"_n).size(), 101U) << "small gradients are exchanged together";
  });
}

// Norms of gradients are those of the whole batch, summed in another order.
TEST(ShardedOptimizers, ClipByTheNormsOfWholeGradients) {
  using GlobalNorm = Network<ClippedByGlobalNorm>;
  using Norm = Network<ClippedByNorm>;
  constexpr cr::BlockingExchange whole{};
  expect_close(trained<GlobalNorm>(3, cr::ShardedOptimizer<3>{}), trained<GlobalNorm>(3, whole), 1e-5);
  expect_close(trained<Norm>(3, cr::ShardedOptimizer<3>{}), trained<Norm>(3, whole), 1e-5);
}

TEST(ShardedOptimizers, ApplyAccumulatedGradients) {
  using Model = Network<Accumulated>;
  EXPECT_EQ(trained<Model>(2, cr::ShardedOptimizer<2>{}), trained<Model>(2, cr::BlockingExchange{}));
}

/// A checkpoint after four steps of a training of eight.
template <class Options>
Values resumed(const TemporaryFolder& test, int ranks, Options options) {
  const auto saver = [&] { return cr::Saver<>{test / "saved"}; };
  return trained<Adam>(ranks, options, 8, [&] { return cr::restore_latest(saver()); });
}
TEST(ShardedOptimizers, AreWholeInCheckpointsForAnyNumberOfRanks) {
  const TemporaryFolder test;
  trained<Adam>(
      3, cr::ShardedOptimizer<3>{}, 4, [] { return cr::InitializeCreator{}; },
      cr::CheckpointSaver{cr::Saver<>{test / "saved"}, {.save_steps = 4}});
  const cr::io::TensorBundleReader file(test / "saved" / "model.ckpt-4");
  EXPECT_EQ(file.find("hidden/kernel/Adam")->shape, (std::vector<std::int64_t>{features, 101}));
  EXPECT_EQ(file.find("scale/Adam_1")->shape, (std::vector<std::int64_t>{101, 61}));

  const Values undisturbed = trained<Adam>(3, cr::ShardedOptimizer<3>{});
  EXPECT_EQ(resumed(test, 3, cr::ShardedOptimizer<3>{}), undisturbed);
  EXPECT_EQ(resumed(test, 3, cr::BlockingExchange{}), undisturbed);
  expect_close(resumed(test, 2, cr::ShardedOptimizer<2>{}), undisturbed, 1e-3);
  expect_close(resumed(test, 1, cr::BlockingExchange{}), undisturbed, 1e-3);
}

/// Loses its session once.
struct LosesOnce {
  using handles = cr::Phases<cr::phase::before_run>;
  cr::RunArgs<> before_run(auto& run) {
    if (lose && run.step() == 6 && !std::exchange(*lost, true)) throw cr::UnavailableError("the machine is gone");
    return {};
  }
  bool lose;
  bool* lost;
};
/// After a training in which a rank loses its session at step 6 and all go on from a checkpoint.
template <class Options>
Values recovered(Options options) {
  const TemporaryFolder test;
  Values values;
  bool lost = false;
  cr::testing::run_ranks(3, [&](cr::testing::ThreadRank me) {
    const cr::Saver<> saver{test / "saved"};
    cr::MonitoredSession session{
        cr::Parallel{cr::Cpu{.threads = 2, .seed = 5}, me, options}.template compile<Adam>(),
        cr::HookChain{LosesOnce{me.rank() == 1, &lost}, cr::CheckpointSaver{saver, {.save_steps = 4}},
                      Collects{&values}, cr::StopAtStep{.last_step = 8}},
        cr::restore_latest(saver), cr::SessionOptions{.recovery = {.initial_backoff_secs = 0}}};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) {
        const Rows rows(s.step(), me.rank(), 3);
        s.run("train"_n, rows.feeds());
      }
    });
    EXPECT_EQ(session.recoveries(), 1);
  });
  return values;
}
TEST(ShardedOptimizers, AreRestoredWhenARankHasLostItsSession) {
  EXPECT_EQ(recovered(cr::ShardedOptimizer<3>{}), recovered(cr::BlockingExchange{}));
}

TEST(ShardedOptimizers, AreForOneNumberOfRanks) {
  cr::testing::run_ranks(2, [](cr::testing::ThreadRank me) {
    try {
      cr::Parallel{cr::Cpu{.threads = 1}, me, cr::ShardedOptimizer<4>{}}.compile<Adam>();
      FAIL() << "it must throw";
    } catch (const cr::LogicError& e) {
      EXPECT_EQ(std::string(e.what()),
                "crochet: ShardedOptimizer<4> with 2 ranks; give the number of ranks, or start as many");
    }
  });
}

}  // namespace ranks_sharded_optimizer_test
