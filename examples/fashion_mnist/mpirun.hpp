// SPDX-License-Identifier: Apache-2.0
// The demo as several ranks of one machine: it starts itself again under MPI's launcher.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <crochet/base/error.hpp>

namespace demo {

/// Whether a launcher has started this process as a rank: Open MPI and MPICH set these variables.
inline bool is_rank() { return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr || std::getenv("PMI_SIZE") != nullptr; }

/// Replaces this process by the launcher, with the same command line. Throws LogicError in a build without MPI, and if
/// the launcher cannot be started. Set for the build: CROCHET_DEMO_MPIRUN, the launcher of the MPI that is linked, and
/// CROCHET_DEMO_OPEN_MPI if it is Open MPI's. That one binds each rank to one processor and refuses root, the user of
/// containers, unless it is told otherwise.
[[noreturn]] inline void start_ranks([[maybe_unused]] int ranks, [[maybe_unused]] char** argv) {
#ifndef CROCHET_DEMO_MPIRUN
  throw crochet::LogicError(
      "--ranks: this program was built without MPI; install Open MPI or MPICH (Debian: libopenmpi-dev) and build "
      "again");
#else
  std::vector<std::string> words{CROCHET_DEMO_MPIRUN, "-n", std::to_string(ranks)};
#ifdef CROCHET_DEMO_OPEN_MPI
  words.insert(words.end(), {"--oversubscribe", "--bind-to", "none"});
  if (::geteuid() == 0) words.push_back("--allow-run-as-root");
#endif
  words.push_back("/proc/self/exe");
  std::string program(4096, '\0');
  const ssize_t length = ::readlink("/proc/self/exe", program.data(), program.size());
  words.back() = length > 0 ? program.substr(0, static_cast<std::size_t>(length)) : argv[0];
  std::vector<char*> command(words.size());
  std::transform(words.begin(), words.end(), command.begin(), [](std::string& word) { return word.data(); });
  for (char** more = argv + 1; *more != nullptr; ++more) command.push_back(*more);
  command.push_back(nullptr);
  ::execv(command[0], command.data());
  throw crochet::LogicError(std::string("--ranks: cannot start " CROCHET_DEMO_MPIRUN ": ") + std::strerror(errno));
#endif
}

}  // namespace demo
