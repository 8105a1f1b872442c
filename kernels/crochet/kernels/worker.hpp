// SPDX-License-Identifier: Apache-2.0
// One member of a team in a run: its share of the work, and the parts of sums.
// - Work whose results do not depend on where it is cut is divided among the members that run.
// - A floating sum depends on where it is cut. It is divided into parts whose number follows from its size and from the
//   executor's limit of threads. Each member computes some of the parts, and they are joined in their order. So any
//   number of members gives the same bits.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include <crochet/base/instruction_set.hpp>
#include <crochet/kernels/aligned_bytes.hpp>
#include <crochet/kernels/barrier.hpp>

namespace crochet::kernel::CROCHET_ISA {

/// The part [from, to) of [0, n).
struct Range {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t size() const { return to - from; }
};

/// Part `index` of `count` parts of [0, n), in units of `grain`. The remainder goes to the first parts: the calling
/// thread starts before the others are notified, and its results are in its own cache.
inline Range part_of(std::int64_t n, std::int64_t index, std::int64_t count, std::int64_t grain = 1) {
  const std::int64_t units = (n + grain - 1) / grain, some = count - 1;
  const std::int64_t from = (units * index + some) / count * grain, to = (units * (index + 1) + some) / count * grain;
  return {from < n ? from : n, to < n ? to : n};
}

/// How sums are divided.
struct Parts {
  int most = 1;      ///< the maximum number of parts
  bool all = false;  ///< for tests: divides small work, too, into as many parts
};

/// One member of the team while a step runs: its share of the work, its barrier, its scratch memory.
class Worker {
 public:
  Worker(int index, int count, Barrier& barrier, std::vector<AlignedBytes>& scratch)
      : Worker(index, count, barrier, scratch, {.most = count}) {}
  Worker(int index, int count, Barrier& barrier, std::vector<AlignedBytes>& scratch, Parts parts)
      : index_(index), count_(count), parts_(parts), mine_(index), barrier_(barrier), scratch_(scratch) {}

  /// This member as a team of one, for work that every member does independently.
  Worker alone() const { return share(0, 1); }
  /// This member in the place of member `index` of `count`. It must not sync().
  Worker share(int index, int count) const {
    Worker one = *this;
    one.index_ = index;
    one.count_ = one.parts_.most = count;
    return one;
  }

  int index() const { return index_; }
  /// The number of members that run. Values must not depend on it.
  int count() const { return count_; }
  /// The maximum number of parts of a sum: the executor's limit of threads, however many run.
  int parts() const { return parts_.most; }
  /// The number of parts of a sum of `work`: at most parts(), each of at least `least`; at least 1.
  int parts_of(std::int64_t work, std::int64_t least) const { return worth(work, least, parts_.most); }
  /// The number of members that share `work`, each at least `least` of it; at least 1.
  int members_for(std::int64_t work, std::int64_t least) const { return worth(work, least, count_); }

  /// Waits until all members have arrived.
  void sync() {
    if (count_ > 1) barrier_.wait(index_);
  }

  /// This member's part of [0, n), in units of `grain`.
  Range part(std::int64_t n, std::int64_t grain = 1) const { return part_of(n, index_, count_, grain); }

  /// This member's scratch memory, for `n` values of T. Valid until the next call of scratch(). Allocates only to grow.
  /// Throws ResourceExhaustedError, with the number of bytes, if there is no memory; this ends the run of the whole
  /// team.
  template <class T>
  T* scratch(std::int64_t n) {
    AlignedBytes& mine = scratch_[static_cast<std::size_t>(mine_)];
    mine.reserve(static_cast<std::size_t>(n) * sizeof(T), "a kernel's scratch");
    return reinterpret_cast<T*>(mine.data());
  }
  /// Another member's scratch memory; readable after a sync().
  template <class T>
  const T* scratch_of(int member) const {
    const int place = count_ == 1 ? mine_ : member;
    return reinterpret_cast<const T*>(scratch_[static_cast<std::size_t>(place)].data());
  }
  /// Calls use(address) for the results of each of `parts` parts, in order. Each member has computed part(parts), and
  /// has left `size` values for each at the start of its scratch memory. After a sync().
  template <class T, class Use>
  void each_part_of_sum(int parts, std::int64_t size, Use use) const {
    for (int m = 0; m < count_; ++m) {
      const T* from = scratch_of<T>(m);
      for (std::int64_t left = part_of(parts, m, count_).size(); left > 0; --left, from += size) use(from);
    }
  }

 private:
  int worth(std::int64_t work, std::int64_t least, int most) const {
    const std::int64_t n = parts_.all ? work : work / least;
    return n >= most ? most : (n < 1 ? 1 : static_cast<int>(n));
  }

  int index_, count_;
  Parts parts_;
  int mine_;  ///< the owner of the scratch memory in use
  Barrier& barrier_;
  std::vector<AlignedBytes>& scratch_;
};

}  // namespace crochet::kernel::CROCHET_ISA
