// SPDX-License-Identifier: Apache-2.0
// The program of docs/ranks.md for GPUs, as one rank; it trains where there are a GPU and NCCL.
#include <crochet/crochet.hpp>
#include <crochet/data/fashion_mnist.hpp>
#include <crochet/executor/cuda.hpp>
#include <crochet/hooks.hpp>
#include <crochet/ranks/mpi.hpp>
#include <crochet/ranks/nccl.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ranks_on_gpus_test {

namespace with_small_images {

/// crochet, with the images of this file as data set. The test initializes MPI, so that it can catch an exception.
namespace cr {
using namespace crochet;  // NOLINT(google-build-using-namespace)
struct MpiInit {
  MpiInit(int /*argc*/, char** /*argv*/) {}
};
LabelledImages fashion_mnist(std::string_view /*part*/) {
  LabelledImages::Images pixels{{256, 2, 2}, std::vector<std::uint8_t>(256 * 4, 100)};
  return {std::move(pixels), LabelledImages::Labels{{256}, std::vector<std::uint8_t>(256, 1)}};
}
}  // namespace cr

struct Classifier {
  static constexpr void define(cr::GraphBuilder& g) {
    const auto batch = g.dynamic("batch");
    const auto images = g.placeholder<float>("images", {batch, 4});
    const auto labels = g.placeholder<std::int32_t>("labels", {batch});
    const auto loss = g.name("loss", cr::sparse_softmax_cross_entropy(cr::dense(images, 3, "out"), labels));
    g.name("train", cr::minimize(loss, cr::SGD{0.1}));
  }
};

void train(int argc, char** argv) {
  // clang-format off
cr::MpiInit mpi{argc, argv};
cr::Mpi ranks{MPI_COMM_WORLD};
auto data = cr::fashion_mnist("train").batch(128).shuffle(1).repeat().shard(ranks).feeds<"images", "labels">();
cr::train<Classifier>(cr::Parallel{cr::Cuda{.device = ranks.local_rank()}, cr::Nccl{ranks}}, data,
                      cr::HookChain{cr::StopAtStep{.last_step = 500}});
  // clang-format on
}

}  // namespace with_small_images

TEST(RanksOnGpus, TrainOrStateWhatIsMissing) {
  int argc = 0;
  char** argv = nullptr;
  const crochet::MpiInit mpi{argc, argv};
  try {
    with_small_images::train(argc, argv);
  } catch (const crochet::DeviceError& e) {
    const std::string text = e.what();
    EXPECT_TRUE(text.find("NCCL") != std::string::npos || text.find("GPU") != std::string::npos) << text;
  }
}

}  // namespace ranks_on_gpus_test
