// SPDX-License-Identifier: Apache-2.0
// The mean of a step's gradients over ranks: OrderedSum of equal and of uneven parts of a batch, and MPI_Allreduce of
// the same values, in place. A table of medians in microseconds, first deciles in brackets. The ways
// alternate, so that other load affects all.
//   mpirun -n 2 bench_ranks_exchange [ROUNDS]
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <vector>

#include <crochet/ranks/mpi.hpp>
#include <crochet/ranks/ordered_sum.hpp>

#include "times.hpp"

namespace {

void measure(crochet::Mpi& ranks, std::size_t bytes, int rounds) {
  std::vector<float> values(bytes / sizeof(float), 1.0F);
  crochet::OrderedSum sum;
  bench::Times equal, uneven, engine;
  const auto count = static_cast<float>(ranks.size());
  const auto written = [&] { std::ranges::fill(values, 1.0F); };  // as by a backward pass: they are in the cache
  for (int k = 0; k < rounds; ++k) {
    written();
    equal.add([&] { sum.run(ranks, std::span{values}, 1.0F, count); });
    written();
    uneven.add([&] { sum.run(ranks, std::span{values}, 64.0F, 64.0F * count); });
    written();
    engine.add([&] {
      MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    });
  }
  if (ranks.rank() != 0) return;
  std::printf("| %zu |", bytes);
  for (bench::Times* of : {&engine, &equal, &uneven}) std::printf(" %.1f (%.1f) |", of->median(), of->decile());
  std::printf(" %.2f (%.2f) |\n", equal.median() / engine.median(), equal.decile() / engine.decile());
}

}  // namespace

int main(int argc, char** argv) {
  const crochet::MpiInit mpi{argc, argv};
  crochet::Mpi ranks{MPI_COMM_WORLD};
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
  if (ranks.rank() == 0) {
    std::printf("| bytes | MPI_Allreduce | equal parts | uneven parts | equal / MPI |\n|---|---|---|---|---|\n");
  }
  for (const std::size_t bytes : {32U, 2048U, 16'384U, 131'072U, 407'080U, 1'048'576U, 4'194'304U}) {
    measure(ranks, bytes, bytes > 1'000'000 ? rounds / 5 + 1 : rounds);
  }
}
