// SPDX-License-Identifier: Apache-2.0
// A solver of one's own on several ranks: the heat equation on a plate, divided in strips, whose ranks exchange the
// rows at their edges by MPI_Sendrecv. Hooks stop it, print and save as on one machine. docs/ranks.md explains it.
//
//   mpirun -n 3 crochet_heat [folder [last step [the step at which rank 1 is killed]]]
//
// Stop it with Ctrl-C, or kill it, and start it again on any number of ranks: it goes on from the last checkpoint, and
// ends with the bits of a run that nothing disturbed.
#include <crochet/checkpoint/saver.hpp>
#include <crochet/crochet.hpp>
#include <crochet/hooks.hpp>
#include <crochet/ranks/mpi.hpp>
#include <crochet/ranks/parallel.hpp>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

namespace cr = crochet;
using namespace cr::literals;

/// This rank's strip of a plate whose upper edge is hot. A plain class with MPI calls of its own.
class Plate {
 public:
  static constexpr std::int64_t rows = 64, columns = 48;  // of the whole plate

  Plate(int rank, int ranks) : rank_(rank), ranks_(ranks) {
    const std::int64_t first = rows * rank / ranks;
    here = rows * (rank + 1) / ranks - first;
    now_.resize(static_cast<std::size_t>((here + 2) * columns));  // with the neighbours' rows above and below
    if (rank == 0) std::fill_n(now_.begin(), columns, 1.0);
    next_ = now_;
    u = std::span{now_}.subspan(columns, static_cast<std::size_t>(here * columns));
  }

  /// One step of the explicit scheme. Returns the sum of the squared changes in this strip.
  double advance() {
    exchange_edges();
    double change = 0;
    for (std::int64_t i = 1; i <= here; ++i) {
      for (std::int64_t k = 1; k + 1 < columns; ++k) {
        const double flow = at(i - 1, k) + at(i + 1, k) + at(i, k - 1) + at(i, k + 1) - 4 * at(i, k);
        next_[static_cast<std::size_t>(i * columns + k)] = at(i, k) + 0.2 * flow;
        change += flow * flow;
      }
    }
    std::copy(next_.begin() + columns, next_.end() - columns, u.begin());
    ++steps;
    return change;
  }

  std::span<double> u;     // this rank's rows
  std::int64_t here;       // their number
  std::int64_t steps = 0;  // the same on all ranks

 private:
  [[nodiscard]] double at(std::int64_t i, std::int64_t k) const {
    return now_[static_cast<std::size_t>(i * columns + k)];
  }
  void exchange_edges() {
    const int above = rank_ > 0 ? rank_ - 1 : MPI_PROC_NULL, below = rank_ + 1 < ranks_ ? rank_ + 1 : MPI_PROC_NULL;
    const auto swap = [](double* mine, int to, double* theirs, int from) {
      MPI_Sendrecv(mine, columns, MPI_DOUBLE, to, 0, theirs, columns, MPI_DOUBLE, from, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
    };
    double* const top = now_.data();
    swap(top + columns, above, top + (here + 1) * columns, below);
    swap(top + here * columns, below, top, above);
  }

  int rank_, ranks_;
  std::vector<double> now_, next_;
};

auto step_of(Plate& plate) {
  return cr::StepExecutor{[&plate](auto& out) {
                            const double change = plate.advance();
                            if (out.due("residual"_n)) out["residual"_n] = out.sum_over_ranks(change);
                          },
                          cr::output<double, "residual">,
                          cr::variable<"steps">(plate.steps),  // the same on all ranks
                          cr::variable_by_rows<"u">(plate.u, {plate.here, Plate::columns})};
}

/// The sum of all bits, which does not depend on the division.
std::uint64_t checksum(const Plate& plate) {
  std::uint64_t mine = 0, all = 0;
  for (const double x : plate.u) mine += std::bit_cast<std::uint64_t>(x);
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

int main(int argc, char** argv) {
  cr::MpiInit mpi{argc, argv};
  cr::Mpi ranks{MPI_COMM_WORLD};
  const std::filesystem::path folder = argc > 1 ? argv[1] : "heat_checkpoints";
  const std::int64_t last_step = argc > 2 ? std::atoi(argv[2]) : 3000, killed_at = argc > 3 ? std::atoi(argv[3]) : -1;
  try {
    Plate plate{ranks.rank(), ranks.size()};
    const cr::Saver saver{folder};
    cr::MonitoredSession session{cr::Parallel{step_of(plate), ranks},
                                 cr::HookChain{cr::StopOnSignal{}, cr::StopAtStep{.last_step = last_step},
                                               cr::EveryN<100, cr::StopWhen<"residual">>{{.below = 1e-12}},
                                               cr::LoggingTensor<"residual">{.every_steps = 500},
                                               cr::CheckpointSaver{saver, {.save_steps = 200}}},
                                 cr::restore_latest(saver)};
    cr::run_session(session, [&](auto& s) {
      while (!s.should_stop()) {
        if (s.step() == killed_at && ranks.rank() == 1) std::raise(SIGKILL);
        s.run();
      }
    });
    const std::uint64_t bits = checksum(plate);
    if (ranks.rank() == 0) {
      std::printf("step %d, checksum %016llx\n", static_cast<int>(session.step()),
                  static_cast<unsigned long long>(bits));
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rank %d: %s\n", ranks.rank(), e.what());
    throw;
  }
}
