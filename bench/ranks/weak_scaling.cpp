// SPDX-License-Identifier: Apache-2.0
// Weak scaling with one thread a rank: steps of ranks that train one model, beside the same steps of as many programs
// without an exchange, and programs that do nothing together but wait for each other behind each step (in step): what
// the exchange costs is the difference to these. W1 is an MLP 784-128-10 under SGD, W3 a CNN and W4 a transformer
// encoder block under Adam
// (../models.hpp). Medians in microseconds, first deciles in brackets. The ways to exchange alternate, some steps each.
// Between them a message of 100 kB is sent to a neighbour and one received, which takes 25 to 40 us between near
// processors and from 60 us on between far ones: compare tables where it takes as long.
//   mpirun -n 2 bench_ranks_weak_scaling [STEPS]     STEPS: of W1 at 128 rows
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>
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

/// A session of ranks that exchange in one way, and the times of its steps.
template <class Model, class Exchange>
class Together {
 public:
  Together(cr::Mpi& ranks, Exchange exchange)
      : session_(cr::Parallel{cr::Cpu{.threads = 1}, ranks, exchange}.template compile<Model>(), cr::HookChain{}) {}

  void time(const auto& make_steps) {
    times_.add([&] { make_steps(session_); });
  }
  void print(bench::Times& beside, int at_once) { bench::print_beside(times_, beside, at_once); }
  void close() { session_.close(); }

 private:
  using Executor = decltype(cr::Parallel{cr::Cpu{}, std::declval<cr::Mpi>(), Exchange{}}.template compile<Model>());
  cr::MonitoredSession<Executor, cr::HookChain<>> session_;
  bench::Times times_;
};

/// The same with a ShardedOptimizer, on two ranks; of others no times.
template <class Model>
class Sharded {
 public:
  explicit Sharded(cr::Mpi& ranks) {
    if (ranks.size() == 2) together_.emplace(ranks, cr::ShardedOptimizer<2>{});
  }
  void time(const auto& make_steps) {
    if (together_) together_->time(make_steps);
  }
  void print(bench::Times& beside, int at_once) {
    if (together_) together_->print(beside, at_once);
    if (!together_) std::printf(" - | - |");
  }
  void close() {
    if (together_) together_->close();
  }

 private:
  std::optional<Together<Model, cr::ShardedOptimizer<2>>> together_;
};

/// Sends 100 kB to a neighbour and receives as many from it.
class Message {
 public:
  void operator()(const cr::Mpi& ranks) {
    const int peer = ranks.rank() ^ 1, bytes = static_cast<int>(sent_.size());
    if (peer >= ranks.size()) return;
    MPI_Sendrecv(sent_.data(), bytes, MPI_BYTE, peer, 0, received_.data(), bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }

 private:
  std::vector<char> sent_ = std::vector<char>(100'000), received_ = std::vector<char>(100'000);
};

/// `steps` steps of each way, `at_once` at a time. Labels: classes, or targets as wide as the images.
template <class Model, class Images, class Labels>
void measure(cr::Mpi& ranks, const char* name, const Images& images, const Labels& labels, int steps, int at_once) {
  cr::MonitoredSession alone{cr::Cpu{.threads = 1}.compile<Model>(), cr::HookChain{}};
  constexpr auto half = cr::Compression::bfloat16;
  Together<Model, cr::BlockingExchange> blocking(ranks, {}), compressed(ranks, {.compression = half});
  Together<Model, cr::OverlappedExchange> overlapped(ranks, {});
  Sharded<Model> sharded(ranks);
  const auto make_steps = [&](auto& session) {
    for (int i = 0; i < at_once; ++i) session.run("train"_n, cr::feed<"images">(images), cr::feed<"labels">(labels));
  };
  Message message;
  bench::Times messages, beside, in_step;
  for (int k = 0; k <= steps / at_once; ++k) {
    messages.add([&] { message(ranks); });
    beside.add([&] { make_steps(alone); });
    in_step.add([&] {
      for (int i = 0; i < at_once; ++i) {
        alone.run("train"_n, cr::feed<"images">(images), cr::feed<"labels">(labels));
        MPI_Barrier(MPI_COMM_WORLD);
      }
    });
    blocking.time(make_steps);
    overlapped.time(make_steps);
    compressed.time(make_steps);
    sharded.time(make_steps);
  }
  alone.close();
  for (auto* session : {&blocking, &compressed}) session->close();
  overlapped.close();
  sharded.close();
  if (ranks.rank() != 0) return;
  std::printf("| %s | %d | %.0f (%.0f) | %.0f (%.0f) |", name, static_cast<int>(images.shape()[0]), messages.median(),
              messages.decile(), beside.median() / at_once, beside.decile() / at_once);
  bench::print_beside(in_step, beside, at_once);
  blocking.print(beside, at_once);
  overlapped.print(beside, at_once);
  compressed.print(beside, at_once);
  sharded.print(beside, at_once);
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  const crochet::MpiInit mpi{argc, argv};
  crochet::Mpi ranks{MPI_COMM_WORLD};
  const int steps = argc > 1 ? std::atoi(argv[1]) : 2000;
  if (ranks.rank() == 0) {
    std::printf(
        "| case | rows a rank | 100 kB us | side by side us | in step us | scaling | blocking us | scaling | "
        "overlapped us | "
        "scaling | bfloat16 us |"
        " scaling | sharded us | scaling |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
  }
  std::vector<float> numbers(1024 * 784, 0.5F);
  std::vector<std::int32_t> classes(1024, 3);
  const auto labels = [&](std::int64_t rows) { return cr::TensorView<std::int32_t, 1>{classes.data(), {rows}}; };
  for (const std::int64_t rows : {128, 1024}) {
    measure<bench::Mlp<cr::SGD>>(ranks, "W1", cr::TensorView<float, 2>{numbers.data(), {rows, 784}}, labels(rows),
                                 static_cast<int>(steps * 128 / rows), 10);
  }
  measure<bench::Cnn<cr::Adam>>(ranks, "W3", cr::TensorView<float, 4>{numbers.data(), {128, 28, 28, 1}}, labels(128),
                                steps / 20, 2);
  const cr::TensorView<float, 3> sequences{numbers.data(), {8, 64, 128}};
  measure<bench::Encoder<cr::Adam>>(ranks, "W4", sequences, sequences, steps / 10, 10);
}
