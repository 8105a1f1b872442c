// SPDX-License-Identifier: Apache-2.0
// RankGroup: one rank's end of everything that ranks do together: runs that exchange, the creation of sessions, and by
// RankProtocol the end of the loop and failures.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include <crochet/base/config.hpp>
#include <crochet/base/error.hpp>
#include <crochet/base/message.hpp>
#include <crochet/kernels/exchange.hpp>
#include <crochet/ranks/communicator.hpp>
#include <crochet/ranks/equal_ranks.hpp>
#include <crochet/ranks/fixed_shards.hpp>
#include <crochet/ranks/ordered_sum.hpp>
#include <crochet/ranks/overlapped_sums.hpp>
#include <crochet/ranks/rank_protocol.hpp>
#include <crochet/ranks/roll_call.hpp>
#include <crochet/ranks/share_session.hpp>
#include <crochet/ranks/torn_steps.hpp>
#include <crochet/ranks/wire.hpp>

namespace crochet {

struct RankGroupOptions {
  int shards = 0;  ///< of all ranks together, see FixedShards; 0: none
  Compression compression = Compression::none;
  bool overlaps = false;    ///< with a NonblockingCommunicator
  int optimizer_parts = 0;  ///< see ShardedOptimizer; 0: each rank has the whole state of the optimizer
};

/// One thread at a time: the one that runs the session.
template <Communicator C>
class RankGroup final : public RankProtocol<C>, public kernel::Exchange {
 public:
  using RankProtocol<C>::rank, RankProtocol<C>::size, RankProtocol<C>::is_chief, RankProtocol<C>::communicator,
      RankProtocol<C>::meet, RankProtocol<C>::kind_of;

  /// Collective. Throws LogicError if the shards do not fit the number of ranks.
  explicit RankGroup(C engine, const RankGroupOptions& options = {})
      : RankProtocol<C>(std::move(engine)), options_(options), shards_(options.shards, rank(), size()) {
    if (size() > 1) task_ = rank();
    if (options.optimizer_parts > 0 && options.optimizer_parts != size()) refuse_optimizer_parts();
    if constexpr (NonblockingCommunicator<C>) {
      if (options.overlaps) communicator().open_lanes();
    }
  }

  /// Collective, for runs.
  void begin(std::uint64_t kind, std::int64_t rows) override {
    const auto how =
        static_cast<std::uint64_t>(shards_.all()) + (static_cast<std::uint64_t>(options_.compression) << 32U);
    const auto all = meet({.kind = kind + how, .rows = rows});
    first_row_ = rows_ = 0;
    for (std::size_t r = 0; r < all.size(); ++r) {
      if (static_cast<int>(r) < rank()) first_row_ += all[r].rows;
      rows_ += all[r].rows;
    }
    my_rows_ = rows;
    // Equal parts need no weights.
    if (std::all_of(all.begin(), all.end(), [&](const Presence& p) { return p.rows == rows; })) rows_ = 0;
    shards_.divide(all);
  }
  void reduce(void* values, std::int64_t n, DType type, kernel::RankReduction how) noexcept override {
    const auto count = static_cast<std::size_t>(n);
    const auto weight = weight_of(how), total = total_of(how);
    if (type == DType::float64) {
      sums_.run(communicator(), std::span{static_cast<double*>(values), count}, static_cast<double>(weight),
                static_cast<double>(total));
    } else {
      const std::span floats{static_cast<float*>(values), count};
      if (compression_of(how) == Compression::bfloat16) {
        sums_.run_compressed(communicator(), floats, static_cast<float>(weight), static_cast<float>(total));
      } else {
        sums_.run(communicator(), floats, static_cast<float>(weight), static_cast<float>(total));
      }
    }
  }

  void reduce_part(const void* from, void* to, std::int64_t n, DType type,
                   kernel::RankReduction how) noexcept override {
    const auto weight = weight_of(how), total = total_of(how);
    with_type(type, [&]<class T>(T) {
      sums_.run_part(communicator(), std::span{static_cast<const T*>(from), static_cast<std::size_t>(n)},
                     static_cast<T>(weight), static_cast<T>(total), std::span{static_cast<T*>(to), part_size(n)});
    });
  }
  void gather_parts(const void* part, void* to, std::int64_t n, DType type) noexcept override {
    with_type(type, [&]<class T>(T) {
      sums_.gather(communicator(), std::span{static_cast<const T*>(part), part_size(n)},
                   std::span{static_cast<T*>(to), static_cast<std::size_t>(n)});
    });
  }

  int begin_reduce(const void* values, std::int64_t n, DType type, kernel::RankReduction how) noexcept override {
    if constexpr (NonblockingCommunicator<C>) {
      return overlapped_.begin(communicator(), values, n, type, {compression_of(how), weight_of(how), total_of(how)});
    }
    return 0;
  }
  void progress() noexcept override {
    if constexpr (NonblockingCommunicator<C>) overlapped_.progress(communicator());
  }
  void end_reduce(int number, void* to, std::int64_t n) noexcept override {
    if constexpr (NonblockingCommunicator<C>) overlapped_.end(communicator(), number, to, n);
  }

  [[nodiscard]] bool is_on_device() const override { return DeviceCommunicator<C>; }
  void reduce_on_device(const void* from, void* to, std::int64_t n, DType type, kernel::RankReduction how,
                        void* stream) override {
    if constexpr (DeviceCommunicator<C>) {
      const double factor = static_cast<double>(weight_of(how)) / static_cast<double>(total_of(how));
      communicator().sum_on_device(from, to, n, type, factor, stream);
    }
  }

  [[noreturn]] void abort(std::string_view reason) override {
    this->end_all();
    communicator().abort(reason);
  }

  /// The rows of all ranks in the last run.
  [[nodiscard]] std::int64_t rows_of_batch() const { return shards_.rows(); }

  [[nodiscard]] int shards() const override { return shards_.here(); }
  [[nodiscard]] std::int64_t row_before_shard(int shard) const override { return shards_.row_before(shard); }
  void reduce_shards(std::span<const void* const> from, void* to, std::int64_t n, DType type,
                     bool mean) noexcept override {
    const auto count = static_cast<std::size_t>(n);
    if (type == DType::float64) {
      shards_.reduce(sums_, communicator(), from, std::span{static_cast<double*>(to), count}, mean);
    } else {
      shards_.reduce(sums_, communicator(), from, std::span{static_cast<float*>(to), count}, mean);
    }
  }

  /// Collective: a run of a step function. `step()` may exchange, and may throw on one rank only. Throws
  /// as meet(), and FailedPreconditionError if ranks have made different numbers of runs: a program has caught what a
  /// step has thrown.
  template <class Step>
  void run_step(std::uint64_t kind, const Step& step) {
    detail::require_one_step(meet({.kind = kind, .rows = runs_}));
    this->set_in_step(true);  // and remains so if the step throws
    step();
    this->set_in_step(false);
    ++runs_;
  }
  /// Collective sums of equally many values.
  template <class T>
  void sum(std::span<T> values) {
    sums_.run(communicator(), values, T(1), T(1));
  }

  /// Collective: prepares a new session on all ranks. The chief's creator initializes or restores it, and all ranks get
  /// the chief's variables, step and hook state. Throws what the creator throws, on other ranks as meet();
  /// RanksDisagreeError if the variables of two ranks differ in names, types or sizes;
  /// FailedPreconditionError if a session was lost at different steps of ranks whose states differ, and the creator has
  /// not restored them.
  template <class Raw, class Creator, class Coordinator>
  void create(Raw& raw, Creator& creator, Coordinator& coordinator) {
    this->begin_session();
    runs_ = 0;
    if (is_chief()) {
      creator.create_session(raw, coordinator);
    } else if constexpr (detail::Initializes<typename Raw::Executor>) {
      raw.executor().initialize();
    }
    detail::SharedSession<RankGroup, Raw> session(*this, raw);
    session.prepare();
    const std::uint64_t layout = detail::layout_of_variables(raw.executor());
    const auto all = meet({.kind = kind_of("create"), .rows = raw.step(), .bits = layout});
    detail::require_equal_variables(all);
    if (this->parts_are_of_different_sessions()) detail::require_one_first_step(all);
    session.share();
  }
  /// Collective: all ranks get the chief's variables and step. Throws as meet().
  template <class Raw>
  void share_weights(Raw& raw) {
    detail::SharedSession<RankGroup, Raw> session(*this, raw);
    session.prepare_weights();
    meet({.kind = kind_of("weights of the chief")});
    session.share_weights();
  }

 private:
  struct NoSums {};
  template <class>
  struct SumsOf {
    using type = NoSums;
  };
  template <NonblockingCommunicator N>
  struct SumsOf<N> {
    using type = OverlappedSums<N>;
  };

  template <class Use>
  static void with_type(DType type, const Use& use) {
    if (type == DType::float64) {
      use(double{});
    } else {
      use(float{});
    }
  }
  /// The elements of a rank's part of `n`.
  [[nodiscard]] std::size_t part_size(std::int64_t n) { return static_cast<std::size_t>((n + size() - 1) / size()); }
  [[noreturn]] CROCHET_COLD void refuse_optimizer_parts() {
    throw LogicError(
        detail::message({"crochet: ShardedOptimizer<", options_.optimizer_parts, "> with ", size(), " rank",
                         size() == 1 ? "" : "s", "; give the number of ranks, or start as many"}));
  }
  [[nodiscard]] bool is_weighted(kernel::RankReduction how) const { return how.mean && rows_ > 0; }
  [[nodiscard]] std::int64_t weight_of(kernel::RankReduction how) const { return is_weighted(how) ? my_rows_ : 1; }
  [[nodiscard]] std::int64_t total_of(kernel::RankReduction how) {
    return is_weighted(how) ? rows_ : how.mean ? size() : 1;
  }
  [[nodiscard]] Compression compression_of(kernel::RankReduction how) {
    return how.of_gradient && size() > 1 ? options_.compression : Compression::none;
  }

  RankGroupOptions options_;
  FixedShards shards_;
  OrderedSum sums_;
  [[no_unique_address]] typename SumsOf<C>::type overlapped_;
  std::int64_t rows_ = 0, my_rows_ = 0;  ///< of all ranks, 0 if all have as many; and of this one
  std::int64_t runs_ = 0;                ///< of a step function, in this session
};

}  // namespace crochet
