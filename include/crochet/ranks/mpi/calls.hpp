// SPDX-License-Identifier: Apache-2.0
// What Mpi and MpiInit have in common: MPI's error texts, the state of MPI, the end of a job.
#pragma once

#include <crochet/ranks/mpi/needs_mpi.hpp>
// The line above comes first.

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/exceptions.hpp>
#include <crochet/base/message.hpp>

namespace crochet::detail {

/// MPI's text for an error code.
[[nodiscard]] CROCHET_COLD inline std::string mpi_error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

[[nodiscard]] inline bool mpi_is_initialized() {
  int is = 0;
  MPI_Initialized(&is);
  return is != 0;
}
[[nodiscard]] inline bool mpi_is_finalized() {
  int is = 0;
  MPI_Finalized(&is);
  return is != 0;
}

/// Throws LogicError if this thread cannot call MPI, or if the library's other threads would break MPI's rules.
CROCHET_COLD inline void check_mpi() {
  if (!mpi_is_initialized()) {
    throw LogicError("crochet: Mpi is made before MPI is initialized: make a crochet::MpiInit before it");
  }
  if (mpi_is_finalized())
    throw LogicError("crochet: Mpi is made after MPI is finalized: make it within crochet::MpiInit");
  int level = 0, is_main = 0;
  MPI_Query_thread(&level);
  if (level < MPI_THREAD_FUNNELED) {
    throw LogicError(
        "crochet: MPI is initialized for programs of one thread: make a crochet::MpiInit in place of MPI_Init, or call "
        "MPI_Init_thread with MPI_THREAD_FUNNELED");
  }
  MPI_Is_thread_main(&is_main);
  if (level == MPI_THREAD_FUNNELED && is_main == 0) {
    throw LogicError(
        "crochet: Mpi is made in another thread than MPI: make both in one thread, or initialize MPI with "
        "MPI_THREAD_SERIALIZED");
  }
}

/// Ends all ranks of `ranks`: prints one line and calls MPI_Abort with code 1.
[[noreturn]] CROCHET_COLD inline void end_mpi_job(MPI_Comm ranks, std::string_view reason) noexcept {
  int rank = 0;
  MPI_Comm_rank(ranks, &rank);
  std::fprintf(stderr, "crochet: rank %d ends all ranks: %.*s\n", rank, static_cast<int>(reason.size()), reason.data());
  std::fflush(nullptr);
  MPI_Abort(ranks, EXIT_FAILURE);
  std::abort();  // not reached
}

}  // namespace crochet::detail
