// SPDX-License-Identifier: Apache-2.0
// Communicator: the interface to the engine that moves data between ranks. Solo: the one of a program with one rank.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>

#include <crochet/graph/core/dtype.hpp>

namespace crochet {

/// A communicator has the members below. All ranks call them in the same order, from the thread that runs the session,
/// and each call returns when this rank has what it receives.
/// - `rank()`, `size()`: this rank, from 0, and the number of ranks;
/// - `all_gather(from, to)`: `to` gets the bytes `from` of every rank, in the order of ranks. `from` has the same size
///   on all ranks, `to` is size() times as long. `from` may be part rank() of `to`, on all ranks or on none;
/// - `all_to_all(from, to)`: part k of `from` goes to rank k, and part k of `to` comes from rank k. The parts are
///   equal, size() of them;
/// - `broadcast(bytes, root)`: all ranks get the bytes of rank `root`;
/// - `abort(reason)`: ends all ranks because this one cannot go on. Does not return;
/// - optional, `note_failure(what)`: this rank has failed, and reports it by its next call.
/// It may have `send(bytes, to)` and `receive(bytes, from)`, which move bytes from one rank to another; all other ranks
/// do not take part. State that is divided over ranks is then saved and restored with fewer bytes on the wire.
/// A communicator is movable, or copyable as a handle.
template <class C>
concept Communicator = requires(C& c, std::span<const std::byte> from, std::span<std::byte> to, int root,
                                std::string_view reason) {
  { c.rank() } -> std::convertible_to<int>;
  { c.size() } -> std::convertible_to<int>;
  c.all_gather(from, to);
  c.all_to_all(from, to);
  c.broadcast(to, root);
  c.abort(reason);
};

/// A communicator that also has calls which return at once, for exchanges that overlap with computation:
/// - `open_lanes()`: collective, before the first of these calls;
/// - `start_all_gather(lane, from, to)`, `start_all_to_all(lane, from, to)`: as the calls above. The memory stays until
///   the call has ended. `lane` is 0 or 1: all ranks make the calls of a lane in the same order, which may differ from
///   that of the other lane and of calls without a lane;
/// - `test(request)`: whether the call has ended, true for a Request{}; `wait(request)` returns when it has.
template <class C>
concept NonblockingCommunicator = Communicator<C> && std::default_initializable<typename C::Request> &&
    requires(C& c, std::span<const std::byte> from, std::span<std::byte> to, typename C::Request& request) {
  c.open_lanes();
  { c.start_all_gather(0, from, to) } -> std::same_as<typename C::Request>;
  { c.start_all_to_all(0, from, to) } -> std::same_as<typename C::Request>;
  { c.test(request) } -> std::same_as<bool>;
  c.wait(request);
};

/// A communicator that also sums values in the memory of GPUs (Nccl):
/// - `sum_on_device(from, to, n, type, factor, stream)`: queues in the stream, a CUstream: `to` gets the sum over ranks
///   of factor * from, the same bits on all ranks. `n` elements of a floating type; `to` may be `from`. All ranks call
///   it in the same order. The context of the rank's GPU is current;
/// - `give_up()`: ends the sums that this rank has queued, because another rank will not come to them;
/// - `require()`: throws DeviceError if this rank's machine cannot make such sums.
template <class C>
concept DeviceCommunicator = Communicator<C> &&
    requires(C& c, const void* from, void* to, std::int64_t n, DType type, double factor, void* stream) {
  c.sum_on_device(from, to, n, type, factor, stream);
  c.give_up();
  c.require();
};

/// One rank, known to the compiler: `Parallel{Cpu{}, Solo{}}` is `Cpu{}`.
struct Solo {
  static constexpr int rank() { return 0; }
  static constexpr int size() { return 1; }
  static void all_gather(std::span<const std::byte> from, std::span<std::byte> to) {
    if (from.data() != to.data()) std::copy(from.begin(), from.end(), to.begin());
  }
  static void all_to_all(std::span<const std::byte> from, std::span<std::byte> to) { all_gather(from, to); }
  static void broadcast(std::span<std::byte> /*bytes*/, int /*root*/) {}
  [[noreturn]] static void abort(std::string_view /*reason*/) { std::terminate(); }
};

}  // namespace crochet
