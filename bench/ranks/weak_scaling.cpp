// SPDX-License-Identifier: Apache-2.0
// Weak scaling of W1, an MLP 784-128-10 under SGD with one thread: steps of ranks that train one model, beside the same
// steps of as many programs without an exchange. Medians in microseconds, first deciles in brackets. The two ways
// alternate, ten steps each.
//   mpirun -n 2 bench_ranks_weak_scaling [STEPS]
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/ranks/mpi.hpp>
#include <crochet/ranks/parallel.hpp>

#include "../models.hpp"
#include "times.hpp"

namespace {

namespace cr = crochet;
using namespace cr::literals;

/// Ten steps, on the same rows.
template <class Session>
void make_steps(Session& session, cr::TensorView<float, 2> images, cr::TensorView<std::int32_t, 1> labels) {
  for (int i = 0; i < 10; ++i) session.run("train"_n, cr::feed<"images">(images), cr::feed<"labels">(labels));
}

void measure(cr::Mpi& ranks, std::int64_t rows, int steps) {
  using W1 = bench::Mlp<cr::SGD>;
  std::vector<float> pixels(static_cast<std::size_t>(rows * 784), 0.5F);
  std::vector<std::int32_t> classes(static_cast<std::size_t>(rows), 3);
  const cr::TensorView<float, 2> images{pixels.data(), {rows, 784}};
  const cr::TensorView<std::int32_t, 1> labels{classes.data(), {rows}};
  cr::MonitoredSession alone{cr::Cpu{.threads = 1}.compile<W1>(), cr::HookChain{}};
  cr::MonitoredSession together{cr::Parallel{cr::Cpu{.threads = 1}, ranks}.compile<W1>(), cr::HookChain{}};
  bench::Times beside, exchanging;
  for (int k = 0; k <= steps / 10; ++k) {
    beside.add([&] { make_steps(alone, images, labels); });
    exchanging.add([&] { make_steps(together, images, labels); });
  }
  alone.close();
  together.close();
  if (ranks.rank() != 0) return;
  std::printf("| %d | %.0f (%.0f) | %.0f (%.0f) | %.2f (%.2f) |\n", static_cast<int>(rows), beside.median() / 10,
              beside.decile() / 10, exchanging.median() / 10, exchanging.decile() / 10,
              beside.median() / exchanging.median(), beside.decile() / exchanging.decile());
}

}  // namespace

int main(int argc, char** argv) {
  const crochet::MpiInit mpi{argc, argv};
  crochet::Mpi ranks{MPI_COMM_WORLD};
  const int steps = argc > 1 ? std::atoi(argv[1]) : 2000;
  if (ranks.rank() == 0) {
    std::printf("| rows a rank | side by side us | one model us | weak scaling |\n|---|---|---|---|\n");
  }
  measure(ranks, 128, steps);
  measure(ranks, 1024, steps / 4);
}
