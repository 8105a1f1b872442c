// SPDX-License-Identifier: Apache-2.0
// NcclRanks: the GPUs of all ranks, by NVIDIA's NCCL, which is loaded when it is first used.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <crochet/graph/core/dtype.hpp>

namespace crochet::detail {

/// One rank's GPU among those of all ranks. Used by one thread at a time.
class NcclRanks {
 public:
  /// The bytes with which ranks find one another.
  using Id = std::array<std::byte, 128>;

  /// Throws DeviceError if the machine has no NCCL, or one before 2.11.
  static void require();
  /// For all ranks, from one of them. Throws DeviceError.
  static Id make_id();

  /// Collective. The context of this rank's GPU is current. Throws DeviceError, for example if two ranks have one GPU.
  NcclRanks(const Id& id, int rank, int size);
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;
  ~NcclRanks();

  /// Collective. Queues in the stream, a CUstream: `to` gets the sum over ranks of factor * from. float32 or float64.
  /// Throws DeviceError.
  void sum(const void* from, void* to, std::int64_t n, DType type, double factor, void* stream);
  /// Ends the sums that are queued, with any result, because another rank does not come to them. No sum follows.
  void abort() noexcept;

 private:
  void* ranks_ = nullptr;
};

}  // namespace crochet::detail

#ifdef CROCHET_HEADER_ONLY
#include <crochet/ranks/nccl/device_ranks.ipp>
#endif
