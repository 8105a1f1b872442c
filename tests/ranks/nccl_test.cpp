// SPDX-License-Identifier: Apache-2.0
// Ranks whose GPUs exchange by NCCL: a library and devices in software. The training of one machine, no copies to the
// host, and errors.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cuda/device_array.hpp>
#include <crochet/executor/cuda/executor.hpp>
#include <crochet/hooks/stop_at_step.hpp>
#include <crochet/ranks/nccl.hpp>
#include <crochet/testing/thread_ranks.hpp>

#include "../executor/device_under_test.hpp"
#include "models.hpp"

namespace ranks_nccl_test {

namespace cr = crochet;
using namespace cr::literals;
using namespace ranks_models;

constexpr std::int64_t batch = 22;
constexpr int steps = 8;

/// The ranks that have given up what their GPUs have queued.
int aborts() {
  void* const library = dlopen("libnccl.so.2", RTLD_NOW);
  return reinterpret_cast<int (*)()>(dlsym(library, "crochet_fake_nccl_aborts"))();
}

class NcclRanks : public testing::Test {
 protected:
  void TearDown() override { unsetenv("CROCHET_FAKE_NCCL"); }
  static void break_it(const char* how) { setenv("CROCHET_FAKE_NCCL", how, 1); }
};

/// A host that reports failures of its rank.
struct Reporting : cr::testing::ThreadRank {
  Reporting(cr::testing::ThreadRank me, std::string& to) : ThreadRank(me), noted(&to) {}
  void note_failure(std::string_view what) { *noted = what; }
  std::string* noted;
};
TEST(Nccl, PassesAFailureToItsHost) {
  std::string noted;
  cr::testing::run_ranks(1, [&](cr::testing::ThreadRank me) { cr::Nccl{Reporting(me, noted)}.note_failure("disk"); });
  EXPECT_EQ(noted, "disk");
}

/// The losses and the variables of each rank.
template <class Model, class... Options>
std::vector<std::vector<float>> trained(int ranks, Options... options) {
  std::vector<std::vector<float>> found(static_cast<std::size_t>(ranks));
  cr::testing::run_ranks(ranks, [&](cr::testing::ThreadRank me) {
    auto executor =
        cr::Parallel{cr::DeviceUnderTest{.threads = 2, .seed = 5}, cr::Nccl{me}, options...}.template compile<Model>();
    found[static_cast<std::size_t>(me.rank())] = train(executor, batch, me.rank(), ranks, steps);
  });
  for (const auto& f : found) EXPECT_EQ(f, found[0]) << "the same bits on all ranks";
  return found;
}

/// Ranks that have 22 rows, or 7 and 8 of them.
template <class Model>
void expect_one_machines_training(float tolerance) {
  auto alone = cr::Cpu{.threads = 1, .seed = 5}.compile<Model>();
  const std::vector<float> expected = train(alone, batch, 0, 1, steps);
  for (const int ranks : {2, 3}) {
    const auto found = trained<Model>(ranks);
    EXPECT_EQ(trained<Model>(ranks, cr::OverlappedExchange{}), found);
    ASSERT_EQ(found[0].size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_NEAR(found[0][i], expected[i], tolerance * std::max(1.0F, std::abs(expected[i]))) << i;
    }
  }
}
TEST_F(NcclRanks, BatchNormDropoutAndClippingAreThoseOfTheWholeBatch) { expect_one_machines_training<Cnn>(1e-3F); }
TEST_F(NcclRanks, ASumAsLossIsTheSumOverRanks) { expect_one_machines_training<SummedLoss>(2e-4F); }

TEST_F(NcclRanks, TheHostCopiesNothingAndWaitsForNothing) {
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, cr::Nccl{me}}.compile<SummedLoss>(),
                                 cr::HookChain{cr::StopAtStep{.last_step = 4}}};
    const auto& device = *session.executor().device();
    std::vector<float> x(static_cast<std::size_t>(features), 1.0F);
    std::vector<std::int32_t> y{1};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) {
        const auto before = device.counters;
        s.run("train"_n, cr::feed<"x">(x), cr::feed<"y">(y));
        EXPECT_EQ(device.counters.downloads, before.downloads);
        EXPECT_EQ(device.counters.foreign - before.foreign, 1) << "the gradients are one bucket";
        EXPECT_EQ(device.counters.waits, before.waits);
      }
    });
  });
}

/// Trains on two ranks; the message of each rank's error.
template <class Body>
std::vector<std::string> errors_of(const Body& body) {
  std::vector<std::string> errors(2);
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    try {
      body(me);
    } catch (const std::exception& e) {
      errors[static_cast<std::size_t>(me.rank())] = e.what();
    }
  });
  return errors;
}

TEST_F(NcclRanks, TwoRanksWithOneGpuAreAnErrorThatNamesTheCure) {
  break_it("join");
  const auto errors = errors_of([](cr::testing::ThreadRank me) {
    auto executor = cr::Parallel{cr::DeviceUnderTest{.threads = 1}, cr::Nccl{me}}.compile<SummedLoss>();
    train(executor, batch, me.rank(), 2, 1);
  });
  for (const std::string& error : errors) {
    EXPECT_EQ(
        error,
        "ThreadRanks: crochet: NCCL cannot connect the GPUs of the ranks: invalid usage. Give each rank a GPU of its "
        "own: Cuda{.device = ranks.local_rank()}");
  }
}

TEST_F(NcclRanks, ASumThatFailsEndsAllRanks) {
  break_it("sum");
  const auto errors = errors_of([](cr::testing::ThreadRank me) {
    auto executor = cr::Parallel{cr::DeviceUnderTest{.threads = 1}, cr::Nccl{me}}.compile<SummedLoss>();
    train(executor, batch, me.rank(), 2, 1);
  });
  for (const std::string& error : errors) {
    EXPECT_EQ(error, "ThreadRanks: crochet: NCCL cannot sum over the GPUs of the ranks: remote process exited");
  }
}

TEST_F(NcclRanks, TakeArraysOfTheGpu) {
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, cr::Nccl{me}}.compile<SummedLoss>()};
    const std::vector<float> x(static_cast<std::size_t>(features), 1.0F);
    const cr::DeviceArray images(session, cr::TensorView<float, 2>{x.data(), {1, features}});
    std::vector<std::int32_t> y{1};
    session.run("train"_n, cr::feed<"x">(images), cr::feed<"y">(y));
    EXPECT_EQ(session.step(), 1);
  });
}

/// Ranks that are made for a second session, behind one that failed, connect their GPUs anew.
TEST_F(NcclRanks, ASessionBehindOneThatFailedTrains) {
  cr::testing::run_ranks(2, [&](cr::testing::ThreadRank me) {
    const cr::Nccl ranks{me};
    std::vector<float> x(static_cast<std::size_t>(features), 1.0F);
    std::vector<std::int32_t> y{1};
    std::string error;
    for (const bool fails : {true, false}) {
      cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, ranks}.compile<SummedLoss>(),
                                   cr::HookChain{cr::StopAtStep{.last_step = 3}}};
      try {
        cr::run_session(session, [&](auto& s) {
          while (!s.should_stop()) {
            s.run("train"_n, cr::feed<"x">(x), cr::feed<"y">(y));
            if (fails && me.rank() == 1) throw std::runtime_error("out of paper");
          }
        });
      } catch (const std::exception& e) {
        error = e.what();
      }
      EXPECT_EQ(session.step(), fails ? 1 : 3);
    }
    EXPECT_NE(error.find("out of paper"), std::string::npos);
  });
}

TEST_F(NcclRanks, GradientsAreNotCompressed) {
  const auto errors = errors_of([](cr::testing::ThreadRank me) {
    constexpr cr::BlockingExchange half{.compression = cr::Compression::bfloat16};
    cr::Parallel{cr::DeviceUnderTest{.threads = 1}, cr::Nccl{me}, half}.compile<SummedLoss>();
  });
  EXPECT_EQ(errors[1],
            "crochet: GPUs exchange gradients by Nccl as they are; leave out .compression, or give Parallel the ranks "
            "without Nccl");
}

/// What a rank's GPU has queued does not end by itself when another rank fails.
TEST_F(NcclRanks, AFailureOfOneRankEndsTheSumsOfAll) {
  const int before = aborts();
  const auto errors = errors_of([](cr::testing::ThreadRank me) {
    cr::MonitoredSession session{cr::Parallel{cr::DeviceUnderTest{.threads = 1}, cr::Nccl{me}}.compile<SummedLoss>()};
    std::vector<float> x(static_cast<std::size_t>(features), 1.0F);
    std::vector<std::int32_t> y{1};
    cr::run_session(session, [&](auto& s) {
      for (int step = 0; step < 4; ++step) {
        if (me.rank() == 1 && step == 2) throw std::runtime_error("out of paper");
        s.run("train"_n, cr::feed<"x">(x), cr::feed<"y">(y));
      }
    });
  });
  EXPECT_EQ(errors[0], "crochet: rank 1 failed: out of paper");
  EXPECT_EQ(errors[1], "out of paper");
  EXPECT_EQ(aborts() - before, 2);
}

}  // namespace ranks_nccl_test
