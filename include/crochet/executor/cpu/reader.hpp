// SPDX-License-Identifier: Apache-2.0
// Reader: runs of an executor's plans on one thread, beside those of other threads.
#pragma once
#include <vector>

#include <crochet/base/error.hpp>
#include <crochet/base/instruction_set.hpp>
#include <crochet/executor/cpu/executor.hpp>
#include <crochet/executor/plan/reads_only.hpp>
#include <crochet/kernels/aligned_bytes.hpp>
#include <crochet/kernels/barrier.hpp>
#include <crochet/kernels/worker.hpp>

namespace crochet::cpu::CROCHET_ISA {

/// Runs of one thread beside those of others: on the variables of an executor, with memory of its own.
/// - Its runs take the calling thread alone. Their results have the bits of the executor's own runs.
/// - Only demands without assignments compile (reads_only_reason), so readers need no lock.
/// - Each reader is for one thread at a time. While readers run the executor may run such demands too; its variables
///   must not be written, moved or destroyed.
template <class Backend, class Model, class... Extensions>
class Executor<Backend, Model, Extensions...>::Reader {
 public:
  /// Throws UninitializedError if a variable has no value. May be called by several threads if a reader was made
  /// before and no variable was written since.
  explicit Reader(Executor& executor) : executor_(&executor) { executor.variables_.settle_all(); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  /// As Executor::run; allocates nothing after the first run with the largest batch.
  template <class D, class... F>
  void run(const F&... feeds) {
    using P = Planned<T, D>;
    Executor::template check_feeds<P, F...>();
    static_assert(call_is_usable<typename decltype(ReadsOnly<T, P>::reason())::type>,
                  "crochet: crochet::error says why");
    executor_->template run_steps<P, D>(
        workspace_,
        [&](const Dims&, const auto& steps) {
          kernel::Worker alone(0, 1, barrier_, scratch_, executor_->parts());
          steps(alone);
        },
        feeds...);
  }
  /// A value of the last run, valid until the next one.
  template <class N>
  fetched_t<N> fetch() {
    return executor_->template fetch<N>(workspace_);
  }

 private:
  const Executor* executor_;
  Workspace workspace_;
  kernel::Barrier barrier_{1};
  std::vector<kernel::AlignedBytes> scratch_ = std::vector<kernel::AlignedBytes>(1);
};

}  // namespace crochet::cpu::CROCHET_ISA
