// SPDX-License-Identifier: Apache-2.0
// MpiInit: initializes MPI for the time of a scope, in programs that do not do it themselves.
#pragma once

#include <crochet/ranks/mpi/needs_mpi.hpp>
// The line above comes first.

#include <exception>

#include <crochet/base/exceptions.hpp>
#include <crochet/ranks/mpi/calls.hpp>

namespace crochet {

/// `MpiInit mpi{argc, argv};` as the first line of main(). Collective.
/// - Initializes MPI with MPI_THREAD_FUNNELED: only this thread calls MPI, and others may exist.
/// - The destructor finalizes MPI. It is a wait for all ranks. If an exception leaves the scope, it calls MPI_Abort
///   instead, with code 1, because the other ranks may wait for this one; catch within the scope what you want to
///   print.
/// - Throws LogicError if MPI is initialized already, or has no threads.
class MpiInit {
 public:
  MpiInit(int& argc, char**& argv) {
    if (detail::mpi_is_initialized()) {
      throw LogicError("crochet: MPI is initialized already: leave out crochet::MpiInit");
    }
    int level = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    if (level < MPI_THREAD_FUNNELED) {
      MPI_Finalize();
      throw LogicError("crochet: this MPI was built for programs of one thread: use one with MPI_THREAD_FUNNELED");
    }
  }
  MpiInit(const MpiInit&) = delete;
  MpiInit& operator=(const MpiInit&) = delete;
  ~MpiInit() {
    if (detail::mpi_is_finalized()) return;
    if (std::uncaught_exceptions() > exceptions_) {
      detail::end_mpi_job(MPI_COMM_WORLD, "an exception leaves the scope of its MpiInit");
    }
    MPI_Finalize();
  }

 private:
  int exceptions_ = std::uncaught_exceptions();
};

}  // namespace crochet
