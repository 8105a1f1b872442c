// SPDX-License-Identifier: Apache-2.0
// Exchange: what a run has in common with the runs of the same plan on other ranks.
#pragma once
#include <cstdint>
#include <exception>
#include <span>
#include <string_view>

#include <crochet/graph/core/dtype.hpp>

namespace crochet::kernel {

/// What an exchange computes of the ranks' values.
struct RankReduction {
  bool mean = false;         ///< weighted by each rank's rows; else a sum
  bool of_gradient = false;  ///< may be compressed
};

/// One rank's end. Its members are called by the thread that called run(), in the same order on every rank.
class Exchange {
 public:
  Exchange() = default;
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  /// Before the first step of a run: all ranks have come to a run of the plan `kind`, in which this rank has `rows`
  /// rows of the batch. Throws if another rank is not coming, in which case no rank runs the plan.
  virtual void begin(std::uint64_t kind, std::int64_t rows) = 0;
  /// Replaces `n` values by their sum over ranks, or by the mean weighted by each rank's rows. All ranks get the same
  /// bits. Does not return if the communication fails.
  virtual void reduce(void* values, std::int64_t n, DType type, RankReduction how) noexcept = 0;
  /// The same while this rank computes. Returns its number. `values` remain unchanged until end_reduce() of the same
  /// number, which waits, and writes the result to `to`. progress() continues what has begun, without waiting.
  virtual int begin_reduce(const void* /*values*/, std::int64_t /*n*/, DType /*type*/, RankReduction /*how*/) noexcept {
    return 0;
  }
  virtual void progress() noexcept {}
  virtual void end_reduce(int /*number*/, void* /*to*/, std::int64_t /*n*/) noexcept {}
  /// Whether reduce_on_device() is to be called in place of the above, for values in the memory of a GPU.
  [[nodiscard]] virtual bool is_on_device() const { return false; }
  /// As reduce(); `to`, which may be `from`, gets the result. Queued in the GPU's stream, a CUstream, without waiting.
  /// The GPU's context is current. Throws DeviceError.
  virtual void reduce_on_device(const void* /*from*/, void* /*to*/, std::int64_t /*n*/, DType /*type*/,
                                RankReduction /*how*/, void* /*stream*/) {}

  /// Behind begin(): this rank cannot make the exchanges of the run. Ends all ranks.
  [[noreturn]] virtual void abort(std::string_view /*reason*/) { std::terminate(); }
  /// As reduce(), of which `to` gets this rank's part: element i of it is number place() * p + i of the `n`, where p =
  /// n / the number of ranks, rounded up. Zeros behind the last element.
  virtual void reduce_part(const void* /*from*/, void* /*to*/, std::int64_t /*n*/, DType /*type*/,
                           RankReduction /*how*/) noexcept {}
  /// `to` gets the `n` values whose parts the ranks have.
  virtual void gather_parts(const void* /*part*/, void* /*to*/, std::int64_t /*n*/, DType /*type*/) noexcept {}
  /// The number of this rank, from 0.
  [[nodiscard]] int place() const { return task_ < 0 ? 0 : task_; }

  /// The number of rows of the ranks before this one, in the current run.
  [[nodiscard]] std::int64_t first_row() const { return first_row_; }
  /// This rank, if there are several; else -1.
  [[nodiscard]] int task() const { return task_; }

  /// Fixed shards: the number of parts in which this rank computes its rows, one after the other. At least 1 for a
  /// backend in_shards.
  [[nodiscard]] virtual int shards() const { return 0; }
  /// After begin(): the number of rows of the batch before this rank's shard `shard`, which is 0 to shards().
  [[nodiscard]] virtual std::int64_t row_before_shard(int /*shard*/) const { return first_row_; }
  /// As reduce(), over the shards of all ranks. from[j]: `n` values of this rank's shard j. `to` gets the result; it
  /// may be one of them.
  virtual void reduce_shards(std::span<const void* const> /*from*/, void* /*to*/, std::int64_t /*n*/, DType /*type*/,
                             bool /*mean*/) noexcept {}

 protected:
  ~Exchange() = default;
  std::int64_t first_row_ = 0;
  int task_ = -1;
};

/// What the kernels of one shard see: its place in the batch. Its means and sums are made for all shards together.
class ShardPlace final : public Exchange {
 public:
  void set_first_row(std::int64_t row) { first_row_ = row; }
  void begin(std::uint64_t /*kind*/, std::int64_t /*rows*/) override {}
  void reduce(void* /*values*/, std::int64_t /*n*/, DType /*type*/, RankReduction /*how*/) noexcept override {}
};

/// Whether an executor with this policy for products computes a part of the rows of each batch.
template <class Backend>
inline constexpr bool divides_batch = requires {
  requires Backend::divides_batch;
};

/// Whether a rank computes its rows in several shards.
template <class Backend>
inline constexpr bool in_shards = requires {
  requires Backend::in_shards;
};

/// The policy `Backend` on one of several ranks.
template <class Backend, bool InShards = false>
class OneOfSeveral : public Backend {
 public:
  static constexpr bool divides_batch = true, in_shards = InShards;
};

}  // namespace crochet::kernel
