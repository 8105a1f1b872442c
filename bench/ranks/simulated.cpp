// SPDX-License-Identifier: Apache-2.0
// Steps of a model on simulated ranks (SimGrid's SMPI, https://simgrid.org): the program is the one of
// weak_scaling.cpp, and each of its messages crosses the simulated network. The kernels' times are folded: they run on
// one row, and a step takes the seconds that are given, measured on a machine, divided among its kernels by their
// operations and memory accesses. simulate.sh builds and runs it.
//   simulated mlp|cnn|encoder ROWS STEP_SECONDS STEPS blocking|overlapped none|bfloat16
// prints the microseconds of a step.

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
#include <memory>
#include <string_view>
#include <utility>
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

/// Each step of the plan takes its share of the simulated time, when it begins.
class FoldedKernels {
 public:
  struct Probe {
    void on_run_begin(const cr::ProbedRun& run) {
      const auto rows = static_cast<std::size_t>(run.dims[0]);
      steps_of_node.assign(run.graph.nodes.size(), 0);
      for (std::size_t k = 0; k < run.steps.size(); ++k) {
        steps_of_node[static_cast<std::size_t>(run.steps[k].node)] = k;
      }
      if (rows < 3) learn(run, rows);
    }
    template <std::size_t I>
    void on_node_begin(int /*member*/) {
      if (!seconds.empty()) smpi_execute(seconds[steps_of_node[I]]);
    }

    /// A step's cost is that of a core with 40 GFLOP/s and 10 GB/s; exchanges cost what their messages take.
    void learn(const cr::ProbedRun& run, std::size_t rows) {
      costs[rows].clear();
      for (const cr::ProbedStep& step : run.steps) {
        const std::string_view op = run.graph.nodes[static_cast<std::size_t>(step.node)].op;
        const double cost = step.flops / 40e9 + (step.bytes_read + step.bytes_written) / 10e9;
        costs[rows].push_back(op.find("over_ranks") != op.npos ? 0 : cost);
      }
    }
    /// After runs with one row and with two: costs are linear in the number of rows.
    void fold(double rows, double step_seconds) {
      double all = 0;
      for (std::size_t k = 0; k < costs[1].size(); ++k) {
        seconds.push_back(costs[1][k] + (costs[2][k] - costs[1][k]) * (rows - 1));
        all += seconds.back();
      }
      for (double& s : seconds) s *= step_seconds / all;
    }

    std::vector<std::size_t> steps_of_node;
    std::vector<double> costs[3], seconds;
  };
  using probe = Probe;

  void before_run(auto& /*run*/) {}
  Probe* due_probe() { return probe_.get(); }

 private:
  std::shared_ptr<Probe> probe_ = std::make_shared<Probe>();  // the caller keeps a copy of the hook
};

struct Simulation {
  int rows;
  double step_seconds;
  int steps;
};

/// feeds(n): a batch of n rows for the rank.
template <class Model, class Exchange, class Feeds>
void simulate(cr::Mpi& ranks, const Simulation& of, Exchange exchange, Feeds feeds) {
  FoldedKernels kernels;
  cr::MonitoredSession session{cr::Parallel{cr::Cpu{.threads = 1}, ranks, exchange}.template compile<Model>(),
                               cr::HookChain{kernels}};
  const auto step = [&](std::int64_t rows) {
    const auto [images, labels] = feeds(rows);
    session.run("train"_n, cr::feed<"images">(images), cr::feed<"labels">(labels));
  };
  step(1);
  step(2);
  kernels.due_probe()->fold(of.rows, of.step_seconds);
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < of.steps; ++i) step(1);
  const double seconds = (MPI_Wtime() - start) / of.steps;
  session.close();
  if (ranks.rank() == 0) std::printf("%.1f\n", seconds * 1e6);
}

/// Labels: int32 classes, or targets as wide as the images.
template <class Exchange>
void simulate(std::string_view model, cr::Mpi& ranks, const Simulation& of, Exchange exchange) {
  std::vector<float> numbers(2 * 64 * 128, 0.5F);
  std::vector<std::int32_t> classes{3, 4};
  const auto labels = [&](std::int64_t n) { return cr::TensorView<std::int32_t, 1>{classes.data(), {n}}; };
  if (model == "mlp") {
    simulate<bench::Mlp<cr::SGD>>(ranks, of, exchange, [&](std::int64_t n) {
      return std::pair{cr::TensorView<float, 2>{numbers.data(), {n, 784}}, labels(n)};
    });
  } else if (model == "cnn") {
    simulate<bench::Cnn<cr::Adam>>(ranks, of, exchange, [&](std::int64_t n) {
      return std::pair{cr::TensorView<float, 4>{numbers.data(), {n, 28, 28, 1}}, labels(n)};
    });
  } else {
    simulate<bench::Encoder<cr::Adam>>(ranks, of, exchange, [&](std::int64_t n) {
      const cr::TensorView<float, 3> sequence{numbers.data(), {n, 64, 128}};
      return std::pair{sequence, sequence};
    });
  }
}

int run(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  crochet::Mpi ranks{MPI_COMM_WORLD, {.warn_after_secs = 0}};  // without the thread that measures real time
  if (argc != 7) {
    return std::fputs("simulated mlp|cnn|encoder ROWS STEP_SECONDS STEPS blocking|overlapped none|bfloat16\n", stderr),
           2;
  }
  const Simulation of{std::atoi(argv[2]), std::atof(argv[3]), std::atoi(argv[4])};
  const auto compression = argv[6] == std::string_view("bfloat16") ? cr::Compression::bfloat16 : cr::Compression::none;
  if (argv[5] == std::string_view("overlapped")) {
    simulate(argv[1], ranks, of, cr::OverlappedExchange{compression});
  } else {
    simulate(argv[1], ranks, of, cr::BlockingExchange{compression});
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const int code = run(argc, argv);
  MPI_Finalize();
  return code;
}
