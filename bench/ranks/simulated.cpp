// SPDX-License-Identifier: Apache-2.0
// Steps of a model on simulated ranks (SimGrid's SMPI, https://simgrid.org): the program is the one of
// weak_scaling.cpp, and each of its messages crosses the simulated network. The kernels' times are folded: a step takes
// the seconds that are given, measured on a machine, and its kernels run on one row. simulate.sh builds and runs it.
//   simulated mlp|cnn|encoder STEP_SECONDS STEPS     prints the microseconds of a step

// smpicxx defines macros for these calls, and the standard library has members of the same names.
#undef sleep
#undef usleep
#undef nanosleep
#undef exit
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef getopt

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <mpi.h>

// SMPI states MPI_THREAD_SINGLE. The programs of its ranks take turns, and here they have no further threads.
inline int query_thread(int* level) {
  *level = MPI_THREAD_SERIALIZED;
  return MPI_SUCCESS;
}
#define MPI_Query_thread query_thread

#include <crochet/crochet.hpp>
#include <crochet/executor/cpu.hpp>
#include <crochet/ranks/mpi.hpp>
#include <crochet/ranks/parallel.hpp>

#include "../models.hpp"

namespace {

namespace cr = crochet;
using namespace cr::literals;

/// Labels: int32 classes, or targets as wide as the images.
template <class Model, class Images, class Labels>
void simulate(cr::Mpi& ranks, const Images& images, const Labels& labels, double step_seconds, int steps) {
  cr::MonitoredSession session{cr::Parallel{cr::Cpu{.threads = 1}, ranks}.compile<Model>(), cr::HookChain{}};
  const auto step = [&] { session.run("train"_n, cr::feed<"images">(images), cr::feed<"labels">(labels)); };
  step();
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < steps; ++i) {
    smpi_execute(step_seconds);
    step();
  }
  const double seconds = (MPI_Wtime() - start) / steps;
  session.close();
  if (ranks.rank() == 0) std::printf("%.1f\n", seconds * 1e6);
}

int run(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  crochet::Mpi ranks{MPI_COMM_WORLD, {.warn_after_secs = 0}};  // without the thread that measures real time
  if (argc != 4) return std::fputs("simulated mlp|cnn|encoder STEP_SECONDS STEPS\n", stderr), 2;
  const std::string_view model = argv[1];
  const double seconds = std::atof(argv[2]);
  const int steps = std::atoi(argv[3]);
  std::vector<float> numbers(64 * 128, 0.5F);
  std::vector<std::int32_t> classes{3};
  const cr::TensorView<std::int32_t, 1> labels{classes.data(), {1}};
  if (model == "mlp") {
    simulate<bench::Mlp<cr::SGD>>(ranks, cr::TensorView<float, 2>{numbers.data(), {1, 784}}, labels, seconds, steps);
  } else if (model == "cnn") {
    simulate<bench::Cnn<cr::Adam>>(ranks, cr::TensorView<float, 4>{numbers.data(), {1, 28, 28, 1}}, labels, seconds,
                                   steps);
  } else {
    const cr::TensorView<float, 3> sequence{numbers.data(), {1, 64, 128}};
    simulate<bench::Encoder<cr::Adam>>(ranks, sequence, sequence, seconds, steps);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int code = run(argc, argv);
  MPI_Finalize();
  return code;
}
