// SPDX-License-Identifier: Apache-2.0
// A training that is killed: <program> DIRECTORY. Each rank writes its process number to the file pid.<rank>. At the
// end the chief writes the bytes of all variables to the file outcome.
#include "../elastic.hpp"

#include <cstdio>
#include <fstream>
#include <span>
#include <string>

#include <unistd.h>

#include <crochet/ranks/mpi.hpp>
#include <crochet/storage/whole_file.hpp>

int main(int argc, char** argv) {
  const crochet::MpiInit mpi{argc, argv};
  crochet::Mpi ranks{MPI_COMM_WORLD};
  const std::filesystem::path directory = argv[1];
  std::ofstream(directory / ("pid." + std::to_string(ranks.rank()))) << ::getpid() << '\n';
  try {
    const std::vector<float> variables =
        ranks_elastic::ElasticTraining{.last_step = 150, .save_steps = 5}.run(ranks, directory / "checkpoints");
    if (ranks.rank() == 0) {
      crochet::io::write_whole_file((directory / "outcome").string(), {std::as_bytes(std::span{variables})});
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", ranks.rank(), error.what());
    throw;
  }
}
