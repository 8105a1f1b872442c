// SPDX-License-Identifier: Apache-2.0
// DuplicatedRanks: what the copies of an Mpi share.
#pragma once

#include <crochet/ranks/mpi/needs_mpi.hpp>
// The line above comes first.

#include <array>
#include <cstddef>
#include <exception>
#include <string_view>

#include <crochet/base/exceptions.hpp>
#include <crochet/base/message.hpp>
#include <crochet/ranks/mpi/calls.hpp>
#include <crochet/ranks/mpi/wait_watch.hpp>

namespace crochet::detail {

/// A duplicate of a user's communicator, so that the library's messages never meet the user's.
class DuplicatedRanks {
 public:
  DuplicatedRanks(MPI_Comm users, const WaitLimits& limits)
      : ranks_(duplicate(users)),
        rank_(number(MPI_Comm_rank)),
        size_(number(MPI_Comm_size)),
        local_rank_(place_on_machine()),
        watch_(limits, rank_, size_) {}
  DuplicatedRanks(const DuplicatedRanks&) = delete;
  DuplicatedRanks& operator=(const DuplicatedRanks&) = delete;
  /// MPI frees it itself when it is finalized. During an exception other ranks may be in a call on it.
  ~DuplicatedRanks() {
    if (mpi_is_finalized() || std::uncaught_exceptions() > 0) return;
    MPI_Comm_free(&ranks_);
    for (MPI_Comm& lane : lanes_) {
      if (lane != MPI_COMM_NULL) MPI_Comm_free(&lane);
    }
  }

  [[nodiscard]] MPI_Comm ranks() const { return ranks_; }
  /// Collective. MPI orders the collective calls of each communicator, so a lane is one of its own.
  void open_lanes() {
    for (MPI_Comm& lane : lanes_) {
      if (lane == MPI_COMM_NULL) lane = duplicate(ranks_);
    }
  }
  [[nodiscard]] MPI_Comm lane(int number) const { return lanes_[static_cast<std::size_t>(number)]; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] int local_rank() const { return local_rank_; }

  void note_failure(std::string_view what) { watch_.note_failure(what); }
  /// call() is MPI's `name`. An error ends all ranks: they would wait for this one, and callers are noexcept.
  template <class Call>
  void run(const char* name, Call call) {
    watch_.call().begin(name);
    const int code = call();
    watch_.call().end();
    if (code != MPI_SUCCESS) end_mpi_job(ranks_, message({name, ": ", mpi_error_text(code)}));
  }

 private:
  static MPI_Comm duplicate(MPI_Comm users) {
    check_mpi();
    if (users == MPI_COMM_NULL)
      throw LogicError("crochet: Mpi is made of MPI_COMM_NULL: make it on the ranks of a communicator");
    MPI_Comm own = MPI_COMM_NULL;
    if (const int code = MPI_Comm_dup(users, &own); code != MPI_SUCCESS) {
      throw LogicError(message({"crochet: MPI_Comm_dup: ", mpi_error_text(code)}));
    }
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    return own;
  }
  [[nodiscard]] int number(int (*of)(MPI_Comm, int*)) const {
    int n = 0;
    of(ranks_, &n);
    return n;
  }

  /// Collective.
  [[nodiscard]] int place_on_machine() const {
    MPI_Comm of_machine = MPI_COMM_NULL;
    if (const int code = MPI_Comm_split_type(ranks_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &of_machine);
        code != MPI_SUCCESS) {
      throw LogicError(message({"crochet: MPI_Comm_split_type: ", mpi_error_text(code)}));
    }
    int place = 0;
    MPI_Comm_rank(of_machine, &place);
    MPI_Comm_free(&of_machine);
    return place;
  }

  MPI_Comm ranks_;
  std::array<MPI_Comm, 2> lanes_{MPI_COMM_NULL, MPI_COMM_NULL};
  int rank_, size_, local_rank_;
  WaitWatch watch_;
};

}  // namespace crochet::detail
