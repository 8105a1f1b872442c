// SPDX-License-Identifier: Apache-2.0
// Mpi: the processes of an MPI communicator as ranks.
#pragma once

#include <crochet/ranks/mpi/needs_mpi.hpp>
// The line above comes first.

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include <crochet/base/config.hpp>
#include <crochet/base/exceptions.hpp>
#include <crochet/base/message.hpp>
#include <crochet/ranks/communicator.hpp>
#include <crochet/ranks/mpi/calls.hpp>
#include <crochet/ranks/mpi/duplicated_ranks.hpp>
#include <crochet/ranks/mpi/wait_watch.hpp>

namespace crochet {

namespace detail {
/// MPI_REQUEST_NULL when the call has ended.
struct MpiRequest {
  MPI_Request handle = MPI_REQUEST_NULL;
};
}  // namespace detail

/// `Mpi ranks{MPI_COMM_WORLD};` is a Communicator: `Parallel{Cpu{}, ranks}`. A handle: copies are the same ranks.
/// - Making one is collective over the communicator, which is duplicated; the last handle frees the duplicate.
/// - MPI is initialized before, by the program or by MpiInit, with MPI_THREAD_FUNNELED or more. All calls come from the
///   thread that initialized it.
/// - A rank that waits for others beyond `limits` prints a line (after 60 s), and can end the job.
/// - An error of MPI ends all ranks, with its text on stderr.
/// - Throws LogicError if MPI is not ready, and for exchanges of 2 GiB or more a rank; broadcasts and messages to
///   one rank have no limit.
class Mpi {
 public:
  explicit Mpi(MPI_Comm ranks, const WaitLimits& limits = {})
      : shared_(std::make_shared<detail::DuplicatedRanks>(ranks, limits)) {}

  [[nodiscard]] int rank() const { return shared_->rank(); }
  [[nodiscard]] int size() const { return shared_->size(); }
  /// The number of this rank among those of its machine, from 0: for Cuda{.device = ranks.local_rank()}. Where each
  /// process sees one GPU only, that is number 0 (CUDA_VISIBLE_DEVICES, Slurm's --gpus-per-task=1).
  [[nodiscard]] int local_rank() const { return shared_->local_rank(); }

  // Blocking calls, and WaitWatch against silent hangs: 32 bytes take 0.6 us on two ranks of a machine, and 1.2 us by
  // MPI_Iallgather and MPI_Test (Open MPI 4.1; MPICH 4.0: 1.2 and 1.6). At 400 kB both take 75 us
  // with Open MPI and 190 us with MPICH.
  void all_gather(std::span<const std::byte> from, std::span<std::byte> to) {
    const int n = count(from.size());
    if (n == 0) return;
    const bool in_place = from.data() == to.data() + static_cast<std::size_t>(rank()) * from.size();
    shared_->run("MPI_Allgather", [&] {
      return MPI_Allgather(in_place ? MPI_IN_PLACE : from.data(), n, MPI_BYTE, to.data(), n, MPI_BYTE,
                           shared_->ranks());
    });
  }
  void all_to_all(std::span<const std::byte> from, std::span<std::byte> to) {
    const int n = count(from.size() / static_cast<std::size_t>(size()));
    if (n == 0) return;
    shared_->run("MPI_Alltoall",
                 [&] { return MPI_Alltoall(from.data(), n, MPI_BYTE, to.data(), n, MPI_BYTE, shared_->ranks()); });
  }
  void broadcast(std::span<std::byte> bytes, int root) {
    in_pieces(bytes, "MPI_Bcast",
              [&](std::byte* data, int n) { return MPI_Bcast(data, n, MPI_BYTE, root, shared_->ranks()); });
  }
  /// From this rank to one, which calls receive() for as many bytes.
  void send(std::span<const std::byte> bytes, int to) {
    in_pieces(bytes, "MPI_Send",
              [&](const std::byte* data, int n) { return MPI_Send(data, n, MPI_BYTE, to, 0, shared_->ranks()); });
  }
  void receive(std::span<std::byte> bytes, int from) {
    in_pieces(bytes, "MPI_Recv", [&](std::byte* data, int n) {
      return MPI_Recv(data, n, MPI_BYTE, from, 0, shared_->ranks(), MPI_STATUS_IGNORE);
    });
  }
  // Calls that return at once (NonblockingCommunicator). Engines continue them within their calls, as a rule.

  using Request = detail::MpiRequest;

  void open_lanes() { shared_->open_lanes(); }
  [[nodiscard]] Request start_all_gather(int lane, std::span<const std::byte> from, std::span<std::byte> to) {
    const int n = count(from.size());
    const bool in_place = from.data() == to.data() + static_cast<std::size_t>(rank()) * from.size();
    Request request;
    shared_->run("MPI_Iallgather", [&] {
      return MPI_Iallgather(in_place ? MPI_IN_PLACE : from.data(), n, MPI_BYTE, to.data(), n, MPI_BYTE,
                            shared_->lane(lane), &request.handle);
    });
    return request;
  }
  [[nodiscard]] Request start_all_to_all(int lane, std::span<const std::byte> from, std::span<std::byte> to) {
    const int n = count(from.size() / static_cast<std::size_t>(size()));
    Request request;
    shared_->run("MPI_Ialltoall", [&] {
      return MPI_Ialltoall(from.data(), n, MPI_BYTE, to.data(), n, MPI_BYTE, shared_->lane(lane), &request.handle);
    });
    return request;
  }
  [[nodiscard]] bool test(Request& request) {
    int done = 0;
    shared_->run("MPI_Test", [&] { return MPI_Test(&request.handle, &done, MPI_STATUS_IGNORE); });
    return done != 0;
  }
  void wait(Request& request) {
    shared_->run("MPI_Wait", [&] { return MPI_Wait(&request.handle, MPI_STATUS_IGNORE); });
  }

  /// What a line of this rank states when it waits for the others beyond `limits`.
  void note_failure(std::string_view what) { shared_->note_failure(what); }
  [[noreturn]] void abort(std::string_view reason) noexcept { detail::end_mpi_job(shared_->ranks(), reason); }

 private:
  /// MPI's `name` by call(data, n) for parts whose sizes MPI can count.
  template <class Byte, class Call>
  void in_pieces(std::span<Byte> bytes, const char* name, Call call) {
    constexpr std::size_t piece = std::size_t{1} << 30;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      const std::span part = bytes.subspan(at, std::min(piece, bytes.size() - at));
      shared_->run(name, [&] { return call(part.data(), count(part.size())); });
    }
  }
  static int count(std::size_t bytes) {
    if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max())) refuse(bytes);
    return static_cast<int>(bytes);
  }
  [[noreturn]] CROCHET_COLD static void refuse(std::size_t bytes) {
    throw LogicError(detail::message({"crochet: a rank exchanges ", static_cast<std::int64_t>(bytes),
                                      " bytes in one call, and MPI's limit is 2147483647: exchange them in parts"}));
  }

  std::shared_ptr<detail::DuplicatedRanks> shared_;
};
static_assert(NonblockingCommunicator<Mpi>);

}  // namespace crochet
