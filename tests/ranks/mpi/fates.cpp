// SPDX-License-Identifier: Apache-2.0
// Jobs that do not end well: what rank 1 does while the others wait for it. ends.cmake judges how the job ends.
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <crochet/ranks/mpi.hpp>

namespace {

void meet_fate(std::string_view fate, crochet::Mpi& ranks) {
  if (fate == "throw") throw std::runtime_error("rank 1 fails");
  if (fate == "kill") std::raise(SIGKILL);
  if (fate == "abort") ranks.abort("for a reason");
  if (fate == "failed") ranks.note_failure("out of paper");
  if (fate == "wait") {
    for (;;) pause();
  }
}

void run(int argc, char** argv) {
  const std::string_view fate = argc > 1 ? argv[1] : "";
  if (fate == "uninitialized") const crochet::Mpi ranks{MPI_COMM_WORLD};
  const crochet::MpiInit mpi{argc, argv};
  crochet::Mpi ranks{MPI_COMM_WORLD,
                     {.warn_after_secs = 1, .abort_after_secs = fate == "wait" || fate == "failed" ? 1.5 : 0}};
  std::vector<std::byte> one(1), all(static_cast<std::size_t>(ranks.size()));
  ranks.all_gather(one, all);
  if (ranks.rank() == 1) meet_fate(fate, ranks);
  if (fate == "failed" && ranks.rank() == 0) pause();  // in an exchange of its own, for example
  for (;;) ranks.all_gather(one, all);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 3;
  }
}
