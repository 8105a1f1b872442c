// SPDX-License-Identifier: Apache-2.0
// The shortest program, on several ranks: mpirun -n 2 crochet_ranks
#include <crochet/crochet.hpp>
#include <crochet/data/fashion_mnist.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/hooks.hpp>
#include <crochet/ranks/mpi.hpp>
namespace cr = crochet;

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

int main(int argc, char** argv) {
  cr::MpiInit mpi{argc, argv};
  cr::Mpi ranks{MPI_COMM_WORLD};
  auto data = cr::fashion_mnist("train")
                  .batch(128)
                  .shuffle(1)
                  .repeat()
                  .shard(ranks)  // 128 rows of all ranks
                  .feeds<"images", "labels">();
  cr::train<Classifier>(cr::Parallel{cr::Cpu{.threads = 1}, ranks}, data,
                        cr::HookChain{cr::StopAtStep{.last_step = 500}, cr::LoggingTensor<"loss">{.every_steps = 100},
                                      cr::NanTensor<"loss">{}, cr::ProgressBar{.total = 500}});
}
