// SPDX-License-Identifier: Apache-2.0
// Weak scaling of W1, an MLP 784-128-10 under SGD with one thread: steps of ranks that train one model, beside the same
// steps of as many programs without an exchange. Medians in microseconds, first deciles in brackets. The two ways
// alternate.
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

/// Steps of one executor, on the same rows.
template <class Executor>
class Steps {
 public:
  Steps(Executor executor, std::int64_t rows)
      : session_(std::move(executor), cr::HookChain{}),
        images_(static_cast<std::size_t>(rows * 784), 0.5F),
        labels_(static_cast<std::size_t>(rows), 3),
        rows_(rows) {}

  void step() {
    session_.run("train"_n, cr::feed<"images">(cr::TensorView<float, 2>{images_.data(), {rows_, 784}}),
                 cr::feed<"labels">(cr::TensorView<std::int32_t, 1>{labels_.data(), {rows_}}));
  }
  void end() { session_.close(); }

 private:
  cr::MonitoredSession<Executor> session_;
  std::vector<float> images_;
  std::vector<std::int32_t> labels_;
  std::int64_t rows_;
};

void measure(crochet::Mpi& ranks, std::int64_t rows, int steps) {
  using W1 = bench::Mlp<cr::SGD>;
  Steps alone(cr::Cpu{.threads = 1}.compile<W1>(), rows);
  Steps together(cr::Parallel{cr::Cpu{.threads = 1}, ranks}.template compile<W1>(), rows);
  bench::Times beside, exchanging;
  constexpr int batch = 10;  // steps without a barrier between them
  for (int k = 0; k < steps / batch; ++k) {
    beside.add([&] {
      for (int i = 0; i < batch; ++i) alone.step();
    });
    exchanging.add([&] {
      for (int i = 0; i < batch; ++i) together.step();
    });
  }
  together.end();
  if (ranks.rank() != 0) return;
  const auto per_step = [](double of_all) { return of_all / batch; };
  std::printf("| %d | %.0f (%.0f) | %.0f (%.0f) | %.2f (%.2f) |\n", static_cast<int>(rows), per_step(beside.median()),
              per_step(beside.decile()), per_step(exchanging.median()), per_step(exchanging.decile()),
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
