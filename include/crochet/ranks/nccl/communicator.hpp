// SPDX-License-Identifier: Apache-2.0
// Nccl: ranks whose GPUs exchange by NVIDIA's NCCL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include <crochet/graph/core/dtype.hpp>
#include <crochet/ranks/communicator.hpp>
#include <crochet/ranks/nccl/device_ranks.hpp>

namespace crochet {

namespace detail {
template <class Host>
struct RequestOf {
  using type = std::nullptr_t;
};
template <NonblockingCommunicator Host>
struct RequestOf<Host> {
  using type = typename Host::Request;
};
}  // namespace detail

/// `Parallel{Cuda{.device = ranks.local_rank()}, Nccl{ranks}}`: gradients and means go from GPU to GPU, and the host
/// waits for none of them. Each rank has a GPU of its own. A handle: copies are the same ranks.
/// - Host: the communicator of the processes, for example Mpi. It carries everything else: roll calls, the variables of
///   a new session, reasons.
/// - All ranks get the same bits. So does a repetition with the same GPUs and connections; NCCL chooses the order of a
///   sum by these.
/// - `compile` of Parallel throws DeviceError if a machine has no NCCL since 2.11. The GPUs connect in the first
/// exchange,
///   and anew in that of a session behind one that failed.
/// - A rank that fails ends the sums that its GPU, and those of the others, have queued.
template <Communicator Host>
class Nccl {
 public:
  explicit Nccl(Host ranks) : host_(std::move(ranks)), shared_(std::make_shared<Shared>()) {}

  [[nodiscard]] int rank() { return host_.rank(); }
  [[nodiscard]] int size() { return host_.size(); }
  void all_gather(std::span<const std::byte> from, std::span<std::byte> to) { host_.all_gather(from, to); }
  void all_to_all(std::span<const std::byte> from, std::span<std::byte> to) { host_.all_to_all(from, to); }
  void broadcast(std::span<std::byte> bytes, int root) { host_.broadcast(bytes, root); }
  [[noreturn]] void abort(std::string_view reason) {
    give_up();
    host_.abort(reason);
  }

  // NonblockingCommunicator, if Host is one: for Parallel{Cpu{}, Nccl{...}}, whose values are in the host's memory.

  using Request = typename detail::RequestOf<Host>::type;

  void open_lanes() requires NonblockingCommunicator<Host> { host_.open_lanes(); }
  [[nodiscard]] Request start_all_gather(int lane, std::span<const std::byte> from,
                                         std::span<std::byte> to) requires NonblockingCommunicator<Host> {
    return host_.start_all_gather(lane, from, to);
  }
  [[nodiscard]] Request start_all_to_all(int lane, std::span<const std::byte> from,
                                         std::span<std::byte> to) requires NonblockingCommunicator<Host> {
    return host_.start_all_to_all(lane, from, to);
  }
  [[nodiscard]] bool test(Request& request) requires NonblockingCommunicator<Host> { return host_.test(request); }
  void wait(Request& request) requires NonblockingCommunicator<Host> { host_.wait(request); }

  /// What the host's communicator has beyond a Communicator.
  void send(std::span<const std::byte> bytes, int to) requires requires(Host& host) { host.send(bytes, to); }
  { host_.send(bytes, to); }
  void receive(std::span<std::byte> bytes, int from) requires requires(Host& host) { host.receive(bytes, from); }
  { host_.receive(bytes, from); }
  void note_failure(std::string_view what) requires requires(Host& host) { host.note_failure(what); }
  { host_.note_failure(what); }

  // DeviceCommunicator.

  static void require() { detail::NcclRanks::require(); }
  void sum_on_device(const void* from, void* to, std::int64_t n, DType type, double factor, void* stream) {
    if (shared_->gpus == nullptr) connect();
    shared_->gpus->sum(from, to, n, type, factor, stream);
  }
  void give_up() noexcept {
    if (shared_->gpus != nullptr) shared_->gpus->abort();
    shared_->gpus.reset();
  }

 private:
  struct Shared {
    std::unique_ptr<detail::NcclRanks> gpus;
  };

  /// Collective: all ranks come to their first exchange.
  void connect() {
    detail::NcclRanks::Id id{};
    if (rank() == 0) id = detail::NcclRanks::make_id();
    broadcast(id, 0);
    shared_->gpus = std::make_unique<detail::NcclRanks>(id, rank(), size());
  }

  Host host_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace crochet
